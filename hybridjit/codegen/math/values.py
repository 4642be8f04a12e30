"""Values of the function being emitted, with operators, so that a body reads like mathematics.

`Real` is a float, `Bits` an integer of the same width, `Flag` a truth value. All operations are
single LLVM instructions or intrinsics with no fast-math flags; Python numbers become constants.
A value may have one lane or be an LLVM vector: the code is the same.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from llvmlite import ir

from hybridjit.codegen.declarations import declare_function
from hybridjit.codegen.module_features import has_rounding
from hybridjit.record import record

Value = Any  # ir.Value; llvmlite has no types that a checker could follow
_ir: Any = ir
UNDEFINED = _ir.Undefined


@record
class Format:
    """A binary floating-point format."""

    bits: int
    precision: int  # of the significand, with the hidden bit
    type: ir.Type

    @property
    def mantissa(self) -> int:
        """Stored bits of the significand."""
        return self.precision - 1

    @property
    def bias(self) -> int:
        return (1 << (self.bits - self.precision - 1)) - 1

    @property
    def infinity(self) -> int:
        """The bit pattern of +inf."""
        return ((2 * self.bias) + 1) << self.mantissa

    @property
    def shifter(self) -> float:
        """1.5 * 2**mantissa: adding it rounds to an integer, which stands in the low bits."""
        return 1.5 * 2.0**self.mantissa

    @property
    def tiny(self) -> float:
        """The smallest normal number."""
        return 2.0 ** (1 - self.bias)


F32 = Format(32, 24, ir.FloatType())
F64 = Format(64, 53, ir.DoubleType())
FORMATS = {32: F32, 64: F64}


@record
class Scope:
    """Where code is emitted, for how many lanes, and what the processor has."""

    builder: Any  # ir.IRBuilder
    fma: bool
    lanes: int = 1
    avx512: bool = False

    def at(self, builder: Any) -> Scope:
        """The same for code that is emitted elsewhere."""
        return replace(self, builder=builder)

    def fills_register(self, format: Format) -> bool:
        """True if a value is a whole register of AVX-512."""
        return self.avx512 and self.lanes * format.bits == 512

    def type_of(self, scalar: ir.Type) -> ir.Type:
        return scalar if self.lanes == 1 else ir.VectorType(scalar, self.lanes)

    def constant(self, scalar: ir.Type, value: float | int) -> ir.Constant:
        if self.lanes == 1:
            return ir.Constant(scalar, value)
        return ir.Constant(ir.VectorType(scalar, self.lanes), [value] * self.lanes)

    def call(self, name: str, scalar: ir.Type, *args: Value) -> Value:
        """The intrinsic `llvm.<name>` whose arguments and result all have one type."""
        suffix = _SUFFIXES[str(scalar)]
        if self.lanes > 1:
            suffix = f"v{self.lanes}{suffix}"
        kind = self.type_of(scalar)
        function = declare_function(
            self.builder.module, f"llvm.{name}.{suffix}", ir.FunctionType(kind, [kind] * len(args))
        )
        return self.builder.call(function, args)

    def any_lane(self, flag: Value) -> Value:
        """An i1: whether the flag is set in any lane."""
        if self.lanes == 1:
            return flag
        kind = ir.FunctionType(ir.IntType(1), [flag.type])
        name = f"llvm.vector.reduce.or.v{self.lanes}i1"
        return self.builder.call(declare_function(self.builder.module, name, kind), [flag])


_SUFFIXES = {"float": "f32", "double": "f64", "i32": "i32", "i64": "i64"}


class Real:
    """A float32 or float64 value."""

    __slots__ = ("format", "scope", "value")

    def __init__(self, scope: Scope, format: Format, value: Value) -> None:
        self.scope, self.format, self.value = scope, format, value

    def of(self, other: Real | float) -> Real:
        """`other` as a value of this one's format."""
        if isinstance(other, Real):
            return other
        return Real(self.scope, self.format, self.scope.constant(self.format.type, float(other)))

    def _apply(self, op: str, lhs: Real | float, rhs: Real | float) -> Real:
        emit: Callable[..., Value] = getattr(self.scope.builder, op)
        return Real(self.scope, self.format, emit(self.of(lhs).value, self.of(rhs).value))

    def __add__(self, other: Real | float) -> Real:
        return self._apply("fadd", self, other)

    def __radd__(self, other: float) -> Real:
        return self._apply("fadd", other, self)

    def __sub__(self, other: Real | float) -> Real:
        return self._apply("fsub", self, other)

    def __rsub__(self, other: float) -> Real:
        return self._apply("fsub", other, self)

    def __mul__(self, other: Real | float) -> Real:
        return self._apply("fmul", self, other)

    def __rmul__(self, other: float) -> Real:
        return self._apply("fmul", other, self)

    def __truediv__(self, other: Real | float) -> Real:
        return self._apply("fdiv", self, other)

    def __rtruediv__(self, other: float) -> Real:
        return self._apply("fdiv", other, self)

    def __neg__(self) -> Real:
        return Real(self.scope, self.format, self.scope.builder.fneg(self.value))

    def __abs__(self) -> Real:
        return self.intrinsic("fabs")

    def _compare(self, op: str, other: Real | float) -> Flag:
        value = self.scope.builder.fcmp_ordered(op, self.value, self.of(other).value)
        return Flag(self.scope, value)

    # Comparisons are ordered: false when an operand is NaN.

    def __lt__(self, other: Real | float) -> Flag:
        return self._compare("<", other)

    def __le__(self, other: Real | float) -> Flag:
        return self._compare("<=", other)

    def __gt__(self, other: Real | float) -> Flag:
        return self._compare(">", other)

    def __ge__(self, other: Real | float) -> Flag:
        return self._compare(">=", other)

    def equals(self, other: Real | float) -> Flag:
        return self._compare("==", other)

    def is_nan(self) -> Flag:
        return Flag(self.scope, self.scope.builder.fcmp_unordered("uno", self.value, self.value))

    def is_positive_finite(self) -> Flag:
        """Greater than zero, and neither infinite nor NaN: one comparison of the bits."""
        return (self.bits - 1).is_below(self.format.infinity - 1)

    def is_normal(self) -> Flag:
        """Neither zero nor subnormal, infinite or NaN: one comparison of the bits."""
        least = 1 << self.format.mantissa
        return (abs(self).bits - least).is_below(self.format.infinity - least)

    def intrinsic(self, name: str, *others: Real | float) -> Real:
        """`llvm.<name>` of this value and others."""
        if name in _ROUNDINGS and not has_rounding(self.scope.builder.module):
            return _ROUNDINGS[name](self)
        args = [self.value, *(self.of(other).value for other in others)]
        return Real(self.scope, self.format, self.scope.call(name, self.format.type, *args))

    def sqrt(self) -> Real:
        return self.intrinsic("sqrt")

    def with_sign_of(self, other: Real) -> Real:
        return self.intrinsic("copysign", other)

    def at_most(self, bound: Real | float) -> Real:
        """The smaller of the two; `bound` when this is NaN."""
        return where(self < bound, self, self.of(bound))

    def at_least(self, bound: Real | float) -> Real:
        """The larger of the two; `bound` when this is NaN."""
        return where(self > bound, self, self.of(bound))

    @property
    def bits(self) -> Bits:
        """The bit pattern."""
        kind = self.scope.type_of(ir.IntType(self.format.bits))
        return Bits(self.scope, self.format, self.scope.builder.bitcast(self.value, kind))

    def to(self, format: Format) -> Real:
        """This value rounded, or extended, to another format."""
        if format is self.format:
            return self
        name = "fpext" if format.bits > self.format.bits else "fptrunc"
        emit: Callable[..., Value] = getattr(self.scope.builder, name)
        return Real(self.scope, format, emit(self.value, self.scope.type_of(format.type)))


