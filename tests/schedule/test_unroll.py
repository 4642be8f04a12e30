"""unroll: iterations written out."""

import pytest

import hybridjit as hj
from hybridjit.schedule.schedule import Schedule
from tests.before_after import assert_unchanged
from tests.conftest import Golden
from tests.schedule.programs import INIT, PROGRAMS, TRIANGLE, check, numbers, refuse, sort


def test_every_program_takes_it() -> None:
    assert sort(PROGRAMS, lambda s: s.unroll("i"))["refused"] == []


def test_results_stay() -> None:
    check(TRIANGLE, lambda s: s.unroll("j"))
    check(INIT, lambda s: (s.unroll("i"), s.unroll("k")))
    check(INIT, lambda s: s.unroll(s.split("k", factor=3)[1]))


def test_the_text(golden: Golden) -> None:
    s = Schedule(INIT.func(None))
    s.unroll(s.split("k", factor=3)[1])
    golden.check(s.show(), "ir")


@pytest.mark.parametrize("jump", ["break", "continue", "return"])
def test_jumps(jump: str) -> None:
    func = hj.parse(f"""
def f(a: int64[8], c: int64[8]):
    for i in range(8):
        if a[i] > 4:
            {jump}
        c[i] = i
""")
    s = Schedule(func)
    s.unroll("i")
    assert_unchanged(func, s.func, [numbers(8), numbers(8)], native=True)


def test_a_loop_that_is_not_there(golden: Golden) -> None:
    error = refuse(TRIANGLE, lambda s: s.unroll("ii"), "there is no loop 'ii'")
    golden.check(str(error), "txt")
