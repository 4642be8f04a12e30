"""What the engine calls legal against an oracle that runs small programs and compares the order.

    python -m tests.nests.judge --count 20000 --seed 1

An illegal schedule that is accepted is an error; a legal one that is refused is only counted, and
printed with the reason that was given.
"""

from __future__ import annotations

import argparse
import dataclasses
import random
import re
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum
from functools import partial

from hybridjit.errors import ScheduleError
from hybridjit.ir.func import PrimFunc
from hybridjit.schedule.primitives.reorder import reorder
from hybridjit.schedule.schedule import Schedule
from tests.nests.generate import Nest, make_nest, make_sized
from tests.nests.moves import MOVES, shuffled_chain
from tests.nests.order import (
    Record,
    UnsupportedError,
    has_scalars,
    is_concurrent,
    keeps_order,
    record,
)
from tests.support.choices import Choose, pick

# Seconds between two lines of progress.
PAUSE = 30.0


class Verdict(Enum):
    """What the engine said, and whether it was right."""

    ACCEPTED = "legal and accepted"
    REFUSED = "illegal and refused"
    OVER_CAUTIOUS = "legal but refused"
    WRONG = "illegal but accepted"
    SKIPPED = "nothing to judge"


@dataclass(frozen=True, slots=True)
class Judgement:
    """A verdict, and the program with what was said about it."""

    verdict: Verdict
    program: str
    reason: str = ""


def make_parts(choose: Choose) -> Nest:
    """A program over arrays of any size, with loops that are fused or dealt out to parts."""
    nest = make_sized(choose)
    schedule = Schedule(nest.func)
    for _ in range(1 + choose(2)):
        with suppress(ScheduleError):
            MOVES[pick(choose, ("fuse", "split in parts", "split"))](schedule, choose)
    return dataclasses.replace(nest, text=str(schedule.func), func=schedule.func)


def _records(nest: Nest, func: PrimFunc, *, grouped: bool = False) -> Iterator[Record | None]:
    """What is touched for each of the variations of the arguments; None where there is an error.

    Each is run when it is asked for: one that shows a conflict is enough, a large one soonest.
    """
    for args in reversed([*nest.variations()]):
        try:
            found = record(func, args, grouped=grouped)
        except IndexError:
            found = None
        yield found


def judge_reorder(make: Callable[[Choose], Nest], choose: Choose) -> Judgement:
    """Reorder loops of a program, and say whether the engine and the oracle agree."""
    nest = make(choose)
    order = [handle.var for handle in shuffled_chain(Schedule(nest.func), choose)]
    if has_scalars(nest.func):
        return Judgement(Verdict.SKIPPED, nest.text)
    try:
        forced = reorder(nest.func, order, unsafe=True)
        pairs = zip(_records(nest, nest.func), _records(nest, forced), strict=True)
        legal = all(a is None or b is None or keeps_order(a, b) for a, b in pairs)
    except (ScheduleError, UnsupportedError):
        return Judgement(Verdict.SKIPPED, nest.text)
    text = f"{nest.text}\nreorder {', '.join(var.name for var in order)}"
    try:
        reorder(nest.func, order)
    except ScheduleError as error:
        return Judgement(_refused(legal), text, str(error))
    return Judgement(_accepted(legal), text)


def judge_parallel(make: Callable[[Choose], Nest], choose: Choose) -> Judgement:
    """Run a loop of a program in parallel, and say whether the engine and the oracle agree."""
    nest = make(choose)
    schedule = Schedule(nest.func)
    loop = schedule.loops()[choose(len(schedule.loops()))]
    if has_scalars(nest.func):
        return Judgement(Verdict.SKIPPED, nest.text)
    try:
        found = [run for run in _records(nest, nest.func, grouped=True) if run is not None]
    except UnsupportedError:
        return Judgement(Verdict.SKIPPED, nest.text)
    text = f"{nest.text}\nparallel {loop.name}"
    try:
        schedule.parallel(loop)
    except ScheduleError as error:
        # Reductions are only given up to threads where each can have a copy of its own.
        legal = all(is_concurrent(run, loop.var, commuting=False) for run in found)
        return Judgement(_refused(legal), text, str(error))
    return Judgement(
        _accepted(all(is_concurrent(run, loop.var, commuting=True) for run in found)), text
    )


def _refused(legal: bool) -> Verdict:
    return Verdict.OVER_CAUTIOUS if legal else Verdict.REFUSED


def _accepted(legal: bool) -> Verdict:
    return Verdict.ACCEPTED if legal else Verdict.WRONG


JUDGES: dict[str, Callable[[Choose], Judgement]] = {
    "reorder": partial(judge_reorder, make_nest),
    "parallel": partial(judge_parallel, make_nest),
    "reorder-parts": partial(judge_reorder, make_parts),
    "parallel-parts": partial(judge_parallel, make_parts),
}


def main() -> int:
    """Judge as many programs as the command line asks for, for each kind of step."""
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("--count", type=int, default=1000, help="schedules that can be judged")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--steps", nargs="+", choices=list(JUDGES), default=list(JUDGES))
    options = parser.parse_args()
    wrong = 0
    for name in options.steps:
        judge = JUDGES[name]
        choose = random.Random(f"{options.seed}/{name}").randrange
        verdicts, reasons = Counter[Verdict](), Counter[str]()
        reported = time.monotonic()
        while verdicts.total() - verdicts[Verdict.SKIPPED] < options.count:
            judgement = judge(choose)
            verdicts[judgement.verdict] += 1
            if judgement.verdict in (Verdict.WRONG, Verdict.OVER_CAUTIOUS):
                print(f"{judgement.verdict.value}:\n{judgement.program}\n", flush=True)
                reasons[_shape(judgement.reason)] += 1
            if time.monotonic() - reported > PAUSE:
                reported = time.monotonic()
                print(name, _summary(verdicts), flush=True)
        print(f"{name}: {_summary(verdicts)}")
        print(*(f"{count:6} x {reason}" for reason, count in reasons.most_common()), sep="\n")
        wrong += verdicts[Verdict.WRONG]
    return 1 if wrong else 0


def _shape(reason: str) -> str:
    """The first line of a refusal without its names and numbers."""
    return re.sub(r"'[^']*'|`[^`]*`|\d+", "_", reason.partition("\n")[0])


def _summary(verdicts: Counter[Verdict]) -> str:
    return ", ".join(f"{count} {verdict.value}" for verdict, count in verdicts.most_common())


if __name__ == "__main__":
    sys.exit(main())
