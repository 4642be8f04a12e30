"""blockize: one block of a loop and everything in it."""

from hybridjit.schedule.schedule import Schedule
from tests.conftest import Golden
from tests.schedule.programs import (
    INIT,
    NEST,
    PROGRAMS,
    REGISTER,
    TRIANGLE,
    check,
    refuse,
    sort,
)


def test_an_inner_loop(golden: Golden) -> None:
    s = Schedule(NEST.func(None))
    assert s.blockize("j").name == "j_o"
    golden.check(s.show(), "ir")


def test_results_stay() -> None:
    check(NEST, lambda s: s.blockize("j"))
    check(TRIANGLE, lambda s: s.blockize("j"))
    check(REGISTER, lambda s: s.blockize("j"))
    check(INIT, lambda s: s.blockize("k"))


def test_a_tile() -> None:
    def steps(s: Schedule) -> None:
        _, _, i_1, _ = s.tile("i", "j", 2, 3)
        s.blockize(i_1)

    check(NEST, steps)


def test_which_programs_take_it() -> None:
    found = sort(PROGRAMS, lambda s: s.blockize("i"))
    assert found["refused"] == ["break", "continue", "return"]


def test_loops_around_the_block() -> None:
    s = Schedule(NEST.func(7))
    block = s.blockize("j")
    assert [loop.name for loop in s.loops(block)] == ["i"]


def test_a_reduction_around_the_loop(golden: Golden) -> None:
    s = Schedule(INIT.func(7))
    s.reorder("k", "i")
    error = refuse(s.func, lambda s: s.blockize("i"), "runs over a loop around 'i'")
    golden.check(str(error), "txt")
