"""How close native code must come to plain Python: bit for bit, or within a stated bound.

Everything is exact except three things: functions such as exp, whose last bits are ours; sums of
whole arrays, whose order NumPy leaves open; and what `fastmath` allows. Where one of them is in a
program, floats may differ by

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
from hybridjit.ir.expr import Call, Node, Pow
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.visit import walk

ROUNDINGS = 512
# Functions with a bound that are correctly rounded all the same.
_EXACT = ("sqrt",)
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


def _rounds(node: Node) -> bool:
    if isinstance(node, Pow):
        return not node.dtype.is_integer
    if not isinstance(node, Call):
        return False
    is_complex = any(arg.dtype.is_complex for arg in node.args)
    return is_complex or (node.name in BOUNDS and node.name not in _EXACT)


def _codes(function: Any, seen: dict[int, None]) -> Iterator[CodeType]:
    """The code of a function, and that of the functions that it may call."""
    function = getattr(function, "__hybrid_function__", function)
    if not isinstance(function, FunctionType) or id(function) in seen:
        return
    seen[id(function)] = None
    yield function.__code__
    for name in function.__code__.co_names:
        yield from _codes(function.__globals__.get(name), seen)
    for cell in function.__closure__ or ():
        try:
            yield from _codes(cell.cell_contents, seen)
        except ValueError:  # not assigned yet
            continue


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
