"""Random programs under many random schedules each, in the interpreter and natively.

See tests/campaigns. A pair of a program and a schedule counts as one program there.
"""

from __future__ import annotations

import random
import traceback
from typing import Any

from hybridjit.analysis.cost import UNBOUNDED, estimate_work
from hybridjit.errors import UninitializedRead
from hybridjit.ir.equal import structural_equal
from hybridjit.schedule.schedule import Schedule
from tests.campaigns.drawn import Drawn, size_class
from tests.nests.check import (
    Scheduled,
    check_scheduled,
    make_any_program,
    run,
    take_hints,
    take_moves,
)
from tests.nests.generate import Nest
from tests.support.before_after import replayed

# Programs are parsed, and run without a schedule, once for so many schedules; for fewer if the
# interpreter takes a second for them, as for one in fifty.
SCHEDULES = 8
SCHEDULES_OF_LONG = 2
LONG = 200_000
# One pair in so many runs natively, and of those one in so many is interpreted, too, as all others
# are: compiling takes two thirds of the time.
NATIVE_EVERY = 2
INTERPRET_EVERY = 5
# Traces are replayed for one schedule in so many.
REPLAY_EVERY = 20


def try_number(seed: int, number: int) -> Drawn:
    """One program under several schedules."""
    choose = random.Random(f"{seed}/{number}").randrange
    nest = make_any_program(choose)
    drawn = Drawn()
    try:
        expected = run(nest.func, nest.fresh_args())
    except (IndexError, UninitializedRead):
        return drawn
    iterations, _ = estimate_work(nest.func)
    is_long = LONG < iterations < UNBOUNDED
    for _ in range(SCHEDULES_OF_LONG if is_long else SCHEDULES):
        _try_schedule(drawn, nest, expected, random.Random(choose(1 << 62)))
    return drawn


def _try_schedule(drawn: Drawn, nest: Nest, expected: list[Any], generator: random.Random) -> None:
    found = Scheduled(nest, Schedule(nest.func))
    drawn.counts["programs"] += 1
    try:
        take_moves(found, generator.randrange)
        take_hints(found, generator.randrange)
        _count(drawn, found)
        is_optimized = generator.randrange(2) == 0
        is_native = generator.randrange(NATIVE_EVERY) == 0
        is_interpreted = not is_native or generator.randrange(INTERPRET_EVERY) == 0
        drawn.counts["native"] += is_native and found.is_changed
        drawn.counts["interpreted"] += is_interpreted and found.is_changed
        check_scheduled(
            found,
            native=is_native,
            expected=expected,
            is_interpreted=is_interpreted,
            is_optimized=is_optimized,
        )
        if generator.randrange(REPLAY_EVERY) == 0:
            assert structural_equal(replayed(found.schedule), found.schedule.func), "replayed"
    except Exception:
        # A crash is a find like any other, and must not end the campaign.
        drawn.failures.append(f"{traceback.format_exc()}\n{found!r}")


def _count(drawn: Drawn, found: Scheduled) -> None:
    drawn.count("accepted", found.made)
    drawn.count("refused", found.refused)
    arrays = [arg for arg in found.nest.args if hasattr(arg, "shape")]
    drawn.count("types", [str(array.dtype) for array in arrays])
    drawn.count("sizes", [size_class(size) for array in arrays for size in array.shape])
