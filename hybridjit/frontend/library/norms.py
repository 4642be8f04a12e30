"""Norms, powers and chains of matrices, written in the language: a call of one is inlined."""

from __future__ import annotations

from typing import Any

import numpy

from hybridjit.frontend.library.decompositions import svdvals
from hybridjit.frontend.library.elements import is_inexact
from hybridjit.frontend.library.linalg import inv, square_type

np: Any = numpy
Array = Any


def _euclidean(x: Array, axis: Any, keepdims: bool) -> Array:
    """The root of the sum of the squares."""
    squares = x.real * x.real + x.imag * x.imag if x.dtype.kind == "c" else x * x
    return np.sqrt(np.sum(squares, axis=axis, keepdims=keepdims))


def _of_vectors(x: Array, ord: Any, axis: Any, keepdims: bool) -> Array:
    if ord == 2:
        return _euclidean(x, axis, keepdims)
    magnitudes = np.absolute(x)
    if ord == np.inf:
        return np.max(magnitudes, axis=axis, keepdims=keepdims, initial=0)
    if ord == -np.inf:
        return np.min(magnitudes, axis=axis, keepdims=keepdims)
    if ord == 0:
        return np.sum((x != 0).astype(magnitudes.dtype), axis=axis, keepdims=keepdims)
    if ord == 1:
        return np.sum(magnitudes, axis=axis, keepdims=keepdims)
    return np.sum(magnitudes**ord, axis=axis, keepdims=keepdims) ** (1 / ord)


def _of_matrix(x: Array, ord: Any, keepdims: bool) -> Array:
    """The largest or smallest sum of a column, or of a row."""
    magnitudes = np.absolute(x)
    if ord == 1 or ord == -1:
        sums = np.sum(magnitudes, axis=0, keepdims=keepdims)
    elif ord == np.inf or ord == -np.inf:
        sums = np.sum(magnitudes, axis=1, keepdims=keepdims)
    elif ord == 2 or ord == -2 or ord == "nuc":
        values = svdvals(x)
        sums = values[None] if keepdims else values
    else:
        raise ValueError("Invalid norm order for matrices.")
    if ord == "nuc":
        return np.sum(sums, keepdims=keepdims)
    if ord < 0:
        return np.min(sums, keepdims=keepdims)
    return np.max(sums, keepdims=keepdims, initial=0)


def norm(x: Array, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Array:
    """The length of a vector, or of all elements; with `ord`, another norm."""
    wide = x if is_inexact(x) else x.astype(np.float64)
    is_vector = x.ndim == 1 if axis is None else np.asarray(axis).ndim == 0
    if ord == "fro" and is_vector:
        raise ValueError("Invalid norm order 'fro' for vectors")
    if ord == "fro" and axis is None and x.ndim != 2:
        raise ValueError("Improper number of dimensions to norm.")
    if ord is None or ord == "fro":
        return _euclidean(wide, axis, keepdims)
    if axis is None:
        if x.ndim != 1 and x.ndim != 2:
            raise ValueError("Improper number of dimensions to norm.")
        if x.ndim == 1:
            return _of_vectors(wide, ord, axis, keepdims)
        return _of_matrix(wide, ord, keepdims)
    if np.asarray(axis).ndim > 0:
        raise NotImplementedError(
            "a norm of matrices along two axes is supported for ord='fro' only",
            "loop over the matrices",
        )
    return _of_vectors(wide, ord, axis, keepdims)


def matrix_power(a: Array, n: int) -> Array:
    """A product of a square matrix with itself; of its inverse, if n is negative."""
    result = np.empty(a.shape, a.dtype if n >= 0 else square_type(a))
    factor = a.copy() if n >= 0 else inv(a)
    if n == 0:
        result[...] = np.eye(a.shape[-1])
    else:
        result[...] = factor  # not 1 times it, which is NaN beside an infinity
    left = abs(n) - 1
    while left > 0:
        if left % 2 == 1:
            result = result @ factor
        left //= 2
        if left > 0:
            factor = factor @ factor
    return result


def multi_dot(arrays: Any, out: Any = None) -> Array:
    """The product of several matrices, from left to right."""
    result = arrays[0]
    for matrix in arrays[1:]:
        result = np.dot(result, matrix)
    return result
