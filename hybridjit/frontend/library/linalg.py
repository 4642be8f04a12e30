"""Linear algebra of NumPy, written in the language: a call of one is inlined."""

from __future__ import annotations

from typing import Any

import numpy

from hybridjit.frontend.library.shapes import tril

np: Any = numpy
Array = Any
# The width of the blocks of a factorisation: the square of it fits in the nearest cache.
BLOCK = 64


def _computing_type(a: Array) -> Any:
    """The type that linear algebra computes in: integers become float64."""
    if a.dtype == "float32" or a.dtype == "complex64":
        return a.dtype
    return np.result_type(a, np.float64)


def _square_type(a: Array) -> Any:
    """The type to compute in; adding the transpose shows whether the matrix is square."""
    if a.dtype == "float32" or a.dtype == "complex64":
        return np.result_type(a + a.T)
    return np.result_type(a + a.T, np.float64)


def _factor_block(a: Array, first: int, last: int) -> None:
    """Factor the square on the diagonal from `first` to `last`, and the rows below it."""
    for i in range(first, a.shape[0]):
        for j in range(first, min(i, last)):
            a[i, j] = (a[i, j] - a[i, first:j] @ a[j, first:j].conj()) / a[j, j]
        if i < last:
            rest = (a[i, i] - a[i, first:i] @ a[i, first:i].conj()).real
            if rest <= 0:
                raise ValueError("Matrix is not positive definite")
            a[i, i] = np.sqrt(rest)


def cholesky(a: Array) -> Array:
    """The lower triangular matrix whose product with its conjugate transpose is `a`.

    Block by block, so that most of the work is in products of matrices.
    """
    n = a.shape[0]
    lower = a.astype(_square_type(a))
    for first in range(0, n, BLOCK):
        last = min(first + BLOCK, n)
        _factor_block(lower, first, last)
        for left in range(last, n, BLOCK):
            right = min(left + BLOCK, n)
            panel = lower[left:right, first:last].conj()
            lower[left:, left:right] -= lower[left:, first:last] @ panel.T
    return tril(lower)


def _find_pivot(lu: Array, k: int) -> int:
    """The row, from k on, with the largest element in column k."""
    pivot = k
    for i in range(k + 1, lu.shape[0]):
        if abs(lu[i, k]) > abs(lu[pivot, k]):
            pivot = i
    return pivot


def _swap_rows(a: Array, i: int, k: int) -> None:
    kept = a[i].copy()
    a[i] = a[k]
    a[k] = kept


def _solve_in_place(lu: Array, x: Array) -> None:
    """x becomes the solution of `lu @ solution = x`; lu is used up."""
    n = lu.shape[0]
    for k in range(n):
        pivot = _find_pivot(lu, k)
        if lu[pivot, k] == 0:
            raise ValueError("Singular matrix")
        if pivot != k:
            _swap_rows(lu, pivot, k)
            _swap_rows(x, pivot, k)
        for i in range(k + 1, n):
            factor = lu[i, k] / lu[k, k]
            lu[i, k + 1 :] -= factor * lu[k, k + 1 :]
            x[i] -= factor * x[k]
    for k in range(n - 1, -1, -1):
        for j in range(k + 1, n):
            x[k] -= lu[k, j] * x[j]
        x[k] /= lu[k, k]


def solve(a: Array, b: Array) -> Array:
    """The solution x of `a @ x = b`, by elimination with partial pivoting."""
    right = b[:, None] if b.ndim == 1 else b
    lu = a.astype(np.result_type(_square_type(a), _computing_type(b), a[:, :1] + right))
    x = b.astype(lu.dtype)
    columns = x[:, None] if b.ndim == 1 else x
    _solve_in_place(lu, columns)
    return x


def inv(a: Array) -> Array:
    """The inverse of a matrix."""
    lu = a.astype(_square_type(a))
    x = np.eye(a.shape[0], dtype=lu.dtype)
    _solve_in_place(lu, x)
    return x


def det(a: Array) -> Array:
    """The determinant of a matrix, by elimination with partial pivoting."""
    lu = a.astype(_square_type(a))
    product = np.ones(1, lu.dtype)
    for k in range(a.shape[0]):
        pivot = _find_pivot(lu, k)
        if pivot != k:
            _swap_rows(lu, pivot, k)
            product[0] = -product[0]
        product[0] *= lu[k, k]
        if lu[k, k] == 0:
            break
        for i in range(k + 1, a.shape[0]):
            lu[i, k + 1 :] -= lu[i, k] / lu[k, k] * lu[k, k + 1 :]
    return product[0]


def _squares(x: Array) -> Array:
    wide = x.astype(_computing_type(x))
    if x.dtype == "complex64" or x.dtype == "complex128":
        return wide.real * wide.real + wide.imag * wide.imag
    return wide * wide


def norm(x: Array, ord: Any = None, axis: int | None = None, keepdims: bool = False) -> Array:
    """The length of a vector, or of all elements; with `ord`, the largest or the sum."""
    if ord is None or ord == "fro" or (ord == 2 and (x.ndim == 1 or axis is not None)):
        return np.sqrt(np.sum(_squares(x), axis=axis, keepdims=keepdims))
    magnitudes = np.absolute(x.astype(_computing_type(x)))
    if x.ndim == 1 or axis is not None:
        if ord == np.inf:
            return np.max(magnitudes, axis=axis, keepdims=keepdims)
        if ord == -np.inf:
            return np.min(magnitudes, axis=axis, keepdims=keepdims)
        if ord == 1:
            return np.sum(magnitudes, axis=axis, keepdims=keepdims)
    elif ord == 1:
        return np.max(np.sum(magnitudes, axis=0))
    elif ord == np.inf:
        return np.max(np.sum(magnitudes, axis=1))
    raise ValueError("np.linalg.norm: this ord is not supported in a script")
