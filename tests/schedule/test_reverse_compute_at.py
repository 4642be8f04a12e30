"""reverse_compute_at: a nest runs in the loop that it waits for."""

from __future__ import annotations

import contextlib

import numpy as np
import pytest

from hybridjit import ScheduleError
from hybridjit.frontend.parse import parse_text
from hybridjit.schedule.handles import LoopHandle
from hybridjit.schedule.program import blocks_of, loops_of
from hybridjit.schedule.schedule import Schedule
from tests.conftest import Golden
from tests.nests.generate import Nest
from tests.nests.stages import check_valid_stages
from tests.support.before_after import assert_unchanged, run_example
from tests.support.stage_programs import (
    BACKWARDS,
    ELEMENTWISE,
    IN_PLACE,
    MATMUL,
    PADDED,
    STENCIL,
    TWO_NESTS,
    check,
    make,
)

LEFT_EARLY = """
def left_early(a: float32["n"], c: float32["n"]):
    t = allocate((a.shape[0],), "float32")
    for i in range(a.shape[0]):
        if a[i] > 1.0:
            break
        t[i] = a[i] * 2.0
    for j in range(a.shape[0]):
        c[j] = t[j]
"""

ENDS_IN_MEMORY = """
def ends_in_memory(a: int64[6, 6], b: int64[5, 5], t: int64[4]):
    for i in range(3):
        for k in range(0, 4, 2):
            a[0, t[k] % 6] = b[k, 4 - i]
        if b[i, 0] < 1000:
            a[i, 5] = 1
            for j in range({bounds}):
                a[j, i] = a[i, 2 * j + 1] * 3
"""


@pytest.mark.sampled(3)
@pytest.mark.parametrize("text", [ELEMENTWISE, STENCIL, PADDED, BACKWARDS])
@pytest.mark.parametrize("factor", [None, 4])
def test_the_result_stays_the_same(text: str, factor: int | None):
    schedule = make(text)
    loop = "i" if factor is None else schedule.split("i", factor)[0]

    schedule.reverse_compute_at("c", loop)

    check(text, schedule)


@pytest.mark.parametrize("loop", ["i", "j"])
def test_a_reader_waits_for_the_whole_sum(loop: str):
    """Also when the sum has no terms at all: then the loop over them has no iterations."""
    schedule = make(MATMUL)

    schedule.reverse_compute_at("c", loop)

    check(MATMUL, schedule)


def test_golden_stencil(golden: Golden):
    schedule = make(STENCIL)
    outer, _ = schedule.split("i", 4)

    schedule.reverse_compute_at("c", outer)

    golden.check(schedule.show(), "ir")


@pytest.mark.parametrize(
    ("text", "loop", "message"),
    [
        (MATMUL, "r", "cannot be dealt out to those of loop 'r'"),
        (LEFT_EARLY, "i", "not known which iterations of loop 'i' run"),
        (TWO_NESTS, "r", "cannot be dealt out"),
        (ELEMENTWISE, "j", "is in loop 'j' already"),
    ],
)
def test_refusals_change_nothing(text: str, loop: str, message: str):
    schedule = make(text)

    with pytest.raises(ScheduleError, match=message):
        schedule.reverse_compute_at("c", loop)

    assert schedule.func is schedule.original


def test_what_the_loop_still_reads_is_not_overwritten():
    """t[i] reads a[i], which the reader sets to something else when it runs too early."""
    schedule = make(IN_PLACE.format(shift=1))

    schedule.reverse_compute_at("a", "i")

    check(IN_PLACE.format(shift=1), schedule)


def test_a_copy_is_written_back_tile_by_tile():
    """A sum kept in a copy: each tile is written back when it is complete, not before."""
    schedule = make(MATMUL)
    schedule.tile("i", "j", 4, 3)
    copy = schedule.cache_write("t", "t", "local")

    schedule.reverse_compute_at(copy, "j_0")

    check(MATMUL, schedule)


@pytest.mark.parametrize(
    "bounds",
    [
        *("a[0, 1] % 4", "a[0, 1] % 3, 3", "a[0, 1] % 4, -1, -1", "2, a[0, 1] % 3 - 1, -1"),
        *("0, a[0, 1] % 4, 2", "min(a[0, 1] % 4, i + 1)"),
    ],
)
def test_loops_that_end_where_memory_says_run_whole(bounds: str):
    """Some of their iterations wait for the loop, the others for nothing, and all of them run."""
    text = ENDS_IN_MEMORY.format(bounds=bounds)
    func = parse_text(text)
    rng = np.random.default_rng(3)
    for number in range(6):
        schedule = Schedule(func)
        with contextlib.suppress(ScheduleError):
            schedule.reverse_compute_at("a_1", "k")
        arrays = [rng.integers(0, 50, shape) for shape in ((6, 6), (5, 5), (4,))]
        arrays[2][:] = (1, number % 3, 1, 0)
        assert_unchanged(func, schedule.func, arrays)


def test_docstring():
    run_example(make(ELEMENTWISE), "reverse_compute_at")


def test_random_stages():
    check_valid_stages(check_moves, 10, seed=11)


def check_moves(nest: Nest) -> None:
    for block in blocks_of(nest.func):
        for loop in loops_of(nest.func):
            schedule = Schedule(nest.func)
            try:
                schedule.reverse_compute_at(block.name, LoopHandle(loop.var))
            except ScheduleError:
                continue
            assert_unchanged(nest.func, schedule.func, nest.args)
