"""The functions with which NumPy transforms rows, as C functions that scripts call.

They are inner loops of universal functions, so that where they are, an object of NumPy's says, in
a layout that its C interface promises:

    PyUFuncObject: head, 4 ints, functions*, data*, int number of types, ...
    functions[k](char **arrays, intp *sizes, intp *steps, void *data[k])

A symbol stands for a pair of such a function and its data. What a script calls is a function of
LLVM that brings its arguments into these arrays, and becomes a part of the script.
"""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any

import numpy

from hybridjit.ir.dtype import COMPLEX128, FLOAT64, INT64, DType
from hybridjit.ir.extern import Extern, Pointer

np: Any = numpy
_PREFIX = "hj_numpy_"
_WORD = ctypes.sizeof(ctypes.c_void_p)
# Where the pointers to functions and data are in the object of a universal function.
_FUNCTIONS = object.__basicsize__ + 4 * ctypes.sizeof(ctypes.c_int)
_ADAPTER = """
@{loop} = external global [2 x ptr]

define void @{symbol}(ptr %from, ptr %to, i64 %rows, i64 %given, i64 %made, double %scale) {{
  %arrays = alloca [3 x ptr]
  %sizes = alloca [3 x i64]
  %steps = alloca [5 x i64]
  %factor = alloca double
  store double %scale, ptr %factor
  %read = mul i64 %given, {read}
  %written = mul i64 %made, {written}
{stores}
  %function = load ptr, ptr @{loop}
  %behind = getelementptr ptr, ptr @{loop}, i64 1
  %data = load ptr, ptr %behind
  call void %function(ptr %arrays, ptr %sizes, ptr %steps, ptr %data)
  ret void
}}
"""


def _stores(array: str, kind: str, *values: str) -> list[str]:
    """The lines that fill an array on the stack."""
    return [
        line
        for place, value in enumerate(values)
        for line in (
            f"  %{array}.{place} = getelementptr {kind}, ptr %{array}, i64 {place}",
            f"  store {kind} {value}, ptr %{array}.{place}",
        )
    ]


def _text(symbol: str, loop: str, read: DType, written: DType) -> str:
    widths = [str(dtype.numpy.itemsize) for dtype in (read, written)]
    stores = [
        *_stores("arrays", "ptr", "%from", "%factor", "%to"),
        *_stores("sizes", "i64", "%rows", "%given", "%made"),
        *_stores("steps", "i64", "%read", "0", "%written", *widths),
    ]
    return _ADAPTER.format(
        symbol=symbol,
        loop=loop,
        read=widths[0],
        written=widths[1],
        stores="\n".join(stores),
    )


@cache
def _pair(symbol: str) -> Any:
    """A function of NumPy and its data, side by side, for as long as this process lives."""
    function = getattr(np.fft._pocketfft_umath, symbol.removeprefix(_PREFIX))
    place = [types[1] for types in function.types].index("d")  # the type of the factor
    tables = (ctypes.c_void_p * 2).from_address(id(function) + _FUNCTIONS)
    return (ctypes.c_void_p * 2)(*(_word(table, place) for table in tables))


def _word(table: int | None, place: int) -> int | None:
    """An entry of a table; there is none where no function has data."""
    return table and ctypes.c_void_p.from_address(table + place * _WORD).value


def find_address(symbol: str) -> int:
    """Where the pair is that code knows by `symbol`."""
    return ctypes.addressof(_pair(symbol))


class _Called:
    """What the adapter does, for the interpreter."""

    def __init__(self, loop: str, read: DType, written: DType) -> None:
        self._loop, self._types = loop, (read, written)

    def __call__(self, source: Any, to: Any, rows: int, given: int, made: int, scale: Any) -> None:
        read, written = (dtype.numpy.itemsize for dtype in self._types)
        factor = ctypes.c_double(scale)
        arrays = (ctypes.c_void_p * 3)(source.value, ctypes.addressof(factor), to.value)
        sizes = (ctypes.c_int64 * 3)(rows, given, made)
        steps = (ctypes.c_int64 * 5)(given * read, 0, made * written, read, written)
        function, data = _pair(self._loop)
        prototype = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 4)
        prototype(function)(arrays, sizes, steps, data)


def _rows(what: str, read: DType, written: DType) -> Any:
    loop, symbol = f"{_PREFIX}{what}", f"hj_{what}_rows"
    return Extern(
        f"numpy_{what}",
        _Called(loop, read, written),
        None,
        (Pointer(read, is_const=True), Pointer(written), INT64, INT64, INT64, FLOAT64),
        symbol=symbol,
        text=_text(symbol, loop, read, written),
        uses=(loop,),
        is_reentrant=True,
    )


# Of rows, the rows of results, how many there are, the lengths of both, and what results are
# multiplied by. Rows are cut, or filled with zeros, to the length that they are transformed in.
fft_rows, ifft_rows = (_rows(what, COMPLEX128, COMPLEX128) for what in ("fft", "ifft"))
irfft_rows = _rows("irfft", COMPLEX128, FLOAT64)
rfft_even_rows = _rows("rfft_n_even", FLOAT64, COMPLEX128)
rfft_odd_rows = _rows("rfft_n_odd", FLOAT64, COMPLEX128)
