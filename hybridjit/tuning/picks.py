"""Where the choices of a candidate fall.

s.sample_categorical([4, 8, 16])     picks (1, ...)  -->  8
s.sample_perfect_tile("i", 2)        picks (., 3, ...) -> the fourth way to cut the loop
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from hybridjit.record import record
from hybridjit.schedule.sampling_steps import Chooser


@record
class Pick:
    """One of `count` places was picked."""

    place: int
    count: int


def likeliest(weights: Sequence[float]) -> int:
    """The place with the largest weight."""
    return max(range(len(weights)), key=weights.__getitem__)


def first(weights: Sequence[float]) -> int:
    """The first place."""
    del weights
    return 0


def by_chance(random: Random) -> Chooser:
    """A place with the chance that its weight gives it."""
    return lambda weights: random.choices(range(len(weights)), weights)[0]


class Picks:
    """Answers each choice by the next of the `given` places; when they are at an end, or do not
    fit, as `otherwise` says.
    """

    def __init__(self, otherwise: Chooser, given: Sequence[int] = ()) -> None:
        self.taken: list[Pick] = []
        self.choices: list[tuple[Sequence[float], int]] = []
        self._otherwise = otherwise
        self._given = given

    def __call__(self, weights: Sequence[float]) -> int:
        number = len(self.taken)
        place = self._given[number] if number < len(self._given) else -1
        if not 0 <= place < len(weights):
            place = self._otherwise(weights)
        self.taken.append(Pick(place, len(weights)))
        self.choices.append((weights, place))
        return place

    def begin_again(self) -> None:
        """Answer the same choices in the same way, from the first."""
        self._given = [*(pick.place for pick in self.taken), *self._given[len(self.taken) :]]
        self.taken, self.choices = [], []
