"""annotate: hints on loops and blocks."""

import pytest

import hybridjit as hj
from hybridjit.ir.equal import structural_equal
from hybridjit.schedule.schedule import Schedule
from tests.conftest import Golden
from tests.schedule.programs import NAMED, PLAIN, check, refuse


def test_hints(golden: Golden) -> None:
    s = Schedule(NAMED.func(None))
    s.annotate("i", "unroll_count", 4)
    s.annotate("i", "name", "x")
    s.annotate("t", "hot")
    s.annotate(s.block("u"), "weight", 0.5)
    golden.check(s.show(), "ir")
    assert structural_equal(hj.parse(str(s.func)), s.func)


def test_results_stay() -> None:
    check(NAMED, lambda s: (s.annotate("i", "unroll_count", 4), s.annotate("t", "hot", False)))


def test_a_newer_hint_takes_the_place_of_an_older_one() -> None:
    s = Schedule(PLAIN.func(7))
    s.annotate("i", "x", 1)
    s.annotate("i", "x", 2)
    assert 'annotations={"x": 2}' in s.show()


def test_hints_survive_other_steps() -> None:
    s = Schedule(PLAIN.func(7))
    s.annotate("i", "x", 1)
    s.split("i", factor=2)
    assert s.show().count('"x": 1') == 2


@pytest.mark.parametrize("name", ["unsafe", "a b", "", "1x"])
def test_names_that_are_none(name: str) -> None:
    refuse(PLAIN, lambda s: s.annotate("i", name), "is no name for a hint")


def test_a_name_that_is_no_text() -> None:
    refuse(PLAIN, lambda s: s.annotate("i", 5), "5 is no name for a hint")  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["lanes", "array", "reassociate", "in_lanes", "at_most"])
@pytest.mark.parametrize("target", ["i", "c"])
def test_what_the_compiler_notes_is_no_hint(name: str, target: str) -> None:
    """A loop that says that it has lanes runs in lanes, whether it may or not."""
    refuse(PLAIN, lambda s: s.annotate(target, name), "the compiler has a meaning for it")


def test_values_that_are_none() -> None:
    refuse(PLAIN, lambda s: s.annotate("i", "x", [1]), "a number or a string, got")  # type: ignore[arg-type]
    refuse(PLAIN, lambda s: s.annotate("i", "x", float("nan")), "a number or a string, got nan")
    refuse(PLAIN, lambda s: s.annotate("i", "prefetch_b", True), "must be an integer, got True")


def test_neither_a_loop_nor_a_block(golden: Golden) -> None:
    refuse(PLAIN, lambda s: s.annotate(3, "x"), "a block or the name of one, got 3")  # type: ignore[arg-type]
    golden.check(str(refuse(PLAIN, lambda s: s.annotate("k", "x"), "there is no loop 'k'")), "txt")
