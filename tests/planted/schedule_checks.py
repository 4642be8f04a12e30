"""What must hold of a program under a schedule, to notice planted bugs."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
import pytest

from hybridjit import Kernel, ScheduleError, hybrid
from hybridjit.frontend.parse import parse_text
from hybridjit.ir.expr import Buffer, Const
from hybridjit.schedule.schedule import Schedule
from tests.nests.check import Scheduled, check_scheduled, make_program, run, take_move
from tests.nests.generate import Nest
from tests.planted.bugs import Check, RandomCheck
from tests.planted.schedule_programs import TWO_LOOPS
from tests.support.before_after import assert_unchanged, replayed
from tests.support.choices import Choose
from tests.support.oracle import fresh

# Programs until a bug counts as missed.
MAX_PROGRAMS = 150
AnyKernel = Kernel[..., Any]
Maker = Callable[[Choose], Nest]
Steps = Callable[[Schedule], object]


def at_random(first: int, *moves: str, make: Maker = make_program) -> RandomCheck:
    """Random programs under random steps of the given kinds compute what they did before."""
    return RandomCheck(", ".join(moves), partial(_check_program, make, moves), first, MAX_PROGRAMS)


def _check_program(make: Maker, moves: Sequence[str], number: int) -> None:
    choose = random.Random(number).randrange
    nest = make(choose)
    try:
        expected = run(nest.func, nest.fresh_args())
    except (IndexError, RuntimeError):
        return
    for _ in range(4):
        found = Scheduled(nest, Schedule(nest.func))
        for _ in range(1 + choose(3)):
            take_move(found, moves[choose(len(moves))], choose)
        check_scheduled(found, native=False, expected=expected)


def scheduled(text: str, steps: Steps, *, native: bool = False) -> Check:
    """The program computes the same after the steps, or one of them is refused."""

    def check() -> None:
        schedule = Schedule(parse_text(text))
        for size in (5, 8, 1):
            args = [_argument(param, size) for param in schedule.func.params]
            again = Schedule(schedule.func)
            try:
                steps(again)
            except ScheduleError:
                return
            assert_unchanged(again.original, again.func, args, native=native)

    check.__name__ = text.split("(")[0].split()[-1]
    return check


def _argument(param: Any, size: int) -> Any:
    """Values for a parameter; run-time sizes are `size`."""
    assert isinstance(param, Buffer)
    shape = [int(n.value.real) if isinstance(n, Const) else size for n in param.shape]
    if param.dtype.is_float:  # sums are rounded, in each order otherwise
        return np.random.default_rng(7).standard_normal(shape).astype(param.dtype.numpy)
    values: Any = np.arange(1, 1 + math.prod(shape)) * 7 % 11
    return values.astype(param.dtype.numpy).reshape(shape)


def refused(text: str, steps: Steps, message: str) -> Check:
    """The last of the steps is refused with this message."""

    def check() -> None:
        with pytest.raises(ScheduleError, match=message):
            steps(Schedule(parse_text(text)))

    check.__name__ = f"refused: {message}"
    return check


def _with_schedule(kernel: AnyKernel, steps: Steps) -> AnyKernel:
    return fresh(kernel).with_schedule(steps)


def tails_are_guarded() -> None:
    """Native code of a split loop writes nothing behind the end of an array."""
    kernel = _with_schedule(_tail, lambda s: s.split("i", 4))
    for size in (3, 4, 5, 11, 12, 13):
        a, memory = np.arange(40.0), np.full(40, -1.0)
        kernel(a[:size], memory[:size])
        expected = np.where(np.arange(40) < size, np.arange(40) + 1.0, -1.0)
        assert memory.tolist() == expected.tolist(), size


@hybrid.script
def _tail(a: Any, b: Any) -> Any:
    for i in range(a.shape[0]):
        b[i] = a[i] + 1


def traces_are_replayed() -> None:
    """The trace of a schedule, through JSON, gives the same program again."""
    schedule = Schedule(parse_text(TWO_LOOPS))
    schedule.split("i", nparts=2)
    schedule.parallel("i_0", unsafe=True)
    assert str(replayed(schedule)) == str(schedule.func)


def shared_memory_is_run_in_order() -> None:
    """Arguments that overlap are given to the program as it was before the schedule."""
    kernel = _with_schedule(_shift, lambda s: s.reorder("j", "i"))
    results: list[Any] = []
    calls: Any = (_shift.interpret, kernel, kernel)
    for call in calls:
        memory: Any = np.arange(24.0)
        call(memory[:20].reshape(4, 5), memory[4:24].reshape(4, 5))
        results.append(memory.tolist())
    assert results[0] == results[1] == results[2]


@hybrid.script
def _shift(a: Any, b: Any) -> Any:
    for i in range(4):
        for j in range(5):
            b[i, j] = a[i, j] + 1
