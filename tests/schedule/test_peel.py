"""peel: the first or the last iterations apart."""

import numpy as np
import pytest

import hybridjit as hj
from hybridjit.ir.visit import walk_stmts
from hybridjit.schedule.schedule import Schedule
from tests.conftest import Golden
from tests.schedule.programs import (
    INIT,
    PLAIN,
    PROGRAMS,
    SCAN,
    TRIANGLE,
    Program,
    check,
    refuse,
    sort,
)
from tests.support.before_after import assert_unchanged


@pytest.mark.parametrize("last", [None, True], ids=["first", "last"])
def test_peeled(last: bool | None, golden: Golden) -> None:
    s = Schedule(PLAIN.func(None))
    s.peel("i", 2, last=last)
    golden.check(s.show(), "ir")


@pytest.mark.sampled(8)
@pytest.mark.parametrize("last", [None, True], ids=["first", "last"])
@pytest.mark.parametrize("count", [1, 2, 20])
@pytest.mark.parametrize("program", [PLAIN, TRIANGLE, SCAN], ids=str)
def test_results_stay(program: Program, count: int, last: bool | None) -> None:
    check(program, lambda s: s.peel("i", count, last=last))


def test_the_inner_loop_of_a_triangle() -> None:
    check(TRIANGLE, lambda s: s.peel("j"))
    check(TRIANGLE, lambda s: s.peel("j", 2, last=True))


def test_which_programs_take_it() -> None:
    found = sort(PROGRAMS, lambda s: s.peel("i"))
    assert found["refused"] == ["down", "strided", "break", "return"]


def test_a_reduction_would_start_over(golden: Golden) -> None:
    error = refuse(
        INIT, lambda s: s.peel("k"), "peel: loop 'k' is part of a reduction with an init"
    )
    golden.check(str(error), "txt")


def test_wrong_counts() -> None:
    refuse(PLAIN, lambda s: s.peel("i", 0), "at least 1, got 0")
    refuse(PLAIN, lambda s: s.peel("i", 1.5), "must be an integer, got 1.5")  # type: ignore[arg-type]
    refuse(
        PLAIN, lambda s: s.peel("i", 2**70), r"281474976710656 at most, got 1180591620717411303424"
    )


def test_no_statement_stands_in_both_loops() -> None:
    s = Schedule(
        hj.parse("""
def first_element(a: float32["n"]):
    for i in range(a.shape[0]):
        for j in range(a.shape[0]):
            a[0] = 1.0
""")
    )
    s.peel("i", 2)
    stmts = list(walk_stmts(s.func.body))
    assert len(stmts) == len(set(stmts))
    s.reverse_compute_at("a_1", s.loops("a")[0])
    for size in (0, 1, 2, 5):
        assert_unchanged(s.original, s.func, [np.zeros(size, np.float32)], native=size == 5)
