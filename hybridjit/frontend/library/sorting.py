"""Sorting of NumPy, and what needs it, written in the language: a call of one is inlined.

What sorts a row are the functions of NumPy itself.
"""

from __future__ import annotations

from typing import Any

import numpy

from hybridjit.frontend.library.elements import is_inexact
from hybridjit.frontend.library.numpy_sorts import (
    argsort_row,
    sort_row,
    stable_argsort_row,
    stable_sort_row,
)
from hybridjit.frontend.library.shapes import as_rows

np: Any = numpy
Array = Any


def is_real(a: Array) -> bool:
    """True if the elements are floats, which can be NaN."""
    return a.dtype.kind == "f" or a.dtype == "bfloat16"


def _is_stable(kind: Any, stable: Any) -> bool:
    return kind == "stable" or kind == "mergesort" or (stable is not None and stable)


# -- along an axis -----------------------------------------------------------------------------


def _has_few_digits(row: Array) -> bool:
    """Whether NumPy counts digits if it is to be stable, which is fast; nobody sees the order."""
    kind = row.dtype.kind
    return (kind == "i" or kind == "u") and row.dtype.itemsize <= 2


def _sort_row(row: Array, kind: Any, stable: Any) -> None:
    if _is_stable(kind, stable) or _has_few_digits(row):
        stable_sort_row(row, len(row), 0)
    else:
        sort_row(row, len(row), 0)


def _sorted_rows(a: Array, kind: Any, stable: Any) -> Array:
    """A copy of a vector, or of a matrix with each of its rows, sorted."""
    # Of half precision, single has the same order, and NumPy sorts it ten times as fast.
    rows = a.astype(np.float32 if a.dtype == np.float16 else _known_type(a))
    if a.ndim == 1:
        _sort_row(rows, kind, stable)
    else:
        for row in range(rows.shape[0]):
            _sort_row(rows[row], kind, stable)
    return rows if rows.dtype == a.dtype else rows.astype(a.dtype)


def _known_type(a: Array) -> Any:
    """A type that NumPy sorts, with the same order."""
    return np.float32 if a.dtype == "bfloat16" else a.dtype


def _sort_indices(keys: Array, indices: Array, kind: Any, stable: Any) -> None:
    indices[:] = np.arange(len(keys))
    if _is_stable(kind, stable):
        stable_argsort_row(keys, indices, len(keys), 0)
    else:
        argsort_row(keys, indices, len(keys), 0)


def _sorted_indices(a: Array, kind: Any, stable: Any) -> Array:
    """The indices of a vector in the order of its elements, or of each row of a matrix."""
    keys = a.astype(_known_type(a))
    result = np.empty(a.shape, np.int64)
    if a.ndim == 1:
        _sort_indices(keys, result, kind, stable)
    else:
        for row in range(a.shape[0]):
            _sort_indices(keys[row], result[row], kind, stable)
    return result


def _check_options(kind: Any, order: Any, stable: Any) -> None:
    if order is not None:
        raise ValueError("Cannot specify order when the array has no fields.")
    is_quick = kind is None or kind == "quicksort" or kind == "heapsort"
    if not is_quick and not _is_stable(kind, None):
        raise ValueError("sort kind must be 'quicksort', 'heapsort', 'mergesort' or 'stable'")
    if kind is not None and stable is not None:
        raise ValueError("`kind` and `stable` parameters can't be provided at the same time")


def sort(
    a: Array, axis: int | None = -1, kind: Any = None, order: Any = None, stable: Any = None
) -> Array:
    """A sorted copy, along an axis; NaNs come last."""
    _check_options(kind, order, stable)
    if axis is None:
        return _sorted_rows(np.ravel(a), kind, stable)
    if a.ndim == 1:
        return _sorted_rows(a, kind, stable)
    moved = np.moveaxis(a, axis, -1)
    return np.moveaxis(_sorted_rows(as_rows(moved), kind, stable).reshape(moved.shape), -1, axis)


def argsort(
    a: Array, axis: int | None = -1, kind: Any = None, order: Any = None, stable: Any = None
) -> Array:
    """The indices that sort an array."""
    _check_options(kind, order, stable)
    if axis is None or a.ndim == 0:
        return _sorted_indices(np.ravel(a), kind, stable)
    if a.ndim == 1:
        return _sorted_indices(a, kind, stable)
    moved = np.moveaxis(a, axis, -1)
    found = _sorted_indices(as_rows(moved), kind, stable)
    return np.moveaxis(found.reshape(moved.shape), -1, axis)


def partition(a: Array, kth: Any, axis: int | None = -1, kind: Any = None) -> Array:
    """A copy in which what comes before an index is not larger: sorted, which it may be."""
    _check_place(kth, a.size if axis is None or a.ndim == 0 else a.shape[axis])
    return sort(a, axis)


def _check_place(kth: Any, size: int) -> None:
    for place in np.atleast_1d(np.asarray(kth)):
        if size > 0 and (place < -size or place >= size):
            raise ValueError("kth is out of bounds")


