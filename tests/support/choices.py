"""Random programs from a stream of choices: hypothesis makes it, or a seeded generator.

Hypothesis sees only numbers, so that it shrinks well and prints little; a plain generator is
fast and even-handed enough to look for one needle in thousands of programs.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from hypothesis import strategies as st

T = TypeVar("T")
Choose = Callable[[int], int]  # a number below the argument


def pick(choose: Choose, options: Sequence[T]) -> T:
    """One of `options`."""
    return options[choose(len(options))]


@dataclass(frozen=True)
class Choices:
    """A stream of choices with names for kinds of them. The smaller a number, the simpler."""

    below: Choose

    def pick(self, options: Sequence[T]) -> T:
        """One of the options, the simplest of which comes first."""
        return pick(self.below, options)

    def weighted(self, weights: Mapping[str, int]) -> str:
        """One of the names, each as often as its weight says."""
        number = self.below(sum(weights.values()))
        for name, weight in weights.items():
            number -= weight
            if number < 0:
                return name
        raise ValueError("there is nothing to choose from")

    def chance(self, percent: int) -> bool:
        """True this often; False is the simpler answer."""
        return self.below(100) >= 100 - percent

    def between(self, low: int, high: int) -> int:
        """A number from `low` to `high`."""
        return low + self.below(high - low + 1)


def seeded(seed: int) -> Choices:
    """Choices that all follow from one integer."""
    generator = random.Random(seed)
    return Choices(lambda count: int(generator.random() * count))


def drawn(draw: st.DrawFn) -> Choices:
    """Choices that hypothesis makes, and makes smaller."""
    return Choices(lambda count: draw(st.integers(0, count - 1)) if count > 1 else 0)


def strategy(make: Callable[[Choose], T]) -> st.SearchStrategy[T]:
    """What `make` makes, chosen by hypothesis."""

    @st.composite
    def made(draw: st.DrawFn) -> T:
        return make(drawn(draw).below)

    return made()


def samples(make: Callable[[Choose], T], count: int, seed: int = 0) -> Iterator[T]:
    """`count` times what `make` makes, chosen by a generator started from `seed`."""
    generator = random.Random(seed)
    for _ in range(count):
        yield make(generator.randrange)
