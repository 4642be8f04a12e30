"""Variables, and the memory of arrays."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from llvmlite import ir

from hybridjit.codegen.declarations import declare_function
from hybridjit.codegen.emit.emitter import Emitter
from hybridjit.codegen.emit.memory import (
    ArrayAddress,
    ask_for_huge_pages,
    call_fill,
    call_malloc,
    call_realloc,
    call_zero,
    fits_on_stack,
    make_register,
    stack_array,
    usual_strides,
)
from hybridjit.codegen.emit.vector_values import zeros
from hybridjit.codegen.llvm_types import I1, I8, I64, Builder, Value, find_constant, memory_type
from hybridjit.codegen.sites import Failure
from hybridjit.errors import InternalError, Span
from hybridjit.ir import stmt as tis
from hybridjit.ir.dtype import INT64, DType
from hybridjit.ir.expr import Buffer, BufferRef, Const, Expr

# A growing array begins with room for so many elements.
_FIRST_ROOM = 16
_NAN_BYTE = 0xFF  # floats of such bytes are NaN, integers -1


def allocate(emitter: Emitter, stmt: tis.Allocate) -> None:
    """Make a variable, one for each lane, or an array."""
    buffer = stmt.buffer
    if buffer.is_register:
        _make_variable(emitter, buffer)
        return
    if emitter.lanes is not None:
        raise InternalError("an array is made in a vector loop", "codegen", stmt.span)
    if buffer.is_growing:
        _make_growing(emitter, buffer, stmt.span)
        return
    shape = [_size(emitter, extent, stmt.span) for extent in buffer.shape]
    size = _bytes(emitter, shape, buffer.dtype)
    memory = _memory(emitter, size, buffer, stmt.span)
    emitter.made[buffer] = memory, shape
    if stmt.zero:
        call_zero(emitter.b, memory, size)
    elif emitter.options.fills_unset:
        call_fill(emitter.b, memory, size, _NAN_BYTE)
    array = contiguous(emitter, memory, buffer, shape)
    known = [extent for size in shape if (extent := find_constant(size)) is not None]
    own_shape = tuple(known) if len(known) == len(shape) else ()
    emitter.arrays[buffer] = replace(array, own_shape=own_shape)


def _make_growing(emitter: Emitter, buffer: Buffer, span: Span | None) -> None:
    """An array without elements: where its memory is, and how many elements fit, may change."""
    memory = emitter.entry.alloca(I8.as_pointer(), name=buffer.name)
    room = emitter.entry.alloca(I64, name=f"{buffer.name}.room")
    emitter.b.store(ir.Constant(I8.as_pointer(), None), memory)
    emitter.b.store(ir.Constant(I64, 0), room)
    emitter.heap.append(memory)
    rows = [_size(emitter, extent, span) for extent in buffer.shape[1:]]
    emitter.made[buffer] = room, rows
    strides = usual_strides(emitter.b, buffer.dtype, [ir.Constant(I64, 0), *rows])
    align = buffer.dtype.component.bits // 8
    emitter.arrays[buffer] = ArrayAddress(memory, buffer.dtype, strides, align, grows=True)


def reserve(emitter: Emitter, stmt: tis.Reserve) -> None:
    """Let a growing array have so many elements at least; it doubles where it has too few."""
    assert isinstance(stmt.array, BufferRef)
    b, buffer = emitter.b, stmt.array.buffer
    (room, rows), memory = emitter.made[buffer], emitter.arrays[buffer].base
    size, has = emitter.emit(stmt.size), b.load(room, typ=I64)
    fits, grow = emitter.fork(b.icmp_signed("<=", size, has))
    b.position_at_end(grow)
    double = b.shl(has, ir.Constant(I64, 1))
    wanted = [double, ir.Constant(I64, _FIRST_ROOM), size]
    count = functools.reduce(partial(_larger, b), wanted)
    bytes_needed = _bytes(emitter, [count, *rows], buffer.dtype)
    grown = call_realloc(b, b.load(memory, typ=I8.as_pointer()), bytes_needed)
    is_there = b.icmp_unsigned("!=", grown, ir.Constant(grown.type, None))
    emitter.check(is_there, Failure.MEMORY, stmt.span)
    b.store(grown, memory)
    b.store(count, room)
    b.branch(fits)
    b.position_at_end(fits)


def _larger(b: Builder, x: Value, y: Value) -> Value:
    return b.select(b.icmp_signed(">", x, y), x, y)


def clear(emitter: Emitter, buffer: Buffer) -> None:
    """Fill an array that lies in C order with zeros."""
    shape = [_size(emitter, extent, None) for extent in buffer.shape]
    memory = emitter.b.bitcast(emitter.arrays[buffer].base, I8.as_pointer())
    call_zero(emitter.b, memory, _bytes(emitter, shape, buffer.dtype))


def _make_variable(emitter: Emitter, buffer: Buffer) -> None:
    tracked = buffer in emitter.options.doubtful
    lanes = 1 if emitter.lanes is None else emitter.lanes.count
    register = make_register(emitter.entry, buffer.dtype, buffer.name, tracked=tracked, lanes=lanes)
    register.forget(emitter.b)
    emitter.registers[buffer] = register
    if emitter.lanes is not None:
        for slot in register.slots:
            emitter.b.store(zeros(slot.allocated_type), slot)


def _size(emitter: Emitter, extent: Expr, span: Span | None) -> Value:
    size = emitter.emit(extent)
    if not isinstance(extent, Const):
        is_valid = emitter.b.icmp_signed(">=", size, ir.Constant(I64, 0))
        emitter.check(is_valid, Failure.SIZE, span, [(size, INT64)])
    return size


def _bytes(emitter: Emitter, shape: Sequence[Value], dtype: DType) -> Value:
    itemsize = dtype.bits // 8
    known = [extent for value in shape if (extent := find_constant(value)) is not None]
    if len(known) == len(shape):
        size_in_all = itemsize * math.prod(known)
        if size_in_all > INT64.bounds[1]:
            emitter.check(ir.Constant(I1, 0), Failure.TOO_LARGE, None)
            return ir.Constant(I64, 0)
        return ir.Constant(I64, size_in_all)
    size: Value = ir.Constant(I64, itemsize)
    for extent in shape:
        size = _checked_product(emitter, size, extent)
    return size


def _checked_product(emitter: Emitter, x: Value, y: Value) -> Value:
    pair = ir.LiteralStructType([I64, ir.IntType(1)])
    function_type = ir.FunctionType(pair, [I64, I64])
    name = "llvm.smul.with.overflow.i64"
    both = emitter.b.call(declare_function(emitter.module, name, function_type), [x, y])
    emitter.check(emitter.b.not_(emitter.b.extract_value(both, 1)), Failure.TOO_LARGE, None)
    return emitter.b.extract_value(both, 0)


def _memory(emitter: Emitter, size: Value, buffer: Buffer, span: Span | None) -> Value:
    known = find_constant(size)
    fits = known is not None and fits_on_stack(known, emitter.stack_bytes)
    if known is not None and fits and buffer not in emitter.options.given_away:
        emitter.stack_bytes += known
        return stack_array(emitter.entry, max(1, known), buffer.name)
    memory = call_malloc(emitter.b, size)
    null = ir.Constant(memory.type, None)
    emitter.check(emitter.b.icmp_unsigned("!=", memory, null), Failure.MEMORY, span)
    ask_for_huge_pages(emitter.b, memory, size)
    emitter.heap.append(memory)
    return memory


def contiguous(
    emitter: Emitter, memory: Value, buffer: Buffer, shape: Sequence[Value]
) -> ArrayAddress:
    """An array in C order."""
    base = emitter.b.bitcast(memory, memory_type(buffer.dtype).as_pointer())
    strides = usual_strides(emitter.b, buffer.dtype, shape)
    return ArrayAddress(base, buffer.dtype, strides, buffer.dtype.component.bits // 8)
