"""Values in another type."""

from __future__ import annotations

from llvmlite import ir

from hybridjit.codegen.emit.casts import emit_cast, like
from hybridjit.codegen.emit.emitter import Emitter
from hybridjit.codegen.emit.quick_index import emit_quick_index
from hybridjit.codegen.llvm_types import I1, Value, is_signed, lanes_of
from hybridjit.codegen.sites import Failure
from hybridjit.ir import expr as tir
from hybridjit.ir.dtype import INT64, DType
from hybridjit.ir.expr import Expr


def convert(emitter: Emitter, expr: tir.Cast) -> Value:
    """The value of an expression in another type."""
    value, source = emitter.emit(expr.value), expr.value.dtype
    if expr.checked:
        emitter.check(
            _fits(emitter, value, source, expr.to),
            Failure.NARROWING,
            expr.span,
            [(value, source), expr.to.name],
        )
    quick = _quick_cast(emitter, value, source, expr.to)
    made = emit_cast(emitter.b, value, source, expr.to) if quick is None else quick
    return settled(emitter, made, expr, source)


def _quick_cast(emitter: Emitter, value: Value, source: DType, to: DType) -> Value | None:
    """A float as int64 in one instruction, unless it does not fit; None where there is none."""
    quick = None
    if to is INT64 and lanes_of(value) == 1 and emitter.lanes is None:
        quick = emit_quick_index(emitter.b, value, source)
    if quick is None:
        return None
    start = emitter.b.block
    fits, other = emitter.fork(
        emitter.b.icmp_signed("!=", quick, ir.Constant(quick.type, INT64.bounds[0]))
    )
    emitter.b.position_at_end(other)
    saturated = emit_cast(emitter.b, value, source, to)
    end = emitter.b.block
    emitter.b.branch(fits)
    emitter.b.position_at_end(fits)
    return emitter.phi([(quick, start), (saturated, end)])


def _fits(emitter: Emitter, value: Value, source: DType, to: DType) -> Value:
    """True if an integer survives the conversion."""
    low, high = (bound for bound in to.bounds)
    source_low, source_high = source.bounds
    compare = emitter.b.icmp_signed if is_signed(source) else emitter.b.icmp_unsigned
    fits: Value = ir.Constant(like(value, I1), 1)
    if low > source_low:
        fits = emitter.b.and_(fits, compare(">=", value, ir.Constant(value.type, low)))
    if high < source_high:
        fits = emitter.b.and_(fits, compare("<=", value, ir.Constant(value.type, high)))
    return fits


def settled(emitter: Emitter, value: Value, expr: Expr, source: DType) -> Value:
    """What a float decides is one value for all who ask, even under fast-math flags."""
    from_float = source.is_float or source.is_complex
    to_float = expr.dtype.is_float or expr.dtype.is_complex
    return emitter.b.settled(value) if from_float and not to_float else value
