"""What depends on the elements in its size: `np.nonzero`, `np.unique`, sets."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hybridjit.scalars.builtins import const_range

Array = NDArray[Any]


def flatnonzero(a: Any) -> Array:
    """The indices of the elements that are not zero, of the flat array."""
    values = np.ravel(np.asarray(a))
    found = np.empty(np.count_nonzero(values), np.int64)
    k = 0
    for i in range(len(values)):
        if values[i] != 0:
            found[k] = i
            k += 1
    return found


def nonzero(a: Any) -> tuple[Array, ...]:
    """The indices of the elements that are not zero, an array for each axis."""
    values = np.asarray(a)
    if values.ndim == 0:
        raise NotImplementedError("nonzero takes arrays", "write np.atleast_1d(a)")
    found = flatnonzero(values)
    if values.ndim == 1:
        return (found,)
    return np.unravel_index(found, values.shape)


def argwhere(a: Any) -> Array:
    """The indices of the elements that are not zero, a row for each element."""
    values = np.asarray(a)
    found = flatnonzero(values)
    places = np.empty((len(found), values.ndim), np.int64)
    for k in range(len(found)):
        rest = found[k]
        for axis in const_range(values.ndim):
            size = values.shape[values.ndim - 1 - axis]
            places[k, values.ndim - 1 - axis] = rest % size
            rest = rest // size
    return places


def extract(condition: Any, arr: Any) -> Array:
    """The elements of the flat array where a condition holds, which may have another size."""
    return compress(condition, arr)


def compress(condition: Any, a: Any, axis: int | None = None) -> Array:
    """The slices along an axis where a condition holds; one that is too short holds no further."""
    wanted = flatnonzero(condition)
    values = np.asarray(a)
    size = values.size if axis is None else values.shape[axis]
    if len(wanted) > 0 and wanted[-1] >= size:
        raise IndexError("the condition holds beyond the end of the axis")
    if axis is None:
        return np.ravel(values)[wanted]
    return np.take(values, wanted, axis)


def delete(arr: Any, obj: Any, axis: int | None = None) -> Array:
    """The array without the slices at a place, or at several, along an axis."""
    values = np.asarray(arr)
    is_kept = np.ones(values.size if axis is None else values.shape[axis], np.bool_)
    is_kept[np.asarray(obj) if np.ndim(obj) else obj] = False
    return compress(is_kept, values, axis)


def insert(arr: Any, obj: Any, values: Any, axis: int | None = None) -> Array:
    """The array with others before the element at a place."""
    if np.ndim(obj) != 0 or (axis is not None and np.ndim(arr) != 1):
        raise NotImplementedError(
            "insert takes one place in an array of one axis", "use np.concatenate"
        )
    old = np.asarray(arr)
    size = old.size
    if obj < -size or obj > size:
        raise IndexError(f"index {obj} is out of bounds for axis 0 with size {size}")
    at = obj + size if obj < 0 else obj
    new = np.ravel(np.asarray(values)).astype(old.dtype)
    return np.concatenate((np.ravel(old)[:at], new, np.ravel(old)[at:]))


def _is_new(values: Array, equal_nan: bool) -> Array:
    """Of sorted values, which ones differ from the one before."""
    new = np.ones(len(values), np.bool_)
    for k in range(1, len(values)):
        same = values[k] == values[k - 1]
        if equal_nan and values[k] != values[k] and values[k - 1] != values[k - 1]:
            same = True
        new[k] = not same
    return new


def unique(
    ar: Any,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: int | None = None,
    equal_nan: bool = True,
) -> Any:
    """The different elements, sorted; where each stands first, which each is, how often it is."""
    if axis is not None:
        raise NotImplementedError("unique rows are not supported", "give no axis")
    whole = np.asarray(ar)
    flat = np.ravel(whole)
    if not (return_index or return_inverse or return_counts):
        ordered = np.sort(flat)
        return ordered[_is_new(ordered, equal_nan)]
    if not (return_index or return_inverse):
        ordered = np.sort(flat)
        starts = np.flatnonzero(_is_new(ordered, equal_nan))
        return ordered[starts], np.diff(np.append(starts, len(flat)))
    order = np.argsort(flat, kind="stable")
    ordered = flat[order]
    new = _is_new(ordered, equal_nan)
    starts = np.flatnonzero(new)
    values = ordered[starts]
    inverse: Any = np.empty(len(flat), np.int64)
    number = -1
    for k in range(len(flat)):
        if new[k]:
            number += 1
        inverse[order[k]] = number
    counts = np.diff(np.append(starts, len(flat)))
    return _with_details(
        (values, order[starts], inverse.reshape(whole.shape), counts),
        return_index,
        return_inverse,
        return_counts,
    )


def _with_details(found: Any, index: bool, inverse: bool, counts: bool) -> Any:
    if index and inverse and counts:
        return found
    if index and inverse:
        return found[0], found[1], found[2]
    if index and counts:
        return found[0], found[1], found[3]
    if inverse and counts:
        return found[0], found[2], found[3]
    return found[0], found[1 if index else 2 if inverse else 3]


def union1d(ar1: Any, ar2: Any) -> Array:
    """The elements of either array, sorted."""
    return unique(np.concatenate((np.ravel(np.asarray(ar1)), np.ravel(np.asarray(ar2)))))


def _common(one: Array, other: Array, is_wanted: bool) -> Array:
    """The different elements, sorted, that two arrays have in common, or that only one has.

    Equal ones of the first array come before those of the other. A NaN is equal to no other, but
    each array has one at most.
    """
    both = np.concatenate((one, other))
    order = np.argsort(both, kind="stable")
    ordered = both[order]
    new = _is_new(ordered, True)
    kept = np.zeros(len(both), np.bool_)
    start = 0
    for k in range(len(both)):
        if new[k]:
            start = k
        if k + 1 == len(both) or new[k + 1]:
            in_both = order[start] < len(one) <= order[k]
            is_nan = ordered[k] != ordered[k]
            kept[k] = (in_both and not is_nan) == is_wanted
            if in_both and is_nan and not is_wanted:
                kept[start] = True
    return ordered[kept]


def intersect1d(ar1: Any, ar2: Any, assume_unique: bool = False) -> Array:
    """The elements of both arrays, sorted."""
    one, other = np.ravel(np.asarray(ar1)), np.ravel(np.asarray(ar2))
    if not assume_unique:
        return _common(one, other, True)
    ordered = np.sort(np.concatenate((one, other)))
    return ordered[:-1][ordered[1:] == ordered[:-1]]


def setxor1d(ar1: Any, ar2: Any, assume_unique: bool = False) -> Array:
    """The elements of one of two arrays but not the other, sorted."""
    one, other = np.ravel(np.asarray(ar1)), np.ravel(np.asarray(ar2))
    if not assume_unique:
        return _common(one, other, False)
    both = np.sort(np.concatenate((one, other)))
    alone = np.ones(len(both), np.bool_)
    for k in range(1, len(both)):
        if both[k] == both[k - 1]:
            alone[k] = alone[k - 1] = False
    return both[alone]


def setdiff1d(ar1: Any, ar2: Any, assume_unique: bool = False) -> Array:
    """The elements of one array that are not in another: sorted, or as they stand."""
    one: Any = np.ravel(np.asarray(ar1))
    other: Any = np.sort(np.ravel(np.asarray(ar2)))
    values: Any = one if assume_unique else unique(one)
    kept = np.ones(len(values), np.bool_)
    for k in range(len(values)):
        at = int(np.searchsorted(other, values[k]))  # pyright: ignore[reportUnknownArgumentType]
        if at < len(other) and other[at] == values[k]:
            kept[k] = False
    return values[kept]


def trim_zeros(filt: Any, trim: str = "fb") -> Array:
    """Without the zeros at its front ("f") and back ("b")."""
    first, last = 0, len(filt)
    if trim != "b":
        while first < last and filt[first] == 0:
            first += 1
    if trim != "f":
        while last > first and filt[last - 1] == 0:
            last -= 1
    return filt[first:last]


def repeat_each(a: Any, repeats: Any, axis: Any = None) -> Array:
    """Each element, or each part along an axis, as often as another array says."""
    is_flat = axis is not None or np.ndim(a) == 1
    values = np.asarray(a) if is_flat else np.ravel(np.asarray(a))
    counts, along = np.asarray(repeats), 0 if axis is None else axis
    size = values.shape[along]
    if len(counts) != size and len(counts) != 1:
        raise ValueError("operands could not be broadcast together")
    if np.any(counts < 0):
        raise ValueError("repeats may not contain negative values.")
    total = 0
    for i in range(size):
        total += int(counts[i if len(counts) == size else 0])
    places, k = np.empty(total, np.int64), 0
    for i in range(size):
        for _ in range(int(counts[i if len(counts) == size else 0])):
            places[k] = i
            k += 1
    return np.take(values, places, axis=along)