class Bits:
    """An integer as wide as a float: two's complement, wrapping."""

    __slots__ = ("format", "scope", "value")

    def __init__(self, scope: Scope, format: Format, value: Value) -> None:
        self.scope, self.format, self.value = scope, format, value

    @property
    def _type(self) -> ir.Type:
        return ir.IntType(self.format.bits)

    def of(self, other: Bits | int) -> Bits:
        if isinstance(other, Bits):
            return other
        wrapped = other & ((1 << self.format.bits) - 1)
        return Bits(self.scope, self.format, self.scope.constant(self._type, wrapped))

    def _apply(self, op: str, lhs: Bits | int, rhs: Bits | int) -> Bits:
        emit: Callable[..., Value] = getattr(self.scope.builder, op)
        return Bits(self.scope, self.format, emit(self.of(lhs).value, self.of(rhs).value))

    def __add__(self, other: Bits | int) -> Bits:
        return self._apply("add", self, other)

    def __sub__(self, other: Bits | int) -> Bits:
        return self._apply("sub", self, other)

    def __rsub__(self, other: int) -> Bits:
        return self._apply("sub", other, self)

    def __mul__(self, other: Bits | int) -> Bits:
        return self._apply("mul", self, other)

    def __and__(self, other: Bits | int) -> Bits:
        return self._apply("and_", self, other)

    def __or__(self, other: Bits | int) -> Bits:
        return self._apply("or_", self, other)

    def __xor__(self, other: Bits | int) -> Bits:
        return self._apply("xor", self, other)

    def __lshift__(self, other: Bits | int) -> Bits:
        return self._apply("shl", self, other)

    def __rshift__(self, other: Bits | int) -> Bits:
        """Arithmetic: copies of the sign come in."""
        return self._apply("ashr", self, other)

    def logical_shift(self, other: Bits | int) -> Bits:
        """To the right: zeros come in."""
        return self._apply("lshr", self, other)

    def _compare(self, op: str, other: Bits | int) -> Flag:
        value = self.scope.builder.icmp_signed(op, self.value, self.of(other).value)
        return Flag(self.scope, value)

    def __lt__(self, other: Bits | int) -> Flag:
        return self._compare("<", other)

    def __gt__(self, other: Bits | int) -> Flag:
        return self._compare(">", other)

    def equals(self, other: Bits | int) -> Flag:
        return self._compare("==", other)

    def is_below(self, other: Bits | int) -> Flag:
        """Less than, both taken as unsigned."""
        value = self.scope.builder.icmp_unsigned("<", self.value, self.of(other).value)
        return Flag(self.scope, value)

    def at_most(self, bound: Bits | int) -> Bits:
        return where(self < bound, self, self.of(bound))

    def at_least(self, bound: Bits | int) -> Bits:
        return where(self > bound, self, self.of(bound))

    @property
    def real(self) -> Real:
        """The float with this bit pattern."""
        kind = self.scope.type_of(self.format.type)
        return Real(self.scope, self.format, self.scope.builder.bitcast(self.value, kind))

    def resize(self, format: Format) -> Bits:
        """The low bits of this, as many as `format` has; or zeros on top."""
        if format is self.format:
            return self
        name = "trunc" if format.bits < self.format.bits else "zext"
        emit: Callable[..., Value] = getattr(self.scope.builder, name)
        kind = self.scope.type_of(ir.IntType(format.bits))
        return Bits(self.scope, format, emit(self.value, kind))

    def to_real(self) -> Real:
        """The float with this value, which is small: |self| < 2**(mantissa - 2)."""
        shifter = self.format.shifter
        return (self + self.of_float(shifter)).real - shifter

    def of_float(self, value: float) -> Bits:
        """The bit pattern of a constant."""
        constant = self.scope.constant(self.format.type, value)
        return Real(self.scope, self.format, constant).bits

    def power_of_two(self) -> Real:
        """2**self, for an exponent in the range of normal numbers."""
        return ((self + self.format.bias) << self.format.mantissa).real


