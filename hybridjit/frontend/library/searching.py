"""Searching and counting of NumPy, written in the language: a call of one is inlined."""

from __future__ import annotations

from typing import Any

import numpy

np: Any = numpy
Array = Any
# So many values are looked at one by one; more are sorted first.
FEW = 16


def _is_below(x: Any, y: Any) -> bool:
    """x < y, where NaN is above all numbers."""
    return x < y or (y != y and x == x)


def _comes_before(y: Any, x: Any, side: str) -> bool:
    return _is_below(y, x) if side == "left" else not _is_below(x, y)


def place_of(a: Array, x: Any, side: str) -> int:
    """How many elements of a sorted array come before x; with side "right", or are equal to it.

    The same number of steps for every x, and no branch that depends on it.
    """
    first = 0
    size = len(a)
    while size > 1:
        half = size // 2
        first += half if _comes_before(a[first + half - 1], x, side) else 0
        size -= half
    if size == 1 and _comes_before(a[first], x, side):
        first += 1
    return first


def _places(a: Array, values: Array, side: str) -> Array:
    found = np.empty(len(values), np.int64)
    for k in range(len(values)):
        found[k] = place_of(a, values[k], side)
    return found


def searchsorted(a: Array, v: Any, side: str = "left", sorter: Array | None = None) -> Array:
    """Where to insert values in a sorted array so that it stays sorted."""
    values = np.asarray(v)
    ordered = a if sorter is None else a[sorter]
    found = _places(ordered, np.ravel(values), side)
    return found[0] if values.ndim == 0 else found.reshape(values.shape)


def _direction(bins: Array) -> int:
    """1 if no bin is below the one before it, -1 if none is above it; an error if neither."""
    rises, falls = True, True
    for k in range(1, len(bins)):
        rises = rises and not bins[k] < bins[k - 1]
        falls = falls and not bins[k] > bins[k - 1]
    if not rises and not falls:
        raise ValueError("bins must be monotonically increasing or decreasing")
    return 1 if rises else -1


def _bins_of(values: Array, bins: Array, side: str) -> Array:
    rises = _direction(bins) == 1
    found = np.empty(len(values), np.int64)
    for k in range(len(values)):
        if rises:
            found[k] = place_of(bins, values[k], side)
        else:
            found[k] = len(bins) - place_of(bins[::-1], values[k], side)
    return found


def digitize(x: Any, bins: Array, right: bool = False) -> Array:
    """The indices of the bins that values belong to."""
    values = np.asarray(x)
    found = _bins_of(np.ravel(values), bins, "left" if right else "right")
    return found[0] if values.ndim == 0 else found.reshape(values.shape)


def _interpolate(x: float, xp: Array, fp: Array) -> Any:
    """The value at a place from the first to the last of some points, on a line between two."""
    k = place_of(xp, x, "right") - 1
    result = fp[k]
    if k < len(xp) - 1 and xp[k] != x:
        slope = (fp[k + 1] - fp[k]) / (xp[k + 1] - xp[k])
        result = slope * (x - xp[k]) + fp[k]
        if np.isnan(result):
            result = slope * (x - xp[k + 1]) + fp[k + 1]
            if np.isnan(result) and fp[k] == fp[k + 1]:
                result = fp[k]
    return result


def _interpolated(x: Array, xp: Array, fp: Array, left: Any, right: Any) -> Array:
    below = fp[0] if left is None else left
    above = fp[-1] if right is None else right
    result = np.empty(len(x), fp.dtype)
    for k in range(len(x)):
        at = x[k]
        if np.isnan(at):
            result[k] = at if len(xp) > 1 else fp[0]
        elif at < xp[0]:
            result[k] = below
        elif at > xp[-1]:
            result[k] = above
        else:
            result[k] = _interpolate(at, xp, fp)
    return result


def _interpolated_around(x: Array, xp: Array, fp: Array, period: Any) -> Array:
    """The values of a function that repeats: the last point is also before the first."""
    length = abs(period)
    if length == 0:
        raise ValueError("period must be a non-zero value")
    order = np.argsort(xp % length)
    points, values = (xp % length)[order], fp[order]
    around = np.concatenate((points[-1:] - length, points, points[:1] + length))
    heights = np.concatenate((values[-1:], values, values[:1]))
    return _interpolated(x % length, around, heights, None, None)


def interp(
    x: Any, xp: Array, fp: Array, left: Any = None, right: Any = None, period: float | None = None
) -> Array:
    """The values of a function known at some points, with straight lines between them."""
    places = np.asarray(x)
    points = np.asarray(xp).astype(np.float64)
    if len(points) == 0:
        raise ValueError("array of sample points is empty")
    heights = np.asarray(fp)
    values = heights.astype(np.result_type(heights, np.float64))
    at = np.ravel(places).astype(np.float64)
    if period is None:
        found = _interpolated(at, points, values, left, right)
    else:
        found = _interpolated_around(at, points, values, period)
    return found[0] if places.ndim == 0 else found.reshape(places.shape)


def bincount(x: Array, weights: Array | None = None, minlength: int = 0) -> Array:
    """How often each integer occurs; `minlength` says how many there are at least."""
    if weights is not None and len(weights) != len(x):
        raise ValueError("The weights and list don't have the same length.")
    size = minlength
    for k in range(len(x)):
        if x[k] < 0:
            raise ValueError("'list' argument must have no negative elements")
        size = max(size, int(x[k]) + 1)
    counts = np.zeros(size, np.int64 if weights is None else np.float64)
    for k in range(len(x)):
        counts[x[k]] += 1 if weights is None else weights[k]
    return counts


def _are_among(values: Array, wanted: Array) -> Array:
    found = np.zeros(len(values), np.bool_)
    is_complex = values.dtype.kind == "c" or wanted.dtype.kind == "c"
    if is_complex or len(wanted) <= FEW:
        for k in range(len(values)):
            for other in wanted:
                if values[k] == other:
                    found[k] = True
                    break
    else:
        ordered = np.sort(wanted)
        for k in range(len(values)):
            place = min(place_of(ordered, values[k], "left"), len(ordered) - 1)
            found[k] = ordered[place] == values[k]
    return found


def isin(element: Any, test_elements: Any, assume_unique: bool = False, invert: bool = False):
    """Whether each element is among some values."""
    values = np.asarray(element)
    found = _are_among(np.ravel(values), np.ravel(np.asarray(test_elements)))
    if invert:
        found = ~found
    return found[0] if values.ndim == 0 else found.reshape(values.shape)
