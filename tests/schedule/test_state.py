"""Loops by name: as the script calls them, or as the program prints them."""

from __future__ import annotations

import pytest

from hybridjit import Schedule, f32, hybrid
from hybridjit.errors import ScheduleError
from hybridjit.hybrid import allocate, output_tensor
from tests.corpus.case import Array


@hybrid.script
def twice(a: Array) -> Array:
    t = allocate(a.shape, a.dtype)
    b = output_tensor(a.shape, a.dtype)
    for i in range(a.shape[0]):
        t[i] = a[i] * 2
    for i in range(a.shape[0]):
        b[i] = t[i] + 1
    return b


@pytest.fixture
def s() -> Schedule:
    return twice.schedule(f32["n"])


def test_a_second_loop_of_a_name_goes_by_the_name_that_it_prints_as(s: Schedule) -> None:
    assert "for i_1 in" in s.show()
    assert s.loop("i_1") == s.loops("b")[0]
    s.parallel("i_1")
    assert "for i_1 in parallel" in s.show()


def test_a_name_of_two_loops_is_refused(s: Schedule) -> None:
    with pytest.raises(ScheduleError, match=r"2 loops called 'i'(.|\n)*s\.loops\(block\)"):
        s.loop("i")


def test_a_name_of_none_is_refused_with_the_names_that_print(s: Schedule) -> None:
    with pytest.raises(ScheduleError, match=r"no loop 'x'(.|\n)*there are i, i_1"):
        s.loop("x")


def test_a_loop_that_is_gone_is_said_to_be(s: Schedule) -> None:
    outer, inner = s.split(s.loops("t")[0], factor=4)
    s.fuse(outer, inner)
    with pytest.raises(ScheduleError, match=r"loop 'i_1' was replaced by i_0_i_1 in step 3"):
        s.loop("i_1")
