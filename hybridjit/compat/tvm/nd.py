"""`tvm.nd`: arrays. They are NumPy's, with TVM's methods."""

from __future__ import annotations

from typing import Any

import numpy as np

from hybridjit.compat.tvm.devices import Device


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
    del device
    made: Any = np.array(source, order="C")
    return made.view(NDArray)


def empty(shape: Any, dtype: Any = "float32", device: Device | None = None) -> NDArray:
    """An array without values."""
    del device
    made: Any = np.empty(shape, dtype)
    return made.view(NDArray)
