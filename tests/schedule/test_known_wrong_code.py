"""Schedules that made wrong code in TVM and Halide: right here, or refused.

Each is a program of the kind that the report was about; the number is that of the report.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from hybridjit import ScheduleError, hybrid
from hybridjit.frontend.parse import parse_text
from hybridjit.schedule.schedule import Schedule
from tests.support.before_after import assert_unchanged
from tests.support.guarded import check_guarded
from tests.support.oracle import fresh

Steps = Callable[[Schedule], Any]
# Nothing, less than one vector or tile, one of them, and a prime.
SIZES = (0, 1, 7, 8, 13)


def floats(*shape: int) -> Any:
    return np.random.default_rng(sum(shape)).standard_normal(shape).astype(np.float32)


def check(text: str, steps: Steps, *args: Any) -> None:
    """The program computes the same after the steps, interpreted and natively."""
    schedule = Schedule(parse_text(text))
    steps(schedule)
    assert_unchanged(schedule.original, schedule.func, args, native=True)


# -- TVM #15911: with a run-time size, a consumer moved into a tile of its producer left a part of
# the array without a value: the region was taken from the full tiles only.

_TWO_STAGES = """
def two_stages(a: float32["n"], c: float32["n"]):
    t = allocate((a.shape[0],), "float32")
    for i in range(a.shape[0]):
        t[i] = a[i] * 2.0
    for j in range(a.shape[0]):
        c[j] = t[j] + 1.0
"""


@pytest.mark.sampled(2)
@pytest.mark.parametrize("size", SIZES)
def test_tvm_15911_every_tile_of_a_run_time_size_is_computed(size: int) -> None:
    def steps(s: Schedule) -> None:
        outer, _ = s.split("i", factor=8)
        s.reverse_compute_at("c", outer)

    check(_TWO_STAGES, steps, floats(size), floats(size))


@pytest.mark.sampled(2)
@pytest.mark.parametrize("size", SIZES)
def test_tvm_15911_and_every_tile_of_a_consumer(size: int) -> None:
    def steps(s: Schedule) -> None:
        outer, _ = s.split("j", factor=8)
        s.compute_at("t", outer)

    check(_TWO_STAGES, steps, floats(size), floats(size))


# -- TVM #17799: with a loop of the reduction outside of a tile of the result, the accumulator was
# made anew in each iteration of that loop, and what the earlier ones had summed up was lost.

_MATMUL = """
def matmul(a: float32[7, 6], b: float32[6, 5], c: float32[7, 5]):
    for i in range(7):
        for j in range(5):
            for k in range(6):
                c[i, j] = c[i, j] + a[i, k] * b[k, j]
"""


def tiled(s: Schedule) -> dict[str, Any]:
    """Loops over space, then over the reduction, then over space again."""
    i_0, i_1 = s.split("i", factor=4)
    j_0, j_1 = s.split("j", factor=2)
    k_0, k_1 = s.split("k", factor=3)
    s.reorder(i_0, j_0, k_0, i_1, j_1, k_1)
    return {"i_0": i_0, "j_0": j_0, "k_0": k_0, "i_1": i_1}


@pytest.mark.parametrize("loop", [None, "i_0", "j_0", "k_0", "i_1"])
def test_tvm_17799_sums_outlive_the_loops_that_they_run_over(loop: str | None) -> None:
    def steps(s: Schedule) -> None:
        loops = tiled(s)
        s.cache_write("c", "c", "local", at=None if loop is None else loops[loop])

    check(_MATMUL, steps, floats(7, 6), floats(6, 5), floats(7, 5))


@pytest.mark.parametrize("loop", ["i_0", "j_0", "k_0", "i_1"])
def test_tvm_17799_results_are_not_written_back_before_they_are_complete(loop: str) -> None:
    def steps(s: Schedule) -> None:
        loops = tiled(s)
        copy = s.cache_write("c", "c", "local")
        try:
            s.reverse_compute_at(copy, loops[loop])
        except ScheduleError:
            assert loop in ("k_0", "i_1")  # some of the sum is still to come

    check(_MATMUL, steps, floats(7, 6), floats(6, 5), floats(7, 5))


# -- TVM #1795: the axis of a reduction could be vectorized, and each lane overwrote the others.

_SUM = """
def total(a: {dtype}["n"], c: {dtype}[1]):
    for k in range(a.shape[0]):
        c[0] = c[0] + a[k]
