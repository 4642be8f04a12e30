"""Fourier transforms of awkward lengths: powers, products and primes, cut and with zeros."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

from hybridjit import hybrid
from tests.support.array_results import assert_agree

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
def of_another_norm(a: Array) -> Array:
    return np.fft.fft(a, norm="sideways")


@hybrid.script
def half_of_complex(a: Array) -> Array:
    return np.fft.rfft(a)


def random(length: int, dtype: str = "complex128") -> Array:
    values = 10 * RNG.random(length) - 5
    return (values + 1j * RNG.random(length) if "complex" in dtype else values).astype(dtype)


def error(found: Array, wanted: Array) -> float:
    assert found.dtype == wanted.dtype
    assert found.shape == wanted.shape
    return float(np.linalg.norm(found - wanted) / np.linalg.norm(wanted))


@pytest.mark.parametrize("length", LENGTHS)
def test_has_the_accuracy_of_numpy(length: int) -> None:
    a = random(length)
    assert error(transformed(a), np.fft.fft(a)) < 1e-15 * (1 + np.log2(length))


@pytest.mark.sampled(16)
@pytest.mark.parametrize("length", [2, 7, 12, 37])
@pytest.mark.parametrize("dtype", ["float16", "float32", "complex64", "int32", "bool"])
def test_types_are_those_of_numpy(dtype: str, length: int) -> None:
    a = random(length, dtype)
    bound = 1e-6 if transformed(a).dtype == "complex64" else 1e-14
    assert error(transformed(a), np.fft.fft(a)) < bound


@pytest.mark.sampled(6)
@pytest.mark.parametrize("length", [2, 3, 8, 45, 74])
def test_there_and_back(length: int) -> None:
    a = random(length, "float64")
    assert error(restored(a, length), a) < 1e-14


@pytest.mark.parametrize("length", [1, 3, 7, 8, 41])
def test_rows_are_cut_and_filled_with_zeros(length: int) -> None:
    a = random(7)
    assert error(of_length(a, length), np.fft.ifft(a, length)) < 1e-14


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
    assert assert_agree(transformed, [random(12)]).error is None
    assert assert_agree(transformed, [random(37)]).error is None
