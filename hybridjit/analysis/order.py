"""In which order two accesses of a loop nest can meet in one element: syntactic, without isl.

A negative index counts from the end. So two indices that differ are different elements only if
neither is negative, and an index of which that is not known says nothing.

Relies on: ranges that hold for the loops; `varying` with all that is bound inside of the nest but
for its loops, so that any other variable is the same in all iterations.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from hybridjit.analysis.distances import Distances, Equation, Order
from hybridjit.analysis.forms import Interval
from hybridjit.arith.linear import Linear, expr_of_form
from hybridjit.arith.ranges import ONE, ZERO, Ranges, minus
from hybridjit.ir.expr import Expr, Var
from hybridjit.record import record

# Farther apart than iterations, and indices, are.
_FAR = 1 << 64


@record
class Iterations:
    """The loops of a nest, outermost first, and what else changes from iteration to iteration.

    `ranges` knows the bounds of the loops.
    """

    loops: Sequence[Var]
    varying: Collection[Var]
    ranges: Ranges

    def __post_init__(self) -> None:
        assert not any(loop in self.varying for loop in self.loops), "a loop says how it varies"

    def meet(self, ours: Sequence[Expr], theirs: Sequence[Expr]) -> Order:
        """When an access at `ours` may run, seen from one of the same element at `theirs`."""
        found = Distances.within(dict.fromkeys(self.loops, _FAR))
        equations = (self._equation(a, b) for a, b in zip(ours, theirs, strict=True))
        found.solve([equation for equation in equations if equation is not None])
        return found.order()

    def _equation(self, ours: Expr, theirs: Expr) -> Equation | None:
        """What one axis says of the distances; None if nothing."""
        forms = self.ranges.form(ours), self.ranges.form(theirs)
        if forms[0] is None or forms[1] is None or any(map(self._varies, forms)):
            return None
        (mine, a), (other, b) = (self._split(form) for form in forms if form is not None)
        if mine != other:
            return None
        if not (self.ranges.is_natural(ours) and self.ranges.is_natural(theirs)):
            return None
        return Equation(mine, self._interval(a.plus(b, -1)))

    def _varies(self, form: Linear | None) -> bool:
        return form is None or any(var in self.varying for var in form.terms)

    def _split(self, form: Linear) -> tuple[dict[Var, int], Linear]:
        """What counts along the loops, and what is the same in all iterations."""
        loops = {var: factor for var, factor in form.terms.items() if var in self.loops}
        rest = {var: factor for var, factor in form.terms.items() if var not in self.loops}
        return loops, Linear(rest, form.constant)

    def _interval(self, form: Linear) -> Interval:
        """Bounds of what is the same in all iterations: on which side of 0 it is."""
        if not form.terms:
            return form.constant, form.constant
        value = expr_of_form(form)
        return self._low(value), -self._low(minus(ZERO, value))

    def _low(self, value: Expr) -> int:
        if self.ranges.is_at_most(ONE, value):
            return 1
        return 0 if self.ranges.is_natural(value) else -_FAR
