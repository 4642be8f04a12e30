"""tile: two loops in tiles."""

from hybridjit.schedule.schedule import Schedule
from tests.conftest import Golden
from tests.schedule.programs import IMPERFECT, NEST, PROGRAMS, TRIANGLE, check, refuse, sort


def test_tiles(golden: Golden) -> None:
    s = Schedule(NEST.func(None))
    loops = s.tile("i", "j", 4, 8)
    assert [loop.name for loop in loops] == ["i_0", "j_0", "i_1", "j_1"]
    assert len(s.trace.steps) == 1  # one step, though it is made of several
    golden.check(s.show(), "ir")


def test_results_stay() -> None:
    check(NEST, lambda s: s.tile("i", "j", 3, 2))
    check(NEST, lambda s: s.tile("i", "j", 1, 20))


def test_which_programs_take_it() -> None:
    found = sort([p for p in PROGRAMS if "for j" in p.body], lambda s: s.tile("i", "j", 2, 3))
    assert found == {
        "taken": ["nest"],
        "refused": ["triangle", "imperfect", "register", "neighbours"],
    }


def test_loops_that_depend_on_each_other(golden: Golden) -> None:
    error = refuse(TRIANGLE, lambda s: s.tile("i", "j", 2, 2), "bounds of loop 'j_0' depend on")
    golden.check(str(error), "txt")


def test_a_statement_between_the_loops() -> None:
    refuse(IMPERFECT, lambda s: s.tile("i", "j", 2, 2), "is not the only statement in loop")


def test_the_loops_in_the_wrong_order() -> None:
    s = Schedule(NEST.func(7))
    s.tile("j", "i", 2, 2)
    assert [loop.name for loop in s.loops()] == ["j_0", "i_0", "j_1", "i_1"]
