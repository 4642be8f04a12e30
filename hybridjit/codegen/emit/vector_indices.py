"""Indices in a vector loop: kept as ramps, `base + stride * lane`, as long as they are."""

from __future__ import annotations

from llvmlite import ir

from hybridjit.arith.fold import wrap
from hybridjit.codegen.emit.arithmetic import emit_binary
from hybridjit.codegen.emit.emitter import Emitter
from hybridjit.codegen.emit.index_factors import find_factor
from hybridjit.codegen.emit.vector_values import Index, Ramp, has_lanes
from hybridjit.codegen.llvm_types import I64, Builder, Value, find_constant
from hybridjit.ir import expr as tir
from hybridjit.ir.dtype import INT64
from hybridjit.ir.expr import Const, Expr

# Ramps of such numbers do not overflow, whatever the number of lanes.
_MAX_EXACT = 1 << 48


def emit_index(emitter: Emitter, expr: Expr) -> Index:
    """The value of `expr`, as a ramp if it is one."""
    if emitter.lanes is None or expr.dtype is not INT64:
        return emitter.emit(expr)
    match expr:
        case tir.Var():
            return emitter.values[expr]
        case tir.Add(x, y):
            return _sum(emitter, emit_index(emitter, x), emit_index(emitter, y), 1)
        case tir.Sub(x, y):
            return _sum(emitter, emit_index(emitter, x), emit_index(emitter, y), -1)
        case tir.Mul(x, Const(int(factor))) | tir.Mul(Const(int(factor)), x):
            return _scaled(emitter, emit_index(emitter, x), factor)
        case tir.FloorDiv(x, Const(int(divisor))) if divisor != 0:
            found = emit_index(emitter, x)
            if _is_in_one_block(emitter, found, x, divisor):
                return _floor_div(emitter, found.base, divisor)
            quotient = _divided(found, divisor)
            return _floor_div(emitter, found, divisor) if quotient is None else quotient
        case tir.Mod(x, Const(int(divisor))) if divisor != 0:
            found = emit_index(emitter, x)
            if _is_in_one_block(emitter, found, x, divisor):
                return Ramp(ir.Constant(I64, 0), found.stride)
            return emitter.emit(expr)
        case _:
            return emitter.emit(expr)


def _is_in_one_block(emitter: Emitter, found: Index, expr: Expr, size: int) -> bool:
    """Whether all lanes of a ramp, the value of `expr`, lie between two multiples of `size`.

    They do if the first of them is a multiple, and the last is less than a block away.
    """
    lanes = emitter.lanes
    if lanes is None or not isinstance(found, Ramp):
        return False
    if not 0 < found.stride * (lanes.count - 1) < size:
        return False
    return find_factor(expr, emitter.factors) % size == 0


def _sum(emitter: Emitter, x: Index, y: Index, sign: int) -> Index:
    combine = _add if sign > 0 else _subtract
    ramps = [value for value in (x, y) if isinstance(value, Ramp)]
    others = [value for value in (x, y) if not isinstance(value, Ramp)]
    if not ramps or any(has_lanes(value) for value in others):
        x, y = (emitter.spread(value) for value in (x, y))
        if has_lanes(x) or has_lanes(y):
            x, y = emitter.whole(x), emitter.whole(y)
        return combine(emitter.b, x, y)
    bases = [value.base if isinstance(value, Ramp) else value for value in (x, y)]
    strides = [value.stride if isinstance(value, Ramp) else 0 for value in (x, y)]
    return _ramp(combine(emitter.b, *bases), strides[0] + sign * strides[1])


def _add(b: Builder, x: Value, y: Value) -> Value:
    m, n = find_constant(x), find_constant(y)
    return b.add(x, y) if m is None or n is None else _constant(m + n, x)


def _subtract(b: Builder, x: Value, y: Value) -> Value:
    m, n = find_constant(x), find_constant(y)
    if x is y:
        m = n = 0
    return b.sub(x, y) if m is None or n is None else _constant(m - n, x)


def _floor_div(emitter: Emitter, x: Index, divisor: int) -> Value:
    whole = emitter.spread(x)
    return emit_binary(emitter.b, tir.FloorDiv, whole, ir.Constant(whole.type, divisor), INT64)


def _scaled(emitter: Emitter, x: Index, factor: int) -> Index:
    if isinstance(x, Ramp):
        return _ramp(emitter.b.mul(x.base, ir.Constant(I64, factor)), x.stride * factor)
    return emitter.b.mul(x, ir.Constant(x.type, factor))


def _constant(number: int, like: Value) -> Value:
    return ir.Constant(like.type, wrap(number, INT64))


def _divided(x: Index, divisor: int) -> Index | None:
    """The ramp that is `divisor` times smaller, if there is one."""
    if not isinstance(x, Ramp) or x.stride % divisor:
        return None
    base = find_constant(x.base)
    if base is None or base % divisor or max(abs(base), abs(x.stride)) > _MAX_EXACT:
        return None
    return _ramp(ir.Constant(I64, base // divisor), x.stride // divisor)


def _ramp(base: Value, stride: int) -> Index:
    stride = wrap(stride, INT64)
    return base if stride == 0 else Ramp(base, stride)
