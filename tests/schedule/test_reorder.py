"""reorder: another order of loops, where no two iterations mind."""

import numpy as np
import pytest

import hybridjit as hj
from hybridjit.interp.run import interpret
from hybridjit.schedule.schedule import Schedule
from tests.conftest import Golden
from tests.schedule.programs import (
    IMPERFECT,
    INIT,
    NEST,
    PROGRAMS,
    TRIANGLE,
    check,
    numbers,
    refuse,
    sort,
)
from tests.support.before_after import assert_unchanged

WAVE = """
def f(a: int64[6, 6]):
    for i in range(1, 6):
        for j in range(1, 6):
            a[i, j] = a[i - 1, j - 1] + 1
"""
AGAINST = """
def f(a: int64[6, 6]):
    for i in range(1, 6):
        for j in range(5):
            a[i, j] = a[i - 1, j + 1] + 1
"""
SUM = """
def f(a: {0}[4, 4], c: {0}[1]):
    for i in range(4):
        for j in range(4):
            c[0] = {1}
"""


def test_two_loops(golden: Golden) -> None:
    s = Schedule(NEST.func(None))
    s.reorder("j", "i")
    golden.check(s.show(), "ir")


def test_results_stay() -> None:
    check(NEST, lambda s: s.reorder("j", "i"))
    check(INIT, lambda s: s.reorder("k", "i"))


def test_loops_that_are_not_named_stay() -> None:
    s = Schedule(NEST.func(7))
    s.split("i", factor=2)
    s.split("j", factor=2)
    s.reorder("j_1", "i_0")
    assert [loop.name for loop in s.loops()] == ["j_1", "i_1", "j_0", "i_0"]


def test_which_programs_take_it() -> None:
    found = sort([p for p in PROGRAMS if "for j" in p.body], lambda s: s.reorder("j", "i"))
    assert found["taken"] == ["nest"]


def test_a_dependence_that_keeps_its_direction() -> None:
    s = Schedule(hj.parse(WAVE))
    s.reorder("j", "i")
    assert_unchanged(s.original, s.func, [numbers(6, 6)], native=True)


def test_a_dependence_that_turns_around(golden: Golden) -> None:
    error = refuse(hj.parse(AGAINST), lambda s: s.reorder("j", "i"), "turn a dependence around")
    golden.check(str(error), "txt")


def test_a_thread_loop_does_not_go_where_it_carries_a_dependence() -> None:
    s = Schedule(hj.parse(WAVE))
    s.parallel("j")
    refuse(s.func, lambda s: s.reorder("j", "i"), "iterations of the parallel loop 'j' depend")


def test_a_thread_loop_may_go_where_it_carries_none() -> None:
    s = Schedule(NEST.func(7))
    s.parallel("j")
    s.reorder("j", "i")
    assert "for j in parallel(7):\n        for i in range(7):" in s.show()


@pytest.mark.parametrize(
    ("dtype", "update"),
    [("int64", "c[0] + a[i, j]"), ("int64", "min(c[0], a[i, j])"), ("bool", "c[0] or a[i, j]")],
)
def test_updates_that_commute(dtype: str, update: str) -> None:
    s = Schedule(hj.parse(SUM.format(dtype, update)))
    s.reorder("j", "i")
    args = [numbers(4, 4).astype(dtype), numbers(1).astype(dtype)]
    assert_unchanged(s.original, s.func, args, native=True)


LAZY = """
def f(a: int64[4, 4], c: bool[1]):
    for i in range(4):
        for j in range(4):
            c[0] = c[0] {}
"""


@pytest.mark.parametrize(
    ("update", "deciding", "failing"),
    [
        ("and 10 // a[i, j] > 0", 11, 0),
        ("or 10 // a[i, j] == 0", 11, 0),
        ("and a[a[i, j], 3] > 0", 2, 9),
    ],
)
def test_updates_that_are_left_out_may_fail(update: str, deciding: int, failing: int) -> None:
    """In the order of the rows, what decides comes before what fails."""
    func = hj.parse(LAZY.format(update))
    refuse(func, lambda s: s.reorder("j", "i"), "turn a dependence around")

    s = Schedule(func)
    s.reorder("j", "i", unsafe=True)
    a = np.ones((4, 4), np.int64)
    a[0, 1], a[1, 0], a[2, 3] = deciding, failing, 0
    start = update.startswith("and")
    interpret(func, [a, np.array([start])])
    with pytest.raises((IndexError, ZeroDivisionError)):
        interpret(s.func, [a, np.array([start])])


def test_float_sums_are_rounded_otherwise() -> None:
    func = hj.parse(SUM.format("float32", "c[0] + a[i, j]"))
    error = refuse(func, lambda s: s.reorder("j", "i"), "turn a dependence around")
    assert 'fastmath={"reassoc"}' in str(error)


def test_the_sign_of_zero_depends_on_the_order() -> None:
    func = hj.parse(SUM.format("float64", "min(c[0], a[i, j])"))
    refuse(func, lambda s: s.reorder("j", "i"), "turn a dependence around")

    s = Schedule(func)
    s.reorder("j", "i", unsafe=True)
    a = np.ones((4, 4))
    a[0, 1], a[1, 0] = 0.0, -0.0
    with pytest.raises(AssertionError, match=r"got np\.float64\(-0\.0\), expected np\.float64\(0"):
        assert_unchanged(func, s.func, [a, np.ones(1)])


@pytest.mark.parametrize(
    "effect", ["print(i)", "assert i < 9, i", "raise ValueError(i)"], ids=lambda e: e.split()[0]
)
def test_effects_keep_their_order(effect: str) -> None:
    func = hj.parse(f"""
def f(a: int64[4, 4]):
    for i in range(4):
        for j in range(4):
            if a[i, j] > 5:
                {effect}
""")
    refuse(func, lambda s: s.reorder("j", "i"), "the effect at line .* comes before the one")


def test_bounds_that_depend_on_the_other_loop() -> None:
    refuse(TRIANGLE, lambda s: s.reorder("j", "i"), "which would be inside of it")


def test_a_statement_between() -> None:
    refuse(IMPERFECT, lambda s: s.reorder("j", "i"), "not the only statement")


def test_no_loops() -> None:
    refuse(NEST, lambda s: s.reorder(), "needs at least one loop")
