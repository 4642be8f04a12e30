"""reverse_compute_inline: the nest that computes an element does what its reader would do."""

from __future__ import annotations

import pytest

from hybridjit import ScheduleError
from hybridjit.schedule.program import blocks_of
from hybridjit.schedule.schedule import Schedule
from tests.conftest import Golden
from tests.nests.generate import Nest
from tests.nests.stages import check_valid_stages
from tests.support.before_after import assert_unchanged, run_example
from tests.support.stage_programs import (
    ELEMENTWISE,
    IN_PLACE,
    MATMUL,
    PADDED,
    STENCIL,
    WHERE_ONLY,
    check,
    make,
)

TRANSPOSED = """
def transposed(a: float32["n", "n"], c: float32["n", "n"]):
    t = allocate((a.shape[0], a.shape[0]), "float32")
    for i in range(a.shape[0]):
        for j in range(a.shape[0]):
            t[i, j] = a[i, j] * 2.0
    for y in range(a.shape[0] - 1):
        for x in range(a.shape[0]):
            c[x, y] = t[a.shape[0] - 1 - x, y + 1] + 1.0
"""
TRANSPOSED_BACK = """
def transposed_back(a: float32["n", "n"], c: float32["n", "n"]):
    t = allocate((a.shape[0], a.shape[0]), "float32")
    for i in range(a.shape[0]):
        for j in range(a.shape[0]):
            t[i, j] = a[i, j] * 2.0
    for y in range(a.shape[0]):
        for x in range(a.shape[0]):
            c[x, y] = t[y, x] + 1.0
"""
SOMETIMES = """
def sometimes(a: float32["n"], c: float32["n"]):
    t = allocate((a.shape[0],), "float32")
    for i in range(a.shape[0]):
        if a[i] > 0.0:
            t[i] = a[i]
    for j in range(a.shape[0]):
        c[j] = t[j] + 1.0
"""
CHOSEN = """
def chosen(a: float32["n"], c: float32["n"]):
    t = allocate((a.shape[0],), "float32")
    for i in range(a.shape[0]):
        t[i] = a[i]
    for j in range(a.shape[0]):
        c[j] = t[j + 1] if j + 1 < a.shape[0] else 1.0
"""


@pytest.mark.parametrize("text", [ELEMENTWISE, TRANSPOSED, IN_PLACE.format(shift=0)])
def test_the_result_stays_the_same(text: str):
    schedule = make(text)

    schedule.reverse_compute_inline(blocks_of(schedule.func)[-1].name)

    assert len(blocks_of(schedule.func)) == 1
    check(text, schedule)


def test_golden_split(golden: Golden):
    schedule = make(ELEMENTWISE)
    schedule.split("i", 4)

    schedule.reverse_compute_inline("c")

    check(ELEMENTWISE, schedule)
    golden.check(schedule.show(), "ir")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (MATMUL, "is not computed by one store, in a loop, that does not read it"),
        (STENCIL, "must be read at one place"),
        (PADDED, "must be read at one place"),
        (SOMETIMES, "not every iteration is sure to read an element of 't'"),
        (CHOSEN, "not every iteration is sure to read an element of 't'"),
        (WHERE_ONLY, "block 'c' must read one scratch buffer, not none"),
    ],
)
def test_refusals_change_nothing(text: str, message: str):
    schedule = make(text)

    with pytest.raises(ScheduleError, match=message):
        schedule.reverse_compute_inline("c")

    assert schedule.func is schedule.original


def test_docstring():
    run_example(make(ELEMENTWISE), "reverse_compute_inline")


def test_random_stages():
    check_valid_stages(check_moves, 35, seed=17)


def check_moves(nest: Nest) -> None:
    for block in blocks_of(nest.func):
        schedule = Schedule(nest.func)
        try:
            schedule.reverse_compute_inline(block.name)
        except ScheduleError:
            continue
        assert_unchanged(nest.func, schedule.func, nest.args)


def test_bounds_told_by_a_block_around():
    schedule = make(TRANSPOSED_BACK)
    schedule.reverse_compute_at("c", "i")
    schedule.blockize("y")

    schedule.reverse_compute_inline("c")

    check(TRANSPOSED_BACK, schedule)
