"""Random programs from a stream of choices: hypothesis makes it, or a seeded generator.

Hypothesis sees only numbers, so that it shrinks well and prints little; a plain generator is
fast and even-handed enough to look for one needle in thousands of programs.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from hypothesis import strategies as st

T = TypeVar("T")
Choose = Callable[[int], int]  # a number below the argument


def pick(choose: Choose, options: Sequence[T]) -> T:
    """One of `options`."""
    return options[choose(len(options))]


def strategy(make: Callable[[Choose], T]) -> st.SearchStrategy[T]:
    """What `make` makes, chosen by hypothesis."""

    @st.composite
    def made(draw: st.DrawFn) -> T:
        return make(lambda count: draw(st.integers(0, count - 1)))

    return made()


def samples(make: Callable[[Choose], T], count: int, seed: int = 0) -> Iterator[T]:
    """`count` times what `make` makes, chosen by a generator started from `seed`."""
    generator = random.Random(seed)
    for _ in range(count):
        yield make(generator.randrange)
