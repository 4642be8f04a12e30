"""What the dispatcher calls and compares with: functions and objects of Python and NumPy."""

from __future__ import annotations

import ctypes
import sys
from functools import cache
from typing import Any

import numpy as np

from hybridjit.codegen.dispatcher.layout import Api

_NUMPY_ABI = 0x02000000
# Indices into NumPy's table of C functions; fixed by its ABI.
_ABI_VERSION, _ARRAY_TYPE, _SCALAR, _ZEROS, _EMPTY = 0, 2, 60, 183, 184
_TP_CALL = 50  # Py_tp_call

# All of them in Python's stable ABI, or documented as public, on the versions we support.
_PYTHON_FUNCTIONS: dict[Api, str] = {
    Api.INC_REF: "Py_IncRef",
    Api.DEC_REF: "Py_DecRef",
    Api.TUPLE_NEW: "PyTuple_New",
    Api.TUPLE_SET: "PyTuple_SetItem",
    Api.DICT_NEW: "PyDict_New",
    Api.DICT_SET: "PyDict_SetItem",
    Api.DICT_GET: "PyDict_GetItemWithError",
    Api.GET_ATTRIBUTE: "PyObject_GetAttr",
    Api.CALL_NO_ARGS: "PyObject_CallNoArgs",
    Api.CALL: "PyObject_CallObject",
    Api.CLEAR_ERROR: "PyErr_Clear",
    Api.ERROR_OCCURRED: "PyErr_Occurred",
    Api.ERROR_MATCHES: "PyErr_ExceptionMatches",
    Api.INT_VALUE: "PyLong_AsLongLongAndOverflow",
    Api.NEW_INT: "PyLong_FromLongLong",
    Api.NEW_FLOAT: "PyFloat_FromDouble",
    Api.NEW_COMPLEX: "PyComplex_FromDoubles",
    Api.COMPARE_STR: "PyUnicode_Compare",
    Api.SAVE_THREAD: "PyEval_SaveThread",
    Api.RESTORE_THREAD: "PyEval_RestoreThread",
}
_OBJECTS: dict[Api, object] = {
    Api.ARRAY_TYPE: np.ndarray,
    Api.TUPLE_TYPE: tuple,
    Api.INT_TYPE: int,
    Api.FLOAT_TYPE: float,
    Api.COMPLEX_TYPE: complex,
    Api.STR_TYPE: str,
    Api.NONE: None,
    Api.TRUE: True,
    Api.FALSE: False,
    Api.ATTRIBUTE_ERROR: AttributeError,
}


@cache
def find_functions() -> dict[Api, int] | None:
    """What the dispatcher calls and compares with, or None if something is not there."""
    numpy_functions = _find_numpy_functions()
    memory: Any = ctypes.CDLL("ucrtbase" if sys.platform == "win32" else None)
    names = {Api.COMPARE_MEMORY: "memcmp", Api.COPY_MEMORY: "memcpy", Api.FREE_MEMORY: "free"}
    sources = ((ctypes.pythonapi, _PYTHON_FUNCTIONS), (memory, names))
    if numpy_functions is None or not all(
        hasattr(library, name) for library, wanted in sources for name in wanted.values()
    ):
        return None
    found = {
        entry: _address(library, name)
        for library, wanted in sources
        for entry, name in wanted.items()
    }
    return found | {entry: id(item) for entry, item in _OBJECTS.items()} | numpy_functions


def _address(library: Any, name: str) -> int:
    return ctypes.cast(getattr(library, name), ctypes.c_void_p).value or 0


def _find_numpy_functions() -> dict[Api, int] | None:
    """NumPy's C functions, if its table has the ABI that they are numbered in."""
    capsule: Any = getattr(np._core._multiarray_umath, "_ARRAY_API", None)  # pyright: ignore
    if capsule is None:
        return None
    get_pointer: Any = ctypes.pythonapi.PyCapsule_GetPointer
    pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)
    start = pointer(_as_address(get_pointer))(capsule, None)
    table = (ctypes.c_size_t * (_EMPTY + 1)).from_address(start)
    version: Any = ctypes.PYFUNCTYPE(ctypes.c_uint)(table[_ABI_VERSION])
    if version() != _NUMPY_ABI or table[_ARRAY_TYPE] != id(np.ndarray):
        return None
    return {
        Api.ARRAY_ZEROS: table[_ZEROS],
        Api.ARRAY_EMPTY: table[_EMPTY],
        Api.ARRAY_SCALAR: table[_SCALAR],
    }


def _as_address(function: Any) -> int:
    return ctypes.cast(function, ctypes.c_void_p).value or 0


def slow_call_of(cls: type) -> int:
    """The address of the function behind `__call__` of a Python class."""
    get_slot: Any = ctypes.pythonapi.PyType_GetSlot
    prototype = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_int)
    return prototype(_as_address(get_slot))(cls, _TP_CALL) or 0
