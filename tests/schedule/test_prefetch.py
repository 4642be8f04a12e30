"""prefetch: fetch what a loop reads some iterations later."""

import pytest

from hybridjit.schedule.schedule import Schedule
from tests.conftest import Golden
from tests.schedule.programs import DOWN, GUARDED, NEST, PLAIN, STRIDED, Program, check, refuse


def test_a_hint(golden: Golden) -> None:
    s = Schedule(PLAIN.func(None))
    s.prefetch("b", "i", 16)
    golden.check(s.show(), "ir")


@pytest.mark.sampled(2)
@pytest.mark.parametrize("distance", [1, 1000])
@pytest.mark.parametrize("program", [PLAIN, DOWN, STRIDED, GUARDED], ids=str)
def test_results_stay(program: Program, distance: int) -> None:
    check(program, lambda s: s.prefetch("b", "i", distance))


def test_what_an_inner_loop_reads() -> None:
    check(NEST, lambda s: s.prefetch("a", "i", 3))


def test_what_a_loop_in_lanes_reads() -> None:
    def steps(s: Schedule) -> None:
        s.vectorize("i")
        s.prefetch("a", "j", 1)

    check(NEST, steps)


@pytest.mark.parametrize(
    ("buffer", "distance", "match"),
    [
        ("c", 8, "loop 'i' does not read 'c'"),
        ("zz", 8, "there is no buffer 'zz'"),
        ("b", 0, "at least 1, got 0"),
        ("b", "8", "must be an integer, got '8'"),
    ],
)
def test_wrong_uses(buffer: str, distance: int, match: str) -> None:
    refuse(PLAIN, lambda s: s.prefetch(buffer, "i", distance), match)


def test_the_whole_refusal(golden: Golden) -> None:
    golden.check(str(refuse(PLAIN, lambda s: s.prefetch("c", "i"), "does not read")), "txt")
