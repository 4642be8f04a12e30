"""The decisions of the optimiser as a space: each may be taken otherwise, or not at all.

    receipt of the optimiser                          what a candidate may do
        i = s.merge(i, i_1)                      -->  that, or nothing
        s.gemm("c", rows=12, vectors=2, ...)          a tile that fits the registers, a depth
        s.reduce_in_lanes(j, lanes=16, vectors=4)     8, 16, 32 lanes of 1, 2, 4, 8 vectors
        s.in_lanes(j, 16)                             1, 8, 16, 32, 64 lanes
        s.sums_in_lanes(j, i, lanes=32, rows=4)       1, 16, ... lanes of 1, 2, 4, 8 rows

The likeliest choice everywhere is the optimiser's own. A step that is refused, since one before it
was not taken, is left out.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from hybridjit.errors import ArgumentError, ScheduleError
from hybridjit.record import record
from hybridjit.schedule.handles import Handle
from hybridjit.schedule.replay import Replay
from hybridjit.schedule.schedule import QUERIES, Schedule
from hybridjit.schedule.trace import RecordedCall, RecordedTrace
from hybridjit.target import Target

HINTS = ("in_lanes", "on_threads", "sums_in_lanes", "in_register")
# What they take besides the loop.
_NUMBERS = {"in_lanes": "lanes", "on_threads": "wanted", "in_register": "wanted"}
_LIKELY = 0.85  # that a step is taken which has no numbers
_ROWS = (1, 2, 3, 4, 5, 6, 8, 10, 12, 14, 16, 20, 24, 28)
_VECTORS = (1, 2, 3, 4, 6)
_DEPTHS = (64, 128, 192, 256, 384, 512, 1024)

Options = Mapping[str, Any]


def pick(schedule: Schedule, weights: Sequence[float]) -> int:
    """A place among as many as there are weights, as the schedule's chooser picks it."""
    return schedule.sample_categorical(list(range(len(weights))), weights)


def likely(count: int, share: float = 0.5) -> list[float]:
    """Weights of places of which the first is the likeliest, by this share."""
    rest = (1 - share) / max(count - 1, 1)
    return [share, *[min(rest, share * 0.99)] * (count - 1)]


@record(eq=False)
class Receipt:
    """The steps of the optimiser, to be taken again in part, on any schedule of the program."""

    trace: RecordedTrace
    target: Target

    def take(self, schedule: Schedule) -> Replay:
        """Take the steps that rewrite the program."""
        replay = Replay(schedule)
        for call in self.trace.calls():
            if call.name not in HINTS:
                self._take(schedule, call, replay)
        return replay

    def hint(self, schedule: Schedule, replay: Replay) -> None:
        """Then say how loops are run."""
        for call in self.trace.calls():
            if call.name in HINTS:
                self._take(schedule, call, replay)

    def _take(self, schedule: Schedule, call: RecordedCall, replay: Replay) -> None:
        try:
            args, options = call.arguments(replay.made)
        except ArgumentError:
            return  # about a loop of a step that was not taken
        if call.name not in QUERIES:
            if pick(schedule, [_LIKELY, 1 - _LIKELY]) == 1:
                replay.made.update(_instead(call, args))
                return
            args, options = self._with_other_numbers(schedule, call, args, options)
        try:
            replay.take_with(call, args, options)
        except (ScheduleError, ArgumentError):
            replay.made.update(_instead(call, args))

    def _with_other_numbers(
        self, schedule: Schedule, call: RecordedCall, args: list[Any], options: dict[str, Any]
    ) -> tuple[list[Any], dict[str, Any]]:
        if call.name in _NUMBERS:
            numbers = dict(zip((_NUMBERS[call.name],), args[1:], strict=False))
            args, options = args[:1], {**options, **numbers}
        return args, other_numbers(schedule, call.name, options, self.target)


def other_numbers(
    schedule: Schedule, step: str, options: dict[str, Any], target: Target
) -> dict[str, Any]:
    """The options of a step, or others in the place of its numbers."""
    for changes in _changes(step, options, target):
        chosen = pick(schedule, likely(len(changes) + 1))
        options = options if chosen == 0 else {**options, **changes[chosen - 1]}
    return options


def _instead(call: RecordedCall, args: Sequence[Any]) -> dict[int, Handle]:
    """The loop that is there if loops were not merged: the first of them."""
    return {call.results[0]: args[0]} if call.name == "merge" and call.results else {}


def _changes(step: str, options: Options, target: Target) -> list[list[Options]]:
    """For each thing that a step leaves open: what else its numbers could be."""
    match step:
        case "gemm":
            return [list(_gemm_tiles(options, target)), _numbers(options, "depth", _DEPTHS)]
        case "reduce_in_lanes":
            lanes = _numbers(options, "lanes", _around(options["lanes"]))
            return [lanes, _numbers({"vectors": 4, **options}, "vectors", (1, 2, 4, 8))]
        case "unroll_and_jam" | "add_terms":
            return [_numbers(options, "factor", (2, 4, 6, 8))]
        case "in_lanes":
            return [_numbers(options, "lanes", (1, *_around(options["lanes"])))]
        case "sums_in_lanes":
            lanes = _numbers(options, "lanes", (1, *_around(options["lanes"])))
            return [lanes, _numbers(options, "rows", (1, 2, 4, 8) if "rows" in options else ())]
        case "on_threads" | "in_register":
            return [[{"wanted": False}]]
        case _:
            return []


def _numbers(options: Options, name: str, others: Sequence[int]) -> list[Options]:
    return [{name: number} for number in others if number != options.get(name)]


def _around(number: int) -> list[int]:
    return [other for other in (number // 2, number, number * 2, number * 4) if other > 1]


def _gemm_tiles(options: Options, target: Target) -> Iterator[Options]:
    """Tiles whose sums, a row of one factor and an element of the other are in registers."""
    for vectors, rows in itertools.product(_VECTORS, _ROWS):
        used = rows * vectors + vectors + 1
        is_own = (rows, vectors) == (options.get("rows"), options.get("vectors"))
        # Much smaller ones wait for their sums.
        if target.vector_registers // 4 < used <= target.vector_registers and not is_own:
            yield {"rows": rows, "vectors": vectors}
