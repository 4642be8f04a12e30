"""The functions with which NumPy sorts a row, as C functions that scripts call.

They are the fastest for each processor, give the elements the order that NumPy gives them, equal
ones included, and need neither Python nor the array: they touch the row alone. Where they are,
NumPy's C interface says: of each element type, a table of functions.

    PyArray_API[365](dtype) -> PyArray_ArrFuncs: 33 pointers, sort[3], argsort[3], ...
"""

from __future__ import annotations

import ctypes
from functools import lru_cache
from typing import Any

import numpy

from hybridjit.ir.dtype import BFLOAT16, DTYPES, INT64, DType
from hybridjit.ir.extern import Extern, ExternFamily, Pointer

np: Any = numpy
_GET_FUNCTIONS = 365
_FIRST = {"sort": 33, "argsort": 36}
# What NumPy's kinds of sorting are in these tables.
QUICK, STABLE = 0, 2
_PREFIX = "hj_numpy_"
_TYPES = tuple(dtype for dtype in DTYPES.values() if dtype is not BFLOAT16)


@lru_cache(maxsize=1)
def _api() -> Any:
    get = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)
    capsule = np._core._multiarray_umath._ARRAY_API
    address = get(("PyCapsule_GetPointer", ctypes.pythonapi))(capsule, None)
    return (ctypes.c_void_p * (_GET_FUNCTIONS + 1)).from_address(address)


def _function(what: str, kind: int, dtype: str) -> int:
    get = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object)(_api()[_GET_FUNCTIONS])
    table = get(np.dtype(dtype))
    place = _FIRST[what] + kind
    return ctypes.c_void_p.from_address(table + place * ctypes.sizeof(ctypes.c_void_p)).value or 0


def read_symbol(symbol: str) -> tuple[str, int, str]:
    """What the function does that code calls by `symbol`: its name, its kind and its type."""
    what, kind, dtype = symbol.removeprefix(_PREFIX).split("_")
    return what, int(kind), dtype


def find_address(symbol: str) -> int:
    """Where the function is that code calls by `symbol`."""
    return _function(*read_symbol(symbol))


class _Called:
    """A function of NumPy, looked up when somebody needs it."""

    def __init__(self, symbol: str, count: int) -> None:
        self._symbol, self._count = symbol, count

    def __call__(self, *args: Any) -> None:
        types = [ctypes.c_void_p] * self._count
        prototype = ctypes.CFUNCTYPE(ctypes.c_int, *types, ctypes.c_int64, ctypes.c_int64)
        prototype(find_address(self._symbol))(*args)


def _family(what: str, kind: int) -> Any:
    members: dict[DType, Extern] = {}
    for dtype in _TYPES:
        symbol = f"{_PREFIX}{what}_{kind}_{dtype.name}"
        arrays = (Pointer(dtype, is_const=True), Pointer(INT64))
        arrays = (Pointer(dtype),) if what == "sort" else arrays
        members[dtype] = Extern(
            f"numpy_{what}",
            _Called(symbol, len(arrays)),
            None,
            (*arrays, INT64, INT64),
            symbol=symbol,
            is_reentrant=True,
        )
    return ExternFamily(f"numpy_{what}", members)


# Of a row, its length, and 0 for the array, which they do not look at.
sort_row, stable_sort_row = _family("sort", QUICK), _family("sort", STABLE)
# Of a row and the indices that are put in its order.
argsort_row, stable_argsort_row = _family("argsort", QUICK), _family("argsort", STABLE)
