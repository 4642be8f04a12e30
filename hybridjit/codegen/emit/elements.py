"""Elements of arrays and variables: their indices, checks of these, and loads."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING

from llvmlite import ir

from hybridjit.analysis.limits import find_limits
from hybridjit.codegen.emit.emitter import Emitter, Lanes
from hybridjit.codegen.emit.expression_facts import is_free, varies
from hybridjit.codegen.emit.index_factors import join_fused
from hybridjit.codegen.emit.memory import PAGE, ArrayAddress
from hybridjit.codegen.emit.streams import find_step
from hybridjit.codegen.emit.vector_indices import emit_index
from hybridjit.codegen.emit.vector_memory import Access
from hybridjit.codegen.llvm_types import Value, find_constant, lanes_of
from hybridjit.codegen.sites import Failure
from hybridjit.ir import expr as tir
from hybridjit.ir.dtype import INT64
from hybridjit.ir.expr import Const, Expr
from hybridjit.lazy import lazy_module

if TYPE_CHECKING:
    from hybridjit.codegen.emit import quick_index
else:
    quick_index = lazy_module("hybridjit.codegen.emit.quick_index")


# What a loop reads next is asked for ahead if the next round is no further on than this.
_NEAR_BYTES = 512


def emit_load(emitter: Emitter, expr: tir.Load) -> Value:
    """The value of a variable or of an element."""
    register = emitter.registers.get(expr.buffer)
    if register is None:
        return _load_element(emitter, expr)
    if register.is_set is not None:
        is_set = emitter.b.load(register.is_set)
        emitter.check(is_set, Failure.UNBOUND, expr.span, [expr.buffer.name])
    return register.load(emitter.b)


def _load_element(emitter: Emitter, expr: tir.Load) -> Value:
    """The value of an element, or the elements that the active lanes read."""
    array, lanes = emitter.arrays[expr.buffer], emitter.lanes
    if lanes is None:
        return array.load(emitter.b, emit_indices(emitter, expr.indices))
    access = access_lanes(emitter, lanes, array, expr.indices)
    is_large = array.is_large or emitter.streamed is not None
    if is_large and _goes_along(emitter, array, expr.indices):
        access.ask_ahead(PAGE)
    beside = lanes.groups.elements_beside(expr)
    return dataclasses.replace(access, beside=beside).load()


def access_lanes(
    emitter: Emitter, lanes: Lanes, array: ArrayAddress, indices: Sequence[Expr]
) -> Access:
    """The elements of an array that the lanes touch."""
    strides = [find_constant(stride) for stride in array.strides]
    found = [emit_index(emitter, index) for index in join_fused(indices, strides, emitter.meanings)]
    access = Access(emitter.b, array, found, lanes.count, lanes.mask, lanes.piece)
    return dataclasses.replace(access, in_own_row=_is_in_own_row(emitter, array, indices))


def is_own_row(emitter: Emitter, load: tir.Load) -> bool:
    """True if lanes read a row of an array of known shape that only this thread sees."""
    array = emitter.arrays.get(load.buffer)
    return array is not None and _is_in_own_row(emitter, array, load.indices)


def _is_in_own_row(emitter: Emitter, array: ArrayAddress, indices: Sequence[Expr]) -> bool:
    """True if all lanes are in one row of an array of known shape, whichever are active."""
    if not array.own_shape:
        return False
    for index, extent in zip(indices[:-1], array.own_shape, strict=False):
        limits = None if varies(emitter, index) else find_limits(index, emitter.limits)
        if limits is None or limits[0] < 0 or limits[1] >= extent:
            return False
    return True


def _goes_along(emitter: Emitter, array: ArrayAddress, indices: Sequence[Expr]) -> bool:
    """True if the loop around goes from one line of an array to the next, or a few further."""
    loop = emitter.counting
    if loop is None or not isinstance(loop.step, Const):
        return False
    step = find_step(array, indices, loop.var)
    return step is not None and 0 < step * loop.step.value.real <= _NEAR_BYTES


def emit_indices(emitter: Emitter, exprs: Sequence[Expr]) -> list[Value]:
    """Indices into one array: all of them are computed before the first is checked."""
    inner = [expr.index if isinstance(expr, tir.Bounded) else expr for expr in exprs]
    if all(is_free(emitter, expr) for expr in inner[1:]):
        return [emitter.emit(expr) for expr in exprs]
    values = [emitter.emit(expr) for expr in inner]
    return [
        _checked(emitter, expr, value, emitter.emit(expr.extent))
        if isinstance(expr, tir.Bounded)
        else value
        for expr, value in zip(exprs, values, strict=True)
    ]


def emit_bounded(emitter: Emitter, expr: tir.Bounded) -> Value:
    """An index that is checked."""
    return _checked(emitter, expr, *emitter.operands(expr.index, expr.extent))


def _checked(emitter: Emitter, expr: tir.Bounded, index: Value, extent: Value) -> Value:
    """An index inside [0, n): one comparison, unless it counts from the end or is wrong."""
    if lanes_of(index) > 1:
        return _wrapped(emitter, index, extent, expr)
    quick = _quick_index(emitter, expr.index, index)
    start = emitter.b.block
    inside, other = emitter.fork(emitter.b.icmp_unsigned("<", quick, extent))
    emitter.b.position_at_end(other)
    wrapped = _wrapped(emitter, index, extent, expr)
    end = emitter.b.block
    emitter.b.branch(inside)
    emitter.b.position_at_end(inside)
    return emitter.phi([(quick, start), (wrapped, end)])


def _wrapped(emitter: Emitter, index: Value, extent: Value, expr: tir.Bounded) -> Value:
    is_negative = emitter.b.icmp_signed("<", index, ir.Constant(index.type, 0))
    wrapped = emitter.b.select(is_negative, emitter.b.add(index, extent), index)
    parts = [(index, INT64), expr.buffer, str(expr.axis), (extent, INT64)]
    # Unsigned: an index that is still negative is huge.
    emitter.check(emitter.b.icmp_unsigned("<", wrapped, extent), Failure.BOUNDS, expr.span, parts)
    return wrapped


def _quick_index(emitter: Emitter, expr: Expr, index: Value) -> Value:
    """`index`, the value of `expr`, or what is the same wherever it is inside an axis."""
    match expr:
        case tir.Cast(to, value, False) if to is INT64 and is_free(emitter, value):
            quick = quick_index.emit_quick_index(emitter.b, emitter.emit(value), value.dtype)
            return index if quick is None else quick
        case _:
            return index
