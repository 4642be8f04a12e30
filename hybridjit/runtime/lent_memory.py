"""The arrays that a Python callback is given: it may keep them for as long as it likes.

Memory of an argument or of a result belongs to an array that the call holds: the callback gets a
view of it, which keeps that array alive. All other memory (local arrays, on the stack, in scratch
memory that is used again or freed; constants, a part of the code) ends without Python being asked,
so the callback gets a copy, and what it wrote is copied back when it returns.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Sequence
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from hybridjit.codegen.sites import HELD
from hybridjit.ir.dtype import INT64, DType
from hybridjit.record import record
from hybridjit.runtime.failures import read_value


@record
class _Place:
    """An array in the memory of a kernel: the size and the stride of each axis."""

    address: int
    dtype: Any
    axes: tuple[tuple[int, int], ...]
    is_constant: bool

    @property
    def bounds(self) -> tuple[int, int]:
        """The first byte, and the one after the last."""
        if any(size == 0 for size, _ in self.axes):
            return self.address, self.address
        reaches = [(size - 1) * stride for size, stride in self.axes]
        low = self.address + sum(reach for reach in reaches if reach < 0)
        high = self.address + sum(reach for reach in reaches if reach > 0)
        return low, high + self.dtype.itemsize


class _Memory:
    """Memory that NumPy can look at, and the object that keeps it."""

    def __init__(self, place: _Place, address: int, owner: object) -> None:
        self.owner = owner
        self.__array_interface__: dict[str, Any] = {
            "version": 3,
            "data": (address, place.is_constant),
            "typestr": place.dtype.str,
            "shape": tuple(size for size, _ in place.axes),
            "strides": tuple(stride for _, stride in place.axes),
        }


@record
class _Copy:
    """The bytes from `low` on, copied; several arrays may lie in them, over each other."""

    low: int
    data: NDArray[np.uint8]
    is_constant: bool


class LentMemory:
    """What one callback is given of the memory of the kernel that calls it."""

    def __init__(self, record: int) -> None:
        self._held = _held_arrays(record)
        self._copies: list[_Copy] = []

    def place(self, dtype: DType, reader: Iterator[int], ndim: int, *, is_constant: bool) -> _Place:
        """The next array among the words of a call."""
        address = read_value(INT64, reader)
        axes = tuple((read_value(INT64, reader), read_value(INT64, reader)) for _ in range(ndim))
        return _Place(address, dtype.numpy, axes, is_constant)

    def views(self, args: Sequence[object]) -> list[object]:
        """The arguments of the callback, with an array for each place."""
        owners = {i: self._owner(arg) for i, arg in enumerate(args) if isinstance(arg, _Place)}
        self._copy([cast("_Place", args[i]) for i, owner in owners.items() if owner is None])
        return [
            self._view(arg, owners[i]) if isinstance(arg, _Place) else arg
            for i, arg in enumerate(args)
        ]

    def take_back(self) -> None:
        """Bring what the callback wrote to its copies to where it belongs."""
        for copy in self._copies:
            if not copy.is_constant:
                ctypes.memmove(copy.low, copy.data.ctypes.data, copy.data.nbytes)

    def _owner(self, place: _Place) -> object:
        low, high = place.bounds
        for first, end, array in self._held:
            if first <= low and high <= end:
                return array
        return None

    def _copy(self, places: Sequence[_Place]) -> None:
        """Copy the memory of these, once where they overlap: a write to one shows in the other."""
        spans: list[tuple[int, int, bool]] = []
        for low, high, is_constant in sorted((*p.bounds, p.is_constant) for p in places):
            if spans and low < spans[-1][1]:
                first, end, was_constant = spans[-1]
                spans[-1] = (first, max(end, high), was_constant and is_constant)
            else:
                spans.append((low, high, is_constant))
        for low, high, is_constant in spans:
            # One byte at least: an empty array has an address as well.
            data: NDArray[np.uint8] = np.empty(max(1, high - low), np.uint8)[: high - low]
            ctypes.memmove(data.ctypes.data, low, high - low)
            self._copies.append(_Copy(low, data, is_constant))

    def _view(self, place: _Place, owner: object) -> NDArray[Any]:
        address = place.address
        if owner is None:
            low, high = place.bounds
            copy = next(c for c in self._copies if c.low <= low and high <= c.low + c.data.nbytes)
            owner, address = copy.data, address - copy.low + copy.data.ctypes.data
        bits: Any = np.asarray(_Memory(place, address, owner))
        return bits.view(place.dtype)  # NumPy's protocol has no name for bfloat16


def _held_arrays(record: int) -> list[tuple[int, int, NDArray[Any]]]:
    """The arrays that the call holds, and their bounds in memory. They are alive: we are called."""
    address = ctypes.c_int64.from_address(record + 8 * HELD).value
    if address == 0:
        return []
    count = ctypes.c_int64.from_address(address).value
    arrays: Any = (ctypes.py_object * count).from_address(address + 8)
    return [(*np.lib.array_utils.byte_bounds(array), array) for array in arrays]


def hold(arrays: Sequence[NDArray[Any]]) -> ctypes.Array[ctypes.c_int64]:
    """The words that say which arrays a call holds. The caller keeps both until the call ends."""
    return (ctypes.c_int64 * (1 + len(arrays)))(len(arrays), *map(id, arrays))
