"""How the element types of the language look in LLVM: as values and in memory."""

from __future__ import annotations

from typing import Any, NamedTuple

from llvmlite import ir

from hybridjit.ir.dtype import BFLOAT16, BOOL, FLOAT16, FLOAT32, DType, Kind

# llvmlite has no types that a checker could follow: these names say what is meant.
Builder = Any  # ir.IRBuilder
Value = Any  # ir.Value, or Complex
Function = Any  # ir.Function
Block = Any  # ir.Block
Module = Any  # ir.Module
LLVMType = Any  # ir.Type

I1, I8, I16, I32, I64 = (ir.IntType(bits) for bits in (1, 8, 16, 32, 64))
HALF, FLOAT, DOUBLE = ir.HalfType(), ir.FloatType(), ir.DoubleType()
_CONSTANT: Any = ir.Constant
_VECTOR: Any = ir.VectorType
_FLOATS = {32: FLOAT, 64: DOUBLE}


class Complex(NamedTuple):
    """A complex value: its two parts."""

    real: Value
    imag: Value


def value_type(dtype: DType) -> LLVMType:
    """The LLVM type of a value; of one part, for complex types.

    Half precision is kept as its bits: what LLVM does to a `half` by itself, such as clearing its
    sign, is a call of a function where the processor has no instruction for it.
    """
    if dtype is BOOL:
        return I1
    if dtype in (FLOAT16, BFLOAT16):
        return I16
    if dtype.is_integer:
        return ir.IntType(dtype.bits)
    return _FLOATS[dtype.component.bits]


def memory_type(dtype: DType) -> LLVMType:
    """The LLVM type of an element in memory; of one part, for complex types."""
    return I8 if dtype is BOOL else value_type(dtype)


def foreign_type(dtype: DType) -> LLVMType:
    """The LLVM type by which functions that are not ours take and give a value."""
    return HALF if dtype is FLOAT16 else memory_type(dtype)


def compute_dtype(dtype: DType) -> DType:
    """The type in which arithmetic is done: half precision is rounded from float32."""
    return FLOAT32 if dtype in (FLOAT16, BFLOAT16) else dtype


def is_signed(dtype: DType) -> bool:
    """True for integers with a sign."""
    return dtype.kind is Kind.INT


def lanes_of(value: Value) -> int:
    """How many lanes a value has: 1, unless it is a vector."""
    part = value[0] if isinstance(value, Complex) else value
    return part.type.count if isinstance(part.type, _VECTOR) else 1


def shaped(scalar: LLVMType, lanes: int) -> LLVMType:
    """The type of `lanes` values of type `scalar`."""
    return scalar if lanes == 1 else ir.VectorType(scalar, lanes)


def scalar_of(kind: LLVMType) -> LLVMType:
    """The type of one lane."""
    return kind.element if isinstance(kind, _VECTOR) else kind


def mangled(kind: LLVMType) -> str:
    """How the names of LLVM's intrinsics spell a type: i64, f32, v16f32."""
    prefix = f"v{kind.count}" if isinstance(kind, _VECTOR) else ""
    return prefix + _SPELLING.get(str(scalar_of(kind)), str(scalar_of(kind)))


_SPELLING = {"half": "f16", "float": "f32", "double": "f64"}


def find_constant(value: Value) -> int | None:
    """The number that `value` is, in every lane, or None if it is computed at run time."""
    if not isinstance(value, _CONSTANT):
        return None
    if not isinstance(value.type, _VECTOR):
        return value.constant
    numbers = {find_constant(lane) for lane in value.constant}
    return numbers.pop() if len(numbers) == 1 else None


def constant(value: Any, dtype: DType) -> Value:
    """A constant of type `dtype`."""
    if dtype.is_complex:
        part = dtype.component
        return Complex(constant(value.real, part), constant(value.imag, part))
    if dtype in (FLOAT16, BFLOAT16):
        bits = int(dtype.numpy.type(value).view("uint16"))
        return ir.Constant(I16, bits)
    if dtype.is_float:
        return ir.Constant(value_type(dtype), float(value))
    return ir.Constant(value_type(dtype), int(value))
