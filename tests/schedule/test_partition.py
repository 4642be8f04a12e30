"""partition: a loop in two parts, before an iteration."""

import pytest

import hybridjit as hj
from hybridjit.schedule.schedule import Schedule
from tests.conftest import Golden
from tests.schedule.programs import (
    BREAK,
    INIT,
    NEST,
    PLAIN,
    PROGRAMS,
    STRIDED,
    check,
    numbers,
    refuse,
    sort,
)
from tests.support.before_after import assert_unchanged


def test_two_parts(golden: Golden) -> None:
    s = Schedule(PLAIN.func(None))
    first, second = s.partition("i", 4)
    assert first.var is not second.var
    golden.check(s.show(), "ir")


@pytest.mark.sampled(4)
@pytest.mark.parametrize("at", [-3, 0, 1, 4, 100])
def test_results_stay(at: int) -> None:
    check(PLAIN, lambda s: s.partition("i", at))
    check(NEST, lambda s: s.partition("j", at))


def test_a_loop_that_does_not_run() -> None:
    func = hj.parse("""
def f(a: int64[9], m: int, n: int):
    for i in range(m, n):
        a[i] = i
""")
    s = Schedule(func)
    s.partition("i", 4)
    for m, n in ((0, 9), (5, 2), (2, 4), (4, 9), (6, 8)):
        assert_unchanged(func, s.func, [numbers(9), m, n], native=m == 5)


def test_which_programs_take_it() -> None:
    found = sort(PROGRAMS, lambda s: s.partition("i", 3))
    assert found["refused"] == ["down", "strided", "break", "return"]


def test_blocks_get_names_of_their_own() -> None:
    s = Schedule(PLAIN.func(7))
    s.partition("i", 3)
    assert [block.name for block in s.blocks()] == ["c", "c_1"]


def test_a_reduction_would_start_over(golden: Golden) -> None:
    error = refuse(INIT, lambda s: s.partition("k", 3), "which would start over")
    golden.check(str(error), "txt")


def test_a_reduction_that_was_split() -> None:
    check(INIT, lambda s: (s.split("k", factor=2), s.partition("k_0", 1)))


def test_a_reduction_that_was_fused() -> None:
    check(INIT, lambda s: (s.fuse("i", "k"), s.partition("i_k", 5)))


def test_wrong_uses() -> None:
    refuse(PLAIN, lambda s: s.partition("i", "4"), "must be an integer, got '4'")  # type: ignore[arg-type]
    for at in (2**63, -(2**70)):
        refuse(PLAIN, lambda s, at=at: s.partition("i", at), f"the iteration must be .*, got {at}")
    refuse(STRIDED, lambda s: s.partition("i", 4), "does not count up by 1")
    refuse(BREAK, lambda s: s.partition("i", 4), "may leave loop 'i' early")
