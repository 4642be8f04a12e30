"""Tensor expressions: whole tensors, described element by element.

    A = te.placeholder((n, k), "float32", "A")
    r = te.reduce_axis((0, k), "r")
    C = te.compute((n, m), lambda i, j: te.sum(A[i, r] * B[r, j], axis=r), "C")

A graph of them becomes one function of the IR (`te.create_prim_func`), which is scheduled and
compiled like a script.
"""

from typing import TYPE_CHECKING, Any

from hybridjit.lazy import lazy_names
from hybridjit.tensors import auto_inline as schedule
from hybridjit.tensors.buffers import decl_buffer
from hybridjit.tensors.compute import (
    compute,
    const,
    placeholder,
    reduce_axis,
    size_var,
    thread_axis,
    var,
)
from hybridjit.tensors.expression import Expression
from hybridjit.tensors.externs import call_extern, call_packed, extern, extern_primfunc
from hybridjit.tensors.function import create_prim_func
from hybridjit.tensors.functions import (
    abs,
    acos,
    acosh,
    add,
    asin,
    asinh,
    atan,
    atan2,
    atanh,
    ceil,
    clz,
    copysign,
    cos,
    cosh,
    div,
    dot_bytes,
    erf,
    erfc,
    exp,
    exp2,
    expm1,
    floor,
    floordiv,
    floormod,
    fmod,
    hypot,
    if_then_else,
    indexdiv,
    indexmod,
    isfinite,
    isinf,
    isnan,
    log,
    log1p,
    log2,
    log10,
    multiply,
    nearbyint,
    popcount,
    power,
    round,
    rsqrt,
    sigmoid,
    sin,
    sinh,
    sqrt,
    subtract,
    tan,
    tanh,
    trunc,
    truncdiv,
    truncmod,
)
from hybridjit.tensors.gradient import gradient
from hybridjit.tensors.reduction import (
    all,
    any,
    comm_reducer,
    max,
    max_value,
    min,
    min_value,
    prod,
    sum,
)
from hybridjit.tensors.scan import scan
from hybridjit.tensors.tags import tag_scope
from hybridjit.tensors.tensor import Axis, Tensor
from hybridjit.tensors.tensor_intrin import decl_tensor_intrin

if TYPE_CHECKING:

    def create_schedule(ops: Any, *, fastmath: Any = False) -> Any:
        """A schedule of tensors: see hybridjit/schedule/classic/schedule.py."""

else:
    # Loaded when it is used.
    __getattr__ = lazy_names(
        __name__, {"create_schedule": "hybridjit.schedule.classic.schedule:create_schedule"}
    )

__all__ = [
    "Axis",
    "Expression",
    "Tensor",
    "abs",
    "acos",
    "acosh",
    "add",
    "all",
    "any",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "call_extern",
    "call_packed",
    "ceil",
    "clz",
    "comm_reducer",
    "compute",
    "const",
    "copysign",
    "cos",
    "cosh",
    "create_prim_func",
    "create_schedule",
    "decl_buffer",
    "decl_tensor_intrin",
    "div",
    "dot_bytes",
    "erf",
    "erfc",
    "exp",
    "exp2",
    "expm1",
    "extern",
    "extern_primfunc",
    "floor",
    "floordiv",
    "floormod",
    "fmod",
    "gradient",
    "hypot",
    "if_then_else",
    "indexdiv",
    "indexmod",
    "isfinite",
    "isinf",
    "isnan",
    "log",
    "log1p",
    "log2",
    "log10",
    "max",
    "max_value",
    "min",
    "min_value",
    "multiply",
    "nearbyint",
    "placeholder",
    "popcount",
    "power",
    "prod",
    "reduce_axis",
    "round",
    "rsqrt",
    "scan",
    "schedule",
    "sigmoid",
    "sin",
    "sinh",
    "size_var",
    "sqrt",
    "subtract",
    "sum",
    "tag_scope",
    "tan",
    "tanh",
    "thread_axis",
    "trunc",
    "truncdiv",
    "truncmod",
    "var",
]


def __dir__() -> list[str]:
    """What is for users: `__all__`."""
    return __all__
