"""Arrays and registers: addresses, loads, stores, and the memory of local arrays."""

from __future__ import annotations

from collections.abc import Sequence

from llvmlite import ir

from hybridjit.codegen.declarations import declare_function
from hybridjit.codegen.llvm_types import (
    I1,
    I8,
    I32,
    I64,
    Builder,
    Complex,
    Value,
    find_constant,
    memory_type,
    shaped,
    value_type,
)
from hybridjit.ir.dtype import BOOL, DType
from hybridjit.record import record

# Local arrays up to this many bytes in all live on the stack; larger ones on the heap. A thread may
# have as little as 32 KB, and kernels call each other through callbacks (see `check_stack`).
MAX_STACK_BYTES = 1 << 14
# So much of it is for small ones: LLVM keeps their elements in registers, if they are on the stack.
_FOR_SMALL_BYTES, _SMALL_BYTES = 1 << 12, 1 << 11
_ARRAY_ALIGN = 64
# From this many bytes on, as in NumPy, memory is in huge pages where the system has them on
# request: arrays of 32 MB and more are new to the process in each call, and a page fault for every
# 4 KB takes longer than the work (measured: 64 MB written and read once took 1.55 times as long).
_LARGE_BYTES = 1 << 22
# C's `malloc` keeps smaller memory for later; larger memory goes back to the system at once, and
# comes from it cleared, when it is first touched.
MAPPED_BYTES = 1 << 25
# What is fetched at once, and how far the processor goes on by itself.
LINE, PAGE = 1 << 6, 1 << 12
_MADV_HUGEPAGE = 14  # Linux
# For reading, to be kept in all levels of the cache, data: see the manual of LLVM.
_READ, _KEEP, _DATA = 0, 3, 1


