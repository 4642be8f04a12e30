"""peel: the first or the last iterations apart."""

import pytest

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


@pytest.mark.parametrize("last", [None, True], ids=["first", "last"])
def test_peeled(last: bool | None, golden: Golden) -> None:
    s = Schedule(PLAIN.func(None))
    s.peel("i", 2, last=last)
    golden.check(s.show(), "ir")


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
