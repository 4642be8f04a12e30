"""Sorting of NumPy, and what needs it, written in the language: a call of one is inlined.

Runs are merged from both ends at once: no branch depends on the data, and no end of a run is met
before all its elements are placed. It is stable; NaNs come last.

Bounds say what holds anyway, with min and max, so that indices are proved: an index that is not is
checked, and a loop of such indices is there twice, which takes long to compile.

With `keys`, what is sorted are the indices of elements of `keys`.
"""

from __future__ import annotations

from typing import Any

import numpy

from hybridjit.frontend.library.elements import is_inexact
from hybridjit.frontend.library.shapes import as_rows

np: Any = numpy
Array = Any
# Runs of this length are sorted by insertion: merging shorter ones takes longer.
RUN = 8


def is_real(a: Array) -> bool:
    """True if the elements are floats, which can be NaN."""
    return a.dtype.kind == "f" or a.dtype == "bfloat16"


def _is_complex_before(x: complex, y: complex) -> bool:
    """By the real parts, then by the imaginary ones; those with a NaN last."""
    x_has, y_has = x.imag == x.imag, y.imag == y.imag
    if x.real < y.real:
        return x_has or not y_has
    if x.real > y.real:
        return x_has and not y_has
    if x.real == y.real or (x.real != x.real and y.real != y.real):
        return x.imag < y.imag or (x_has and not y_has)
    return y.real != y.real


def _is_before(x: Array, y: Array, keys: Array) -> bool:
    if keys is not None:
        return _is_complex_before(keys[x], keys[y]) if keys.dtype.kind == "c" else keys[x] < keys[y]
    return _is_complex_before(x, y) if x.dtype.kind == "c" else x < y


def _sort_runs(a: Array, n: int, keys: Array) -> None:
    for first in range(0, n, RUN):
        for k in range(first + 1, min(first + RUN, n)):
            x = a[k]
            place = first
            for j in range(k, first, -1):
                y = a[j - 1]
                if not _is_before(x, y, keys):
                    place = j
                    break
                a[j] = y
            a[place] = x


def _merge_pair(a: Array, b: Array, first: int, width: int, keys: Array) -> None:
    """Merge two runs of the same length: one half from the front, the other from the end."""
    i, j = first, first + width
    p, q = first + width - 1, first + 2 * width - 1
    last = min(first + 2 * width, len(b)) - 1
    for k in range(first, min(first + width, len(b))):
        x, y = a[i], a[j]
        takes_right = _is_before(y, x, keys)
        b[k] = y if takes_right else x
        j += int(takes_right)
        i += 1 - int(takes_right)
        u, v = a[p], a[q]
        takes_left = _is_before(v, u, keys)
        b[max(last - (k - first), 0)] = u if takes_left else v
        p -= int(takes_left)
        q -= 1 - int(takes_left)


def _merge_rest(a: Array, b: Array, first: int, width: int, n: int, keys: Array) -> None:
    """Merge what is left of pairs of full runs: a run and a shorter one, or one alone."""
    middle = min(first + width, n)
    i, j = first, middle
    for k in range(first, n):
        takes_right = j < n
        if i < middle and j < n:
            takes_right = _is_before(a[j], a[i], keys)
        b[k] = a[j] if takes_right else a[i]
        j += int(takes_right)
        i += 1 - int(takes_right)


def _merge_runs(a: Array, b: Array, width: int, n: int, keys: Array) -> None:
    pairs = n // (2 * width)
    for pair in range(pairs):
        _merge_pair(a, b, max(pair * 2 * width, 0), width, keys)
    _merge_rest(a, b, max(pairs * 2 * width, 0), width, n, keys)


def _sort_numbers(a: Array, b: Array, count: int, keys: Array) -> None:
    """Sort the first `count` elements of `a`; `b` is memory of the same size."""
    n = min(count, len(a))
    _sort_runs(a, n, keys)
    width = RUN
    while width < n:
        _merge_runs(a, b, width, n, keys)
        for k in range(n):  # merging back instead would be faster by a tenth, and twice the code
            a[k] = b[k]
        width *= 2


