"""Reductions of NumPy that leave out NaNs, written in the language: a call of one is inlined."""

from __future__ import annotations

from typing import Any

import numpy

from hybridjit.frontend.library.elements import is_inexact
from hybridjit.frontend.library.shapes import as_rows
from hybridjit.frontend.library.sorting import (
    along_rows,
    at_quantile,
    check_quantile,
    mean_between,
    quantiles,
    restored,
)

np: Any = numpy
Array = Any


def _without_nans(a: Array, value: Any) -> Array:
    """The array with another number in the place of NaNs."""
    return np.where(np.isnan(a), np.full(1, value, a.dtype), a) if is_inexact(a) else a


def nansum(
    a: Array, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: bool = False
) -> Array:
    """The sum of what is not NaN."""
    numbers = _without_nans(a, 0)
    if dtype is None:
        return np.sum(numbers, axis=axis, keepdims=keepdims)
    return np.sum(numbers, axis=axis, dtype=dtype, keepdims=keepdims)


def nanprod(
    a: Array, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: bool = False
) -> Array:
    """The product of what is not NaN."""
    numbers = _without_nans(a, 1)
    if dtype is None:
        return np.prod(numbers, axis=axis, keepdims=keepdims)
    return np.prod(numbers, axis=axis, dtype=dtype, keepdims=keepdims)


def nancumsum(a: Array, axis: int | None = None) -> Array:
    """Running sums in which NaN counts as zero."""
    return np.cumsum(_without_nans(a, 0), axis=axis)


def nancumprod(a: Array, axis: int | None = None) -> Array:
    """Running products in which NaN counts as one."""
    return np.cumprod(_without_nans(a, 1), axis=axis)


def nanmax(a: Array, axis: Any = None, out: Any = None, keepdims: bool = False) -> Array:
    """The largest of what is not NaN; NaN, if all are."""
    if not is_inexact(a):
        return np.max(a, axis=axis, keepdims=keepdims)
    found = np.max(_without_nans(a, -np.inf), axis=axis, keepdims=keepdims)
    return np.where(np.all(np.isnan(a), axis=axis, keepdims=keepdims), np.nan, found)


def nanmin(a: Array, axis: Any = None, out: Any = None, keepdims: bool = False) -> Array:
    """The smallest of what is not NaN; NaN, if all are."""
    if not is_inexact(a):
        return np.min(a, axis=axis, keepdims=keepdims)
    found = np.min(_without_nans(a, np.inf), axis=axis, keepdims=keepdims)
    return np.where(np.all(np.isnan(a), axis=axis, keepdims=keepdims), np.nan, found)


def nanargmax(a: Array, axis: int | None = None, out: Any = None, keepdims: bool = False) -> Array:
    """Where the largest number is."""
    if np.any(np.all(np.isnan(a), axis=axis)):
        raise ValueError("All-NaN slice encountered")
    numbers = _without_nans(a, -np.inf) if is_inexact(a) else a
    return np.argmax(numbers, axis=axis, keepdims=keepdims)


def nanargmin(a: Array, axis: int | None = None, out: Any = None, keepdims: bool = False) -> Array:
    """Where the smallest number is."""
    if np.any(np.all(np.isnan(a), axis=axis)):
        raise ValueError("All-NaN slice encountered")
    numbers = _without_nans(a, np.inf) if is_inexact(a) else a
    return np.argmin(numbers, axis=axis, keepdims=keepdims)


def _count(a: Array, axis: Any, keepdims: bool) -> Array:
    return np.sum(~np.isnan(a), axis=axis, keepdims=keepdims)


def _mean(a: Array, axis: Any, keepdims: bool) -> Array:
    total = np.sum(_without_nans(a, 0), axis=axis, keepdims=keepdims)
    return (total / _count(a, axis, keepdims)).astype(a.dtype)


