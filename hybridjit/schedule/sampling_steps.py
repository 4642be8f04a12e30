"""Steps that choose: their decisions are recorded, so that a replay chooses the same."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from hybridjit.errors import ScheduleError
from hybridjit.ir.expr import Const, Load, Var
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.stmt import Store
from hybridjit.ir.visit import walk, walk_stmts
from hybridjit.schedule.handles import BlockLike, LoopHandle, LoopLike
from hybridjit.schedule.nest import trip_count
from hybridjit.schedule.program import blocks_of, loops_around, the_block, the_loop
from hybridjit.schedule.recording import step
from hybridjit.schedule.refusal import check_int, refuse
from hybridjit.schedule.state import State

# More factors of a loop than anybody needs: there are a million ways to write 2 ** 20 as so many.
_MOST_FACTORS = 8

Chooser = Callable[[Sequence[float]], int]
"""Picks a place among as many as there are weights."""


class SamplingSteps(State):
    """sample_perfect_tile, sample_categorical, sample_compute_location."""

    def __init__(self, func: PrimFunc) -> None:
        super().__init__(func)
        self._choose = _by_chance(0)

    def seed(self, number: int) -> None:
        """Start the random choices from `number`. Without it every schedule chooses alike."""
        self._choose = _by_chance(number)

    def choose_with(self, chooser: Chooser) -> None:
        """Let `chooser` pick a place among so many weights, in the place of chance: a search."""
        self._choose = chooser

    @step
    def sample_perfect_tile(
        self,
        loop: LoopLike,
        n: int,
        *,
        max_innermost_factor: int | None = None,
        decision: Sequence[int] | None = None,
    ) -> list[int]:
        """Choose `n` factors whose product is the number of iterations of a loop.

        >>> factors = s.sample_perfect_tile("i", 2)
        """
        found = the_loop(self.func, self.find_var(loop))
        trips = trip_count(self.func, found)
        check_int(n, "sample_perfect_tile: the number of factors")
        if n < 1:
            raise refuse(self.func, f"sample_perfect_tile: {n} factors of a loop", [found])
        if n > _MOST_FACTORS:
            raise refuse(
                self.func,
                f"sample_perfect_tile: {n} factors of a loop, {_MOST_FACTORS} at most",
                [found],
            )
        if not isinstance(trips, Const):
            raise refuse(
                self.func,
                f"sample_perfect_tile: the extent of loop '{found.var.name}' is not a constant",
                [found],
            )
        limit = 64 if max_innermost_factor is None else max_innermost_factor
        check_int(limit, "sample_perfect_tile: the largest innermost factor")
        options = find_tilings(int(trips.value.real), n, limit)
        # A decision made for another size is made anew.
        kept = () if decision is None else _listed(decision, "sample_perfect_tile: the decision")
        chosen = kept if kept in options else options[self._choose([1.0] * len(options))]
        self.decision = list(chosen)
        return list(chosen)

    @step
    def sample_categorical(
        self,
        candidates: Sequence[int],
        probs: Sequence[float] | None = None,
        *,
        decision: int | None = None,
    ) -> int:
        """Choose one of `candidates`, with these probabilities. The decision is its place.

        >>> width = s.sample_categorical([4, 8, 16])
        """
        candidates = _listed(candidates, "sample_categorical: what it chooses from")
        weights = (1.0,) * len(candidates)
        if probs is not None:
            weights = _listed(probs, "sample_categorical: the probabilities")
        is_known = all(isinstance(each, int | float) and 0 <= each < math.inf for each in weights)
        if len(weights) != len(candidates) or not is_known or not sum(weights) > 0:
            raise ScheduleError(
                "sample_categorical needs candidates, and a probability for each, not all 0"
            )
        place = _decided(decision, "sample_categorical")
        if place is None or not 0 <= place < len(candidates):
            place = self._choose(weights)
        self.decision = place
        return candidates[place]

    @step
    def sample_compute_location(
        self, block: BlockLike, *, decision: int | None = None
    ) -> LoopHandle | None:
        """Choose a loop around a reader of what a block writes, or None: leave it where it is.

        >>> where = s.sample_compute_location("t")
        """
        options = _readers(self.func, self.find_name(block))
        place = _decided(decision, "sample_compute_location")
        if place is None or not 0 <= place <= len(options):
            place = self._choose([1.0] * (len(options) + 1))
        self.decision = place
        return None if place == len(options) else LoopHandle(options[place])


def _listed(values: Sequence[Any], what: str) -> tuple[Any, ...]:
    if not isinstance(values, tuple | list):
        raise ScheduleError(f"{what} must be a list, got {values!r}")
    return tuple(values)


def _decided(decision: int | None, step: str) -> int | None:
    if decision is not None:
        check_int(decision, f"{step}: the decision, a place in the list,")
    return decision


def _by_chance(seed: int) -> Chooser:
    generator = random.Random(seed)
    return lambda weights: generator.choices(range(len(weights)), weights)[0]


def find_tilings(trips: int, count: int, limit: int) -> list[tuple[int, ...]]:
    """Every way to write `trips` as a product of `count` factors, the last at most `limit`."""
    if count == 1:
        return [(trips,)]
    found: list[tuple[int, ...]] = []
    for last in (divisor for divisor in _divisors(trips) if divisor <= limit):
        found += [(*rest, last) for rest in _products(trips // last, count - 1)]
    return found or [(trips, *(1,) * (count - 1))]


def _products(number: int, count: int) -> list[tuple[int, ...]]:
    if count == 1:
        return [(number,)]
    return [
        (first, *rest)
        for first in _divisors(number)
        for rest in _products(number // first, count - 1)
    ]


@cache
def _divisors(number: int) -> list[int]:
    """The numbers that divide `number`, in their order; none divide 0."""
    small = [n for n in range(1, math.isqrt(number) + 1) if number % n == 0]
    return sorted({*small, *(number // n for n in small)})


def _readers(func: PrimFunc, name: str) -> list[Var]:
    """The loops around blocks that read what block `name` writes."""
    producer = the_block(func, name)
    written = {node.buffer for node in walk_stmts(producer) if isinstance(node, Store)}
    own = set(loops_around(func, producer))
    found: dict[Var, None] = {}
    for block in blocks_of(func):
        reads = {node.buffer for node in walk(block) if isinstance(node, Load)}
        if block is not producer and reads & written:
            for loop in loops_around(func, block):
                if loop not in own:
                    found.setdefault(loop.var)
    return list(found)
