"""Spaces: what a list of picks leads to."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from hybridjit.errors import ScheduleError
from hybridjit.ir.func import PrimFunc
from hybridjit.record import record
from hybridjit.schedule.schedule import Schedule
from hybridjit.schedule.trace import RecordedTrace
from hybridjit.target import Target
from hybridjit.tuning.nests import Tiling, find_nests
from hybridjit.tuning.picks import Pick, Picks
from hybridjit.tuning.products import choose_packing
from hybridjit.tuning.receipts import Receipt
from hybridjit.tuning.stages import Stages, find_stages

Steps = Callable[[Schedule], Any]
"""A space: it takes steps, and leaves what it can to `sample_*`."""

_SAMPLING = ("sample_perfect_tile", "sample_categorical", "sample_compute_location")


@record(eq=False)
class Candidate:
    """The picks, the recipe that came of them, and the program that it makes."""

    picks: tuple[Pick, ...]
    recipe: Any
    func: PrimFunc


@record(eq=False)
class Refused:
    """The picks of a candidate that is not legal, and why it is not."""

    picks: tuple[Pick, ...]
    reason: str


class Space(Protocol):
    """What lists of picks lead to."""

    def make(self, picks: Picks) -> Candidate | Refused:
        """The candidate that comes of these picks, as far as they go, and further ones."""
        ...


@record(eq=False)
class Schedules:
    """What can be made of a function by `steps`."""

    func: PrimFunc
    steps: Steps

    def make(self, picks: Picks) -> Candidate | Refused:
        """The steps that come of the picks."""
        schedule = Schedule(self.func)
        schedule.choose_with(picks)
        try:
            self.steps(schedule)
        except ScheduleError as error:
            return Refused(tuple(picks.taken), str(error))
        recipe = without_samples(RecordedTrace.of(schedule.trace))
        return Candidate(tuple(picks.taken), recipe.to_json(), schedule.func)


def without_samples(trace: RecordedTrace) -> RecordedTrace:
    """The steps that came of choices, without these; one that chose a loop is where others get it
    from, and chooses the same again.
    """
    return RecordedTrace(
        tuple(step for step in trace.steps if step["results"] or step["step"] not in _SAMPLING)
    )


@record(eq=False)
class Automatic:
    """The space of the compiler: its own decisions; of nests that it leaves alone, where stages are
    computed, packed products and tiles.
    """

    receipt: Receipt
    target: Target
    parallel: bool = False

    def __call__(self, schedule: Schedule) -> None:
        made = self.receipt.take(schedule)
        nests = find_nests(schedule)
        stages = find_stages(schedule, nests)
        if stages:
            Stages(schedule, stages, nests[-1]).choose()
        for block in find_nests(schedule):
            if not choose_packing(schedule, block, self.target):
                Tiling(schedule, block, self.target, self.parallel).choose()
        self.receipt.hint(schedule, made)
