"""compute_at: a stage is computed where it is used."""

from __future__ import annotations

import numpy as np
import pytest

from hybridjit import ScheduleError
from hybridjit.frontend.parse import parse_text
from hybridjit.interp.run import interpret
from hybridjit.ir.equal import structural_equal
from hybridjit.schedule.handles import LoopHandle
from hybridjit.schedule.program import blocks_of, loops_of
from hybridjit.schedule.schedule import Schedule
from tests.conftest import Golden
from tests.nests.generate import Nest
from tests.nests.stages import check_valid_stages
from tests.support.before_after import assert_unchanged, replayed, run_example
from tests.support.stage_programs import (
    BACKWARDS,
    ELEMENTWISE,
    IN_PLACE,
    LOST_INDEX_ERROR,
    MATMUL,
    PADDED,
    PREFIX,
    RUNNING_SUM,
    SIZES,
    STENCIL,
    TO_OUTPUT,
    TWO_NESTS,
    WHERE_ONLY,
    arguments,
    check,
    make,
)

WRAPPING = """
def wrapping(a: float32["n"], c: float32["n"]):
    t = allocate((a.shape[0],), "float32")
    for i in range(a.shape[0]):
        t[i - 1] = a[i] * 2.0
    for j in range(a.shape[0]):
        c[j] = t[j]
"""
CARRIED = """
def carried(a: float32["n"], c: float32["n"]):
    t = allocate((a.shape[0],), "float32")
    for z in range(2):
        for i in range(a.shape[0]):
            t[i] += a[i]
        for j in range(a.shape[0] - 1):
            c[j] = t[j] + t[j + 1]
"""


@pytest.mark.sampled(4)
@pytest.mark.parametrize("text", [ELEMENTWISE, STENCIL, PADDED, TWO_NESTS, WHERE_ONLY, BACKWARDS])
@pytest.mark.parametrize("factor", [None, 1, 4])
def test_the_result_stays_the_same(text: str, factor: int | None):
    schedule = make(text)
    loop = "j" if factor is None else schedule.split("j", factor)[0]

    schedule.compute_at("t", loop)

    check(text, schedule)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("loop", ["y_0", "x_0", "y_1", "x_1"])
def test_partial_sums_start_afresh_in_each_tile(loop: str):
    """The zeros of `allocate` come once; a tile that is computed twice must not add up."""
    schedule = make(MATMUL)
    schedule.tile("y", "x", 4, 3)

    schedule.compute_at("t", loop)

    check(MATMUL, schedule)


def test_golden_halo(golden: Golden):
    schedule = make(PADDED)
    outer, _ = schedule.split("j", 4)

    schedule.compute_at("t", outer)

    golden.check(schedule.show(), "ir")


def test_golden_tiles(golden: Golden):
    schedule = make(MATMUL)
    schedule.tile("y", "x", 4, 3)

    schedule.compute_at("t", "x_0")

    golden.check(schedule.show(), "ir")


def test_a_split_producer_is_guarded(golden: Golden):
    schedule = make(STENCIL)
    schedule.split("i", 3)

    schedule.compute_at("t", "j")

    check(STENCIL, schedule)
    golden.check(schedule.show(), "ir")


def test_it_may_move_further_in():
    schedule = make(MATMUL)
    schedule.tile("y", "x", 4, 3)

    schedule.compute_at("t", "y_0")
    schedule.compute_at("t", "x_1")

    check(MATMUL, schedule)


def test_an_output_is_computed_once_or_not_at_all():
    text = TO_OUTPUT.format(more="")
    schedule = make(text)
    schedule.compute_at("t", "j")
    check(text, schedule)

    twice = make(TO_OUTPUT.format(more=" + t[j // 2]"))
    with pytest.raises(ScheduleError, match="each element must be computed once"):
        twice.compute_at("t", "j")
    assert twice.func is twice.original


def test_inputs_that_change_in_between():
    """`a[j]` may be overwritten when all that is computed from it is done, not before."""
    behind = make(IN_PLACE.format(shift=0))
    behind.compute_at("t", "j")
    check(IN_PLACE.format(shift=0), behind)

    ahead = make(IN_PLACE.format(shift=1))
    with pytest.raises(ScheduleError, match="is computed from changes before loop 'j' needs it"):
        ahead.compute_at("t", "j")
    assert ahead.func is ahead.original