class Flag:
    """A truth value per lane."""

    __slots__ = ("scope", "value")

    def __init__(self, scope: Scope, value: Value) -> None:
        self.scope, self.value = scope, value

    def __and__(self, other: Flag) -> Flag:
        return Flag(self.scope, self.scope.builder.and_(self.value, other.value))

    def __or__(self, other: Flag) -> Flag:
        return Flag(self.scope, self.scope.builder.or_(self.value, other.value))

    def __xor__(self, other: Flag) -> Flag:
        return Flag(self.scope, self.scope.builder.xor(self.value, other.value))

    def __invert__(self) -> Flag:
        return Flag(self.scope, self.scope.builder.not_(self.value))


_V = TypeVar("_V", Real, Bits)


def patch(y: Real, is_rare: Flag, patched: Callable[[], Real]) -> Real:
    """y, but `patched()` where the flag is set.

    Vectors branch around it if no lane needs it; a single number chooses.
    """
    if y.scope.lanes == 1:
        return where(is_rare, patched(), y)
    builder = y.scope.builder
    start = builder.block
    rare, done = (builder.append_basic_block(name) for name in ("rare", "done"))
    branch = builder.cbranch(y.scope.any_lane(is_rare.value), rare, done)
    branch.set_weights([1, 1000])
    builder.position_at_end(rare)
    chosen = where(is_rare, patched(), y).value
    end = builder.block
    builder.branch(done)
    builder.position_at_end(done)
    result = builder.phi(y.value.type)
    result.add_incoming(y.value, start)
    result.add_incoming(chosen, end)
    return Real(y.scope, y.format, result)


def where(flag: Flag, then: _V, otherwise: _V | float | int) -> _V:
    """Lane by lane, `then` where the flag is set."""
    other: Any = then.of(otherwise)  # type: ignore[arg-type]
    value = then.scope.builder.select(flag.value, then.value, other.value)
    return type(then)(then.scope, then.format, value)


