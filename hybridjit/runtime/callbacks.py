"""What a kernel calls outside itself: C functions, Python callbacks and print."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hybridjit.interp.scalars import cast
from hybridjit.interp.statements import print_line
from hybridjit.ir.dtype import INT64
from hybridjit.ir.expr import Buffer, BufferRef, ExternCall
from hybridjit.ir.stmt import Print
from hybridjit.runtime.failures import read_value


class Callbacks:
    """The functions behind the callback names of one kernel. Must live as long as its code."""

    def __init__(
        self, calls: Mapping[str, ExternCall | Print], constants: frozenset[Buffer]
    ) -> None:
        self._calls = calls
        self._functions = {name: _function(call, constants) for name, call in calls.items()}

    @property
    def addresses(self) -> dict[str, int]:
        """For the linker: where each C function is, and each object that Python calls."""
        return {name: _address(self._calls[name], f) for name, f in self._functions.items()}


def _address(call: ExternCall | Print, function: Any) -> int:
    is_c = isinstance(call, ExternCall) and not call.callee.is_packed
    return ctypes.cast(function, ctypes.c_void_p).value or 0 if is_c else id(function)


def _function(call: ExternCall | Print, constants: frozenset[Buffer]) -> Any:
    if isinstance(call, Print):
        return partial(_print, call)
    if call.callee.is_packed:
        return partial(_packed, call, constants)
    return call.callee.call


def _packed(call: ExternCall, constants: frozenset[Buffer], words: int, result: int) -> None:
    reader = _words_at(words)
    args = [
        _read_array(arg, reader, is_constant=arg.buffer in constants)
        if isinstance(arg, BufferRef)
        else arg.dtype.numpy.type(read_value(arg.dtype, reader))
        for arg in call.args
    ]
    value = call.callee.call(*args)
    if call.callee.result is not None:
        stored = np.asarray(cast(value, call.callee.result))
        ctypes.memmove(result, stored.ctypes.data, stored.itemsize)


def _print(call: Print, words: int, result: int) -> None:
    reader = _words_at(words)
    print_line(
        [part if isinstance(part, str) else read_value(part.dtype, reader) for part in call.message]
    )


def _words_at(address: int) -> Iterator[int]:
    while True:
        yield ctypes.c_int64.from_address(address).value
        address += 8


def _read_array(arg: BufferRef, reader: Iterator[int], *, is_constant: bool) -> NDArray[Any]:
    """A view of the memory of a buffer, or of a part of one."""
    address = read_value(INT64, reader)
    places = [(read_value(INT64, reader), read_value(INT64, reader)) for _ in arg.shape]
    dtype: np.dtype[Any] = arg.dtype.numpy
    bits: Any = np.asarray(_Memory(address, dtype, places, is_constant))
    return bits.view(dtype)  # NumPy's protocol has no name for bfloat16


class _Memory:
    """Memory that NumPy can look at."""

    def __init__(
        self, address: int, dtype: Any, places: list[tuple[int, int]], is_constant: bool
    ) -> None:
        self.__array_interface__: dict[str, Any] = {
            "version": 3,
            "data": (address, is_constant),
            "typestr": dtype.str,
            "shape": tuple(size for size, _ in places),
            "strides": tuple(stride for _, stride in places),
        }
