"""Where the decisions of a random program come from: a seed, or hypothesis."""

from __future__ import annotations

import random
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")


class Choices(ABC):
    """A source of decisions. Smaller numbers are the simpler choice, for shrinking."""

    @abstractmethod
    def below(self, count: int) -> int:
        """A number from 0 to `count` - 1."""

    def pick(self, options: Sequence[T]) -> T:
        """One of the options, the simplest of which comes first."""
        return options[self.below(len(options))]

    def chance(self, percent: int) -> bool:
        """True this often; False is the simpler answer."""
        return self.below(100) >= 100 - percent

    def between(self, low: int, high: int) -> int:
        return low + self.below(high - low + 1)


class SeededChoices(Choices):
    """Everything follows from one integer."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def below(self, count: int) -> int:
        return int(self.random.random() * count)
