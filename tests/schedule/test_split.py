"""split: the same iterations in the same order, whatever the number of them."""

from typing import Any

import pytest

from hybridjit.ir.stmt import For
from hybridjit.ir.visit import walk_stmts
from hybridjit.schedule.schedule import Schedule
from tests.conftest import Golden
from tests.schedule.programs import (
    BREAK,
    DOWN,
    GUARDED,
    INIT,
    NEST,
    PLAIN,
    PROGRAMS,
    STRIDED,
    TRIANGLE,
    Program,
    check,
    refuse,
    sort,
)


def test_a_tail_is_guarded(golden: Golden) -> None:
    s = Schedule(PLAIN.func(None))
    outer, inner = s.split("i", factor=4)
    assert (outer.name, inner.name) == ("i_0", "i_1")
    golden.check(s.show(), "ir")


def test_a_divisor_needs_no_guard() -> None:
    s = Schedule(PLAIN.func(12))
    s.split("i", factor=4)
    assert "if" not in s.show()


def test_the_guard_goes_inside_of_loops(golden: Golden) -> None:
    s = Schedule(NEST.func(None))
    s.split("i", factor=4)
    golden.check(s.show(), "ir")


def test_a_reduction_keeps_its_domain(golden: Golden) -> None:
    s = Schedule(INIT.func(None))
    s.split("k", factor=4)
    golden.check(s.show(), "ir")


@pytest.mark.sampled(8)
@pytest.mark.parametrize(
    "options",
    [{"factor": 3}, {"nparts": 3}, {"factors": [2, None, 3]}, {"factors": [None]}],
    ids=str,
)
@pytest.mark.parametrize("program", [PLAIN, DOWN, STRIDED, TRIANGLE, GUARDED, INIT], ids=str)
def test_results_stay(program: Program, options: dict[str, Any]) -> None:
    check(program, lambda s: s.split("i", **options))


def test_both_loops_of_a_triangle() -> None:
    check(TRIANGLE, lambda s: (s.split("i", factor=2), s.split("j", factor=3)))


def test_a_split_of_a_split() -> None:
    check(PLAIN, lambda s: s.split(s.split("i", factor=4)[1], factor=3))


def test_which_programs_take_it() -> None:
    found = sort(PROGRAMS, lambda s: s.split("i", factor=3))
    assert found["refused"] == ["break", "return"]


def test_factors_that_are_enough() -> None:
    s = Schedule(PLAIN.func(7))
    s.split("i", factors=[2, 4])
    assert "if i_0 * 4 + i_1 < 7" in s.show()


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({}, "exactly one of"),
        ({"factor": 2, "nparts": 2}, "exactly one of"),
        ({"factor": 0}, "at least 1, got None, 0"),
        ({"factor": 2.5}, "must be an integer, got 2.5"),
        ({"factor": True}, "must be an integer, got True"),
        ({"factors": []}, "at least one factor"),
        ({"factors": [None, None]}, "only one factor may be None"),
        ({"factors": [2, 3]}, "run 6 iterations, loop 'i' runs 7"),
        ({"factors": "ab"}, "list of integers"),
        ({"factors": 4}, "list of integers, got 4"),
        ({"factor": 2**63 - 1}, "the product of the factors is more than"),
        ({"nparts": 2**70}, "the product of the factors is more than"),
        ({"factors": [None, 2**40, 2**40]}, "the product of the factors is more than"),
    ],
)
def test_wrong_factors(options: dict[str, Any], match: str) -> None:
    refuse(PLAIN, lambda s: s.split("i", **options), match)


def test_factors_must_be_enough_for_any_size() -> None:
    refuse(PLAIN.func(None), lambda s: s.split("i", factors=[2, 4]), "run 8 iterations")


def test_a_loop_with_a_kind() -> None:
    s = Schedule(PLAIN.func(7))
    s.parallel("i")
    refuse(s.func, lambda s: s.split("i", factor=2), "is parallel already")


def test_a_loop_that_is_left_early(golden: Golden) -> None:
    error = refuse(BREAK, lambda s: s.split("i", factor=2), "break or return may leave it early")
    golden.check(str(error), "txt")


def hints_of(s: Schedule) -> dict[str, tuple[tuple[str, object], ...]]:
    loops = (stmt for stmt in walk_stmts(s.func.body) if isinstance(stmt, For))
    return {loop.var.name: loop.hints for loop in loops}


def test_neighbours_stay_side_by_side_and_threads_have_parts() -> None:
    s = Schedule(NEST.func(40))
    s.in_lanes("i", 8)
    s.on_threads("i", if_possible=True)
    s.split("i", factors=[None, 4, 8])
    hints = hints_of(s)
    assert hints["i_0"] == (("on_threads", True), ("on_threads_if_possible", True))
    assert hints["i_1"] == ()
    assert hints["i_2"] == (("in_lanes", 8),)


def test_no_lanes_are_none_of_any_part() -> None:
    s = Schedule(NEST.func(40))
    s.in_lanes("i", 1)
    s.split("i", factor=8)
    assert hints_of(s)["i_0"] == hints_of(s)["i_1"] == (("in_lanes", 1),)


def test_one_part_has_all_hints() -> None:
    s = Schedule(NEST.func(40))
    s.in_lanes("i", 8)
    s.on_threads("i", if_possible=True)
    s.split("i", factors=[None])
    assert len(hints_of(s)["i_0"]) == 3