"""


def test_tvm_1795_a_sum_of_floats_is_not_vectorized() -> None:
    schedule = Schedule(parse_text(_SUM.format(dtype="float32")))

    with pytest.raises(ScheduleError, match=r"(?s)`c\[0\]` written .*reassoc"):
        schedule.vectorize("k")


@pytest.mark.parametrize("size", SIZES)
def test_tvm_1795_lanes_of_a_sum_are_combined(size: int) -> None:
    def steps(s: Schedule) -> None:
        s.vectorize("k")

    values = np.arange(3, 3 + size, dtype=np.int32)
    check(_SUM.format(dtype="int32"), steps, values, np.array([5], np.int32))


# -- TVM #7246: calls of Python functions in a parallel loop put their arguments on one stack that
# all threads shared.


@hybrid.packed
def note(value: Any) -> None:
    """A call whose order can be seen."""


@hybrid.script
def calls(a: Any) -> Any:
    for i in range(a.shape[0]):
        note(a[i])


def test_tvm_7246_calls_are_not_made_in_parallel() -> None:
    schedule = calls.schedule(np.arange(5.0))

    with pytest.raises(ScheduleError, match="parallel"):
        schedule.parallel("i")


# -- TVM #712: a buffer that only a condition reads was taken for one that nobody reads.

_CONDITION = """
def condition(a: float32["n"], c: float32["n"]):
    t = allocate((a.shape[0],), "int32")
    for i in range(a.shape[0]):
        t[i] = 1 if a[i] > 0.0 else 0
    for j in range(a.shape[0]):
        if t[a.shape[0] - 1 - j] == 1:
            c[j] = a[j]
"""
_SELECTED = _CONDITION.replace(
    "        if t[a.shape[0] - 1 - j] == 1:\n            c[j] = a[j]",
    "        c[j] = a[j] if t[a.shape[0] - 1 - j] == 1 else 0.0",
)


@pytest.mark.parametrize("text", [_CONDITION, _SELECTED])
@pytest.mark.parametrize("size", [1, 7, 8])
def test_tvm_712_what_only_a_condition_reads_is_computed(text: str, size: int) -> None:
    check(text, lambda s: s.compute_at("t", "j"), floats(size), floats(size))


@pytest.mark.parametrize("text", [_CONDITION, _SELECTED])
def test_tvm_712_conditions_are_conflicts(text: str) -> None:
    schedule = Schedule(parse_text(text))

    with pytest.raises(ScheduleError, match=r"`t\[\d\]` written .* is read"):
        schedule.merge("i", "j")


# -- Halide #7764: a split of a split, with the inner factor greater than what was left, made
# predicated loads give zeros, which were stored.

_IN_PLACE = """
def in_place(a: float32["n"]):
    for i in range(a.shape[0]):
        a[i] = a[i] * 3.0
"""


@pytest.mark.sampled(3)
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("factors", [(4, 8), (8, 3), (16, 5)])
def test_halide_7764_split_loops_are_split_again(size: int, factors: tuple[int, int]) -> None:
    def steps(s: Schedule) -> None:
        _, inner = s.split("i", factor=factors[0])
        _, innermost = s.split(inner, factor=factors[1])
        s.vectorize(innermost)

    check(_IN_PLACE, steps, floats(size))


# -- Halide #3036: vectors at the end of an input were loaded whole, from behind its end.


@hybrid.script
def doubled(a: Any, b: Any) -> Any:
    for i in range(a.shape[0]):
        b[i] = a[i] * 2


@pytest.mark.parametrize("size", SIZES)
def test_halide_3036_vectors_end_where_arrays_end(size: int) -> None:
    def steps(s: Schedule) -> None:
        _, inner = s.split("i", factor=8)
        s.vectorize(inner)

    made = fresh(doubled)
    check_guarded(made.with_schedule(steps), (floats(size), floats(size)))


# -- Halide #1246: an extent below the width of the vectors was rounded up, beyond the bounds of
# the output, or refused at run time.


@pytest.mark.parametrize("size", [0, 1, 2, 3])
@pytest.mark.parametrize("width", [4, 16])
def test_halide_1246_arrays_may_be_smaller_than_a_vector(size: int, width: int) -> None:
    def steps(s: Schedule) -> None:
        _, inner = s.split("i", factor=width)
        s.vectorize(inner)

    made = fresh(doubled)
    check_guarded(made.with_schedule(steps), (floats(size), floats(size)))
