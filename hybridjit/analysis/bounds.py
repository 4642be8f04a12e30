"""Prove that an index stays inside its array: linear reasoning over the loops and guards around.

To prove `e >= 0`, write e as a linear form and replace each loop variable, innermost first, by
whichever end of its range makes e smaller: `i - j - 1` with j in range(i) becomes
`i - (i - 1) - 1 = 0`. What remains are run-time dimensions, which are never negative. A guard
`if i > 0` is a form that is known to be non-negative; subtracting it may finish the proof.

Proofs are over the integers, code computes modulo 2^64. A fact counts only where the two are the
same: `n + 1 < 5` says nothing about an n that may be 2^63 - 1. An index needs no such care: if
its form lies inside the array, so does its value.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from hybridjit.arith.linear import Linear, linear_form
from hybridjit.ir.dtype import INT64
from hybridjit.ir.expr import (
    And,
    Cast,
    Const,
    Eq,
    Expr,
    ExternCall,
    FloorDiv,
    Ge,
    Gt,
    Le,
    Load,
    Lt,
    Max,
    Min,
    Mod,
    Not,
    Select,
    Var,
)
from hybridjit.ir.stmt import For
from hybridjit.ir.visit import map_children, walk

# The largest size of a dimension: more than any memory holds. Kernels refuse larger ones.
MAX_EXTENT = 1 << 48
_MIN_INT, _MAX_INT = -(1 << 63), (1 << 63) - 1


@dataclass(frozen=True, slots=True)
class Range:
    """Bounds of a variable, both inclusive; None where nothing is known.

    `least` and `most` are bounds as numbers.
    """

    low: Linear | None
    high: Linear | None
    least: int = _MIN_INT
    most: int = _MAX_INT


@dataclass(slots=True)
class Facts:
    """What is known at a place: ranges of variables, innermost last, and guards that hold.

    Expressions that are not linear (`x % 4`, `min(i, 3)`) are named by a variable of their own;
    those that read memory by a new one each time, since their value may have changed.
    """

    ranges: dict[Var, Range] = field(default_factory=dict[Var, Range])
    guards: list[Linear] = field(default_factory=list[Linear])
    dimensions: frozenset[Var] = frozenset()
    lets: dict[Var, Linear] = field(default_factory=dict[Var, Linear])
    named: dict[Expr, Var] = field(default_factory=dict[Expr, Var])

    def enter_loop(self, loop: For) -> None:
        """Note the range of a loop variable for what is inside the loop."""
        start, stop = self.form(loop.start), self.form(loop.stop)
        match loop.step:
            case Const(int(step)) if step > 0:
                self._limit(loop.var, (start, 0), (stop, -1))
            case Const(int(step)) if step < 0:
                self._limit(loop.var, (stop, 1), (start, 0))
            case _:
                pass

    def _limit(
        self, var: Var, low: tuple[Linear | None, int], high: tuple[Linear | None, int]
    ) -> None:
        """Note that `var` is between two values, each a form and what to add to it.

        There is such a value of `var`, so that the additions do not overflow.
        """
        ends: list[Linear | None] = []
        numbers: list[int] = []
        for (form, offset), default, side in ((low, _MIN_INT, 0), (high, _MAX_INT, 1)):
            known = form if form is not None and self.is_exact(form) else None
            ends.append(None if known is None else known.plus(Linear({}, offset)))
            numbers.append(default if known is None else self._interval(known)[side] + offset)
        self.ranges[var] = Range(ends[0], ends[1], numbers[0], numbers[1])

    def bind(self, var: Var, value: Expr) -> None:
        """Note the value of a `Let`."""
        form = self.form(value)
        if form is not None:
            self.lets[var] = form

    def assume(self, condition: Expr) -> int:
        """Note that `condition` holds; return how many guards that added."""
        before = len(self.guards)
        self._add(condition)
        return len(self.guards) - before

    def _add(self, condition: Expr) -> None:
        match condition:
            case And(a, b):
                self._add(a)
                self._add(b)
            case Lt(a, b):
                self._at_least(b, a, 1)
            case Le(a, b):
                self._at_least(b, a, 0)
            case Gt(a, b):
                self._at_least(a, b, 1)
            case Ge(a, b):
                self._at_least(a, b, 0)
            case Eq(a, b):
                self._at_least(a, b, 0)
                self._at_least(b, a, 0)
            case Not(inner):
                negation = _NEGATED.get(type(inner))
                if negation is not None:
                    self._add(negation(inner.lhs, inner.rhs))  # type: ignore[attr-defined]
            case _:
                pass

    def _at_least(self, larger: Expr, smaller: Expr, gap: int) -> None:
        """Note that larger - smaller - gap >= 0."""
        if larger.dtype is not INT64:
            return
        a, b = self.form(larger), self.form(smaller)
        if a is not None and b is not None and self.is_exact(a) and self.is_exact(b):
            self.guards.append(a.plus(b, -1).plus(Linear({}, -gap)))

    # -- forms ---------------------------------------------------------------------------------

    def form(self, expr: Expr) -> Linear | None:
        """`expr` as a linear form; the parts that are not linear are given names and ranges."""
        if expr.dtype is not INT64:
            return None
        return linear_form(self._named_parts(expr), self._variable)

    def _variable(self, var: Var) -> Linear | None:
        return self.lets.get(var, Linear({var: 1}))

    def _named_parts(self, expr: Expr) -> Expr:
        if isinstance(expr, (FloorDiv, Mod, Min, Max, Select, Cast)) and expr.dtype is INT64:
            return self._name(expr)
        if not isinstance(expr, (Var, Const)):
            return map_children(expr, self._named_parts)
        return expr

    def _name(self, expr: Expr) -> Var:
        known = self.named.get(expr)
        if known is not None:
            return known
        var = Var("part")
        if not any(isinstance(node, (Load, ExternCall)) for node in walk(expr)):
            self.named[expr] = var
        low, high = self._ends_of(expr)
        self._limit(var, (low, 0), (high, 0))
        return var

    def _ends_of(self, expr: Expr) -> tuple[Linear | None, Linear | None]:
        match expr:
            case Mod(_, Const(int(n))) if n > 0:
                return Linear({}), Linear({}, n - 1)
            case Mod(_, Var() as n) if n in self.dimensions:
                return Linear({}), Linear({n: 1}, -1)
            case FloorDiv(x, Const(int(n))) if n > 0:
                return self._quotient(x, n)
            case Min(a, b):
                return None, self._bound(a, b)
            case Max(a, b):
                return self._bound(a, b), None
            case Cast(_, value) if value.dtype.is_integer or value.dtype.is_bool:
                if value.dtype.bits >= 64:
                    return None, None
                low, high = value.dtype.bounds
                return Linear({}, low), Linear({}, high)
            case _:
                return None, None

    def _bound(self, a: Expr, b: Expr) -> Linear | None:
        """One of the two operands of min or max, a constant if there is one."""
        first, second = (a, b) if isinstance(a, Const) else (b, a)
        return self.form(first) or self.form(second)

    def _quotient(self, x: Expr, n: int) -> tuple[Linear | None, Linear | None]:
        form = self.form(x)
        if form is None or not self.is_exact(form):
            return None, None
        low = self._lowest(form)
        high = self._lowest(form.times(-1))
        return (
            None if low is None or low.terms else Linear({}, low.constant // n),
            None if high is None or high.terms else Linear({}, -high.constant // n),
        )

    # -- overflow ------------------------------------------------------------------------------

    def is_exact(self, form: Linear) -> bool:
        """True if `form`, computed in int64, does not overflow, whatever its variables are."""
        low, high = self._interval(form)
        return low >= _MIN_INT and high <= _MAX_INT

    def _interval(self, form: Linear) -> tuple[int, int]:
        low = high = form.constant
        for var, coefficient in form.terms.items():
            ends = [coefficient * end for end in self._numbers(var)]
            low, high = low + min(ends), high + max(ends)
        return low, high

    def _numbers(self, var: Var) -> tuple[int, int]:
        if var in self.dimensions:
            return 0, MAX_EXTENT
        known = self.ranges.get(var)
        return (_MIN_INT, _MAX_INT) if known is None else (known.least, known.most)

    # -- proofs --------------------------------------------------------------------------------

    def prove_non_negative(self, form: Linear) -> bool:
        """True if `form` is sure to be >= 0; False means not known."""
        if self._holds(form):
            return True
        return any(self._holds(form.plus(guard, -1)) for guard in self.guards)

    def _holds(self, form: Linear) -> bool:
        low = self._lowest(form)
        return (
            low is not None
            and low.constant >= 0
            and all(var in self.dimensions and c >= 0 for var, c in low.terms.items())
        )

    def _lowest(self, form: Linear) -> Linear | None:
        """`form` with loop variables at the end of their range where it is smallest."""
        for var in reversed(self.ranges):
            coefficient = form.terms.get(var, 0)
            if coefficient == 0:
                continue
            known = self.ranges[var]
            end = known.low if coefficient > 0 else known.high
            if end is None:
                return None
            form = form.replace(var, end)
        return form


_NEGATED: dict[type[Expr], type[Expr]] = {Lt: Ge, Le: Gt, Gt: Le, Ge: Lt}
