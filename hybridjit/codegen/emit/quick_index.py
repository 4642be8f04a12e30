"""Floats as indices in one instruction, where the processor has it: for bins of a histogram."""

from __future__ import annotations

from llvmlite import ir

from hybridjit.codegen.declarations import declare_function
from hybridjit.codegen.llvm_types import DOUBLE, FLOAT, I32, I64, Builder, Value
from hybridjit.ir.dtype import FLOAT32, FLOAT64, DType

_X86 = {
    FLOAT32: ("llvm.x86.sse.cvttss2si64", ir.VectorType(FLOAT, 4)),
    FLOAT64: ("llvm.x86.sse2.cvttsd2si64", ir.VectorType(DOUBLE, 2)),
}


def emit_quick_index(b: Builder, value: Value, dtype: DType) -> Value | None:
    """A float truncated to int64; None where that is no faster than the cast that saturates.

    What does not fit, NaN included, becomes the lowest number, which is inside no array.
    """
    if dtype not in _X86 or not b.module.triple.startswith("x86_64"):
        return None
    name, vector = _X86[dtype]
    convert = declare_function(b.module, name, ir.FunctionType(I64, [vector]))
    zeros: Value = ir.Constant(vector, None)
    lanes = b.insert_element(zeros, value, ir.Constant(I32, 0))
    return b.call(convert, [lanes])
