"""Many random programs under many random schedules each; a pair that differs is printed.

    python -m tests.nests.campaign --pairs 100000 --seed 1 --native-every 100

Program number k of a seed is the same in every run: `--first k --pairs 1` repeats it.
"""

from __future__ import annotations

import random
import sys
import traceback
from typing import Any

from hybridjit.errors import UninitializedRead
from hybridjit.ir.equal import structural_equal
from hybridjit.schedule.schedule import Schedule
from tests.before_after import replayed
from tests.nests.check import (
    ALL_MOVES,
    Scheduled,
    check_scheduled,
    make_any_program,
    run,
    take_moves,
)
from tests.nests.generate import Nest
from tests.pair_campaign import Tally, run_campaign

# Programs are parsed, and run without a schedule, once for so many schedules.
SCHEDULES = 8
# Traces are replayed for one schedule in so many.
REPLAY_EVERY = 20


def try_program(tally: Tally, seed: int, number: int, native_every: int) -> None:
    """One program under several schedules."""
    choose = random.Random(f"{seed}/{number}").randrange
    nest = make_any_program(choose)
    try:
        expected = run(nest.func, nest.fresh_args())
    except (IndexError, UninitializedRead):
        return
    for _ in range(SCHEDULES):
        _try_schedule(tally, nest, expected, random.Random(choose(1 << 62)), native_every)


def _try_schedule(
    tally: Tally, nest: Nest, expected: list[Any], generator: random.Random, native_every: int
) -> None:
    found = Scheduled(nest, Schedule(nest.func))
    try:
        take_moves(found, generator.randrange)
        tally.add(found.made, found.refused)
        native = bool(found.made) and tally.pairs % native_every == 0
        tally.native += native
        check_scheduled(found, native=native, expected=expected)
        if tally.pairs % REPLAY_EVERY == 0:
            assert structural_equal(replayed(found.schedule), found.schedule.func), "replayed"
    except Exception:
        # A crash is a find like any other, and must not end the campaign.
        tally.failures.append(f"{traceback.format_exc()}\n{found!r}")


if __name__ == "__main__":
    sys.exit(run_campaign(__doc__, try_program, sorted(ALL_MOVES)))