def nanmean(
    a: Array, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: bool = False
) -> Array:
    """The mean of what is not NaN."""
    if not is_inexact(a):
        return np.mean(a, axis=axis, dtype=dtype, keepdims=keepdims)
    return _mean(a if dtype is None else a.astype(dtype), axis, keepdims)


def nanvar(
    a: Array,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    ddof: Any = 0,
    keepdims: bool = False,
) -> Array:
    """The mean of the squared distances from the mean, without NaNs."""
    if not is_inexact(a):
        return np.var(a, axis=axis, dtype=dtype, ddof=ddof, keepdims=keepdims)
    x = a if dtype is None else a.astype(dtype)
    nothing = np.zeros(1, x.dtype)
    distances = np.where(np.isnan(x), nothing, x - _mean(x, axis, True))  # inf - inf stays NaN
    squares = (distances * distances.conj()).real
    total = np.sum(squares, axis=axis, keepdims=keepdims)
    freedom = _count(x, axis, keepdims) - ddof
    return np.where(freedom > 0, total / freedom, np.nan).astype(squares.dtype)


def nanstd(
    a: Array,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    ddof: Any = 0,
    keepdims: bool = False,
) -> Array:
    """The root of the mean of the squared distances from the mean, without NaNs."""
    return np.sqrt(nanvar(a, axis, dtype, None, ddof, keepdims))


def _medians(rows: Array) -> Array:
    """The medians of what is not NaN in the sorted rows of a matrix: NaNs are at their ends."""
    found = np.empty(rows.shape[0], rows.dtype if is_inexact(rows) else np.float64)
    for row in range(rows.shape[0]):
        n = int(np.sum(~np.isnan(rows[row])))
        found[row] = np.nan
        if n > 0:
            found[row] = mean_between(rows[row], (n - 1) // 2, n // 2)
    return found


def nanmedian(
    a: Array,
    axis: int | None = None,
    out: Any = None,
    overwrite_input: bool = False,
    keepdims: bool = False,
) -> Array:
    """The median of what is not NaN."""
    ordered = along_rows(a, axis)
    if axis is None:
        return restored(_medians(ordered[None])[0], a, axis, keepdims)
    found = _medians(as_rows(ordered)).reshape(ordered.shape[:-1])
    return restored(found, a, axis, keepdims)


def _at_quantile_of_numbers(ordered: Array, q: Any) -> Array:
    """What stands at a part of the numbers along the last axis; NaN, if there is none."""
    if ordered.ndim == 1:
        return _quantile_of_rows(ordered[None], q)[0]
    return _quantile_of_rows(as_rows(ordered), q).reshape(ordered.shape[:-1])


def _quantile_of_rows(rows: Array, q: Any) -> Array:
    check_quantile(q)
    dtype = np.result_type(rows, q) if is_inexact(rows) else np.result_type(rows, q, np.float64)
    found = np.full(rows.shape[0], np.nan, dtype)
    for row in range(rows.shape[0]):
        n = int(np.sum(~np.isnan(rows[row])))
        if n > 0:
            found[row] = at_quantile(rows[row, :n], q)
    return found


def nanquantile(
    a: Array,
    q: Any,
    axis: int | None = None,
    out: Any = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdims: bool = False,
) -> Array:
    """What parts of what is not NaN, from 0 to 1, are below."""
    if method != "linear":
        raise NotImplementedError("only method='linear' is supported", "take np.sort(a) and index")
    if np.ndim(q) > 0 and a.size == 0:  # of which NumPy makes one NaN, without the axis of q
        raise ValueError("several quantiles need at least one element")
    return quantiles(a, q, axis, keepdims, _at_quantile_of_numbers)


def nanpercentile(
    a: Array,
    q: Any,
    axis: int | None = None,
    out: Any = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdims: bool = False,
) -> Array:
    """What percentages of what is not NaN are below."""
    parts = np.asarray(q)
    if parts.ndim == 0:
        return nanquantile(a, q / 100, axis, None, False, method, keepdims)
    return nanquantile(a, parts / 100, axis, None, False, method, keepdims)
