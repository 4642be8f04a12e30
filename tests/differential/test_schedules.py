"""Random programs under random schedules: legal and so equal, or refused for a reason."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given, settings

from hybridjit.errors import ScheduleError
from hybridjit.schedule.primitives.reorder import reorder
from hybridjit.schedule.schedule import Schedule
from tests.choices import Choose, samples, strategy
from tests.differential.test_random_programs import SLOW
from tests.nests.check import Scheduled, check_scheduled, make_scheduled
from tests.nests.generate import make_nest
from tests.nests.moves import shuffled_chain
from tests.nests.order import (
    UnsupportedError,
    has_scalars,
    is_concurrent,
    keeps_order,
    record,
)

SEEDS = range(8)
PROGRAMS = 25


@pytest.mark.parametrize("seed", SEEDS)
def test_interpreted_programs_of_the_first_seeds(seed: int) -> None:
    for found in samples(make_scheduled, PROGRAMS, seed):
        check_scheduled(found, native=False)


@pytest.mark.parametrize("seed", SEEDS[:4])
def test_native_programs_of_the_first_seeds(seed: int) -> None:
    for found in samples(make_scheduled, PROGRAMS // 2, 1000 + seed):
        check_scheduled(found, native=True)


@given(found=strategy(make_scheduled))
@settings(suppress_health_check=SLOW)
def test_programs(found: Scheduled) -> None:
    check_scheduled(found, native=True)


def judge_reorder(choose: Choose) -> str:
    """Reorder loops of a program, and say whether the engine and the oracle agree."""
    nest = make_nest(choose)
    schedule = Schedule(nest.func)
    if has_scalars(nest.func):
        return "skipped"
    order = [handle.var for handle in shuffled_chain(schedule, choose)]
    try:
        forced = reorder(nest.func, order, unsafe=True)
    except ScheduleError:
        return "impossible"
    try:
        legal = all(
            keeps_order(record(nest.func, args), record(forced, args)) for args in nest.variations()
        )
    except UnsupportedError:
        return "skipped"
    try:
        reorder(nest.func, order)
    except ScheduleError as error:
        return "over-cautious" if legal else f"refused {type(error).__name__}"
    assert legal, f"an illegal order was accepted:\n{nest.text}\n{forced}"
    return "accepted"


def judge_parallel(choose: Choose) -> str:
    """Run a loop of a program in parallel, and say whether the engine and the oracle agree."""
    nest = make_nest(choose)
    schedule = Schedule(nest.func)
    loop = schedule.loops()[choose(len(schedule.loops()))]
    if has_scalars(nest.func):
        return "skipped"
    try:
        found = [record(nest.func, args) for args in nest.variations()]
    except UnsupportedError:
        return "skipped"
    try:
        schedule.parallel(loop)
    except ScheduleError:
        # Reductions are only given up to threads where each can have a copy of its own.
        legal = all(is_concurrent(run, loop.var, commuting=False) for run in found)
        return "over-cautious" if legal else "refused"
    legal = all(is_concurrent(run, loop.var, commuting=True) for run in found)
    assert legal, f"a loop was made parallel that is not:\n{nest.text}\n{loop}"
    return "accepted"


@pytest.mark.parametrize("judge", [judge_reorder, judge_parallel])
def test_legality_agrees_with_the_order_oracle(judge: object) -> None:
    verdicts = Counter(samples(judge, 300, 5))  # type: ignore[arg-type]
    legal = verdicts["accepted"] + verdicts["over-cautious"]
    assert legal > 10, verdicts
    assert verdicts["over-cautious"] <= 0.05 * legal + 2, verdicts
