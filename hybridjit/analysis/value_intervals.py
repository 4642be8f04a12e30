"""Between which numbers values are: those of variables that change, from statement to statement.

    v = int64(a[i] * 16.0)        v is any integer
    if v < 0:
        v = 0                     v is 0
    if v > 255:                   v is at least 0: what the branches leave, together
        v = 255                   v is 255
    b[i] = v                      v is in [0, 255], which is what a uint8 holds

What loops change is unknown in them and behind them. A float may be NaN besides.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from hybridjit.ir.dtype import DType
from hybridjit.ir.expr import (
    Add,
    And,
    BitAnd,
    Buffer,
    Call,
    Cast,
    Compare,
    Const,
    Eq,
    Expr,
    FloorDiv,
    Ge,
    Gt,
    Le,
    Load,
    Lt,
    Max,
    Min,
    Mod,
    Mul,
    Neg,
    Not,
    Or,
    Select,
    ShiftRight,
    Sub,
    Var,
)
from hybridjit.record import record

Key = Var | Buffer
# Whole numbers up to this one are floats, by the bits of a type: rounding does not leave them.
_EXACT = {16: 1 << 8, 32: 1 << 24, 64: 1 << 53}
_MIRRORED: dict[type[Compare], type[Compare]] = {Lt: Gt, Le: Ge, Gt: Lt, Ge: Le, Eq: Eq}
_NEGATED: dict[type[Compare], type[Compare]] = {Lt: Ge, Le: Gt, Gt: Le, Ge: Lt}
_STEPS: dict[str, Callable[[float], float]] = {
    "rint": round,
    "floor": math.floor,
    "ceil": math.ceil,
    "trunc": math.trunc,
}


@record
class Interval:
    """All numbers from `low` to `high`, and NaN perhaps."""

    low: float
    high: float
    has_nan: bool = False

    @staticmethod
    def of_type(dtype: DType) -> Interval:
        """All numbers of a type."""
        if dtype.is_bool:
            return Interval(0, 1)
        if dtype.is_integer:
            return Interval(*dtype.bounds)
        return Interval(-math.inf, math.inf, has_nan=True)

    def is_in(self, other: Interval) -> bool:
        """Whether all of it is in another one."""
        is_between = other.low <= self.low and self.high <= other.high
        return is_between and (other.has_nan or not self.has_nan)

    def hull(self, other: Interval) -> Interval:
        """What has both in it."""
        low, high = min(self.low, other.low), max(self.high, other.high)
        return Interval(low, high, self.has_nan or other.has_nan)


class Values:
    """What is known of variables at one place of a program. It does not change."""

    def __init__(self, known: Mapping[Key, Interval] | None = None) -> None:
        self._known: Mapping[Key, Interval] = known or {}

    def having(self, key: Key, interval: Interval) -> Values:
        """The same where a variable has a new value."""
        return Values({**self._known, key: interval})

    def without(self, keys: Iterable[Key]) -> Values:
        """The same where nobody knows the values of some variables."""
        gone = set(keys)
        return Values({key: value for key, value in self._known.items() if key not in gone})

    def joined(self, other: Values) -> Values:
        """What holds on two ways that meet."""
        both = self._known.keys() & other._known.keys()
        return Values({key: self._known[key].hull(other._known[key]) for key in both})

    def under(self, condition: Expr) -> Values:
        """What holds where a condition does."""
        match condition:
            case And(a, b) | Not(Or(Not(a), Not(b))):
                return self.under(a).under(b)
            case Not(Or(a, b)):
                return self.under(Not(a)).under(Not(b))
            case Not(Not(inner)):
                return self.under(inner)
            case Not(Compare(a, b) as inner) if type(inner) in _NEGATED:
                return self._compared(_NEGATED[type(inner)], a, b, or_nan=True)
            case Compare(a, b):
                return self._compared(type(condition), a, b, or_nan=False)
            case _:
                return self

    def _compared(self, kind: type[Compare], a: Expr, b: Expr, *, or_nan: bool) -> Values:
        found = self
        if kind in _MIRRORED:
            for x, y, sign in ((a, b, kind), (b, a, _MIRRORED[kind])):
                key = _key_of(x)
                if key is not None:
                    found = found.having(key, self._limited(x, sign, self.of(y), or_nan=or_nan))
        return found

    def _limited(self, x: Expr, sign: type[Compare], y: Interval, *, or_nan: bool) -> Interval:
        """`x` where it compares with something in `y`; `or_nan` if one of them may be NaN, too."""
        found = self.of(x)
        if or_nan and y.has_nan:
            return found  # nothing is known then
        step = 1 if x.dtype.is_integer else 0
        low, high = found.low, found.high
        if sign in (Lt, Le, Eq):
            high = min(high, y.high - (step if sign is Lt else 0))
        if sign in (Gt, Ge, Eq):
            low = max(low, y.low + (step if sign is Gt else 0))
        return Interval(low, high, found.has_nan and or_nan)

    def of(self, expr: Expr) -> Interval:
        """Between which numbers the value of an expression is."""
        every = Interval.of_type(expr.dtype)
        if expr.dtype.is_complex:
            return every
        found = self._find(expr)
        return every if found is None or found.low > found.high else found

    def _find(self, expr: Expr) -> Interval | None:
        match expr:
            case Const(bool() | int() | float() as value):
                return None if math.isnan(value) else Interval(value, value)
            case Var() | Load():
                key = _key_of(expr)
                return None if key is None else self._known.get(key)
            case Select(cond, then, otherwise):
                return self.under(cond).of(then).hull(self.under(Not(cond)).of(otherwise))
            case Cast(to, value):
                return _converted(self.of(value), value.dtype, to)
            case Min(a, b) | Max(a, b):
                return _extremum(self.of(a), self.of(b), is_least=isinstance(expr, Min))
            case Call("minimum" | "maximum" as name, (a, b)):
                return _propagating(self.of(a), self.of(b), is_least=name == "minimum")
            case Call(name, (value,)) if name in _STEPS:
                return _stepped(self.of(value), _STEPS[name])
            case _ if expr.dtype.is_integer:
                return self._find_integer(expr)
            case _:
                return None

    def _find_integer(self, expr: Expr) -> Interval | None:
        """The same for operators on integers, which wrap where a type ends."""
        match expr:
            case Add(a, b):
                x, y = self.of(a), self.of(b)
                found = Interval(x.low + y.low, x.high + y.high)
            case Sub(a, b):
                x, y = self.of(a), self.of(b)
                found = Interval(x.low - y.high, x.high - y.low)
            case Mul(a, b):
                x, y = self.of(a), self.of(b)
                products = [p * q for p in (x.low, x.high) for q in (y.low, y.high)]
                found = Interval(min(products), max(products))
            case Neg(a):
                x = self.of(a)
                found = Interval(-x.high, -x.low)
            case FloorDiv(a, Const(int(divisor))) if divisor > 0:
                x = self.of(a)
                found = Interval(x.low // divisor, x.high // divisor)
            case Mod(_, Const(int(divisor))) if divisor > 0:
                found = Interval(0, divisor - 1)
            case BitAnd(a, b):
                most = [x.high for x in (self.of(a), self.of(b)) if x.low >= 0]
                return Interval(0, min(most)) if most else None
            case ShiftRight(a, Const(int(count))) if 0 <= count < expr.dtype.bits:
                x = self.of(a)
                found = Interval(int(x.low) >> count, int(x.high) >> count)
            case _:
                return None
        return found if found.is_in(Interval.of_type(expr.dtype)) else None


def _key_of(expr: Expr) -> Key | None:
    """The variable whose value an expression is."""
    if isinstance(expr, Load):
        return expr.buffer if expr.buffer.is_register else None
    return expr if isinstance(expr, Var) else None


def _converted(x: Interval, source: DType, to: DType) -> Interval | None:
    """Numbers in another type: floats are cut off, and saturate; integers wrap."""
    every = Interval.of_type(to)
    if to.is_integer and source.is_float:
        low, high = (_cut(min(max(end, every.low), every.high)) for end in (x.low, x.high))
        return Interval(min(low, 0), max(high, 0)) if x.has_nan else Interval(low, high)
    if to.is_integer:
        return x if x.is_in(every) else None
    if to.is_float:
        ends = (x.low, x.high)
        is_exact = all(end == _cut(end) and abs(end) <= _EXACT[to.bits] for end in ends)
        return x if is_exact else None
    return None


def _cut(number: float) -> float:
    return number if math.isinf(number) else math.trunc(number)


def _extremum(x: Interval, y: Interval, *, is_least: bool) -> Interval:
    """Python's: y if it is less, else x: which is x, if one of them is NaN."""
    found = _propagating(x, replace(y, has_nan=False), is_least=is_least)
    return found.hull(x) if y.has_nan else found


def _propagating(x: Interval, y: Interval, *, is_least: bool) -> Interval:
    pick = min if is_least else max
    has_nan = x.has_nan or y.has_nan
    return Interval(pick(x.low, y.low), pick(x.high, y.high), has_nan)


def _stepped(x: Interval, step: Callable[[float], float]) -> Interval:
    low, high = (end if math.isinf(end) else step(end) for end in (x.low, x.high))
    return Interval(low, high, x.has_nan)
