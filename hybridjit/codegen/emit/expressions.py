"""Expressions: each lowering looks at one node only."""

from __future__ import annotations

from collections.abc import Sequence

from llvmlite import ir

from hybridjit.codegen.emit.arithmetic import emit_binary, emit_negate
from hybridjit.codegen.emit.casts import emit_cast, like
from hybridjit.codegen.emit.externs import ExternEmitter
from hybridjit.codegen.emit.intrinsics import emit_intrinsic
from hybridjit.codegen.emit.magnitude import emit_sure_answers, find_magnitude
from hybridjit.codegen.emit.quick_index import emit_quick_index
from hybridjit.codegen.llvm_types import (
    I1,
    Block,
    Complex,
    Function,
    Value,
    constant,
    find_constant,
    is_signed,
    lanes_of,
)
from hybridjit.codegen.math.integers import emit_integer_power
from hybridjit.codegen.math.library import PARTS, emit_math
from hybridjit.codegen.sites import Failure
from hybridjit.errors import InternalError
from hybridjit.ir import expr as tir
from hybridjit.ir.dtype import FLOAT32, FLOAT64, INT64, DType
from hybridjit.ir.expr import Expr
from hybridjit.ir.visit import children, walk


class ExpressionEmitter(ExternEmitter):
    """Values of expressions."""

    def __init__(self, function: Function, error: Value, fastmath: Sequence[str] = ()) -> None:
        super().__init__(function, error, fastmath)
        # The results of functions that give two, and where they are known.
        self._pairs: dict[Expr, tuple[tuple[Value, ...], Value]] = {}

    @property
    def may_branch(self) -> bool:
        """True if code may depend on a condition: on one truth value, not on one per lane."""
        return True

    def emit(self, expr: Expr) -> Value:
        """The value of `expr`."""
        match expr:
            case tir.Const(value, dtype):
                return constant(value, dtype)
            case tir.Var():
                return self.values[expr]
            case tir.And() | tir.Or():
                return self.logical(expr)
            case tir.Binary():
                return self._binary(expr)
            case tir.Not(value) | tir.Invert(value):
                return self.b.not_(self.emit(value))
            case tir.Neg(value):
                return emit_negate(self.b, self.emit(value), expr.dtype)
            case tir.Select():
                return self.select(expr)
            case _:
                return self._other(expr)

    def _other(self, expr: Expr) -> Value:
        match expr:
            case tir.Cast():
                return self._cast(expr)
            case tir.Load():
                return self._load(expr)
            case tir.Bounded():
                return self._bounded(expr)
            case tir.Call():
                return self._call(expr)
            case tir.ExternCall():
                self.forget_pairs()
                return self.extern(expr)
            case _:
                raise InternalError(f"no code for {type(expr).__name__}", "codegen", expr.span)

    # -- operators -----------------------------------------------------------------------------

    def operands(self, *exprs: Expr) -> list[Value]:
        """The values of the operands of one operator."""
        return [self.emit(expr) for expr in exprs]

    def _binary(self, expr: tir.Binary) -> Value:
        point = find_magnitude(expr)
        if point is not None and self.may_branch:
            return self._compare_magnitude(expr, point)
        x, y = self.operands(expr.lhs, expr.rhs)
        dtype = expr.lhs.dtype
        if isinstance(expr, (tir.FloorDiv, tir.Mod)) and dtype.is_integer:
            y = self.checked_divisor(y, expr)
        if isinstance(expr, tir.Pow):
            return self._power(x, y, expr)
        value = emit_binary(self.b, type(expr), x, y, dtype)
        return self._settled(value, expr, dtype) if isinstance(expr, tir.Compare) else value

    def _compare_magnitude(self, expr: tir.Binary, arg: Expr) -> Value:
        """abs(z) < c; the root is taken only when z is close to the circle."""
        z, bound = self.emit(arg), self.emit(expr.rhs)
        is_sure, answer = emit_sure_answers(self.b, expr, z)
        start = self.b.block
        done, close = self.fork(self.b.settled(is_sure))
        self.b.position_at_end(close)
        length = emit_intrinsic(self.b, "abs", [z], arg.dtype)
        exact = emit_binary(self.b, type(expr), length, bound, expr.rhs.dtype)
        end = self.b.block
        self.b.branch(done)
        self.b.position_at_end(done)
        return self.b.settled(self._phi([(answer, start), (exact, end)]))

    def _settled(self, value: Value, expr: Expr, source: DType) -> Value:
        """What a float decides is one value for all who ask, even under fast-math flags."""
        from_float = source.is_float or source.is_complex
        to_float = expr.dtype.is_float or expr.dtype.is_complex
        return self.b.settled(value) if from_float and not to_float else value

    def checked_divisor(self, y: Value, expr: Expr) -> Value:
        """The divisor `y`, which is not zero; otherwise leave with an error."""
        if find_constant(y) in (None, 0):
            is_valid = self.b.icmp_unsigned("!=", y, ir.Constant(y.type, 0))
            self.check(is_valid, Failure.DIVISION, expr.span)
        return y

    def _power(self, x: Value, y: Value, expr: tir.Pow) -> Value:
        dtype = expr.dtype
        if not dtype.is_integer:
            return self._small_power(x, expr) or emit_intrinsic(self.b, "pow", [x, y], dtype)
        if is_signed(dtype) and not isinstance(expr.rhs, tir.Const):
            fits = self.b.icmp_signed(">=", y, ir.Constant(y.type, 0))
            self.check(fits, Failure.POWER, expr.span)
        return emit_integer_power(self.b, x, y)

    def _small_power(self, x: Value, expr: tir.Pow) -> Value:
        """x ** 2 and its kind as products: exact to the last bit or so, and much faster."""
        if expr.dtype not in (FLOAT32, FLOAT64) or not isinstance(expr.rhs, tir.Const):
            return None
        one = ir.Constant(x.type, 1.0)
        match expr.rhs.value:
            case 1.0:
                return x
            case 2.0:
                return self.b.fmul(x, x)
            case 3.0:
                return self.b.fmul(self.b.fmul(x, x), x)
            case -1.0:
                return self.b.fdiv(one, x)
            case _:
                return None

    def logical(self, expr: tir.And | tir.Or) -> Value:
        """The right side is evaluated only when the left one does not decide."""
        if self.is_free(expr.rhs):
            x, y = self.operands(expr.lhs, expr.rhs)
            return self.b.and_(x, y) if isinstance(expr, tir.And) else self.b.or_(x, y)
        first = self.emit(expr.lhs)
        otherwise = tir.Const(isinstance(expr, tir.Or), expr.dtype)
        sides = (expr.rhs, otherwise) if isinstance(expr, tir.And) else (otherwise, expr.rhs)
        return self._branch(first, *sides)

    def select(self, expr: tir.Select) -> Value:
        """Only the chosen side is evaluated."""
        cond = self.emit(expr.cond)
        if not (self.is_free(expr.then) and self.is_free(expr.otherwise)):
            return self._branch(cond, expr.then, expr.otherwise)
        return self.choice(cond, *self.operands(expr.then, expr.otherwise))

    def choice(self, cond: Value, then: Value, otherwise: Value) -> Value:
        """One of two values that are computed already."""
        if isinstance(then, Complex):
            pairs = zip(then, otherwise, strict=True)
            return Complex(*(self.b.select(cond, p, q) for p, q in pairs))
        return self.b.select(cond, then, otherwise)

    def _branch(self, cond: Value, then: Expr, otherwise: Expr) -> Value:
        """One of two values, only one of which is computed."""
        blocks = [self.function.append_basic_block(name) for name in ("then", "else", "join")]
        self.b.cbranch(cond, blocks[0], blocks[1])
        ends: list[tuple[Value, Block]] = []
        for block, side in zip(blocks, (then, otherwise), strict=False):
            self.b.position_at_end(block)
            ends.append((self.emit(side), self.b.block))
            self.b.branch(blocks[2])
        self.b.position_at_end(blocks[2])
        if isinstance(ends[0][0], Complex):
            return Complex(*(self._phi([(v[i], blk) for v, blk in ends]) for i in range(2)))
        return self._phi(ends)

    def _phi(self, ends: list[tuple[Value, Block]]) -> Value:
        phi = self.b.phi(ends[0][0].type)
        for value, block in ends:
            phi.add_incoming(value, block)
        return phi

    # -- conversions and memory ----------------------------------------------------------------

    def _cast(self, expr: tir.Cast) -> Value:
        value, source = self.emit(expr.value), expr.value.dtype
        if expr.checked:
            self.check(
                self._fits(value, source, expr.to),
                Failure.NARROWING,
                expr.span,
                [(value, source), expr.to.name],
            )
        quick = self._quick_cast(value, source, expr.to)
        made = emit_cast(self.b, value, source, expr.to) if quick is None else quick
        return self._settled(made, expr, source)

    def _quick_cast(self, value: Value, source: DType, to: DType) -> Value | None:
        """A float as int64 in one instruction, unless it does not fit; None where there is none."""
        quick = None
        if to is INT64 and lanes_of(value) == 1 and self.may_branch:
            quick = emit_quick_index(self.b, value, source)
        if quick is None:
            return None
        start = self.b.block
        fits, other = self.fork(
            self.b.icmp_signed("!=", quick, ir.Constant(quick.type, INT64.bounds[0]))
        )
        self.b.position_at_end(other)
        saturated = emit_cast(self.b, value, source, to)
        end = self.b.block
        self.b.branch(fits)
        self.b.position_at_end(fits)
        return self._phi([(quick, start), (saturated, end)])

    def _fits(self, value: Value, source: DType, to: DType) -> Value:
        """True if an integer survives the conversion."""
        low, high = (bound for bound in to.bounds)
        source_low, source_high = source.bounds
        compare = self.b.icmp_signed if is_signed(source) else self.b.icmp_unsigned
        fits: Value = ir.Constant(like(value, I1), 1)
        if low > source_low:
            fits = self.b.and_(fits, compare(">=", value, ir.Constant(value.type, low)))
        if high < source_high:
            fits = self.b.and_(fits, compare("<=", value, ir.Constant(value.type, high)))
        return fits

    def _load(self, expr: tir.Load) -> Value:
        register = self.registers.get(expr.buffer)
        if register is None:
            return self.load_element(expr)
        if register.is_set is not None:
            is_set = self.b.load(register.is_set)
            self.check(is_set, Failure.UNBOUND, expr.span, [expr.buffer.name])
        return register.load(self.b)

    def load_element(self, expr: tir.Load) -> Value:
        """The value of an element."""
        return self.arrays[expr.buffer].load(self.b, self.indices(expr.indices))

    def indices(self, exprs: Sequence[Expr]) -> list[Value]:
        """Indices into one array: all of them are computed before the first is checked."""
        inner = [expr.index if isinstance(expr, tir.Bounded) else expr for expr in exprs]
        if all(map(self.is_free, inner[1:])):
            return [self.emit(expr) for expr in exprs]
        values = [self.emit(expr) for expr in inner]
        return [
            self._checked(expr, value, self.emit(expr.extent))
            if isinstance(expr, tir.Bounded)
            else value
            for expr, value in zip(exprs, values, strict=True)
        ]

    def _bounded(self, expr: tir.Bounded) -> Value:
        return self._checked(expr, *self.operands(expr.index, expr.extent))

    def _checked(self, expr: tir.Bounded, index: Value, extent: Value) -> Value:
        """An index inside [0, n): one comparison, unless it counts from the end or is wrong."""
        if lanes_of(index) > 1:
            return self._wrapped(index, extent, expr)
        quick = self._quick_index(expr.index, index)
        start = self.b.block
        inside, other = self.fork(self.b.icmp_unsigned("<", quick, extent))
        self.b.position_at_end(other)
        wrapped = self._wrapped(index, extent, expr)
        end = self.b.block
        self.b.branch(inside)
        self.b.position_at_end(inside)
        return self._phi([(quick, start), (wrapped, end)])

    def _wrapped(self, index: Value, extent: Value, expr: tir.Bounded) -> Value:
        is_negative = self.b.icmp_signed("<", index, ir.Constant(index.type, 0))
        wrapped = self.b.select(is_negative, self.b.add(index, extent), index)
        parts = [(index, INT64), expr.buffer, str(expr.axis), (extent, INT64)]
        # Unsigned: an index that is still negative is huge.
        self.check(self.b.icmp_unsigned("<", wrapped, extent), Failure.BOUNDS, expr.span, parts)
        return wrapped

    def _quick_index(self, expr: Expr, index: Value) -> Value:
        """`index`, the value of `expr`, or what is the same wherever it is inside an axis."""
        match expr:
            case tir.Cast(to, value, False) if to is INT64 and self.is_free(value):
                quick = emit_quick_index(self.b, self.emit(value), value.dtype)
                return index if quick is None else quick
            case _:
                return index

    def _call(self, expr: tir.Call) -> Value:
        if expr.name in PARTS and expr.dtype in (FLOAT32, FLOAT64):
            return self._part(expr)
        args = self.operands(*expr.args)
        dtype = expr.args[0].dtype
        if expr.name == "fmod" and dtype.is_integer:
            args[1] = self.checked_divisor(args[1], expr)
        return self._settled(emit_intrinsic(self.b, expr.name, args, dtype), expr, dtype)

    def _part(self, expr: tir.Call) -> Value:
        """One result of a function that gives two: who asks for both calls it once."""
        whole, position = PARTS[expr.name]
        (arg,) = expr.args
        known, both = self._pairs.get(arg, ((), None))
        if [id(part) for part in known] != [id(part) for part in self.place]:
            both = emit_math(self.b, whole, expr.dtype, self.operands(arg))
            self._pairs[arg] = self.place, both
        return self.b.extract_value(both, position)

    @property
    def place(self) -> tuple[Value, ...]:
        """Where a value that is computed now may be used again: in this block."""
        return (self.b.block,)

    def forget_pairs(self, stored: tir.Buffer | None = None) -> None:
        """Note that values which depend on what is `stored`, or on anything, are others now."""
        for arg in [arg for arg in self._pairs if stored is None or _reads(arg, stored)]:
            del self._pairs[arg]

    def is_free(self, expr: Expr) -> bool:
        """True if `expr` may be evaluated although it is not needed: cheap, and it cannot fail.

        An index that is not `Bounded` was proved without looking at conditions inside the
        expression, so its load is safe wherever the statement is.
        """
        match expr:
            case tir.Const() | tir.Var():
                return True
            case tir.FloorDiv() | tir.Mod() if expr.dtype.is_integer:
                is_known = isinstance(expr.rhs, tir.Const) and expr.rhs.value != 0
                return is_known and self._are_free(expr)
            case tir.Pow() | tir.Bounded() | tir.ExternCall() | tir.Cast(checked=True):
                return False
            case tir.Load(buffer):
                register = self.registers.get(buffer)
                return (register is None or register.is_set is None) and self._are_free(expr)
            case tir.Call(name="fmod"):
                return False
            case _:
                return self._are_free(expr)

    def _are_free(self, expr: Expr) -> bool:
        return all(self.is_free(child) for child in children(expr) if isinstance(child, Expr))


def _reads(expr: Expr, buffer: tir.Buffer) -> bool:
    return any(isinstance(node, tir.Load) and node.buffer is buffer for node in walk(expr))
