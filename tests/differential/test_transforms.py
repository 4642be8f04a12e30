"""Fourier transforms of awkward lengths: powers, products and primes, cut and with zeros."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

from hybridjit import hybrid
from tests.support.array_results import assert_agree
from tests.support.oracle import fresh

np: Any = numpy
Array = Any
RNG: Any = np.random.default_rng(8)
# One that has only small factors, one with a factor of its own pass, and primes that have none.
LENGTHS = [*range(1, 18), 30, 31, 37, 64, 97, 120, 256, 361, 1009, 1024]


@hybrid.script
def transformed(a: Array) -> Array:
    return np.fft.fft(a)


@hybrid.script
def restored(a: Array, n: int) -> Array:
    return np.fft.irfft(np.fft.rfft(a), n)


@hybrid.script
def of_length(a: Array, n: int) -> Array:
    return np.fft.ifft(a, n)


@hybrid.script
def of_reals(a: Array, n: int) -> Array:
    return np.fft.rfft(a, n)


@hybrid.script
def to_reals(a: Array, n: int) -> Array:
    return np.fft.irfft(a, n)


@hybrid.script
def of_columns(a: Array) -> Array:
    return np.fft.fft(a, axis=0)


@hybrid.script
def with_scale(a: Array, norm: str) -> Array:
    return np.fft.ifft(a, norm=norm)


@hybrid.script
def of_another_norm(a: Array) -> Array:
    return np.fft.fft(a, norm="sideways")


@hybrid.script
def half_of_complex(a: Array) -> Array:
    return np.fft.rfft(a)


def random(length: int, dtype: str = "complex128") -> Array:
    values = 10 * RNG.random(length) - 5
    return (values + 1j * RNG.random(length) if "complex" in dtype else values).astype(dtype)


def assert_same_bits(found: Array, wanted: Array) -> None:
    assert found.dtype == wanted.dtype
    np.testing.assert_array_equal(found, wanted, strict=True)


def assert_alike(found: Array, wanted: Array) -> None:
    """Of single precision some sums are NumPy's in single, of others in double precision."""
    if wanted.dtype != "complex64":
        return assert_same_bits(found, wanted)
    bound = 1e-6 * float(np.abs(wanted).max())
    return np.testing.assert_allclose(found, wanted, rtol=0, atol=bound, strict=True)


@pytest.mark.parametrize("length", LENGTHS)
def test_is_what_numpy_gives(length: int) -> None:
    a = random(length)
    assert_same_bits(transformed(a), np.fft.fft(a))


@pytest.mark.parametrize("dtype", ["float16", "float32", "complex64", "int32", "bool"])
def test_types_are_those_of_numpy(dtype: str) -> None:
    kernels = [(transformed, np.fft.fft), (hybrid.script(half), half)]
    for kernel, numpys in kernels:
        for length in (1, 2, 7, 12, 37, 64):
            a = random(length, dtype)
            assert_alike(kernel(a), numpys(a))


def half(a: Array) -> Array:
    return np.fft.ifft(a, norm="forward")


def test_factors_are_rounded_as_numpy_rounds_them() -> None:
    for norm in ("backward", "ortho", "forward"):
        for dtype in ("float16", "float32", "float64", "complex64"):
            a = random(11, dtype)
            found = hybrid.script(with_scale.__hybrid_function__)(a, norm)
            assert_alike(found, np.fft.ifft(a, norm=norm))


@pytest.mark.parametrize("length", [2, 3, 8, 45, 74])
def test_there_and_back(length: int) -> None:
    a = random(length, "float64")
    assert_same_bits(restored(a, length), np.fft.irfft(np.fft.rfft(a), length))


@pytest.mark.parametrize("length", [1, 2, 3, 7, 8, 41, 64])
def test_rows_are_cut_and_filled_with_zeros(length: int) -> None:
    a = random(7)
    assert_same_bits(of_length(a, length), np.fft.ifft(a, length))
    assert_same_bits(to_reals(a, length), np.fft.irfft(a, length))
    assert_same_bits(of_reals(a.real, length), np.fft.rfft(a.real, length))
    assert_same_bits(of_reals(a.real[::2], length), np.fft.rfft(a.real[::2], length))


def test_rows_without_elements_are_zeros() -> None:
    """NumPy reads beside them for irfft."""
    for length in (1, 2, 5):
        for kernel, dtype in ((of_length, "complex128"), (to_reals, "complex128")):
            assert not fresh(kernel)(random(0, dtype), length).any()
        assert not fresh(of_reals)(random(0, "float64"), length).any()


@pytest.mark.parametrize("shape", [(1, 8), (5, 12), (33, 7), (0, 6), (3, 4, 10)])
def test_many_rows(shape: tuple[int, ...]) -> None:
    size = int(np.prod(shape))
    a = random(size).reshape(shape)
    for given in (a, a[::-1], a[..., ::2], np.asfortranarray(a)):
        found, wanted = transformed(given), np.fft.fft(given)
        np.testing.assert_allclose(found, wanted, rtol=1e-14, atol=1e-13, strict=True)
    if shape[0]:
        found, wanted = of_columns(a), np.fft.fft(a, axis=0)
        np.testing.assert_allclose(found, wanted, rtol=1e-14, atol=1e-13, strict=True)


def test_a_length_of_zero_is_an_error() -> None:
    for kernel, args in ((transformed, (random(0),)), (of_length, (random(7), 0))):
        with pytest.raises(ValueError, match="Invalid number of FFT data points"):
            kernel(*args)


def test_an_unknown_norm_is_an_error() -> None:
    with pytest.raises(ValueError, match='norm should be "backward", "ortho" or "forward"'):
        of_another_norm(random(7))


def test_half_a_transform_takes_real_numbers() -> None:
    with pytest.raises(Exception, match="rfft takes real numbers"):
        half_of_complex(random(7))


def test_interpreted() -> None:
    for kernel in (transformed, half_kernel):
        for length in (12, 37):
            assert assert_agree(kernel, [random(length)]).error is None
    for kernel in (of_reals, to_reals):
        for length in (8, 9):
            a = random(7, "float64" if kernel is of_reals else "complex64")
            assert assert_agree(kernel, [a, length]).error is None


def test_in_a_parallel_loop() -> None:
    a = random(40 * 24).reshape(40, 24)
    assert_same_bits(each_row(a), np.stack([np.fft.fft(row) for row in a]))


half_kernel = hybrid.script(half)


@hybrid.script
def each_row(a: Array) -> Array:
    result = np.empty_like(a)
    for i in hybrid.parallel(a.shape[0]):
        result[i] = np.fft.fft(a[i])
    return result
