"""What values hold: the arrays in tuples, lists and dataclasses, and copies of them."""

from __future__ import annotations

import copy
import ctypes
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.lib.array_utils import byte_bounds
from numpy.typing import NDArray

from hybridjit.record import record
from hybridjit.scalars.kinds import field_names, is_array, is_generator, is_record, is_sequence

_LINE = 64  # bytes: copies lie in lines of a cache as what they are copies of


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
    """Copies of arguments with the same strides and alignment; those that share memory still do."""
    found: list[NDArray[Any]] = []

    def note(array: NDArray[Any]) -> NDArray[Any]:
        found.append(array)
        return array

    for value in values:
        with_arrays(value, note)
    spans = _spans([np.asarray(array) for array in found])
    return [with_arrays(value, lambda array: _fresh_array(array, spans)) for value in values]


@record
class _Span:
    """Memory from `low` up to `high`, and a copy of it, from the byte `start` of `data` on."""

    low: int
    high: int
    data: NDArray[np.uint8]
    start: int


def _spans(arrays: Sequence[NDArray[Any]]) -> list[_Span]:
    """What the arrays cover, where they overlap as one, whoever owns it."""
    covered: list[list[int]] = []
    for low, high in sorted(map(byte_bounds, filter(_has_bytes, arrays))):
        if covered and low < covered[-1][1]:
            covered[-1][1] = max(covered[-1][1], high)
        else:
            covered.append([low, high])
    return [_copied_span(low, high) for low, high in covered]


def _has_bytes(array: NDArray[Any]) -> bool:
    return array.size > 0 and not array.dtype.hasobject


def _copied_span(low: int, high: int) -> _Span:
    data = np.empty(high - low + _LINE, np.uint8)
    start = (low - data.ctypes.data) % _LINE
    ctypes.memmove(data.ctypes.data + start, low, high - low)
    return _Span(low, high, data, start)


def _fresh_array(given: NDArray[Any], spans: Sequence[_Span]) -> NDArray[Any]:
    array: NDArray[Any] = np.asarray(given)  # a subclass may say anything of its memory
    if not _has_bytes(array):
        copied: NDArray[Any] = np.array(array)
        copied.flags.writeable = array.flags.writeable
        return copied
    low = byte_bounds(array)[0]
    span = next(span for span in spans if span.low <= low < span.high)
    offset = span.start + array.ctypes.data - span.low
    made: NDArray[Any] = np.ndarray(array.shape, array.dtype, span.data, offset, array.strides)
    made.flags.writeable = array.flags.writeable
    return made
