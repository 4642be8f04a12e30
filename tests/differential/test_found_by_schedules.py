"""Programs and schedules that random ones once failed on."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from hybridjit import ScheduleError, hybrid
from hybridjit.frontend.parse import parse_text
from hybridjit.schedule.schedule import Schedule
from tests.support.before_after import assert_unchanged
from tests.support.small_machine import small_machine


def test_a_loop_of_unknown_length_is_not_dealt_out() -> None:
    """isl has no text for `n * n`: the range of the fused loop is not bounded."""
    schedule = Schedule(
        parse_text("""
def stages(a: float32["n", "n"], c: float32["n", "n"]):
    t = allocate((a.shape[0], a.shape[0]), "float32")
    for i in range(a.shape[0]):
        for j in range(a.shape[0]):
            t[j, i] = a[i, j] * 0.5
    for p in range(a.shape[0]):
        for q in range(a.shape[0]):
            c[p, q] = t[p, q] + t[q, p]
""")
    )
    schedule.fuse("p", "q")
    before = schedule.func

    with pytest.raises(ScheduleError, match="cannot be dealt out"):
        schedule.reverse_compute_at("c", "i")

    assert schedule.func is before


def test_a_reader_that_must_wait_is_not_folded_into_the_writer() -> None:
    """`reverse_compute_at` may run it an iteration later; there is no such way out here."""
    schedule = Schedule(
        parse_text("""
def stages(a: float32[5]):
    t = allocate((5,), "float32")
    for i in range(5):
        t[i] = (a[i - 1] if i > 0 else 0.0) * 0.5
    for j in range(5):
        a[j] = t[j]
""")
    )

    with pytest.raises(ScheduleError, match=r"`a\[0\]` read by `a\[i - 1\]` .* in iteration i=1"):
        schedule.reverse_compute_inline("a")


def test_bounds_inside_of_a_block_see_loops_through_iters() -> None:
    schedule = Schedule(
        parse_text("""
def stages(a: float32[5], b: float32[5]):
    t = allocate((5,), "float32")
    for i in range(5):
        t[i] = a[i] * 0.5
    for j in range(5):
        b[j] = t[j]
""")
    )
    schedule.blockize("j")

    schedule.reverse_compute_at("b", "i")

    assert_unchanged(schedule.original, schedule.func, [np.arange(5, dtype="f4"), np.ones(5, "f4")])


@pytest.mark.parametrize("step", ["reverse_compute_at", "reverse_compute_inline"])
def test_buffers_are_made_before_the_blocks_that_move(step: str) -> None:
    schedule = Schedule(
        parse_text("""
def stages(a: float32[5], c: float32[5]):
    t = allocate((5,), "float32")
    for i in range(5):
        t[i] = a[i] * 0.5
    for j in range(5):
        c[j] = t[j] + t[max(j - 1, 0)]
""")
    )
    copy = schedule.cache_read("c", "t", "local")

    getattr(schedule, step)(copy, *(["i"] if step == "reverse_compute_at" else []))

    assert_unchanged(schedule.original, schedule.func, [np.arange(5, dtype="f4"), np.ones(5, "f4")])


def test_a_negative_index_that_becomes_a_constant_is_folded() -> None:
    schedule = Schedule(
        parse_text("""
def stages(a: int32[5], b: int32[5]):
    for i in range(5):
        t = allocate((5,), "int32")
        for j in range(5):
            t[j] = b[i - 1]
        for k in range(5):
            a[k] = t[k] + a[k]
""")
    )

    schedule.double_buffer("t")  # fills it for iteration 0 before the loop

    args = [np.arange(5, dtype="i4"), np.arange(5, dtype="i4")]
    assert_unchanged(schedule.original, schedule.func, args, native=True)


@hybrid.script
def nothing_of_a_row(b: Any) -> Any:
    return b[0, 1:-1:-3].reshape(1, 0).copy()


def test_a_loop_that_never_runs_has_no_lanes_to_be_cut_into() -> None:
    """Cut, it was the same loop again, which was to be cut."""
    with small_machine():
        made = nothing_of_a_row.with_schedule(lambda s: s.parallel("j"))
        assert made(np.ones((1, 1), np.float16)).shape == (1, 0)
