"""Arrays that a kernel made and gave away: NumPy arrays in its memory, which is freed with them."""

from __future__ import annotations

import ctypes
import math
import sys
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hybridjit.ir.signature import ArrayResult, ScalarResult

# The counterpart of what kernels allocate with.
_free: Any = ctypes.CDLL("ucrtbase" if sys.platform == "win32" else None).free
_free.argtypes, _free.restype = [ctypes.c_void_p], None


class GivenMemory:
    """Memory that a kernel allocated: the base of the array in it."""

    __slots__ = ("__array_interface__", "_address")

    def __init__(self, address: int, shape: tuple[int, ...]) -> None:
        self._address = address
        # Numbers of any kind: the array that is shown has a dtype of its own.
        self.__array_interface__ = {
            "version": 3,
            "typestr": "|u1",
            "shape": shape,
            "data": (address, False),
        }

    def __del__(self) -> None:
        _free(self._address)


def receive(results: Sequence[ScalarResult | ArrayResult], words: Iterator[Any]) -> list[Any]:
    """The results from the words that the kernel left, in their order."""
    return [
        _receive_array(result, words) if isinstance(result, ArrayResult) else next(words)
        for result in results
    ]


def _receive_array(result: ArrayResult, words: Iterator[Any]) -> NDArray[Any]:
    address = int(next(words))
    shape = [int(next(words)) for _ in range(result.ndim)]
    return array_in(address, result.dtype.numpy, *shape)


def array_in(address: int, dtype: np.dtype[Any], *shape: int) -> NDArray[Any]:
    """An array in C order in memory that a kernel allocated, which goes with it."""
    size = math.prod(shape) * dtype.itemsize
    memory: Any = np.asarray(GivenMemory(address, (size,)))
    return memory.view(dtype).reshape(shape)
