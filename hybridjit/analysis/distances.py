"""How far apart two iterations of a nest can be that meet in one element.

    for i in range(n):
        for j in range(m):
            c[i, j] = c[i - 1, j]      # the store is one iteration of i before the load, none of j

The distances along the loops, counted in iterations, lie in a box: an interval for each loop. Each
axis of the array is an equation, which makes the box smaller. The box may be larger than the truth,
never smaller.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from enum import Flag
from itertools import product

from hybridjit.analysis.forms import Interval
from hybridjit.ir.expr import Var
from hybridjit.record import record

# Equations help each other; those of nests that people write are through after two rounds.
_MAX_ROUNDS = 4


class Order(Flag):
    """When one access of an element may run, seen from the other: in an iteration before, in the
    same, or in one after. None of them: they never meet.
    """

    NEVER = 0
    BEFORE = 1
    SAME = 2
    AFTER = 4
    ANY = 7


@record
class Equation:
    """The sum of `factors[loop] * distance along the loop`, and of something in `rest`, is 0."""

    factors: Mapping[Var, int]
    rest: Interval


@record(frozen=False)
class Distances:
    """The box: `low` and `high` for each loop of a nest, outermost first; or there is none."""

    low: dict[Var, int] = field(default_factory=dict[Var, int])
    high: dict[Var, int] = field(default_factory=dict[Var, int])
    is_empty: bool = False

    @staticmethod
    def within(farthest: Mapping[Var, int]) -> Distances:
        """All the distances of iterations that are at most so far apart."""
        return Distances({loop: -far for loop, far in farthest.items()}, dict(farthest))

    @property
    def is_same(self) -> bool:
        """True if only an iteration and itself can meet, along every loop."""
        return self.is_empty or all(self.is_zero(loop) for loop in self.low)

    def is_zero(self, loop: Var) -> bool:
        """True if iterations that meet are the same along `loop`."""
        return self.is_empty or self.low[loop] == self.high[loop] == 0

    def solve(self, equations: Sequence[Equation]) -> None:
        """Leave out what cannot be a solution of all the equations."""
        for _ in range(_MAX_ROUNDS):
            before = dict(self.low), dict(self.high)
            if not all(self._narrow(equation) for equation in equations):
                self.is_empty = True
                return
            if before == (self.low, self.high):
                return

    def _narrow(self, equation: Equation) -> bool:
        """Take account of an equation; False if it has no solution."""
        low, high = equation.rest
        factors = equation.factors
        if not factors:
            return low <= 0 <= high
        # The sum is a multiple of what divides all factors: 2 * i and 2 * j + 1 never meet.
        divisor = math.gcd(*factors.values())
        if low > 0 or high < 0:
            nearest = -(-low // divisor) if low > 0 else high // divisor
            if not low <= nearest * divisor <= high:
                return False
        return all(self._narrow_loop(equation, loop) for loop in factors)

    def _narrow_loop(self, equation: Equation, loop: Var) -> bool:
        low, high = equation.rest
        for other, factor in equation.factors.items():
            if other is not loop:
                ends = factor * self.low[other], factor * self.high[other]
                low, high = low + min(ends), high + max(ends)
        # factor * distance is in [-high, -low]
        factor = equation.factors[loop]
        ends = (-high, -low) if factor > 0 else (low, high)
        size = abs(factor)
        self.low[loop] = max(self.low[loop], -(-ends[0] // size))
        self.high[loop] = min(self.high[loop], ends[1] // size)
        return self.low[loop] <= self.high[loop]

    def order(self) -> Order:
        """When the first access may run, seen from the other: the first loop that differs says."""
        found = Order.NEVER
        if self.is_empty:
            return found
        for loop in self.low:
            if self.low[loop] < 0:
                found |= Order.BEFORE
            if self.high[loop] > 0:
                found |= Order.AFTER
            if not self.low[loop] <= 0 <= self.high[loop]:
                return found
        return found | Order.SAME

    def keeps_order(self, loops: Sequence[Var]) -> bool:
        """True if all iterations that meet run in the same order with the nest as in `loops`."""
        if self.is_empty:
            return True
        return all(
            _leading(signs, tuple(self.low)) == _leading(signs, loops) for signs in self._signs()
        )

    def _signs(self) -> Iterator[Mapping[Var, int]]:
        """The signs that the distances along the loops can have, all combinations of them."""
        choices = [
            [sign for sign in (-1, 0, 1) if _has_sign(self.low[loop], self.high[loop], sign)]
            for loop in self.low
        ]
        return (dict(zip(self.low, signs, strict=True)) for signs in product(*choices))


def _has_sign(low: int, high: int, sign: int) -> bool:
    return low < 0 if sign < 0 else high > 0 if sign > 0 else low <= 0 <= high


def _leading(signs: Mapping[Var, int], loops: Sequence[Var]) -> int:
    """The sign of the first distance that is not 0."""
    return next((signs[loop] for loop in loops if signs[loop] != 0), 0)
