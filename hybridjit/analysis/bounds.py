"""Prove that an index stays inside its array: linear reasoning over the loops and guards around.

To prove `e >= 0`, write e as a linear form and replace each loop variable, innermost first, by
whichever end of its range makes e smaller: `i - j - 1` with j in range(i) becomes
`i - (i - 1) - 1 = 0`. What remains are run-time dimensions, which are never negative. A guard
`if i > 0` is a form that is known to be non-negative; subtracting it may finish the proof.
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
    FloorDiv,
    Ge,
    Gt,
    Le,
    Lt,
    Max,
    Min,
    Mod,
    Not,
    Select,
    Var,
)
from hybridjit.ir.stmt import For
from hybridjit.ir.visit import map_children

# Larger coefficients could overflow int64 in the code where the proof is over the integers.
_MAX_COEFFICIENT = 1 << 31


@dataclass(frozen=True, slots=True)
class Range:
    """Bounds of a variable, both inclusive; None where nothing is known."""

    low: Linear | None
    high: Linear | None


@dataclass(slots=True)
class Facts:
    """What is known at a place: ranges of variables, innermost last, and guards that hold.

    Expressions that are not linear (`x % 4`, `min(i, 3)`) are named by a variable of their own.
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
                high = None if stop is None else stop.plus(Linear({}, -1))
                self.ranges[loop.var] = Range(start, high)
            case Const(int(step)) if step < 0:
                low = None if stop is None else stop.plus(Linear({}, 1))
                self.ranges[loop.var] = Range(low, start)
            case _:
                pass

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
        if a is not None and b is not None:
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
        var = self.named[expr] = Var("part")
        found = self._range_of(expr)
        if found is not None:
            self.ranges[var] = found
        return var

    def _range_of(self, expr: Expr) -> Range | None:
        match expr:
            case Mod(_, Const(int(n))) if n > 0:
                return Range(Linear({}), Linear({}, n - 1))
            case Mod(_, Var() as n) if n in self.dimensions:
                return Range(Linear({}), Linear({n: 1}, -1))
            case FloorDiv(x, Const(int(n))) if n > 0:
                return self._quotient(x, n)
            case Min(a, b):
                return Range(None, self._bound(a, b))
            case Max(a, b):
                return Range(self._bound(a, b), None)
            case Cast(_, value) if value.dtype.is_integer or value.dtype.is_bool:
                if value.dtype.bits >= 64:
                    return None
                low, high = value.dtype.bounds
                return Range(Linear({}, low), Linear({}, high))
            case _:
                return None

    def _bound(self, a: Expr, b: Expr) -> Linear | None:
        """One of the two operands of min or max, a constant if there is one."""
        first, second = (a, b) if isinstance(a, Const) else (b, a)
        return self.form(first) or self.form(second)

    def _quotient(self, x: Expr, n: int) -> Range | None:
        form = self.form(x)
        if form is None:
            return None
        low = self._lowest(form)
        high = self._lowest(form.times(-1))
        return Range(
            None if low is None or low.terms else Linear({}, low.constant // n),
            None if high is None or high.terms else Linear({}, -high.constant // n),
        )

    # -- proofs --------------------------------------------------------------------------------

    def prove_non_negative(self, form: Linear) -> bool:
        """True if `form` is sure to be >= 0; False means not known."""
        if _is_large(form):
            return False
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


def _is_large(form: Linear) -> bool:
    return any(abs(c) > _MAX_COEFFICIENT for c in (*form.terms.values(), form.constant))
