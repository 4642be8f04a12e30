"""Linear algebra of NumPy, written in the language: a call of one is inlined."""

from __future__ import annotations

from typing import Any

import numpy

from hybridjit.frontend.library.shapes import tril

np: Any = numpy
Array = Any
# The width of the blocks of a factorisation: the square of it fits in the nearest cache.
BLOCK = 64
STRIP = 132  # rows of a matrix of which only one half is computed: eleven tiles


def computing_type(a: Array) -> Any:
    """The type that linear algebra computes in: integers become float64."""
    if a.dtype == "float32" or a.dtype == "complex64":
        return a.dtype
    return np.result_type(a, np.float64)


def square_type(a: Array) -> Any:
    """The type to compute in; adding the transpose shows whether the matrix is square."""
    if a.ndim < 2:
        raise TypeError("it takes matrices, arrays of at least two dimensions")
    shared = np.result_type(a + a.mT)
    if a.shape[-1] != a.shape[-2]:  # which a single row or column hides
        raise np.linalg.LinAlgError("Last 2 dimensions of the array must be square")
    if a.dtype == "float32" or a.dtype == "complex64":
        return shared
    return np.result_type(shared, np.float64)


def _factor_rows(upper: Array, first: int, last: int) -> None:
    """Make the rows from `first` to `last` those of the factor; earlier ones are accounted for."""
    for k in range(first, last):
        upper[k, k:] -= upper[first:k, k].conj() @ upper[first:k, k:]
        rest = upper[k, k].real
        if rest <= 0:
            raise np.linalg.LinAlgError("Matrix is not positive definite")
        root = np.sqrt(rest)
        upper[k, k] = root
        upper[k, k + 1 :] *= 1.0 / root


def cholesky(a: Array) -> Array:
    """The lower triangular matrix whose product with its conjugate transpose is `a`.

    Its transpose is computed, row by row; for large matrices block by block, so that most of the
    work is in products of matrices.
    """
    if a.ndim != 2:
        raise NotImplementedError("it takes one matrix here", "loop over the matrices")
    n = a.shape[0]
    upper = a.T.conj().astype(square_type(a))
    rows = np.zeros((BLOCK, n), upper.dtype)
    for first in range(0, n, BLOCK):
        last = min(first + BLOCK, n)
        _factor_rows(upper, first, last)
        if n > BLOCK:
            for k in range(first, last):
                rows[k - first, last:] = upper[k, last:]
            for left in range(last, n, STRIP):
                right = min(left + STRIP, n)
                upper[left:right, left:] -= rows[:, left:right].T.conj() @ rows[:, left:]
    return tril(upper.T.conj())


def _size(z: Any) -> Any:
    """How large a number is, for the choice of a pivot: cheaper than the absolute value."""
    if z.dtype == "complex64" or z.dtype == "complex128":
        return abs(z.real) + abs(z.imag)
    return abs(z)


def _find_pivot(lu: Array, k: int) -> int:
    """The row, from k on, with the largest element in column k."""
    pivot = k
    largest = _size(lu[k, k])
    for i in range(k + 1, lu.shape[0]):
        size = _size(lu[i, k])
        if size > largest:
            pivot = i
            largest = size
    return pivot


def _swap_rows(a: Array, i: int, k: int) -> None:
    kept = a[i].copy()
    a[i] = a[k]
    a[k] = kept


def _eliminate_columns(lu: Array, first: int, last: int) -> int:
    """Put the factors that make zeros below the diagonal in their place, in some columns of lu.

    Other columns stay, but rows are swapped as a whole. Gives how many are.
    """
    swaps = 0
    for k in range(first, last):
        pivot = _find_pivot(lu, k)
        if pivot != k:
            _swap_rows(lu, pivot, k)
            swaps += 1
        if lu[k, k] != 0:
            row = lu[k, k + 1 : last].copy()
            inverse = 1 / lu[k, k]
            is_exact = np.isfinite(inverse)
            for i in range(k + 1, lu.shape[0]):
                factor = lu[i, k] * inverse if is_exact else lu[i, k] / lu[k, k]
                lu[i, k] = factor
                lu[i, k + 1 : last] -= factor * row
    return swaps


def _eliminate(lu: Array) -> int:
    """Factor lu, and solve with the lower triangle for the columns that stand to the right of it.

    Gives how many rows are swapped. Block by block, so that most of the work is in products of
    matrices.
    """
    n = lu.shape[0]
    swaps = 0
    columns = np.zeros((n, BLOCK), lu.dtype)
    rows = np.zeros((BLOCK, lu.shape[1]), lu.dtype)
    for first in range(0, n, BLOCK):
        last = min(first + BLOCK, n)
        swaps += _eliminate_columns(lu, first, last)
        for k in range(first + 1, last):
            lu[k, last:] -= lu[k, first:k] @ lu[first:k, last:]
        if n > BLOCK:
            for k in range(first, last):
                rows[k - first, last:] = lu[k, last:]
            for i in range(last, n):
                for k in range(first, last):
                    columns[i, k - first] = lu[i, k]
            lu[last:, last:] -= columns[last:] @ rows[:, last:]
    return swaps


