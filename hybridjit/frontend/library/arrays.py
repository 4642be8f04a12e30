"""Products, counts and comparisons of NumPy, written in the language: a call of one is inlined.

They are plain functions too: in plain Python they give what the function of NumPy gives.
"""

from __future__ import annotations

from typing import Any

import numpy

from hybridjit.frontend.library.shapes import atleast_2d

np: Any = numpy
Array = Any


def trace(
    a: Array, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: Any = None, out: Any = None
) -> Array:
    """The sum of a diagonal."""
    diagonal = np.diagonal(a, offset, axis1, axis2)
    if dtype is None:
        return np.sum(diagonal, axis=-1)
    return np.sum(diagonal, axis=-1, dtype=dtype)


# -- products ----------------------------------------------------------------------------------


def vdot(a: Array, b: Array) -> Array:
    """The sum of the products of all elements, the first of them conjugated."""
    return _conjugated(np.ravel(a)) @ np.ravel(b)


def _conjugated(a: Array) -> Array:
    return a.conj() if a.dtype.kind == "c" else a


def vecdot(x1: Array, x2: Array, axis: int = -1) -> Array:
    """The sums of the products along an axis, the first of them conjugated."""
    products = _conjugated(x1) * x2
    if products.dtype == "bool":
        return np.any(products, axis=axis)
    return np.sum(products, axis=axis, dtype=products.dtype)


def matvec(x1: Array, x2: Array) -> Array:
    """The products of matrices with vectors."""
    return (x1 @ x2[..., None])[..., 0]


def vecmat(x1: Array, x2: Array) -> Array:
    """The products of vectors, which are conjugated, with matrices."""
    return (_conjugated(x1)[..., None, :] @ x2)[..., 0, :]


def inner(a: Array | float, b: Array | float) -> Array:
    """The sums of the products along the last axes."""
    x, y = np.asarray(a), np.asarray(b)
    if x.ndim == 0 or y.ndim == 0:
        return np.multiply(x, y)
    return np.tensordot(x, y, axes=(-1, -1))


def kron(a: Array, b: Array) -> Array:
    """All products of elements of two arrays, of at most two dimensions."""
    a, b = np.asarray(a), np.asarray(b)
    if a.ndim > 2 or b.ndim > 2:
        raise NotImplementedError(
            "it takes arrays of at most two dimensions here",
            "write a[:, None, :, None, ...] * b and reshape it",
        )
    if a.ndim == 0 or b.ndim == 0:
        return a * b
    if a.ndim == 1 and b.ndim == 1:
        return np.ravel(a[:, None] * b)
    x, y = atleast_2d(a), atleast_2d(b)
    products = x[:, None, :, None] * y[None, :, None, :]
    return products.reshape(x.shape[0] * y.shape[0], x.shape[1] * y.shape[1])


def _crossed(a: Array, b: Array) -> Array:
    if a.shape[-1] != 3 or b.shape[-1] != 3:
        raise ValueError("incompatible dimensions for cross product (dimension must be 3)")
    result = np.zeros((a + b).shape, np.result_type(a, b))
    result[..., 0] = a[..., 1] * b[..., 2] - a[..., 2] * b[..., 1]
    result[..., 1] = a[..., 2] * b[..., 0] - a[..., 0] * b[..., 2]
    result[..., 2] = a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0]
    return result


def cross(
    a: Array, b: Array, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: Any = None
) -> Array:
    """The vector at right angles to two vectors of three elements."""
    if axis is not None:
        found = _crossed(np.moveaxis(a, axis, -1), np.moveaxis(b, axis, -1))
        return np.moveaxis(found, -1, axis)
    found = _crossed(np.moveaxis(a, axisa, -1), np.moveaxis(b, axisb, -1))
    return np.moveaxis(found, -1, axisc)


def polyval(p: Array, x: Array | float) -> Array:
    """The polynomial with the coefficients `p`, highest first, at `x`."""
    dtype = np.result_type(p, np.asarray(x))  # a plain number counts as an int64 or a float64
    y = np.zeros(np.shape(x), dtype) if np.ndim(x) else dtype.type(0)
    for c in p:
        y = y * x + c
    return y


def _leading_zeros(a: Array, size: int) -> Array:
    return np.concatenate((np.zeros(size - len(a), a.dtype), a))


def polyadd(a1: Array, a2: Array) -> Array:
    """The coefficients of a sum of polynomials."""
    size = max(len(a1), len(a2))
    return _leading_zeros(a1, size) + _leading_zeros(a2, size)


def polysub(a1: Array, a2: Array) -> Array:
    """The coefficients of a difference of polynomials."""
    size = max(len(a1), len(a2))
    return _leading_zeros(a1, size) - _leading_zeros(a2, size)


def polyder(p: Array, m: int = 1) -> Array:
    """The coefficients of a derivative of a polynomial."""
    found = p
    for _ in (None,) * m:
        found = found[:-1] * np.arange(len(found) - 1, 0, -1)
    return found


# -- counts and comparisons --------------------------------------------------------------------


def ptp(a: Array, axis: Any = None, out: Any = None, keepdims: bool = False) -> Array:
    """From the smallest to the largest element."""
    return np.max(a, axis=axis, keepdims=keepdims) - np.min(a, axis=axis, keepdims=keepdims)


def count_nonzero(a: Array, axis: Any = None, *, keepdims: bool = False) -> Array:
    """How many elements are not zero."""
    return np.sum(a != 0, axis=axis, keepdims=keepdims)


def isclose(
    a: Array | float, b: Array | float, rtol: Any = 1e-5, atol: Any = 1e-8, equal_nan: bool = False
) -> Array:
    """Where two arrays are equal up to a tolerance."""
    y = b if np.iscomplexobj(b) else b * 1.0  # a product would make NaN of complex infinities
    is_near = np.isfinite(y) & (np.absolute(a - y) <= atol + rtol * np.absolute(y))
    if equal_nan:
        return (a == y) | is_near | (np.isnan(a) & np.isnan(y))
    return (a == y) | is_near


def allclose(
    a: Array | float, b: Array | float, rtol: Any = 1e-5, atol: Any = 1e-8, equal_nan: bool = False
) -> bool:
    """Whether two arrays are equal up to a tolerance."""
    return bool(np.all(isclose(a, b, rtol, atol, equal_nan)))


def array_equal(a1: Array | float, a2: Array | float, equal_nan: bool = False) -> bool:
    """Whether two arrays have the same shape and elements."""
    x, y = np.asarray(a1), np.asarray(a2)
    if x.shape != y.shape:
        return False
    if equal_nan:
        return bool(np.all((x == y) | (np.isnan(x) & np.isnan(y))))
    return bool(np.all(x == y))


def array_equiv(a1: Array | float, a2: Array | float) -> bool:
    """Whether two arrays are equal where they are broadcast."""
    return bool(np.all(np.asarray(a1) == np.asarray(a2)))
