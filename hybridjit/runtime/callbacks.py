"""What a kernel calls outside itself: C functions, Python callbacks and print."""

from __future__ import annotations

import ctypes
import itertools
import sys
import threading
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hybridjit.interp.scalars import cast
from hybridjit.ir.dtype import INT64
from hybridjit.ir.expr import Buffer, BufferRef, ExternCall
from hybridjit.ir.stmt import Print
from hybridjit.runtime.failures import read_value

_PACKED = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.POINTER(ctypes.c_int64), ctypes.c_void_p)
_PRINT = ctypes.CFUNCTYPE(None, ctypes.POINTER(ctypes.c_int64))


class Callbacks:
    """The functions behind the callback names of one kernel. Must live as long as its code."""

    def __init__(self, calls: Mapping[str, ExternCall | Print]) -> None:
        self._errors = threading.local()
        self._functions = {name: self._function(call) for name, call in calls.items()}

    @property
    def addresses(self) -> dict[str, int]:
        """The address of each, for the linker."""
        return {
            name: ctypes.cast(function, ctypes.c_void_p).value or 0
            for name, function in self._functions.items()
        }

    def take_error(self) -> BaseException:
        """The exception that a callback raised on this thread."""
        error: BaseException = self._errors.error
        del self._errors.error
        return error

    def _function(self, call: ExternCall | Print) -> Any:
        if isinstance(call, Print):
            return _PRINT(partial(_print, call))
        if call.callee.is_packed:
            return _PACKED(partial(self._packed, call))
        return call.callee.call

    def _packed(self, call: ExternCall, words: Any, result: int) -> int:
        reader = (words[i] for i in itertools.count())
        try:
            args = [
                _read_array(arg.buffer, reader)
                if isinstance(arg, BufferRef)
                else arg.dtype.numpy.type(read_value(arg.dtype, reader))
                for arg in call.args
            ]
            value = call.callee.call(*args)
            if call.callee.result is not None:
                stored = np.asarray(cast(value, call.callee.result))
                ctypes.memmove(result, stored.ctypes.data, stored.itemsize)
        except BaseException as error:  # comes out of the kernel call as itself
            self._errors.error = error
            return 1
        return 0


def _print(call: Print, words: Any) -> None:
    reader = (words[i] for i in itertools.count())
    shown = [
        part if isinstance(part, str) else read_value(part.dtype, reader) for part in call.message
    ]
    sys.stdout.write(" ".join(str(part) for part in shown) + "\n")


def _read_array(buffer: Buffer, reader: Iterator[int]) -> NDArray[Any]:
    """A view of the memory of `buffer`."""
    address = read_value(INT64, reader)
    places = [(read_value(INT64, reader), read_value(INT64, reader)) for _ in buffer.shape]
    dtype: np.dtype[Any] = buffer.dtype.numpy
    bits: Any = np.asarray(_Memory(address, dtype, places))
    return bits.view(dtype)  # NumPy's protocol has no name for bfloat16


class _Memory:
    """Memory that NumPy can look at."""

    def __init__(self, address: int, dtype: Any, places: list[tuple[int, int]]) -> None:
        self.__array_interface__: dict[str, Any] = {
            "version": 3,
            "data": (address, False),
            "typestr": dtype.str,
            "shape": tuple(size for size, _ in places),
            "strides": tuple(stride for _, stride in places),
        }
