"""In which order two accesses of a loop nest can meet in one element: syntactic, without isl.

A negative index counts from the end. So two indices that differ are different elements only if
neither is negative, and an index of which that is not known says nothing.

Relies on: ranges that hold for the loops; `varying` with all that is bound inside of the nest but
for its loops, so that any other variable is the same in all iterations.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from enum import Flag

from hybridjit.arith.linear import Linear, expr_of_form
from hybridjit.arith.ranges import ONE, ZERO, Ranges, plus
from hybridjit.ir.expr import Expr, Var


class Order(Flag):
    """When the one access of an element may run, seen from the other: in an iteration before,
    in the same, or in one after. None of them: they never meet.
    """

    NEVER = 0
    BEFORE = 1
    SAME = 2
    AFTER = 4
    ANY = 7


@dataclass(frozen=True, slots=True)
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
        distances = _Distances(self)
        for a, b in zip(ours, theirs, strict=True):
            if not distances.narrow(a, b):
                return Order.NEVER
        return distances.order()


class _Distances:
    """How far apart, along each loop, two iterations can be that meet in an element."""

    def __init__(self, iterations: Iterations) -> None:
        self.iterations = iterations
        self.low: dict[Var, float] = dict.fromkeys(iterations.loops, -math.inf)
        self.high: dict[Var, float] = dict.fromkeys(iterations.loops, math.inf)

    def narrow(self, ours: Expr, theirs: Expr) -> bool:
        """Take account of one axis; False if the indices are sure to be different."""
        ranges = self.iterations.ranges
        forms = ranges.form(ours), ranges.form(theirs)
        if forms[0] is None or forms[1] is None or any(map(self._varies, forms)):
            return True
        (mine, a), (other, b) = (self._split(form) for form in forms if form is not None)
        if mine != other or len(mine) > 1:
            return True
        if not (ranges.is_natural(ours) and ranges.is_natural(theirs)):
            return True
        if not mine:
            return not self._differ(ours, theirs)
        ((loop, factor),) = mine.items()
        # factor * our iteration + a == factor * their iteration + b
        return self._bound(loop, factor, b.plus(a, -1))

    def _varies(self, form: Linear | None) -> bool:
        return form is None or any(var in self.iterations.varying for var in form.terms)

    def _split(self, form: Linear) -> tuple[dict[Var, int], Linear]:
        """What counts along the loops, and what is the same in all iterations."""
        loops = {var: factor for var, factor in form.terms.items() if var in self.low}
        rest = {var: factor for var, factor in form.terms.items() if var not in self.low}
        return loops, Linear(rest, form.constant)

    def _differ(self, a: Expr, b: Expr) -> bool:
        ranges = self.iterations.ranges
        return ranges.is_at_most(plus(a, ONE), b) or ranges.is_at_most(plus(b, ONE), a)

    def _bound(self, loop: Var, factor: int, offset: Linear) -> bool:
        """Our iteration minus theirs, times `factor`, is `offset`."""
        if offset.terms:
            self._bound_by_sign(loop, factor, expr_of_form(offset))
        elif offset.constant % factor:
            return False
        else:
            distance = offset.constant // factor
            self.low[loop] = max(self.low[loop], distance)
            self.high[loop] = min(self.high[loop], distance)
        return self.low[loop] <= self.high[loop]

    def _bound_by_sign(self, loop: Var, factor: int, offset: Expr) -> None:
        ranges = self.iterations.ranges
        signs = ranges.is_natural(offset), ranges.is_at_most(offset, ZERO)
        is_natural, is_negative = signs if factor > 0 else signs[::-1]
        if is_natural:
            self.low[loop] = max(self.low[loop], 0)
        if is_negative:
            self.high[loop] = min(self.high[loop], 0)

    def order(self) -> Order:
        """The signs of what is left, the first loop that differs deciding."""
        found = Order.NEVER
        for loop in self.iterations.loops:
            if self.low[loop] < 0:
                found |= Order.BEFORE
            if self.high[loop] > 0:
                found |= Order.AFTER
            if not self.low[loop] <= 0 <= self.high[loop]:
                return found
        return found | Order.SAME
