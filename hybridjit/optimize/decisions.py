"""What the optimiser decided, step by step: the receipt is made of it.

While a program is optimised, each decision is a line in a list. `kernel.auto_schedule` runs the
optimiser again and again, one decision further each time, and takes each as a step of a schedule
of the program before it (receipt.py).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any, TypeVar

from hybridjit.ir.expr import Buffer, Var
from hybridjit.record import record

T = TypeVar("T")


@record
class BlockOf:
    """The last block that stores to `buffer`; only in the loop over `inside`, if that is given."""

    buffer: Buffer
    inside: Var | None = None


Place = Var | BlockOf
"""The loop over a variable, or a block."""


@record
class Decision:
    """A step of a schedule, by name, where it is taken, and its numbers."""

    step: str
    places: tuple[Place, ...]
    numbers: Mapping[str, Any] = field(default_factory=dict[str, Any])


@record(frozen=False)
class Decisions:
    """The decisions so far, of at most `limit`; the one after those is `refused`, with all later.

    The program then is as it was when that decision was up. What is decided otherwise for other
    strides than those of C order says so.
    """

    limit: int | None = None
    taken: list[Decision] = field(default_factory=list[Decision])
    refused: Decision | None = None
    minds_strides: bool = False

    @property
    def is_over(self) -> bool:
        """True if whatever is decided from now on is refused."""
        return self.refused is not None

    def take_all(self, stages: Sequence[tuple[Decision, T]]) -> T | None:
        """Note decisions that are worth it together only, each with what comes of it.

        Gives what comes of the last one that is to be carried out, None if none is.
        """
        made: T | None = None
        for decision, outcome in stages:
            if not self.take(decision.step, *decision.places, **decision.numbers):
                break
            made = outcome
        return made

    def take(self, step: str, *places: Place, **numbers: Any) -> bool:
        """Note a decision; True if it is to be carried out."""
        decision = Decision(step, places, numbers)
        if self.limit is not None and len(self.taken) >= self.limit:
            self.refused = self.refused or decision
            return False
        self.taken.append(decision)
        return True
