"""compute_root: a stage is computed once, before the loops."""

from __future__ import annotations

import numpy as np
import pytest

from hybridjit import ScheduleError
from hybridjit.ir.equal import structural_equal
from hybridjit.schedule.handles import LoopHandle
from hybridjit.schedule.program import loops_of
from hybridjit.schedule.schedule import Schedule
from tests.nests.generate import Nest
from tests.nests.stages import check_valid_stages
from tests.support.before_after import assert_unchanged, run_example
from tests.support.stage_programs import (
    ELEMENTWISE,
    MATMUL,
    PADDED,
    SIZES,
    STENCIL,
    arguments,
    make,
)

OF_A_ROW = """
def of_a_row(a: float32["n", "n"], c: float32["n", "n"]):
    for i in range(a.shape[0]):
        t = allocate((a.shape[0],), "float32")
        for j in range(a.shape[0]):
            t[j] = a[i, j] * 2.0
        for j in range(a.shape[0]):
            c[i, j] = t[j]
"""
CHANGING = """
def changing(a: float32["n"], c: float32["n"]):
    for i in range(a.shape[0]):
        t = allocate((a.shape[0],), "float32")
        for j in range(a.shape[0]):
            t[j] = a[j] * 2.0
        a[i] = t[i] + 1.0
"""
READS_MORE = """
def reads_more(a: float32["n"], c: float32["n"]):
    for i in range(a.shape[0]):
        t = allocate((a.shape[0],), "float32")
        for j in range(i + 1):
            t[j] = a[j] * 2.0
        c[i] = t[a.shape[0] - 1]
"""
FAR = """
def far(a: float32["n"], c: float32["n"], m: int64["n"]):
    for i in range(m[0]):
        t = allocate((a.shape[0],), "float32")
        for j in range(i, i + 2):
            t[j] = a[j] * 2.0
        c[i] = t[i] + t[i + 1]
"""
WHILE = """
def in_while(a: float32["n"], c: float32["n"], m: int64["n"]):
    while a[0] < 9.0:
        for i in range(a.shape[0]):
            t = allocate((a.shape[0],), "float32")
            for j in range(a.shape[0]):
                t[j] = a[j] * 2.0
            c[i] = t[i]
        a[0] = a[0] + 1.0
"""


OF_A_NAME = """
def of_a_name(a: float32["n"], c: float32["n"], m: int64["n"]):
    for i in range(a.shape[0]):
        x = a[m[i]]
        t = allocate((a.shape[0],), "float32")
        for j in range(a.shape[0]):
            t[j] = a[j] * x
        c[i] = t[i]
"""
TO_A_NAME = """
def to_a_name(a: float32["n"], c: float32["n"], m: int64["n"]):
    for i in range(a.shape[0]):
        x = m[0]
        t = allocate((a.shape[0],), "float32")
        for j in range(x):
            t[j] = a[j]
        c[i] = t[0]
"""


def perhaps(header: str) -> str:
    """A program that may not come to compute t, which fails if `a` is shorter than `c`."""
    return f"""
def perhaps(a: float32["k"], c: float32["n"], m: int64["n"]):
    for i in range(c.shape[0]):
        for h in range(1):
            {header}
            t = allocate((c.shape[0],), "float32")
            for j in range(c.shape[0]):
                t[j] = a[j] * 2.0
            c[i] = t[i]
"""


LEFT = perhaps("if m[i] > 0:\n                break")
SKIPPED = perhaps("if m[i] > 0:\n                continue")
NEVER = """
def never(a: float32["k"], c: float32["n"], m: int64["n"]):
    for i in range(m[0]):
        t = allocate((c.shape[0],), "float32")
        for j in range(c.shape[0]):
            t[j] = a[j] * 2.0
        c[i] = t[i]
"""


@pytest.mark.parametrize("text", [ELEMENTWISE, STENCIL, PADDED])
def test_it_takes_a_compute_at_back(text: str):
    schedule = make(text)
    schedule.split("j", 4)
    before = schedule.func

    schedule.compute_at("t", "j_0")
    schedule.compute_root("t")

    assert structural_equal(schedule.func, before)


def test_it_takes_tiles_back():
    schedule = make(MATMUL)
    schedule.tile("y", "x", 4, 3)
    before = schedule.func

    schedule.compute_at("t", "x_0")
    schedule.compute_root("t")

    assert structural_equal(schedule.func, before)


def test_what_is_not_in_a_loop_stays():
    schedule = make(ELEMENTWISE)

    schedule.compute_root("t")

    assert schedule.func is schedule.original


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (OF_A_ROW, "depends on loop 'i'"),
        (OF_A_NAME, "depends on 'x', which has its value in the loops around"),
        (TO_A_NAME, "depends on 'x', which has its value in the loops around"),
        (CHANGING, "is computed from changes in the loops around"),
        (READS_MORE, "not known that they read no more of 't' than it computes"),
        (FAR, "it is not known how far loop 'j' goes"),
        (WHILE, "'t' is made in a while loop"),
        (LEFT, "'t' may not be computed at all in the loops around, and to compute it may fail"),
        (SKIPPED, "'t' may not be computed at all in the loops around, and to compute it may fail"),
        (NEVER, "'t' may not be computed at all in the loops around, and to compute it may fail"),
    ],
)
def test_refusals_change_nothing(text: str, message: str):
    schedule = make(text)

    with pytest.raises(ScheduleError, match=message):
        schedule.compute_root("t")

    assert schedule.func is schedule.original


def test_what_may_be_left_out_is_computed_if_it_cannot_fail():
    text = LEFT.replace('"k"', '"n"')
    schedule = make(text)
    schedule.compute_root("t")
    for limit in (0, 1):
        args = [np.ones(5, np.float32), np.zeros(5, np.float32), np.full(5, limit)]
        assert_unchanged(schedule.original, schedule.func, args)


def test_docstring():
    schedule = make(STENCIL)
    schedule.compute_at("t", "j")

    run_example(schedule, "compute_root")

    for size in SIZES:
        assert_unchanged(schedule.original, schedule.func, arguments(STENCIL, size))


def test_random_stages():
    check_valid_stages(check_moves, 15, seed=19)


def check_moves(nest: Nest) -> None:
    for loop in loops_of(nest.func):
        schedule = Schedule(nest.func)
        try:
            schedule.compute_at("t", LoopHandle(loop.var))
            schedule.compute_root("t")
        except ScheduleError:
            continue
        assert_unchanged(nest.func, schedule.func, nest.args)