@pytest.mark.parametrize(
    ("text", "block", "loop", "message"),
    [
        (PREFIX, "t", "j", "at different indices of axis 0"),
        (RUNNING_SUM, "t", "j", "writes 'acc', too"),
        (WRAPPING, "t", "j", "may be negative, and so count from the end"),
        (CARRIED, "t", "j", "keeps what it held before"),
        (LOST_INDEX_ERROR, "t", "j", "the errors that they may raise"),
        (ELEMENTWISE, "t", "i", "is in loop 'i' already"),
        (ELEMENTWISE, "c", "i", "comes before 'c' is computed"),
        (IN_PLACE.format(shift=0), "t", "i", "is in loop 'i' already"),
    ],
)
def test_refusals_change_nothing(text: str, block: str, loop: str, message: str):
    schedule = make(text)

    with pytest.raises(ScheduleError, match=message):
        schedule.compute_at(block, loop)

    assert schedule.func is schedule.original


def test_a_vectorized_loop_is_refused():
    schedule = make(ELEMENTWISE)
    schedule.vectorize("j")

    with pytest.raises(ScheduleError, match="vectorized already"):
        schedule.compute_at("t", "j")


def test_a_parallel_loop_keeps_private_copies():
    schedule = make(STENCIL)
    outer, _ = schedule.split("j", 4)
    schedule.parallel(outer)

    schedule.compute_at("t", outer)

    check(STENCIL, schedule)


def test_the_loop_may_become_parallel_afterwards():
    schedule = make(STENCIL)
    outer, _ = schedule.split("j", 4)
    schedule.compute_at("t", outer)

    schedule.parallel(outer)

    check(STENCIL, schedule)


def test_docstring():
    run_example(make(STENCIL), "compute_at")


def test_the_trace_replays():
    schedule = make(STENCIL)
    outer, _ = schedule.split("j", 4)
    schedule.compute_at("t", outer)

    assert structural_equal(replayed(schedule), schedule.func)


def test_random_stages():
    """Every block of every program at every loop: the same result, or refused."""
    check_valid_stages(check_moves, 15, seed=7)


def check_moves(nest: Nest) -> None:
    for block in blocks_of(nest.func):
        for loop in loops_of(nest.func):
            schedule = Schedule(nest.func)
            try:
                schedule.compute_at(block.name, LoopHandle(loop.var))
            except ScheduleError:
                continue
            assert_unchanged(nest.func, schedule.func, nest.args)


def test_what_is_never_read_is_not_computed():
    text = """
def unread(a: float32["n"], c: float32["n"]):
    t = allocate((a.shape[0], 2), "float32")
    for i in range(a.shape[0]):
        t[i, 0] = a[i] * 2.0
    for j in range(a.shape[0]):
        c[j] = t[j, 1] + 1.0
"""
    schedule = make(text)

    schedule.compute_at("t", "j")

    assert [block.name for block in blocks_of(schedule.func)] == ["c"]
    for size in SIZES:
        args = arguments(text, size)
        assert_unchanged(schedule.original, schedule.func, args, native=size == 7)


EMPTY = """
def program(a: float32[1, 1], c: float32[1, 1]):
    t = allocate((1, 1), "float32")
    for i in range(1, 1):
        for j in range(4):
            t[(i - 3) % 1, i] = a[2 * i, i]
    for k in range(1):
        for l in range(k + 1, 1):
            c[2 * k, l] = t[k, l] - t[k, 0 - l]
"""


@pytest.mark.parametrize("loop", ["k", "l"])
def test_a_producer_that_never_runs(loop: str) -> None:
    schedule = Schedule(parse_text(EMPTY))
    schedule.compute_at("t", loop)
    arrays = [np.ones((1, 1), np.float32), np.full((1, 1), 3, np.float32)]
    interpret(schedule.func, arrays)
    assert arrays[1] == 3


def test_a_block_that_writes_nothing() -> None:
    s = Schedule(
        parse_text("""
def f(a: int64[8], b: int64[8]):
    with block("nothing"):
        for i in range(4):
            t = i * 2
    for j in range(8):
        b[j] = a[j]
""")
    )
    with pytest.raises(ScheduleError, match="block 'nothing' writes nothing"):
        s.compute_at("nothing", "j")
