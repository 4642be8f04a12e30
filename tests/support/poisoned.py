"""Memory that shows when somebody reads what nobody wrote: new arrays are full of a pattern.

NumPy lets a program say where the memory of arrays comes from; here it comes from C's `malloc`,
filled with `PATTERN`: floats are NaN, integers -1. Arrays of zeros are as usual. The functions are
native: arrays are freed while errors are on their way, which Python code must not meet.
"""

from __future__ import annotations

import ctypes
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

import numpy as np

from hybridjit import Kernel
from hybridjit.codegen.engine import emit_object, link, tidy
from hybridjit.processor import host_target
from tests.support.oracle import run_native

PATTERN = 0xFF
# Index into NumPy's table of C functions; fixed by its ABI.
_SET_HANDLER = 304
_VERSION = 1
_TEXT = f"""
declare ptr @malloc(i64)
declare ptr @calloc(i64, i64)
declare ptr @realloc(ptr, i64)
declare void @free(ptr)
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)

define ptr @poisoned_malloc(ptr %context, i64 %size) {{
  %memory = call ptr @malloc(i64 %size)
  %failed = icmp eq ptr %memory, null
  br i1 %failed, label %done, label %fill
fill:
  call void @llvm.memset.p0.i64(ptr %memory, i8 {PATTERN}, i64 %size, i1 false)
  br label %done
done:
  ret ptr %memory
}}

define ptr @poisoned_calloc(ptr %context, i64 %count, i64 %size) {{
  %memory = call ptr @calloc(i64 %count, i64 %size)
  ret ptr %memory
}}

define ptr @poisoned_realloc(ptr %context, ptr %old, i64 %size) {{
  %memory = call ptr @realloc(ptr %old, i64 %size)
  ret ptr %memory
}}

define void @poisoned_free(ptr %context, ptr %memory, i64 %size) {{
  call void @free(ptr %memory)
  ret void
}}
"""
_FUNCTIONS = tuple(f"poisoned_{name}" for name in ("malloc", "calloc", "realloc", "free"))


class _Handler(ctypes.Structure):
    """`PyDataMem_Handler` of NumPy's headers; the functions are in the order of `_FUNCTIONS`."""

    _fields_ = [
        ("name", ctypes.c_char * 127),
        ("version", ctypes.c_uint8),
        ("context", ctypes.c_void_p),
        ("functions", ctypes.c_void_p * len(_FUNCTIONS)),
    ]


def _make_capsule() -> object:
    new: Any = ctypes.pythonapi.PyCapsule_New
    new.restype = ctypes.py_object
    new.argtypes = (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
    return new(ctypes.addressof(_HANDLER), b"mem_handler", None)


def _find_setter() -> Any:
    get_pointer: Any = ctypes.pythonapi.PyCapsule_GetPointer
    prototype = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)
    address = ctypes.cast(get_pointer, ctypes.c_void_p).value or 0
    api: Any = np._core._multiarray_umath._ARRAY_API  # pyright: ignore
    start = prototype(address)(api, None)
    table = (ctypes.c_size_t * (_SET_HANDLER + 1)).from_address(start)
    return ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.py_object)(table[_SET_HANDLER])


# Arrays outlive the context that they were made in: all of this lives as long as the process.
_LIBRARY = link(emit_object(tidy(_TEXT, host_target()), host_target()), _FUNCTIONS, {})
_ADDRESSES = (ctypes.c_void_p * len(_FUNCTIONS))(*map(_LIBRARY.addresses.get, _FUNCTIONS))
_HANDLER = _Handler(b"poisoned", _VERSION, None, _ADDRESSES)
_CAPSULE, _SET = _make_capsule(), _find_setter()


@contextmanager
def poisoned_arrays() -> Generator[None]:
    """Arrays that are made in here, and not of zeros, are full of the pattern."""
    before = _SET(_CAPSULE)
    try:
        yield
    finally:
        _SET(before)


def run_poisoned(kernel: Kernel[..., Any], /, *args: Any, **kwargs: Any) -> Any:
    """In native code, with such arrays."""
    with poisoned_arrays():
        return run_native(kernel, *args, **kwargs)
