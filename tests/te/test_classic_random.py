"""Random graphs of tensors under random schedules compute what they compute without, and NumPy.

tests/graphs/campaign.py does the same for longer.
"""

from __future__ import annotations

import random

import pytest

from hybridjit.schedule.classic.lower import lower_classic
from tests.campaigns.drawn import Drawn
from tests.graphs.campaign import try_number
from tests.graphs.check import ScheduledGraph, Subject, check_scheduled, choose_moves
from tests.graphs.generate import MAKERS, Maker, make_graph
from tests.graphs.moves import MOVES, Move
from tests.graphs.stages import elementwise

# Graphs until a kind of step counts as never accepted.
MAX_GRAPHS = 60


@pytest.mark.sampled(6)
@pytest.mark.parametrize("first", range(0, 24, 4))
def test_random_schedules_change_nothing(first: int) -> None:
    drawn = Drawn()
    for number in range(first, first + 4):
        drawn.add(try_number(0, number))
    assert drawn.failures == []
    # A schedule that is refused tells nothing.
    assert drawn.counts["native"] >= drawn.counts["programs"] // 2


@pytest.mark.sampled(8)
@pytest.mark.parametrize("maker", dict.fromkeys(MAKERS), ids=lambda maker: maker.__name__)
def test_stages_of_every_kind_are_what_numpy_makes(maker: Maker) -> None:
    makers = (maker, elementwise)
    graphs = (make_graph(random.Random(seed), makers) for seed in range(MAX_GRAPHS))
    graph = next(item for item in graphs if maker.__name__ in item.kinds)
    subject = Subject(random.Random(0), graph)
    subject.check_against_numpy()

    found = ScheduledGraph(subject)
    found.take(choose_moves(random.Random(0)))
    check_scheduled(found, native=True)


@pytest.mark.sampled(6)
@pytest.mark.parametrize("kind", MOVES)
def test_steps_of_every_kind_are_accepted(kind: str) -> None:
    for seed in range(MAX_GRAPHS):
        choose = random.Random(seed)
        found = ScheduledGraph(Subject(choose, make_graph(choose)))
        before = choose_moves(choose, ["split", "compute_at"])
        found.take([*before, Move(kind, seed)])
        if any(move.kind == kind for move in found.made):
            check_scheduled(found, native=False)
            return
    pytest.fail(f"no {kind} was accepted")


def test_lowering_twice_gives_the_same() -> None:
    for seed in range(5):
        choose = random.Random(seed)
        found = ScheduledGraph(Subject(choose, make_graph(choose)))
        found.take(choose_moves(choose))
        s, _ = found.subject.open_schedule(found.made)
        again = lower_classic(s, found.subject.graph.args).func
        assert found.func is None or str(again) == str(found.func)
