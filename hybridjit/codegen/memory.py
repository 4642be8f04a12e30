"""Arrays and registers: addresses, loads, stores, and the memory of local arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from llvmlite import ir

from hybridjit.codegen.casts import declare
from hybridjit.codegen.llvm_types import (
    I1,
    I8,
    I64,
    Builder,
    Complex,
    LLVMType,
    Value,
    find_constant,
    memory_type,
    value_type,
)
from hybridjit.ir.dtype import BOOL, DType

# Local arrays up to this many bytes in all live on the stack; larger ones on the heap.
MAX_STACK_BYTES = 1 << 16
_ARRAY_ALIGN = 64


@dataclass(frozen=True, slots=True)
class ArrayAddress:
    """Where an array lies: its first element, its strides in bytes, its known alignment."""

    base: Value
    dtype: DType
    strides: tuple[Value, ...]
    align: int

    def element(self, b: Builder, indices: Sequence[Value]) -> Value:
        """The address of an element (of its real part, for complex types)."""
        memory = memory_type(self.dtype)
        size = self.dtype.bits // 8
        if all(_divides(size, stride) for stride in self.strides):
            return self._typed_element(b, indices, memory, size)
        offset = _dot(b, indices, self.strides)
        bytes_ = b.gep(b.bitcast(self.base, I8.as_pointer()), [offset], inbounds=True)
        return b.bitcast(bytes_, memory.as_pointer())

    def _typed_element(
        self, b: Builder, indices: Sequence[Value], memory: LLVMType, size: int
    ) -> Value:
        """Addresses in units of elements are what LLVM's vectoriser understands best."""
        factor = 2 if self.dtype.is_complex else 1
        strides = [_divided(b, stride, size, factor) for stride in self.strides]
        offset = _dot(b, indices, strides)
        # Every index is inside its axis, so the element is inside the array: inbounds holds.
        return b.gep(self.base, [offset], inbounds=True)

    def load(self, b: Builder, indices: Sequence[Value]) -> Value:
        """The value of an element."""
        address = self.element(b, indices)
        if self.dtype.is_complex:
            imag = b.gep(address, [ir.Constant(I64, 1)], inbounds=True)
            return Complex(self._load(b, address), self._load(b, imag))
        value = self._load(b, address)
        return b.trunc(value, I1) if self.dtype is BOOL else value

    def _load(self, b: Builder, address: Value) -> Value:
        return b.load(address, align=self.align, typ=memory_type(self.dtype))

    def store(self, b: Builder, indices: Sequence[Value], value: Value) -> None:
        """Set an element."""
        address = self.element(b, indices)
        if self.dtype.is_complex:
            b.store(value.real, address, align=self.align)
            b.store(value.imag, b.gep(address, [ir.Constant(I64, 1)], inbounds=True), self.align)
            return
        stored = b.zext(value, I8) if self.dtype is BOOL else value
        b.store(stored, address, align=self.align)


def _divides(size: int, stride: Value) -> bool:
    """True if a stride is a whole number of elements, as far as is known now."""
    known = find_constant(stride)
    return known is None or known % size == 0


def _divided(b: Builder, stride: Value, size: int, factor: int) -> Value:
    known = find_constant(stride)
    if known is not None:
        return ir.Constant(I64, known // size * factor)
    elements = b.sdiv(stride, ir.Constant(I64, size), flags=["exact"])
    return b.mul(elements, ir.Constant(I64, factor)) if factor != 1 else elements


def _dot(b: Builder, indices: Sequence[Value], strides: Sequence[Value]) -> Value:
    offset: Value = ir.Constant(I64, 0)
    for index, stride in zip(indices, strides, strict=True):
        term = index if find_constant(stride) == 1 else b.mul(index, stride, flags=["nsw"])
        offset = term if find_constant(offset) == 0 else b.add(offset, term, flags=["nsw"])
    return offset


@dataclass(frozen=True, slots=True)
class Register:
    """A scalar variable: a slot of the stack frame (two, for complex types)."""

    dtype: DType
    slots: tuple[Value, ...]
    is_set: Value | None = None

    def load(self, b: Builder) -> Value:
        """The value of the variable."""
        values = [b.load(slot, typ=value_type(self.dtype)) for slot in self.slots]
        return Complex(*values) if self.dtype.is_complex else values[0]

    def store(self, b: Builder, value: Value) -> None:
        """Set the variable."""
        parts = value if self.dtype.is_complex else (value,)
        for slot, part in zip(self.slots, parts, strict=True):
            b.store(part, slot)
        if self.is_set is not None:
            b.store(ir.Constant(I1, 1), self.is_set)


def make_register(entry: Builder, dtype: DType, name: str, *, tracked: bool) -> Register:
    """A scalar variable; a tracked one knows whether it has been assigned."""
    count = 2 if dtype.is_complex else 1
    slots = tuple(entry.alloca(value_type(dtype), name=name) for _ in range(count))
    return Register(dtype, slots, entry.alloca(I1, name=f"{name}.set") if tracked else None)


def stack_array(entry: Builder, size: int, name: str) -> Value:
    """Memory of the stack frame."""
    slot = entry.alloca(ir.ArrayType(I8, size), name=name)
    slot.align = _ARRAY_ALIGN
    return entry.bitcast(slot, I8.as_pointer())


def call_malloc(b: Builder, size: Value) -> Value:
    """`aligned_alloc` of at least one byte; the result may be null."""
    function_type = ir.FunctionType(I8.as_pointer(), [I64, I64])
    align = ir.Constant(I64, _ARRAY_ALIGN)
    padded = b.and_(b.add(size, ir.Constant(I64, _ARRAY_ALIGN)), ir.Constant(I64, -_ARRAY_ALIGN))
    return b.call(declare(b.module, "aligned_alloc", function_type), [align, padded])


def call_free(b: Builder, pointer: Value) -> None:
    """`free`."""
    function_type = ir.FunctionType(ir.VoidType(), [I8.as_pointer()])
    b.call(declare(b.module, "free", function_type), [pointer])


def call_zero(b: Builder, pointer: Value, size: Value) -> None:
    """Fill memory with zero bytes."""
    memset = b.module.declare_intrinsic("llvm.memset", [I8.as_pointer(), I64])
    zero = ir.Constant(I8, 0)
    b.call(memset, [pointer, zero, size, ir.Constant(I1, 0)])
