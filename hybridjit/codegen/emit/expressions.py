"""Operators: each lowering looks at one node only."""

from __future__ import annotations

from typing import TYPE_CHECKING

from llvmlite import ir

from hybridjit.codegen.emit.arithmetic import emit_binary, emit_fraction, emit_negate
from hybridjit.codegen.emit.emitter import Emitter
from hybridjit.codegen.emit.expression_facts import is_free, varies
from hybridjit.codegen.emit.magnitude import emit_sure_answers, find_magnitude
from hybridjit.codegen.emit.vector_values import any_lane, has_lanes, zeros
from hybridjit.codegen.llvm_types import Block, Complex, Value, constant, find_constant, is_signed
from hybridjit.codegen.sites import Failure
from hybridjit.ir import expr as tir
from hybridjit.ir.dtype import FLOAT32, FLOAT64
from hybridjit.ir.expr import Expr
from hybridjit.lazy import lazy_module

if TYPE_CHECKING:
    from hybridjit.codegen.emit import conversions, intrinsics
    from hybridjit.codegen.math import integers, known_powers
else:
    integers = lazy_module("hybridjit.codegen.math.integers")
    known_powers = lazy_module("hybridjit.codegen.math.known_powers")
    conversions = lazy_module("hybridjit.codegen.emit.conversions")
    intrinsics = lazy_module("hybridjit.codegen.emit.intrinsics")


def emit_constant(_: Emitter, expr: tir.Const) -> Value:
    """The value of a constant."""
    return constant(expr.value, expr.dtype)


def emit_variable(emitter: Emitter, expr: tir.Var) -> Value:
    """The value of a name."""
    return emitter.values[expr]


def emit_unary(emitter: Emitter, expr: tir.Unary) -> Value:
    """The value of an operator with one operand."""
    value = emitter.emit(expr.value)
    if isinstance(expr, tir.Neg):
        return emit_negate(emitter.b, value, expr.dtype)
    return emitter.b.not_(value)


def emit_operator(emitter: Emitter, expr: tir.Binary) -> Value:
    """The value of an operator with two operands."""
    point = find_magnitude(expr)
    if point is not None and emitter.lanes is None:
        return _compare_magnitude(emitter, expr, point)
    match expr:
        case tir.Add(tir.Call("dot_bytes", factors), total):
            return integers.emit_dot_bytes(emitter.b, *emitter.operands(*factors, total))
        case _:
            pass
    x, y = emitter.operands(expr.lhs, expr.rhs)
    dtype = expr.lhs.dtype
    if isinstance(expr, (tir.FloorDiv, tir.Mod)) and dtype.is_integer:
        y = checked_divisor(emitter, y, expr)
    if isinstance(expr, tir.Pow):
        return _power(emitter, x, y, expr)
    if isinstance(expr, tir.Mod) and dtype.is_float and expr.rhs == tir.const(1, dtype):
        return emit_fraction(emitter.b, x, dtype)
    value = emit_binary(emitter.b, type(expr), x, y, dtype)
    if not isinstance(expr, tir.Compare):
        return value
    return conversions.settled(emitter, value, expr, dtype)


def _compare_magnitude(emitter: Emitter, expr: tir.Binary, arg: Expr) -> Value:
    """abs(z) < c; the root is taken only when z is close to the circle."""
    z, bound = emitter.emit(arg), emitter.emit(expr.rhs)
    is_sure, answer = emit_sure_answers(emitter.b, expr, z, bound)
    start = emitter.b.block
    done, close = emitter.fork(emitter.b.settled(is_sure))
    emitter.b.position_at_end(close)
    length = intrinsics.emit_intrinsic(emitter.b, "abs", [z], arg.dtype)
    exact = emit_binary(emitter.b, type(expr), length, bound, expr.rhs.dtype)
    end = emitter.b.block
    emitter.b.branch(done)
    emitter.b.position_at_end(done)
    return emitter.b.settled(emitter.phi([(answer, start), (exact, end)]))


def checked_divisor(emitter: Emitter, y: Value, expr: Expr) -> Value:
    """The divisor `y`, which is not zero; otherwise leave with an error.

    In a lane that is not active, it is 1.
    """
    known = find_constant(y)
    if known is None or known == 0:
        is_valid = emitter.b.icmp_unsigned("!=", y, ir.Constant(y.type, 0))
        emitter.check(is_valid, Failure.DIVISION, expr.span)
    if emitter.mask is None or known is not None or not has_lanes(y):
        return y
    return emitter.b.select(emitter.mask, y, ir.Constant(y.type, 1))


def _power(emitter: Emitter, x: Value, y: Value, expr: tir.Pow) -> Value:
    dtype = expr.dtype
    if not dtype.is_integer:
        small = _small_power(emitter, x, expr)
        return small or intrinsics.emit_intrinsic(emitter.b, "pow", [x, y], dtype)
    if is_signed(dtype) and not isinstance(expr.rhs, tir.Const):
        fits = emitter.b.icmp_signed(">=", y, ir.Constant(y.type, 0))
        emitter.check(fits, Failure.POWER, expr.span)
    return integers.emit_integer_power(emitter.b, x, y)


