"""What there is to see of a kernel: its text at every stage, each line with where it came from."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence

from hybridjit.errors import ScheduleError
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.printer import print_lines
from hybridjit.record import record
from hybridjit.schedule.replay import Replay
from hybridjit.schedule.schedule import QUERIES, Schedule
from hybridjit.schedule.trace import RecordedTrace, Trace
from hybridjit.viewing.places import Places

Line = tuple[str, int | None]
"""The text of a line, and the line of the script that it came from, if that is known."""


@record
class Stage:
    """A text on the way from the script to machine code."""

    title: str
    lines: tuple[Line, ...]


@record
class Step:
    """A step of the schedule: how it is written, and the program after it.

    `changes` says of each line whether the step has made it; `removed` are the lines that are gone,
    with the place that they had. Of a step that was refused, `refusal` says why, and `picture`
    shows the two iterations that are in its way.
    """

    call: str
    lines: tuple[Line, ...]
    changed: tuple[int, ...] = ()
    removed: tuple[tuple[int, str], ...] = ()
    refusal: str = ""
    picture: str = ""


def program_stage(title: str, func: PrimFunc, places: Places) -> Stage:
    """The printed form of a function."""
    return Stage(title, _lines_of(func, places))


def _lines_of(func: PrimFunc, places: Places) -> tuple[Line, ...]:
    return tuple(print_lines(places.put_into(func)))


def find_steps(opened: Schedule) -> tuple[Step, ...]:
    """What each step of a schedule did to the program."""
    return tuple(_steps(opened))


def _steps(opened: Schedule) -> Iterator[Step]:
    replay = Replay(schedule := Schedule(opened.original))
    calls = list(RecordedTrace.of(opened.trace).calls())
    texts = _calls(opened.trace)
    places = Places(opened.original)
    before = _lines_of(opened.original, places)
    yield Step("as it is written", before)
    for place, (call, text) in enumerate(zip(calls, texts, strict=True)):
        yield from _refused(opened, place, before)
        try:
            replay.take(call)
        except ScheduleError:
            return  # what the program is like from here on is not known
        if call.name in QUERIES:
            continue
        after = _lines_of(schedule.func, places)
        yield Step(text, after, *_difference(before, after))
        before = after
    yield from _refused(opened, len(calls), before)


def _refused(opened: Schedule, place: int, lines: Sequence[Line]) -> Iterator[Step]:
    """The steps that were refused after so many others."""
    for each in opened.refused:
        if each.place == place:
            picture = "" if each.witness is None else each.witness.draw()
            text = opened.write_call(each.step)
            yield Step(text, tuple(lines), refusal=each.message, picture=picture)


def _calls(trace: Trace) -> list[str]:
    """Each step as it is written, without what it is assigned to."""
    _, *lines = str(trace).splitlines()
    return [line.strip().split(" = ", 1)[-1] for line in lines][: len(trace.steps)]


def _difference(
    before: Sequence[Line], after: Sequence[Line]
) -> tuple[tuple[int, ...], tuple[tuple[int, str], ...]]:
    old, new = ([text for text, _ in lines] for lines in (before, after))
    changed: list[int] = []
    removed: list[tuple[int, str]] = []
    matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
    for tag, first, last, start, stop in matcher.get_opcodes():
        if tag != "equal":
            changed += range(start, stop)
            removed += ((start, text) for text in old[first:last])
    return tuple(changed), tuple(removed)
