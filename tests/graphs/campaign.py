"""Many random graphs under several random schedules each; a pair that differs is printed.

    python -m tests.graphs.campaign --pairs 10000 --seed 1 --native-every 20

Graph number k of a seed is the same in every run: `--first k --pairs 1` repeats it.
"""

from __future__ import annotations

import random
import sys
import traceback

from tests.graphs.check import (
    ScheduledGraph,
    Subject,
    check_printed,
    check_scheduled,
    choose_moves,
)
from tests.graphs.moves import MOVES
from tests.pair_campaign import Tally, run_campaign

# A graph is made, run, and held against NumPy once for so many schedules.
SCHEDULES = 4
# One schedule in so many is printed and parsed again.
PRINT_EVERY = 20


def try_graph(tally: Tally, seed: int, number: int, native_every: int) -> None:
    """One graph under several schedules."""
    choose = random.Random(f"{seed}/{number}")
    try:
        subject = Subject(choose)
        tally.stages.update(subject.graph.kinds)
        subject.check_against_numpy()
        for _ in range(SCHEDULES):
            _try_schedule(tally, subject, random.Random(choose.randrange(1 << 62)), native_every)
    except Exception:
        # A crash is a find like any other, and must not end the campaign.
        tally.failures.append(traceback.format_exc())


def _try_schedule(tally: Tally, subject: Subject, choose: random.Random, native_every: int) -> None:
    found = ScheduledGraph(subject)
    try:
        found.take(choose_moves(choose))
        tally.add([move.kind for move in found.made], [move.kind for move in found.refused])
        native = found.func is not None and tally.pairs % native_every == 0
        tally.native += native
        check_scheduled(found, native=native)
        if tally.pairs % PRINT_EVERY == 0:
            check_printed(found)
    except Exception:
        tally.failures.append(f"{traceback.format_exc()}\n{found.made}")


if __name__ == "__main__":
    sys.exit(run_campaign(__doc__, try_graph, MOVES))
