"""From the number and the words that a kernel leaves behind to the exception that says it."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from hybridjit.codegen.sites import MAX_WORDS, Failure, Site
from hybridjit.errors import (
    ArgumentError,
    ArgumentValueError,
    BoundsError,
    Diagnostic,
    DivisionByZero,
    InternalError,
    NarrowingError,
    UnboundVariable,
    mark_foreign,
    mark_raised,
)
from hybridjit.ir.dtype import BOOL, COMPLEX128, FLOAT64, INT64, UINT64, DType
from hybridjit.ir.raisable import ERRORS
from hybridjit.ir.texts import filled

_RESTORE = ctypes.pythonapi.PyErr_Restore
_RESTORE.restype = None
_PYTHON_VALUES = (BOOL, INT64, FLOAT64, COMPLEX128)


def make_exception(site: Site, words: Sequence[int]) -> BaseException:
    """The exception for a failure at `site`; `words` are those of the error record."""
    if site.failure is Failure.PYTHON:
        return mark_foreign(_restored(words))
    reader = iter(words[:MAX_WORDS])
    parts = [part if isinstance(part, str) else _kept(part, reader) for part in site.parts]
    notes = _iteration(site, reader)
    match site.failure:
        case Failure.BOUNDS:
            index, buffer, axis, size = parts
            text = f"index {index} is out of bounds for axis {axis} of '{buffer}' with size {size}"
            return BoundsError(text, site.span, notes=notes)
        case Failure.DIVISION:
            return DivisionByZero("integer division or modulo by zero", site.span, notes=notes)
        case Failure.NARROWING:
            value, dtype = parts
            text = f"Python integer {value} out of bounds for {dtype}"
            return NarrowingError(text, site.span, notes=notes)
        case Failure.UNBOUND:
            text = f"variable '{parts[0]}' is read before it is assigned"
            return UnboundVariable(text, site.span, notes=notes)
        case Failure.STRIDES:
            text = f"'{parts[0]}' must be C-contiguous to be passed to '{parts[1]}'"
            return ArgumentError(text, site.span, notes=notes)
        case Failure.MEMORY:
            return MemoryError("a scratch array of the kernel does not fit in memory")
        case _:
            place = Diagnostic("raised here", site.span, notes=notes)
            return mark_raised(_plain_exception(site, parts), place)


def _restored(words: Sequence[int]) -> BaseException:
    """What a callback or a signal handler raised, and the kernel fetched from the interpreter."""
    try:
        # Converted by hand: at the end of the stack ctypes would raise an ArgumentError of its own.
        _RESTORE(*map(ctypes.c_void_p, words[:3]))
    except BaseException as error:
        here = error.__traceback__
        return error.with_traceback(None if here is None else here.tb_next)
    raise InternalError("a kernel was interrupted without an exception", "runtime")


def _plain_exception(site: Site, parts: list[Any]) -> Exception:
    match site.failure:
        case Failure.RAISE:
            kind = ERRORS[str(parts[0])]
            return kind(*parts[1:])
        case Failure.RAISE_TUPLE:
            kind = ERRORS[str(parts[0])]
            return kind(tuple(parts[1:]))
        case Failure.RAISE_TEXT:
            kind = ERRORS[str(parts[0])]
            return kind(filled(parts[1], parts[2:]))
        case Failure.POWER:
            return ValueError("Integers to negative integer powers are not allowed.")
        case Failure.STEP:
            return ValueError("range() arg 3 must not be zero")
        case Failure.TOO_LARGE:
            return ValueError("array is too big: its size in bytes does not fit in 64 bits")
        case Failure.FORKED:
            return RuntimeError("the process was forked inside a parallel loop")
        case Failure.EXTENT:
            return ArgumentValueError(f"an array is too long: an axis has {parts[0]} elements")
        case _:
            return ValueError("negative dimensions are not allowed")


class _Lost:
    """Stands for a value that the record had no room for."""

    def __repr__(self) -> str:
        return "..."

    def __format__(self, spec: str) -> str:
        return "..."


def _kept(dtype: DType, reader: Iterator[int]) -> Any:
    """The next value of the record, which may have been full before it."""
    try:
        return read_value(dtype, reader)
    except StopIteration:
        return _Lost()


def _iteration(site: Site, reader: Iterator[int]) -> tuple[str, ...]:
    values = [f"{name}={_kept(INT64, reader)}" for name in site.loops]
    return (f"in iteration {', '.join(values)}",) if values else ()


def read_value(dtype: DType, reader: Iterator[int]) -> Any:
    """The next value of the record: a Python number where the type is one of Python's."""
    if dtype.is_complex:
        parts = [float(read_value(FLOAT64, reader)) for _ in range(2)]
        value: Any = complex(*parts)
    else:
        word: Any = np.uint64(next(reader) & 0xFFFFFFFFFFFFFFFF)
        if dtype.is_float:
            value = word.view(np.float64)
        else:
            value = word if dtype is UINT64 else word.view(np.int64)
    if dtype in _PYTHON_VALUES:
        return bool(value) if dtype is BOOL else value.item() if hasattr(value, "item") else value
    return dtype.numpy.type(value)
