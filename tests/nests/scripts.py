"""Random scripts of every statement, and of whole arrays, under random schedules.

Nests (generate.py) are what schedules are for; scripts have all that schedules may meet. See
tests/campaigns.
"""

from __future__ import annotations

import random
import traceback
from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

from hybridjit import Kernel, config
from hybridjit.errors import DivisionByZero, HybridError, ScheduleError
from hybridjit.schedule.schedule import Schedule
from tests.arrays.generate import make_program
from tests.arrays.program import defined
from tests.campaigns.drawn import Drawn
from tests.differential.test_native import is_exact
from tests.nests.check import ALL_MOVES
from tests.nests.moves import HINTS, MOVES
from tests.nests.stage_moves import STAGE_MOVES
from tests.programs.campaign import has_inexact_calls
from tests.programs.kinds import REWRITTEN, ROOMY, TAME
from tests.programs.program import forget_sources, program_from_seed
from tests.support.choices import Choose, pick
from tests.support.optimized import is_ordered
from tests.support.oracle import (
    Outcome,
    Run,
    assert_same_outcome,
    run_interpreted,
    run_once,
    run_plain,
)
from tests.support.poisoned import run_poisoned

AnyKernel = Kernel[..., Any]
# Schedules of one script, and steps tried in one schedule. Refused ones count.
SCHEDULES = 5
MAX_STEPS = 4
# One schedule in so many is interpreted, the others run natively.
INTERPRET_EVERY = 3
# One script in so many is about whole arrays.
ARRAYS_EVERY = 3
STEPS = (*MOVES, *MOVES, *STAGE_MOVES, *HINTS)


@dataclass(frozen=True, slots=True)
class Script:
    """A script, arguments for it, and what says which results they have, bit for bit."""

    text: str
    kernel: AnyKernel
    args: list[Any]
    oracle: Run


def try_number(seed: int, number: int) -> Drawn:
    """One script under several schedules."""
    generator = random.Random(f"{seed}/{number}")
    make = _array_script if number % ARRAYS_EVERY == 0 else _script
    drawn = Drawn()
    with config.scope(cache_enabled=False), make(seed, number) as script:
        expected = None if script is None else run_unscheduled(script)
        if script is None or expected is None:
            return drawn
        drawn.count_arrays(script.args)
        for _ in range(SCHEDULES):
            try_schedule(drawn, script, expected, generator.randrange)
    return drawn


@contextmanager
def _script(seed: int, number: int) -> Generator[Script | None]:
    style = (TAME, ROOMY, REWRITTEN)[number // ARRAYS_EVERY % 3]
    program = program_from_seed((seed << 36) + number, style)
    try:
        found = Script(program.source, program.kernel, list(program.args), run_plain)
        yield None if has_inexact_calls(program.source) else found
    finally:
        forget_sources()


@contextmanager
def _array_script(seed: int, number: int) -> Generator[Script | None]:
    program = make_program(f"{seed}/{number}")
    with defined(program) as function:
        args = list(program.calls[0].make().values())
        yield Script(program.text, Kernel(function), args, run_interpreted)


def run_unscheduled(script: Script) -> Outcome | None:
    """What the script does without a schedule; None if that does not say what it does with one."""
    try:
        func = script.kernel.schedule(*script.args).func
    except (HybridError, ArithmeticError, LookupError, ValueError, TypeError):
        return None
    if not is_exact(func) or not is_ordered(func):
        return None
    found = run_once(script.oracle, script.kernel, script.args)
    native = run_once(run_poisoned, script.kernel, script.args)
    return (
        None if found.error or isinstance(native.error, ScheduleError | DivisionByZero) else found
    )


def try_schedule(drawn: Drawn, script: Script, expected: Outcome, choose: Choose) -> None:
    """Take some steps, and fail unless the script does what it did without them."""
    schedule = script.kernel.schedule(*script.args)
    try:
        for _ in range(1 + choose(MAX_STEPS)):
            _take_step(drawn, schedule, choose)
        if schedule.func is schedule.original:
            return
        kernel = script.kernel.with_schedule(schedule.trace)
        is_native = choose(INTERPRET_EVERY) > 0
        drawn.counts["programs"] += 1
        drawn.counts["native" if is_native else "interpreted"] += 1
        way = run_poisoned if is_native else run_interpreted
        assert_same_outcome(run_once(way, kernel, script.args), expected)
    except Exception:
        # A crash is a find like any other, and must not end the campaign.
        drawn.failures.append(f"{traceback.format_exc()}\n{script.text}\n{schedule.trace}")


def _take_step(drawn: Drawn, schedule: Schedule, choose: Choose) -> None:
    name = pick(choose, STEPS)
    with suppress(ScheduleError):
        ALL_MOVES[name](schedule, choose)
        drawn.count("accepted", [name])
        return
    drawn.count("refused", [name])
