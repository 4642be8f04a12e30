"""Linear algebra at awkward sizes: below, at and above the blocks that it is done in."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

from hybridjit import hybrid
from hybridjit.frontend.library.linalg import BLOCK, STRIP
from tests.support.array_results import assert_agree

np: Any = numpy
Array = Any
RNG: Any = np.random.default_rng(8)
SIZES = [2 * BLOCK + 5, 7, 0, 1, BLOCK, 2 * BLOCK + 5]


def factored(a: Array) -> Array:
    return np.linalg.cholesky(a)


def solved(a: Array, b: Array) -> Array:
    return np.linalg.solve(a, b)


def inverted(a: Array) -> Array:
    return np.linalg.inv(a)


def determinant(a: Array) -> Any:
    return np.linalg.det(a)


def random(dtype: str, *shape: int) -> Array:
    values = RNG.random(shape) - 0.5
    return (values + 1j * RNG.random(shape) if "complex" in dtype else values).astype(dtype)


def definite(dtype: str, size: int) -> Array:
    a = random(dtype, size, size)
    return a @ a.conj().T + size * np.eye(size, dtype=dtype)


def tolerance(dtype: Any) -> float:
    return 1e-2 if np.finfo(dtype).bits == 32 else 1e-8


def check(function: Any, *args: Array) -> None:
    """Fail unless a script gives what NumPy does, up to what rounding does to it."""
    compare(hybrid.script(function), function, *args)


def compare(kernel: Any, function: Any, *args: Array) -> None:
    found, wanted = kernel(*args), function(*args)
    assert found.dtype == wanted.dtype
    near = tolerance(wanted.dtype)
    np.testing.assert_allclose(found, wanted, rtol=near, atol=near * (abs(wanted).max(initial=1)))


@pytest.mark.sampled(4)
@pytest.mark.parametrize("function", [factored, solved, inverted])
def test_sizes(function: Any) -> None:
    """The first size is part of the code; from the second on, they are known at run time only."""
    kernel: Any = hybrid.script(function)
    for size in SIZES:
        compare(kernel, function, *arguments_of(function, "float64", size, size % 4 + 1))


def arguments_of(function: Any, dtype: str, size: int, columns: int) -> list[Array]:
    if function is factored:
        return [definite(dtype, size)]
    a = random(dtype, size, size)
    return [a, random(dtype, size, columns)] if function is solved else [a]


@pytest.mark.sampled(4)
@pytest.mark.parametrize("function", [factored, solved, inverted])
def test_complex_numbers(function: Any) -> None:
    check(function, *arguments_of(function, "complex128", 2 * BLOCK + 5, 5))


@pytest.mark.sampled(4)
@pytest.mark.parametrize("dtype", ["float32", "complex64"])
@pytest.mark.parametrize("function", [factored, solved])
def test_types(function: Any, dtype: str) -> None:
    a = definite(dtype, BLOCK + 3)
    check(function, *([a] if function is factored else [a, random(dtype, BLOCK + 3)]))


@pytest.mark.sampled(4)
@pytest.mark.parametrize("size", [0, 1, 6, 7])
def test_interpreter(size: int) -> None:
    """Bit for bit: `assert_agree` compares it with native code."""
    kernels: list[Any] = [hybrid.script(function) for function in (inverted, determinant)]
    for kernel in kernels:
        assert_agree(kernel, [random("float64", size, size) + np.eye(size)])


@pytest.mark.sampled(3)
@pytest.mark.parametrize("function", [solved, factored, inverted])
def test_layouts(function: Any) -> None:
    a, b = definite("float64", BLOCK + 2), random("float64", BLOCK + 2, 3)
    if function is inverted:
        check(inverted, a[::-1, ::-1])
    elif function is solved:
        check(solved, np.asfortranarray(a), b[::-1, ::-1])
    else:
        check(factored, np.asfortranarray(a))


@pytest.mark.sampled(2)
@pytest.mark.parametrize("size", [3, BLOCK + 2])
def test_singular_matrices(size: int) -> None:
    a = random("float64", size, size)
    a[:, size // 2] = 0.0
    kernel: Any = hybrid.script(inverted)
    with pytest.raises(ValueError, match="Singular matrix"):
        kernel(a)
    determinants: Any = hybrid.script(determinant)
    assert determinants(a) == 0.0


@pytest.mark.parametrize("size", [2, BLOCK + 2])
def test_matrices_that_are_not_positive_definite(size: int) -> None:
    a = definite("float64", size)
    a[-1, -1] = -1.0
    kernel: Any = hybrid.script(factored)
    with pytest.raises(ValueError, match="not positive definite"):
        kernel(a)


def test_only_the_lower_triangle_counts() -> None:
    a = definite("float64", BLOCK + 3)
    kernel: Any = hybrid.script(factored)
    np.testing.assert_array_equal(kernel(np.tril(a)), kernel(a))


@pytest.mark.parametrize("rows", [1, 3])
def test_right_sides_of_another_size(rows: int) -> None:
    a, b = random("float64", rows, rows), random("float64", 4, 2)
    kernel: Any = hybrid.script(solved)
    with pytest.raises(ValueError, match="different numbers of rows"):
        kernel(a, b)


def covariances(a: Array) -> Array:
    return np.cov(a)


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_covariances_of_many_rows(dtype: str) -> None:
    """Of which one half is computed, and the other half is the same."""
    a = random(dtype, STRIP + 5, 9)
    check(covariances, a)
    kernel: Any = hybrid.script(covariances)
    found = kernel(a)
    np.testing.assert_array_equal(np.tril(found, -1), np.triu(found, 1).conj().T)


def test_tiny_pivots_are_divided_by() -> None:
    """The inverse of so small a number is infinite."""
    a = np.diag([5e-310, 1.0])
    check(solved, a, np.array([[5e-310], [2.0]]))


def test_rows_are_swapped() -> None:
    a = np.array([[0.0, 2.0, 1.0], [1.0, 1.0, 0.0], [4.0, 0.0, 3.0]])
    check(determinant, a)
    check(inverted, a)