def _small_power(emitter: Emitter, x: Value, expr: tir.Pow) -> Value:
    """x ** 2 and its kind as products, roots and quotients: exact to the last bit or so."""
    if expr.dtype not in (FLOAT32, FLOAT64) or not isinstance(expr.rhs, tir.Const):
        return None
    one = ir.Constant(x.type, 1.0)
    match expr.rhs.value:
        case 1.0:
            return x
        case 2.0:
            return emitter.b.fmul(x, x)
        case 3.0:
            return emitter.b.fmul(emitter.b.fmul(x, x), x)
        case -1.0:
            return emitter.b.fdiv(one, x)
        case exponent:
            name = known_powers.NAMES.get(float(exponent.real))
            if name is None:
                return None
            return intrinsics.emit_intrinsic(emitter.b, name, [x], expr.dtype)


def emit_logical(emitter: Emitter, expr: tir.And | tir.Or) -> Value:
    """The right side is evaluated only when the left one does not decide: in the lanes of these."""
    in_lanes = emitter.lanes is not None and varies(emitter, expr)
    if not in_lanes and is_free(emitter, expr.rhs):
        x, y = emitter.operands(expr.lhs, expr.rhs)
        return emitter.b.and_(x, y) if isinstance(expr, tir.And) else emitter.b.or_(x, y)
    first = emitter.emit(expr.lhs)
    decided = tir.Const(isinstance(expr, tir.Or), expr.dtype)
    sides = (expr.rhs, decided) if isinstance(expr, tir.And) else (decided, expr.rhs)
    return (_either if in_lanes else _branch)(emitter, first, *sides)


def emit_select(emitter: Emitter, expr: tir.Select) -> Value:
    """Only the chosen side is evaluated, in the lanes that want it."""
    in_lanes = emitter.lanes is not None and varies(emitter, expr)
    cond = emitter.emit(expr.cond)
    if in_lanes:
        return _either(emitter, cond, expr.then, expr.otherwise)
    if not (is_free(emitter, expr.then) and is_free(emitter, expr.otherwise)):
        return _branch(emitter, cond, expr.then, expr.otherwise)
    return choice(emitter, cond, *emitter.operands(expr.then, expr.otherwise))


def choice(emitter: Emitter, cond: Value, then: Value, otherwise: Value) -> Value:
    """One of two values that are computed already."""
    if isinstance(then, Complex):
        pairs = zip(then, otherwise, strict=True)
        return Complex(*(emitter.b.select(cond, p, q) for p, q in pairs))
    return emitter.b.select(cond, then, otherwise)


def _branch(emitter: Emitter, cond: Value, then: Expr, otherwise: Expr) -> Value:
    """One of two values, only one of which is computed."""
    blocks = [emitter.function.append_basic_block(name) for name in ("then", "else", "join")]
    emitter.b.cbranch(cond, blocks[0], blocks[1])
    ends: list[tuple[Value, Block]] = []
    for block, side in zip(blocks, (then, otherwise), strict=False):
        emitter.b.position_at_end(block)
        ends.append((emitter.emit(side), emitter.b.block))
        emitter.b.branch(blocks[2])
    emitter.b.position_at_end(blocks[2])
    if isinstance(ends[0][0], Complex):
        return Complex(*(emitter.phi([(v[i], blk) for v, blk in ends]) for i in range(2)))
    return emitter.phi(ends)


def _either(emitter: Emitter, cond: Value, then: Expr, otherwise: Expr) -> Value:
    """One of two values in each lane, computed in the lanes that want it."""
    cond = emitter.whole(cond)
    sides = [
        _where(emitter, cond, then),
        _where(emitter, emitter.b.not_(cond), otherwise),
    ]
    return choice(emitter, cond, *sides)


def _where(emitter: Emitter, flags: Value, expr: Expr) -> Value:
    """The value of `expr` in the lanes with a flag; anything in the others."""
    if is_free(emitter, expr):
        return emitter.whole(emitter.emit(expr))
    with emitter.active(flags):
        before = emitter.b.block
        join = begin_if_any(emitter)
        value, end = emitter.whole(emitter.emit(expr)), emitter.b.block
        emitter.b.branch(join)
        emitter.b.position_at_end(join)
    if isinstance(value, Complex):
        return Complex(*(_merge(emitter, part, end, before) for part in value))
    return _merge(emitter, value, end, before)


def _merge(emitter: Emitter, value: Value, end: Block, before: Block) -> Value:
    return emitter.phi([(value, end), (zeros(value.type), before)])


def begin_if_any(emitter: Emitter) -> Block:
    """Begin code that runs if some lane is active; the block to go on in."""
    some, join = (emitter.function.append_basic_block(name) for name in ("some", "join"))
    emitter.b.cbranch(any_lane(emitter.b, emitter.mask), some, join)
    emitter.b.position_at_end(some)
    return join