@record
class ArrayAddress:
    """Where an array lies: its first element, its strides in bytes, its known alignment.

    A large one is more than is worth keeping in the caches. Of an array of known size that only
    this thread sees, the shape is known. Of one that grows, and moves meanwhile, the base is the
    place where the address of the first element is found.
    """

    base: Value
    dtype: DType
    strides: tuple[Value, ...]
    align: int
    is_large: bool = False
    own_shape: tuple[int, ...] = ()
    grows: bool = False

    def start(self, b: Builder) -> Value:
        """The address of the first element, as it is now."""
        if not self.grows:
            return self.base
        memory = b.load(self.base, typ=I8.as_pointer())
        return b.bitcast(memory, memory_type(self.dtype).as_pointer())

    def element(self, b: Builder, indices: Sequence[Value], *, inside: bool = True) -> Value:
        """The address of an element (of its real part, for complex types).

        With `inside` false, the indices may be anything, as long as nothing is read there.
        """
        size = self.dtype.bits // 8
        known = [find_constant(stride) for stride in self.strides]
        whole = [
            axis for axis, stride in enumerate(known) if stride is not None and not stride % size
        ]
        others = [axis for axis in range(len(known)) if axis not in whole]
        row = self._row(b, indices, others, inside=inside)
        # Addresses in units of elements are what LLVM understands best.
        factor = 2 if self.dtype.is_complex else 1
        strides = [ir.Constant(I64, (known[axis] or 0) // size * factor) for axis in whole]
        # Every index is inside its axis, so the element is inside the array: inbounds holds.
        offset = dot(b, [indices[axis] for axis in whole], strides, exact=inside)
        return b.gep(row, [offset], inbounds=inside)

    def _row(
        self, b: Builder, indices: Sequence[Value], axes: Sequence[int], *, inside: bool
    ) -> Value:
        """The address of the element at the indices along `axes`, elsewhere at 0, in bytes.

        A stride that is not known now need not be a whole number of elements: a field of records.
        """
        if not axes:
            return self.start(b)
        strides = [self.strides[axis] for axis in axes]
        offset = dot(b, [indices[axis] for axis in axes], strides, exact=inside)
        start = b.gep(b.bitcast(self.start(b), I8.as_pointer()), [offset], inbounds=inside)
        return b.bitcast(start, memory_type(self.dtype).as_pointer())

    def load(self, b: Builder, indices: Sequence[Value]) -> Value:
        """The value of an element."""
        address = self.element(b, indices)
        if self.dtype.is_complex:
            imag = b.gep(address, [ir.Constant(I64, 1)], inbounds=True)
            return Complex(self._load(b, address), self._load(b, imag))
        value = self._load(b, address)
        if self.dtype is BOOL:  # a view of other data may hold any byte: all but 0 are True
            return b.icmp_unsigned("!=", value, ir.Constant(I8, 0))
        return value

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


def usual_strides(b: Builder, dtype: DType, shape: Sequence[Value]) -> tuple[Value, ...]:
    """The strides in bytes of an array in C order."""
    strides: list[Value] = []
    stride: Value = ir.Constant(I64, dtype.bits // 8)
    for extent in reversed(shape):
        strides.append(stride)
        size, count = find_constant(stride), find_constant(extent)
        if size is None or count is None:
            stride = b.mul(stride, extent, flags=["nsw"])
        else:
            stride = ir.Constant(I64, size * count)
    return tuple(reversed(strides))


def dot(
    b: Builder, indices: Sequence[Value], strides: Sequence[Value], *, exact: bool = True
) -> Value:
    """The sum of the products; an exact one does not overflow."""
    flags = ["nsw"] if exact else []
    offset: Value = ir.Constant(I64, 0)
    for index, stride in zip(indices, strides, strict=True):
        term = index if find_constant(stride) == 1 else b.mul(index, stride, flags=flags)
        offset = term if find_constant(offset) == 0 else b.add(offset, term, flags=flags)
    return offset


@record
class Register:
    """A scalar variable: a slot of the stack frame (two, for complex types).

    In a vector loop every lane has its own: the slot holds a vector.
    """

    dtype: DType
    slots: tuple[Value, ...]
    is_set: Value | None = None
    lanes: int = 1

    def load(self, b: Builder) -> Value:
        """The value of the variable."""
        kind = shaped(value_type(self.dtype), self.lanes)
        values = [b.load(slot, typ=kind) for slot in self.slots]
        return Complex(*values) if self.dtype.is_complex else values[0]

    def store(self, b: Builder, value: Value) -> None:
        """Set the variable."""
        parts = value if self.dtype.is_complex else (value,)
        for slot, part in zip(self.slots, parts, strict=True):
            b.store(part, slot)
        if self.is_set is not None:
            b.store(ir.Constant(shaped(I1, self.lanes), 1), self.is_set)

    def forget(self, b: Builder) -> None:
        """Note that the variable has no value yet."""
        if self.is_set is not None:
            b.store(ir.Constant(shaped(I1, self.lanes), 0), self.is_set)


def make_register(
    entry: Builder, dtype: DType, name: str, *, tracked: bool, lanes: int = 1
) -> Register:
    """A scalar variable; a tracked one knows whether it has been assigned."""
    kind = shaped(value_type(dtype), lanes)
    slots = tuple(entry.alloca(kind, name=name) for _ in range(2 if dtype.is_complex else 1))
    is_set = entry.alloca(shaped(I1, lanes), name=f"{name}.set") if tracked else None
    return Register(dtype, slots, is_set, lanes)


def fits_on_stack(size: int, used: int) -> bool:
    """Whether there is room for a local array beside the others."""
    room = MAX_STACK_BYTES - used
    return size <= (room if size <= _SMALL_BYTES else room - _FOR_SMALL_BYTES)


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
    return b.call(declare_function(b.module, "aligned_alloc", function_type), [align, padded])


def call_realloc(b: Builder, memory: Value, size: Value) -> Value:
    """`realloc`; the result may be null."""
    function_type = ir.FunctionType(I8.as_pointer(), [I8.as_pointer(), I64])
    return b.call(declare_function(b.module, "realloc", function_type), [memory, size])


def ask_for_huge_pages(b: Builder, memory: Value, size: Value) -> None:
    """Say that large memory, which was just made, is to be in huge pages."""
    known = find_constant(size)
    if "linux" not in b.module.triple or (known is not None and known < _LARGE_BYTES):
        return
    function_type = ir.FunctionType(I32, [I8.as_pointer(), I64, I32])
    with b.if_then(b.icmp_unsigned(">=", size, ir.Constant(I64, _LARGE_BYTES))):
        page = ir.Constant(I64, PAGE)
        start = b.and_(b.add(b.ptrtoint(memory, I64), page), ir.Constant(I64, -PAGE))
        args = [b.inttoptr(start, memory.type), b.sub(size, page), ir.Constant(I32, _MADV_HUGEPAGE)]
        b.call(declare_function(b.module, "madvise", function_type), args)


def call_free(b: Builder, pointer: Value) -> None:
    """`free`."""
    function_type = ir.FunctionType(ir.VoidType(), [I8.as_pointer()])
    b.call(declare_function(b.module, "free", function_type), [pointer])


def call_zero(b: Builder, pointer: Value, size: Value) -> None:
    """Fill memory with zero bytes."""
    call_fill(b, pointer, size, 0)


def call_fill(b: Builder, pointer: Value, size: Value, byte: int) -> None:
    """Fill memory with bytes of one value."""
    memset = b.module.declare_intrinsic("llvm.memset", [I8.as_pointer(), I64])
    b.call(memset, [pointer, ir.Constant(I8, byte), size, ir.Constant(I1, 0)])


def call_prefetch(b: Builder, address: Value) -> None:
    """Ask for the memory at `address`, which may be anywhere."""
    pointer = I8.as_pointer()
    function_type = ir.FunctionType(ir.VoidType(), [pointer, I32, I32, I32])
    function = declare_function(b.module, "llvm.prefetch.p0", function_type)
    hints = [ir.Constant(I32, hint) for hint in (_READ, _KEEP, _DATA)]
    b.call(function, [b.bitcast(address, pointer), *hints])