# -- compound arithmetic ---------------------------------------------------------------------------


def mad(a: Real, b: Real | float, c: Real | float) -> Real:
    """a*b + c, fused where the target can; both roundings are accounted for elsewhere."""
    return a.intrinsic("fma", b, c) if a.scope.fma else a * b + c


def fma(a: Real, b: Real | float, c: Real | float) -> Real:
    """a*b + c with one rounding, or nearly so: without the instruction, from exact parts."""
    if a.scope.fma:
        return a.intrinsic("fma", b, c)
    b, c = a.of(b), a.of(c)
    if a.format is F32:  # the product is exact in float64
        return (a.to(F64) * b.to(F64) + c.to(F64)).to(F32)
    product = two_product(a, b)
    total = two_sum(product.hi, c)
    exact = total.hi + (total.lo + product.lo)
    return where(exact.is_nan(), product.hi + c, exact)  # the parts of infinity are none


def _rint(x: Real) -> Real:
    """x rounded to an integer, half to even: beyond 2**mantissa there are no fractions."""
    limit = 2.0**x.format.mantissa
    size = abs(x)
    return where(size < limit, (size + limit) - limit, size).with_sign_of(x)


def _floor(x: Real) -> Real:
    near = _rint(x)
    return where(near > x, near - 1.0, near)


# For processors without an instruction, where LLVM would call the C library.
_ROUNDINGS: dict[str, Callable[[Real], Real]] = {
    "rint": _rint,
    "floor": _floor,
    "ceil": lambda x: -_floor(-x),
    "trunc": lambda x: _floor(abs(x)).with_sign_of(x),
}


def poly(x: Real, coefficients: Sequence[float]) -> Real:
    """The polynomial with these coefficients, constant first: two interleaved Horner chains.

    Half the latency of one chain for two more instructions. The first terms, whose rounding
    errors count most, are added one by one.
    """
    if len(coefficients) < MIN_SPLIT:
        return horner(x, coefficients)
    square, tail = x * x, coefficients[HEAD:]
    total = mad(horner(square, tail[1::2]), x, horner(square, tail[0::2]))
    for coefficient in reversed(coefficients[:HEAD]):
        total = mad(total, x, coefficient)
    return total


MIN_SPLIT = 7  # coefficients; shorter chains are as fast unsplit
HEAD = 2


def horner(x: Real, coefficients: Sequence[float]) -> Real:
    total = x.of(coefficients[-1])
    for coefficient in reversed(coefficients[:-1]):
        total = mad(total, x, coefficient)
    return total


@record
class Pair:
    """An unevaluated sum hi + lo, |lo| <= ulp(hi): twice the precision."""

    hi: Real
    lo: Real

    def value(self) -> Real:
        return self.hi + self.lo


def two_sum(a: Real, b: Real) -> Pair:
    """a + b exactly (Knuth)."""
    total = a + b
    part = total - a
    return Pair(total, (a - (total - part)) + (b - part))


def quick_two_sum(a: Real, b: Real) -> Pair:
    """a + b exactly, where |a| >= |b| or a is zero (Dekker)."""
    total = a + b
    return Pair(total, b - (total - a))


def two_product(a: Real, b: Real | float) -> Pair:
    """a * b exactly, away from overflow and underflow."""
    b = a.of(b)
    product = a * b
    if a.scope.fma:
        return Pair(product, a.intrinsic("fma", b, -product))
    (a_hi, a_lo), (b_hi, b_lo) = _split(a), _split(b)
    error = ((a_hi * b_hi - product) + a_hi * b_lo + a_lo * b_hi) + a_lo * b_lo
    return Pair(product, where(error.is_nan(), error.of(0.0), error))  # where a part overflows


def _split(x: Real) -> tuple[Real, Real]:
    """x as two halves of its significand (Veltkamp); |x| < 2**995."""
    scaled = x * (2.0 ** ((x.format.precision + 1) // 2) + 1.0)
    high = scaled - (scaled - x)
    return high, x - high


def round_scaled(x: Real, scale: float) -> tuple[Real, Bits]:
    """x * scale rounded to an integer, as a float and as bits; below 2**(mantissa - 1)."""
    shifted = mad(x, scale, x.format.shifter)
    return shifted - x.format.shifter, shifted.bits - shifted.bits.of_float(x.format.shifter)


def round_to_int(x: Real) -> tuple[Real, Bits]:
    """x rounded to an integer, half to even, as a float and as bits; |x| < 2**(mantissa - 1)."""
    shifted = x + x.format.shifter
    return shifted - x.format.shifter, shifted.bits - shifted.bits.of_float(x.format.shifter)
