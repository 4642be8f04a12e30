"""Functions of NumPy on arrays, written in the language: a call of one is inlined.

They are plain functions too: in plain Python they give what the function of NumPy gives.
"""

from __future__ import annotations

from typing import Any

import numpy

np: Any = numpy
Array = Any


def triu(m: Array, k: int = 0) -> Array:
    """The elements on and above a diagonal, zero elsewhere."""
    rows = np.arange(m.shape[-2])
    columns = np.arange(m.shape[-1])
    return np.where(columns - k >= rows[:, None], m, np.zeros(1, m.dtype))


def tril(m: Array, k: int = 0) -> Array:
    """The elements on and below a diagonal, zero elsewhere."""
    rows = np.arange(m.shape[-2])
    columns = np.arange(m.shape[-1])
    return np.where(columns - k <= rows[:, None], m, np.zeros(1, m.dtype))


def diag(v: Array, k: int = 0) -> Array:
    """The diagonal of a matrix, or a matrix with that diagonal."""
    if v.ndim == 2:
        return np.diagonal(v, k)
    size = len(v) + abs(k)
    result = np.zeros((size, size), v.dtype)
    for i in range(len(v)):
        result[i + max(-k, 0), i + max(k, 0)] = v[i]
    return result


def trace(a: Array, offset: int = 0) -> Array:
    """The sum of a diagonal."""
    return np.sum(np.diagonal(a, offset))


def _differences(a: Array) -> Array:
    if a.dtype == "bool":
        return a[..., 1:] != a[..., :-1]
    return a[..., 1:] - a[..., :-1]


def diff(a: Array, n: int = 1, axis: int = -1) -> Array:
    """Each element less the one before it, once or twice."""
    b = np.moveaxis(a, axis, -1)
    if n == 1:
        return np.moveaxis(_differences(b), -1, axis)
    if n == 2:
        return np.moveaxis(_differences(_differences(b)), -1, axis)
    raise ValueError("np.diff: n can be 1 or 2 in a script")


def fliplr(m: Array) -> Array:
    """The columns in reverse order."""
    return m[:, ::-1]


def flipud(m: Array) -> Array:
    """The rows in reverse order."""
    return m[::-1]


def vdot(a: Array, b: Array) -> Array:
    """The sum of the products of all elements, the first of them conjugated."""
    return np.sum(np.ravel(a).conj() * np.ravel(b))


def inner(a: Array, b: Array) -> Array:
    """The sums of the products along the last axes."""
    if a.ndim == 1 and b.ndim == 1:
        return a @ b
    return a @ np.swapaxes(b, -1, -2)


def kron(a: Array, b: Array) -> Array:
    """The matrix of all products of elements of two matrices."""
    products = a[:, None, :, None] * b[None, :, None, :]
    return products.reshape(a.shape[0] * b.shape[0], a.shape[1] * b.shape[1])


def cross(a: Array, b: Array) -> Array:
    """The vector at right angles to two vectors of three elements."""
    result = np.zeros((a + b).shape, np.result_type(a, b))
    result[..., 0] = a[..., 1] * b[..., 2] - a[..., 2] * b[..., 1]
    result[..., 1] = a[..., 2] * b[..., 0] - a[..., 0] * b[..., 2]
    result[..., 2] = a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0]
    return result


def convolve(a: Array, v: Array, mode: str = "full") -> Array:
    """The sums of the products of two sequences that slide along each other."""
    n, m = len(a), len(v)
    full = np.zeros(n + m - 1, np.result_type(a, v))
    for i in range(n):
        for j in range(m):
            full[i + j] += a[i] * v[j]
    shorter, longer = min(n, m), max(n, m)
    if mode == "same":
        return full[(shorter - 1) // 2 : (shorter - 1) // 2 + longer]
    if mode == "valid":
        return full[shorter - 1 : longer]
    return full


def polyval(p: Array, x: Array) -> Array:
    """The polynomial with the coefficients `p`, highest first, at `x`."""
    y = 0 * x
    for c in p:
        y = y * x + c
    return y


def trapezoid(y: Array, x: Array | None = None, dx: float = 1.0) -> Array:
    """The integral of a function known at some points, by straight lines between them."""
    if x is None:
        return np.sum(dx * (y[1:] + y[:-1]) / 2.0)
    return np.sum((x[1:] - x[:-1]) * (y[1:] + y[:-1]) / 2.0)


def ptp(a: Array, axis: int | None = None) -> Array:
    """From the smallest to the largest element."""
    return np.max(a, axis=axis) - np.min(a, axis=axis)


def count_nonzero(a: Array, axis: int | None = None) -> Array:
    """How many elements are not zero."""
    return np.sum(a != 0, axis=axis)


def nansum(a: Array, axis: int | None = None, keepdims: bool = False) -> Array:
    """The sum of what is not NaN."""
    return np.sum(np.where(np.isnan(a), np.zeros(1, a.dtype), a), axis=axis, keepdims=keepdims)


def nanmax(a: Array, axis: int | None = None, keepdims: bool = False) -> Array:
    """The largest of what is not NaN."""
    return np.max(
        np.where(np.isnan(a), np.full(1, -np.inf, a.dtype), a), axis=axis, keepdims=keepdims
    )


def nanmin(a: Array, axis: int | None = None, keepdims: bool = False) -> Array:
    """The smallest of what is not NaN."""
    return np.min(
        np.where(np.isnan(a), np.full(1, np.inf, a.dtype), a), axis=axis, keepdims=keepdims
    )


def nanmean(a: Array, axis: int | None = None, keepdims: bool = False) -> Array:
    """The mean of what is not NaN."""
    total = nansum(a, axis, keepdims)
    number = np.sum(~np.isnan(a), axis=axis, keepdims=keepdims)
    return (total / number).astype(a.dtype)


def isclose(a: Array, b: Array, rtol: float = 1e-5, atol: float = 1e-8) -> Array:
    """Where two arrays are equal up to a tolerance."""
    return (a == b) | (np.isfinite(b) & (np.absolute(a - b) <= atol + rtol * np.absolute(b)))


def allclose(a: Array, b: Array, rtol: float = 1e-5, atol: float = 1e-8) -> Array:
    """Whether two arrays are equal up to a tolerance."""
    return np.all(isclose(a, b, rtol, atol))


def array_equal(a1: Array, a2: Array) -> Array:
    """Whether two arrays have the same shape and elements."""
    if a1.shape != a2.shape:
        return False
    return np.all(a1 == a2)
