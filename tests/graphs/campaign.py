"""Random graphs, each under a random schedule, in the interpreter, natively and by NumPy.

See tests/campaigns.
"""

from __future__ import annotations

import random
import traceback

from tests.campaigns.drawn import Drawn, size_class
from tests.graphs.check import (
    ScheduledGraph,
    Subject,
    check_printed,
    check_scheduled,
    choose_moves,
)
from tests.graphs.generate import LONG_SIZES, SIZES, make_graph

# One schedule in so many is printed and parsed again.
PRINT_EVERY = 20
# One graph in so many has axes of several vectors and a rest.
LONG_EVERY = 3


def try_number(seed: int, number: int) -> Drawn:
    """One graph under one schedule."""
    choose = random.Random(f"{seed}/{number}")
    sizes = LONG_SIZES if number % LONG_EVERY == 0 else SIZES
    subject = Subject(choose, make_graph(choose, sizes=sizes))
    subject.check_against_numpy()
    drawn = Drawn()
    drawn.count("stages", subject.graph.kinds)
    _try_schedule(drawn, subject, choose)
    return drawn


def _try_schedule(drawn: Drawn, subject: Subject, choose: random.Random) -> None:
    found = ScheduledGraph(subject)
    drawn.counts["programs"] += 1
    try:
        found.take(choose_moves(choose))
        _count(drawn, found)
        check_scheduled(found, native=found.func is not None)
        if choose.randrange(PRINT_EVERY) == 0:
            check_printed(found)
    except Exception:
        # A crash is a find like any other, and must not end the campaign.
        drawn.failures.append(f"{traceback.format_exc()}\n{found.made}")


def _count(drawn: Drawn, found: ScheduledGraph) -> None:
    drawn.counts["native"] += found.func is not None
    drawn.count("accepted", [move.kind for move in found.made])
    drawn.count("refused", [move.kind for move in found.refused])
    arrays = [array for given, _ in found.subject.runs for array in given]
    drawn.count("types", [str(array.dtype) for array in arrays])
    drawn.count("sizes", [size_class(size) for array in arrays for size in array.shape])
