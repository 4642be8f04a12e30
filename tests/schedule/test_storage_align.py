"""storage_align: padded rows."""

import pytest

import hybridjit as hj
from hybridjit import ScheduleError
from hybridjit.schedule.schedule import Schedule
from tests.conftest import Golden
from tests.support.before_after import assert_unchanged, run_example
from tests.support.memory_programs import (
    SIZES,
    deep_scratch,
    floats,
    integers,
    negative_scratch,
    past_the_end,
    two_stages,
)


def test_the_next_axis_grows() -> None:
    s = Schedule(two_stages.prim_func(floats(7, 30)))

    s.storage_align("t", 0, 32, 1)

    assert "t = allocate((7, 33)" in s.show()
    assert_unchanged(s.original, s.func, [floats(7, 30)], native=True)


@pytest.mark.parametrize("size", SIZES)
def test_a_size_known_at_run_time_is_padded_at_run_time(size: int) -> None:
    s = Schedule(two_stages.prim_func(hj.f32["n", "m"]))

    s.storage_align("t", -2, 4)

    assert_unchanged(s.original, s.func, [floats(3, size)], native=size == SIZES[-1])


def test_symbolic_sizes(golden: Golden) -> None:
    s = Schedule(two_stages.prim_func(hj.f32["n", "m"]))
    s.storage_align("t", 0, 16, 3)
    golden.check(s.show(), "ir")


def test_an_aligned_axis_stays() -> None:
    s = Schedule(two_stages.prim_func(floats(7, 32)))
    s.storage_align("t", 0, 32)
    assert "t = allocate((7, 32)" in s.show()


def test_inner_axes_count() -> None:
    """The stride of axis 0 of (2, 3, 5) is 15: with a factor of 8 and offset 4 it becomes 20."""
    s = Schedule(deep_scratch.prim_func(integers(2, 3, 5)))

    s.storage_align("t", 0, 8, 4)

    assert "t = allocate((2, 4, 5)" in s.show()
    assert_unchanged(s.original, s.func, [integers(2, 3, 5)], native=True)


def test_the_example_runs() -> None:
    run_example(Schedule(two_stages.prim_func(floats(7, 30))), "storage_align")


@pytest.mark.parametrize(
    ("buffer", "axis", "factor", "message"),
    [
        ("t", 1, 8, "axis 1 of 't' is the last, whose stride is 1"),
        ("t", 2, 8, "'t' has 2 axes, there is no axis 2"),
        ("t", 0, 0, "the factor must be at least 1, got 0"),
        ("a", 0, 8, "'a' is an argument of the function"),
        ("x", 0, 8, "there is no buffer 'x'"),
    ],
)
def test_refusals(buffer: str, axis: int, factor: int, message: str) -> None:
    s = Schedule(two_stages.prim_func(floats(7, 5)))

    with pytest.raises(ScheduleError, match=message):
        s.storage_align(buffer, axis, factor)

    assert s.func is s.original


def test_a_stride_that_cannot_be() -> None:
    s = Schedule(deep_scratch.prim_func(integers(2, 3, 4)))
    with pytest.raises(ScheduleError, match="it is a multiple of 4"):
        s.storage_align("t", 0, 8, 3)


def test_an_index_that_counts_from_the_end_is_refused() -> None:
    """t[-1] would be the padding."""
    s = Schedule(negative_scratch.prim_func(integers(4, 5)))
    with pytest.raises(ScheduleError, match="is not proved to lie inside of 't'"):
        s.storage_align("t", 0, 8)


def test_an_index_past_the_end_stays_an_error() -> None:
    """t[i, 5] is an IndexError, and would be the padding."""
    s = Schedule(past_the_end.prim_func(integers(4, 5)))
    with pytest.raises(ScheduleError, match="is not proved to lie inside of 't'"):
        s.storage_align("t", 0, 8)
