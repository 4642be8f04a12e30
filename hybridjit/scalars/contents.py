"""What values hold: the arrays in tuples, lists and dataclasses, and copies of them."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hybridjit.scalars.kinds import field_names, is_array, is_generator, is_record, is_sequence


def arrays_in(value: Any) -> Iterator[NDArray[Any]]:
    """The arrays in a value, numbers as arrays without dimensions."""
    if is_array(value) and value.dtype.names:
        yield from arrays_in([value[name] for name in value.dtype.names])
    elif is_array(value):
        yield value
    elif is_sequence(value):
        for item in value:
            yield from arrays_in(item)
    elif is_record(value):
        for name in field_names(value) or ():
            yield from arrays_in(getattr(value, name))
    elif isinstance(value, (bool, int, float, complex, np.generic)):
        yield np.asarray(value)


def with_arrays(value: Any, change: Callable[[NDArray[Any]], Any]) -> Any:
    """The value with its arrays changed; what can be written to is not shared with it."""
    if is_array(value):
        return change(value)
    if is_sequence(value):
        items = [with_arrays(item, change) for item in value]
        made: Any = type(value)
        return made(*items) if hasattr(value, "_fields") else made(items)
    if is_generator(value):
        return copy.deepcopy(value)
    if is_record(value):
        copied = copy.copy(value)
        for name in field_names(value) or ():
            object.__setattr__(copied, name, with_arrays(getattr(value, name), change))
        return copied
    return value


def fresh_copies(values: Sequence[Any]) -> list[Any]:
    """Copies of arguments with the same strides; arrays that share memory still do."""
    owners: dict[int, NDArray[Any]] = {}
    return [with_arrays(value, lambda array: _fresh_array(array, owners)) for value in values]


def _fresh_array(given: NDArray[Any], owners: dict[int, NDArray[Any]]) -> NDArray[Any]:
    array = np.asarray(given)  # a subclass may say anything of its memory
    key = id(_owner(given))
    owner = np.asarray(_owner(given))
    if key not in owners:
        owners[key] = np.frombuffer(bytearray(owner.tobytes("A")), np.uint8)
    memory = owners[key]
    offset = array.ctypes.data - owner.ctypes.data if array.size else 0
    made: NDArray[Any] = np.ndarray(array.shape, array.dtype, memory, offset, array.strides)
    made.flags.writeable = array.flags.writeable
    return made


def _owner(array: NDArray[Any]) -> NDArray[Any]:
    """The array whose memory a view shows."""
    owner, base = array, array.base
    while base is not None:
        owner = base if is_array(base) else owner
        base = getattr(base, "base", None)  # as_strided puts an object without data in between
    return owner
