"""`tvm.nd`: arrays. They are NumPy's, with TVM's methods."""

from __future__ import annotations

from typing import Any

import numpy as np

from hybridjit.compat.tvm.devices import Device, cpu, device

__all__ = ["NDArray", "array", "cpu", "device", "empty"]

_LINE = 64  # bytes; TVM aligns its arrays to as many


class NDArray(np.ndarray[Any, np.dtype[Any]]):
    """A NumPy array that can be asked for itself."""

    def numpy(self) -> np.ndarray[Any, np.dtype[Any]]:
        """A copy as a plain array."""
        return np.array(self)

    asnumpy = numpy

    def copyfrom(self, source: Any) -> NDArray:
        """Take the elements of another array."""
        np.copyto(self, source)
        return self

    def copyto(self, target: Any) -> Any:
        """Give the elements to another array; to a device, a copy."""
        if isinstance(target, Device):
            return array(self)
        np.copyto(target, self)
        return target


def array(source: Any, device: Device | None = None) -> NDArray:
    """A copy of `source`, in C order."""
    given: Any = np.asarray(source)
    made = empty(given.shape, given.dtype, device)
    made[...] = given
    return made


def empty(shape: Any, dtype: Any = "float32", device: Device | None = None) -> NDArray:
    """An array without values, at the start of a line of the cache: no vector lies in two lines."""
    del device
    kind: np.dtype[Any] = np.dtype(dtype)
    size = int(np.prod(shape, dtype=np.int64)) * kind.itemsize
    room: Any = np.empty(size + _LINE, np.uint8)
    start = -room.ctypes.data % _LINE
    return room[start : start + size].view(kind).reshape(shape).view(NDArray)
