"""What lists of picks led to is known without taking the steps again."""

from __future__ import annotations

from random import Random

import pytest

from hybridjit.ir.func import PrimFunc
from hybridjit.tuning.paths import Paths
from hybridjit.tuning.picks import Picks, by_chance, first
from hybridjit.tuning.search import Search, Strategy
from hybridjit.tuning.space import Candidate, Refused
from tests.tuning.kernels import CASES, loops


class Counting:
    """A space of three by two choices, of which one is refused; it counts what it makes."""

    def __init__(self, func: PrimFunc) -> None:
        self.func = func
        self.made: list[tuple[int, ...]] = []

    def make(self, picks: Picks) -> Candidate | Refused:
        places = picks((1.0, 2.0, 1.0)), picks((1.0, 1.0))
        self.made.append(places)
        taken = tuple(picks.taken)
        return Refused(taken, "no") if places == (1, 1) else Candidate(taken, places, self.func)


def counting() -> Counting:
    args = CASES["loops"][1]
    return Counting(loops.schedule(*args).func)


@pytest.mark.parametrize("strategy", ["evolution", "random", "grid"])
def test_what_is_known_is_not_made_again(strategy: Strategy) -> None:
    space = counting()
    search = Search(space, 0, strategy)
    found = [search.first()]
    while (made := search.propose()) is not None:
        found.append(made)
    recipes = sorted(made.recipe for made in found if made is not None)
    assert recipes == [(0, 0), (0, 1), (1, 0), (2, 0), (2, 1)]
    assert len(space.made) == len(set(space.made)) == 6
    assert search.refused >= 1


def test_paths() -> None:
    paths = Paths()
    assert paths.follow(Picks(first)) is None
    picks = Picks(first, (1, 0))
    picks((1.0, 1.0))
    picks((1.0,))
    paths.add(picks.choices, b"one")
    assert paths.follow(Picks(first, (1, 0))) == b"one"
    assert paths.follow(Picks(first, (0,))) is None
    paths.add([((1.0, 1.0), 0)], b"two")
    assert paths.follow(Picks(first, (0,))) == b"two"
    assert paths.follow(Picks(first, (1,))) == b"one"


def test_choices_that_were_followed_are_answered_alike() -> None:
    picks = Picks(by_chance(Random(3)), (2,))
    before = [picks((1.0,) * 4) for _ in range(5)]
    picks.begin_again()
    assert [picks((1.0,) * 4) for _ in range(5)] == before
    assert len(picks.taken) == 5
