"""What a kernel calls outside itself: C functions, Python callbacks and print."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from hybridjit.fresh_stack import check_stack
from hybridjit.interp.scalars import cast
from hybridjit.ir.expr import Buffer, BufferRef, ExternCall
from hybridjit.ir.stmt import Print
from hybridjit.lazy import lazy_module
from hybridjit.runtime.failures import read_value
from hybridjit.runtime.lent_memory import LentMemory

if TYPE_CHECKING:
    from hybridjit.interp import statements
else:
    statements = lazy_module("hybridjit.interp.statements")


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


def _packed(
    call: ExternCall, constants: frozenset[Buffer], words: int, result: int, record: int
) -> None:
    check_stack(words)
    reader = _words_at(words)
    lent = LentMemory(record)
    places = [
        lent.place(arg.dtype, reader, len(arg.shape), is_constant=arg.buffer in constants)
        if isinstance(arg, BufferRef)
        else arg.dtype.numpy.type(read_value(arg.dtype, reader))
        for arg in call.args
    ]
    value = call.callee.call(*lent.views(places))
    lent.take_back()
    if call.callee.result is not None:
        stored = np.asarray(cast(value, call.callee.result))
        ctypes.memmove(result, stored.ctypes.data, stored.itemsize)


def _print(call: Print, words: int, result: int, record: int) -> None:
    check_stack(words)
    reader = _words_at(words)
    parts = [
        part if isinstance(part, str) else read_value(part.dtype, reader) for part in call.message
    ]
    statements.print_message(call, parts)


def _words_at(address: int) -> Iterator[int]:
    while True:
        yield ctypes.c_int64.from_address(address).value
        address += 8