def argpartition(a: Array, kth: Any, axis: int | None = -1, kind: Any = None) -> Array:
    """The indices that partition an array: those that sort it."""
    _check_place(kth, a.size if axis is None or a.ndim == 0 else a.shape[axis])
    return argsort(a, axis)


# -- what stands at a place of a sorted array --------------------------------------------------


def along_rows(a: Array, axis: int | None) -> Array:
    """The elements sorted along the last axis: of all of them, or of those along an axis."""
    if axis is not None and np.ndim(axis) > 0:
        raise NotImplementedError("several axes are not supported", "reshape them to one before")
    if axis is None:
        return sort(np.ravel(a))
    return sort(np.moveaxis(a, axis, -1))


def restored(result: Array, a: Array, axis: int | None, keepdims: bool) -> Array:
    """A result with the axes that were reduced, if they are kept."""
    if not keepdims:
        return result
    if axis is None:
        return np.reshape(np.asarray(result), (1,) * a.ndim)
    return np.expand_dims(np.asarray(result), axis)


def mean_between(ordered: Array, low: int, high: int) -> Array:
    """The mean of two elements along the last axis, or one element; NaN, if there is none.

    `np.mean` of so few would be code for a sum of any length.
    """
    if ordered.ndim == 1:
        return _mean_along_rows(ordered[None], low, high)[0]
    return _mean_along_rows(ordered, low, high)


def _mean_along_rows(ordered: Array, low: int, high: int) -> Array:
    dtype = ordered.dtype if is_inexact(ordered) else np.float64
    found = np.full(ordered.shape[:-1], np.nan, dtype)
    if ordered.shape[-1] > 0:
        wide = np.result_type(dtype, np.float32)
        x, y = ordered[..., low].astype(wide), ordered[..., high].astype(wide)
        found[...] = np.where(low == high, x, (x + y) / 2)
    return found


def median(
    a: Array,
    axis: int | None = None,
    out: Any = None,
    overwrite_input: bool = False,
    keepdims: bool = False,
) -> Array:
    """The element in the middle of the sorted array, or the mean of the two there."""
    ordered = along_rows(a, axis)
    n = ordered.shape[-1]
    middle = mean_between(ordered, (n - 1) // 2, n // 2)
    if is_inexact(a):
        last = mean_between(ordered, n - 1, n - 1)  # NaN, if any is
        return restored(np.where(np.isnan(last), last, middle), a, axis, keepdims)
    return restored(middle, a, axis, keepdims)


def check_quantile(q: Any) -> None:
    """Raise if a part is not from 0 to 1: NaN is not."""
    if not 0 <= q <= 1:
        raise ValueError("Quantiles must be in the range [0, 1]")


def at_quantile(ordered: Array, q: Any) -> Array:
    """What stands at a part, from 0 to 1, of the last axis: on a line between two elements."""
    n = ordered.shape[-1]
    if n == 0:
        raise IndexError("index -1 is out of bounds for axis 0 with size 0")
    check_quantile(q)
    place = q * (n - 1)
    low = min(int(place), n - 1)
    high = min(low + 1, n - 1)
    part = place - low
    a, b = ordered[..., low], ordered[..., high]
    found = np.where(part >= 0.5, b - (b - a) * (1 - part), a + (b - a) * part)
    if is_real(ordered):
        last = ordered[..., n - 1]
        return np.where(np.isnan(last), last, found)
    return found


def quantiles(a: Array, q: Any, axis: int | None, keepdims: bool, at: Any) -> Array:
    """What `at(ordered, q)` finds in the sorted elements, for one part or for each of several."""
    if a.dtype.kind == "c":
        raise TypeError("a must be an array of real numbers")
    ordered = along_rows(a, axis)
    parts = np.asarray(q)
    is_element = parts.dtype.kind in "biu"  # the first or the last: nothing is interpolated
    dtype = a.dtype if is_element else np.result_type(a, parts)
    if parts.ndim == 0:
        found = at(ordered, q)
        return restored(found.astype(dtype) if is_element else found, a, axis, keepdims)
    found = np.empty((len(parts), *ordered.shape[:-1]), dtype)
    for k in range(len(parts)):
        found[k] = at(ordered, parts[k])
    if not keepdims:
        return found
    if axis is None:
        return found.reshape((len(parts), *(1,) * a.ndim))
    return np.expand_dims(found, axis + 1 if axis >= 0 else axis)


def quantile(
    a: Array,
    q: Any,
    axis: int | None = None,
    out: Any = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdims: bool = False,
) -> Array:
    """What parts of the elements, from 0 to 1, are below."""
    if method != "linear":
        raise NotImplementedError("only method='linear' is supported", "take np.sort(a) and index")
    return quantiles(a, q, axis, keepdims, at_quantile)


def percentile(
    a: Array,
    q: Any,
    axis: int | None = None,
    out: Any = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdims: bool = False,
) -> Array:
    """What percentages of the elements are below."""
    if method != "linear":
        raise NotImplementedError("only method='linear' is supported", "take np.sort(a) and index")
    parts = np.asarray(q)
    if parts.ndim == 0:
        return quantiles(a, q / 100, axis, keepdims, at_quantile)
    return quantiles(a, parts / 100, axis, keepdims, at_quantile)