def _put_nans_last(a: Array, b: Array, keys: Array) -> int:
    """How many elements are numbers; they come first, in the order in which they were."""
    count = 0
    nans = 0
    for k in range(len(a)):
        x = a[k]
        if np.isnan(x) if keys is None else np.isnan(keys[x]):
            b[nans] = x
            nans += 1
        else:
            a[count] = x
            count += 1
    first = max(count, 0)
    for k in range(first, len(a)):
        a[k] = b[k - first]
    return count


def _sort_in_place(a: Array, b: Array, keys: Array) -> None:
    n = len(a)
    if is_real(a if keys is None else keys):
        n = _put_nans_last(a, b, keys)
    _sort_numbers(a, b, n, keys)


# -- along an axis -----------------------------------------------------------------------------


def _sorted_rows(a: Array) -> Array:
    """The matrix with each of its rows sorted."""
    rows = a.copy()
    spare = np.empty(rows.shape[1], rows.dtype)
    for row in range(rows.shape[0]):
        _sort_in_place(rows[row], spare, None)
    return rows


def _sorted_indices(a: Array) -> Array:
    """For each row of a matrix, the indices in the order of its elements."""
    result = np.empty(a.shape, np.int64)
    spare = np.empty(a.shape[1], np.int64)
    for row in range(a.shape[0]):
        result[row] = np.arange(a.shape[1])
        _sort_in_place(result[row], spare, a[row])
    return result


def sort(
    a: Array, axis: int | None = -1, kind: Any = None, order: Any = None, stable: Any = None
) -> Array:
    """A sorted copy, along an axis; NaNs come last."""
    if axis is None:
        return _sorted_rows(np.ravel(a)[None])[0]
    moved = np.moveaxis(a, axis, -1)
    if a.ndim == 1:
        return _sorted_rows(moved[None])[0]
    return np.moveaxis(_sorted_rows(as_rows(moved)).reshape(moved.shape), -1, axis)


def argsort(
    a: Array, axis: int | None = -1, kind: Any = None, order: Any = None, stable: Any = None
) -> Array:
    """The indices that sort an array; those of equal elements stay in their order."""
    if axis is None:
        return _sorted_indices(np.ravel(a)[None])[0]
    moved = np.moveaxis(a, axis, -1)
    if a.ndim == 1:
        return _sorted_indices(moved[None])[0]
    return np.moveaxis(_sorted_indices(as_rows(moved)).reshape(moved.shape), -1, axis)


def partition(a: Array, kth: Any, axis: int | None = -1, kind: Any = None) -> Array:
    """A copy in which what comes before an index is not larger: sorted, which it may be."""
    _check_place(kth, a.size if axis is None else a.shape[axis])
    return sort(a, axis)


def _check_place(kth: Any, size: int) -> None:
    for place in np.atleast_1d(np.asarray(kth)):
        if size > 0 and (place < -size or place >= size):
            raise ValueError("kth is out of bounds")


def argpartition(a: Array, kth: Any, axis: int | None = -1, kind: Any = None) -> Array:
    """The indices that partition an array: those that sort it."""
    _check_place(kth, a.size if axis is None else a.shape[axis])
    return argsort(a, axis)


# -- what stands at a place of a sorted array --------------------------------------------------


def _along_rows(a: Array, axis: int | None) -> Array:
    """The elements sorted along the last axis: of all of them, or of those along an axis."""
    if axis is None:
        return sort(np.ravel(a))
    return sort(np.moveaxis(a, axis, -1))


def _restored(result: Array, a: Array, axis: int | None, keepdims: bool) -> Array:
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
    ordered = _along_rows(a, axis)
    n = ordered.shape[-1]
    middle = mean_between(ordered, (n - 1) // 2, n // 2)
    if is_real(a):
        last = mean_between(ordered, n - 1, n - 1)  # NaN, if any is
        return _restored(np.where(np.isnan(last), last, middle), a, axis, keepdims)
    return _restored(middle, a, axis, keepdims)


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
    ordered = _along_rows(a, axis)
    parts = np.asarray(q)
    if parts.ndim == 0:
        return _restored(at(ordered, q), a, axis, keepdims)
    dtype = np.result_type(a, np.float64, parts)
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
