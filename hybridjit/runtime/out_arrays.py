"""`out=`: the arrays of the caller that take the results of a call.

Where nobody can tell the difference, native code writes to them itself; otherwise they get a copy
of the results. codegen/dispatcher/out_array.py does the same for calls that run without Python.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hybridjit.errors import ArgumentError, ArgumentValueError
from hybridjit.interp.base_array import base_array
from hybridjit.runtime.arguments import a_value, overlap, overlaps_itself
from hybridjit.runtime.brought_arrays import as_arrays
from hybridjit.scalars.kinds import is_array, is_sequence

_NDARRAY: type[Any] = np.ndarray
# NumPy's flag of arrays that can be written to, with a warning.
_WARN_ON_WRITE = 1 << 31


def find_direct(
    out: object, made: Sequence[NDArray[Any]], inputs: Sequence[NDArray[Any]]
) -> list[NDArray[Any]] | None:
    """The arrays of `out`, if code may write to them in the place of `made`, one for each.

    They lie in memory as new arrays do, and share none of it with each other or with `inputs`.
    """
    given = [as_arrays(item) for item in _items(out)]
    if len(given) != len(made) or not all(map(_is_like, given, made)):
        return None
    targets = [base_array(item) for item in given]
    spans = [_span(array) for array in targets]
    others = [_span(array) for array in inputs]
    pairs = itertools.chain(itertools.combinations(spans, 2), itertools.product(spans, others))
    return None if any(_meet(*pair) for pair in pairs) else targets


def _is_like(target: object, made: NDArray[Any]) -> bool:
    """Whether code that writes to `made`, a new array, can write to `target` as well."""
    if not is_array(target) or not _stores_plainly(target):
        return False
    array = base_array(target)
    flags = array.flags
    can_be_written = flags.writeable and not flags.num & _WARN_ON_WRITE
    lies_the_same = flags.c_contiguous and flags.aligned
    return (
        can_be_written and lies_the_same and array.shape == made.shape and array.dtype == made.dtype
    )


def _stores_plainly(target: NDArray[Any]) -> bool:
    """Whether to store elements is all that `target[...] = result` does: some have a mask."""
    kind: Any = type(target)
    return kind.__setitem__ is _NDARRAY.__setitem__


def _span(array: NDArray[Any]) -> tuple[int, int]:
    """The first byte and the one after the last, both 0 if there are no elements."""
    return np.lib.array_utils.byte_bounds(array) if array.size else (0, 0)


def _meet(one: tuple[int, int], other: tuple[int, int]) -> bool:
    return one[0] < other[1] and other[0] < one[1]


def store_results(result: object, out: object) -> object:
    """Copy the results of a call into the arrays that the caller gave, unless they are there."""
    arrays = [item for item in _items(result) if is_array(item)]
    for array, target in zip(arrays, check_out(arrays, out), strict=True):
        if not _is_there(array, target):
            target[...] = array
    stored = {id(array): target for array, target in zip(arrays, _items(out), strict=True)}
    final = tuple(stored.get(id(item), item) for item in _items(result))
    return final if isinstance(result, tuple) else final[0]


def check_out(arrays: Sequence[NDArray[Any]], out: object) -> list[NDArray[Any]]:
    """The arrays of the caller, each of which can take one of `arrays`, the results of a call."""
    given = _items(out)
    if len(arrays) != len(given):
        raise ArgumentError(
            f"the kernel returns {len(arrays)} array{'s' * (len(arrays) != 1)}, "
            f"but out= has {len(given)}"
        )
    targets = [_target(array, as_arrays(item)) for array, item in zip(arrays, given, strict=True)]
    _check_disjoint(targets)
    return targets


def _is_there(array: NDArray[Any], target: NDArray[Any]) -> bool:
    """Whether `array` lies where `target`, of the same shape and type, does."""
    places = [
        (found.ctypes.data, found.strides) for found in (base_array(array), base_array(target))
    ]
    return places[0] == places[1] and _stores_plainly(target)


def _items(value: object) -> Sequence[object]:
    return value if is_sequence(value) else (value,)


def _target(array: NDArray[Any], target: object) -> NDArray[Any]:
    if not is_array(target):
        raise ArgumentError(f"out= must be an array, got {a_value(target)}")
    if target.shape != array.shape or target.dtype != array.dtype:
        raise ArgumentValueError(
            f"out= must be a {array.dtype} array of shape {array.shape}, "
            f"got {target.dtype} of shape {target.shape}"
        )
    if not target.flags.writeable:
        raise ArgumentValueError("out= is read-only")
    if overlaps_itself(target):
        raise ArgumentValueError("some elements of out= share memory")
    return target


def _check_disjoint(targets: Sequence[NDArray[Any]]) -> None:
    for a, b in itertools.combinations(targets, 2):
        if overlap(a, b):
            raise ArgumentValueError("two arrays of out= share memory")
