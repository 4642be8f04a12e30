"""How close native code must come to plain Python: bit for bit, or within a stated bound.

Everything is exact except four things: functions such as exp, whose last bits are ours, and those
of one's own, which may call them; products and quotients of complex numbers, which NumPy rounds as
the processor does it best; sums of whole arrays, whose order NumPy leaves open; and what `fastmath`
allows. Where one of them is in a program, floats may differ by

    ROUNDINGS * (1 + log2(number of elements)) * epsilon * (largest number in sight)

which is far more than the roundings of a usual program and far less than a wrong element.
"""

from __future__ import annotations

import dis
import math
from collections.abc import Iterator, Sequence
from types import CodeType, FunctionType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hybridjit.codegen.math.bounds import BOUNDS
from hybridjit.ir.expr import Call, Div, Mul, Node, Pow
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.intrinsics import CUSTOM_INTRINSICS
from hybridjit.ir.stmt import Block
from hybridjit.ir.visit import walk

ROUNDINGS = 512
# Functions with a bound that are correctly rounded all the same.
_EXACT = ("sqrt",)
# Names of what makes arrays whose elements nobody has set.
_EMPTY = frozenset(("empty", "empty_like"))
# Names of what adds or multiplies whole arrays, as functions and as methods.
_REDUCTIONS = frozenset(
    (
        *("sum", "prod", "mean", "average", "std", "var", "cov", "corrcoef", "trapezoid", "trace"),
        *("cumsum", "cumprod", "nansum", "nanmean", "nanstd", "nanvar", "nanprod", "nancumsum"),
        *("dot", "vdot", "inner", "outer", "matmul", "tensordot", "einsum", "kron", "cross"),
        *("linalg", "fft", "convolve", "correlate", "polyfit", "polyval", "interp", "gradient"),
        *("percentile", "quantile", "median", "nanmedian", "histogram", "linspace", "vander"),
        *("nanpercentile", "nanquantile", "vecdot", "matvec", "vecmat"),
    )
)


def is_exact(func: PrimFunc, function: FunctionType) -> bool:
    """True if every bit of the results is settled."""
    if func.fastmath or any(map(_rounds, walk(func.body))):
        return False
    return not any(map(_reduces, _codes(function, {})))


def makes_empty_arrays(function: FunctionType) -> bool:
    """True if a function, or one that it may call, seems to make arrays without elements."""
    return not all(_EMPTY.isdisjoint(code.co_names) for code in _codes(function, {}))


def _rounds(node: Node) -> bool:
    if isinstance(node, Block):
        return node.is_open
    if isinstance(node, (Mul, Div)):
        return node.dtype.is_complex
    if isinstance(node, Pow):
        return not node.dtype.is_integer
    if not isinstance(node, Call):
        return False
    if node.name in CUSTOM_INTRINSICS:  # its rule may call such functions
        return not node.dtype.is_integer
    is_complex = any(arg.dtype.is_complex for arg in node.args)
    return is_complex or (node.name in BOUNDS and node.name not in _EXACT)


def _codes(function: Any, seen: dict[int, None]) -> Iterator[CodeType]:
    """The code of a function, and that of the functions that it may call."""
    function = getattr(function, "__hybrid_function__", function)
    if not isinstance(function, FunctionType) or id(function) in seen:
        return
    seen[id(function)] = None
    for code in _nested(function.__code__):
        yield code
        for name in code.co_names:
            yield from _codes(function.__globals__.get(name), seen)
    for cell in function.__closure__ or ():
        try:
            yield from _codes(cell.cell_contents, seen)
        except ValueError:  # not assigned yet
            continue


def _nested(code: CodeType) -> Iterator[CodeType]:
    """The code itself, and that of functions inside of it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _nested(constant)


def _reduces(code: CodeType) -> bool:
    if not _REDUCTIONS.isdisjoint(code.co_names):
        return True
    return any("@" in step.argrepr for step in dis.get_instructions(code) if step.argrepr)


def allowed_error(dtype: np.dtype[Any], arrays: Sequence[NDArray[Any]]) -> float:
    """How far apart two floats of `dtype` may be in a program that sees these arrays."""
    if dtype.kind not in "fcV":
        return 0.0
    floats = [array for array in arrays if array.dtype.kind in "fciu" and array.size]
    most = max((array.size for array in floats), default=1)
    largest = max((_largest(array) for array in floats), default=1.0)
    epsilon = float(np.finfo(dtype).eps) if dtype.kind in "fc" else 2.0**-7
    return ROUNDINGS * (1 + math.log2(most)) * epsilon * max(largest, 1.0)


def _largest(array: NDArray[Any]) -> float:
    sizes = np.abs(array.astype(np.complex128 if array.dtype.kind == "c" else np.float64))
    finite = sizes[np.isfinite(sizes)]
    return float(finite.max()) if finite.size else 0.0