def _substitute_rows(lu: Array, x: Array, first: int, last: int) -> None:
    """Solve the rows from `first` to `last` for x; what comes from later rows is accounted for."""
    for k in range(last - 1, first - 1, -1):
        x[k] -= lu[k, k + 1 : last] @ x[k + 1 : last]
        inverse = 1 / lu[k, k]
        if np.isfinite(inverse):
            x[k] *= inverse
        else:
            x[k] /= lu[k, k]


def _substitute(lu: Array, x: Array) -> None:
    """Solve for x with the upper triangle, from the last block of rows to the first."""
    n = lu.shape[0]
    columns = np.zeros((n, BLOCK), lu.dtype)
    rows = np.zeros((BLOCK, x.shape[1]), lu.dtype)
    for first in range((n - 1) // BLOCK * BLOCK, -1, -BLOCK):
        last = min(first + BLOCK, n)
        _substitute_rows(lu, x, first, last)
        if n > BLOCK:
            for k in range(first, last):
                rows[k - first] = x[k]
            for i in range(first):
                for k in range(first, last):
                    columns[i, k - first] = lu[i, k]
            x[:first] -= columns[:first] @ rows


def _solution(a: Array, b: Array, dtype: Any) -> Array:
    """The solution x of `a @ x = b`, of matrices."""
    n = a.shape[0]
    lu = np.empty((n, n + b.shape[1]), dtype)
    lu[:, :n] = a
    lu[:, n:] = b
    _eliminate(lu)
    for k in range(n):
        if lu[k, k] == 0:
            raise np.linalg.LinAlgError("Singular matrix")
    x = lu[:, n:].copy()
    _substitute(lu, x)
    return x


# -- matrices, and stacks of them --------------------------------------------------------------


def _matrices(a: Array) -> Array:
    """A stack of matrices along one axis."""
    return a.reshape(np.empty(a.shape[:-2]).size, a.shape[-2], a.shape[-1])


def solve(a: Array, b: Array) -> Array:
    """The solution x of `a @ x = b`, by elimination with partial pivoting."""
    if a.shape[-2] != b.shape[0 if b.ndim == 1 else -2]:
        raise ValueError("solve: the matrix and the right side have different numbers of rows")
    right = b[:, None] if b.ndim == 1 else b
    dtype = np.result_type(square_type(a), computing_type(b))
    if a.ndim == 2 and right.ndim == 2:
        x = _solution(a, right, dtype)
        return x[:, 0] if b.ndim == 1 else x
    batch = (np.empty(a.shape[:-2]) + np.empty(right.shape[:-2])).shape
    many = _matrices(np.broadcast_to(a, (*batch, *a.shape[-2:])))
    sides = _matrices(np.broadcast_to(right, (*batch, *right.shape[-2:])))
    found = np.empty(sides.shape, dtype)
    for k in range(len(sides)):
        found[k] = _solution(many[k], sides[k], dtype)
    x = found.reshape((*batch, *right.shape[-2:]))
    return x[..., 0] if b.ndim == 1 else x


def _inverse(a: Array, dtype: Any) -> Array:
    return _solution(a, np.eye(a.shape[0]), dtype)


def inv(a: Array) -> Array:
    """The inverse of a matrix, or of each of a stack."""
    dtype = square_type(a)
    if a.ndim == 2:
        return _inverse(a, dtype)
    many = _matrices(a)
    found = np.empty(many.shape, dtype)
    for k in range(len(many)):
        found[k] = _inverse(many[k], dtype)
    return found.reshape(a.shape)


def _determinant(a: Array, dtype: Any) -> Array:
    lu = a.astype(dtype)
    swaps = _eliminate(lu)
    product = np.ones(1, dtype)
    for k in range(a.shape[0]):
        product[0] *= lu[k, k]
    return -product[0] if swaps % 2 else product[0]


def det(a: Array) -> Array:
    """The determinant of a matrix, or of each of a stack, by elimination with pivoting."""
    dtype = square_type(a)
    if a.ndim == 2:
        return _determinant(a, dtype)
    many = _matrices(a)
    found = np.empty(len(many), dtype)
    for k in range(len(many)):
        found[k] = _determinant(many[k], dtype)
    return found.reshape(a.shape[:-2])
