"""Random graphs of tensors under random schedules compute what they compute without.

`python -m tests.te.test_classic_random SECONDS [SEED]` runs for so long.
"""

from __future__ import annotations

import random
import sys
import time

import pytest

from hybridjit.schedule.classic_lower import lower_classic
from tests.classic_graphs import lower_or_refuse, make_graph, make_schedule
from tests.classic_runs import run_both


def check(seed: int) -> bool:
    """Compare one graph with and without a schedule; False if the schedule was refused."""
    choose = random.Random(seed)
    graph = make_graph(choose)
    s, story = make_schedule(choose, graph)
    if lower_or_refuse(s, graph.args) is None:
        return False
    try:
        run_both(s, graph.args, graph.make_arrays(seed))
    except Exception as error:
        raise AssertionError(f"seed {seed}: {'; '.join(story)}") from error
    return True


@pytest.mark.parametrize("first", range(0, 60, 10))
def test_random_schedules_change_nothing(first: int) -> None:
    taken = sum(check(seed) for seed in range(first, first + 10))
    assert taken >= 3  # a schedule that is refused tells nothing


def test_the_order_of_stages_does_not_matter() -> None:
    for seed in range(5):
        choose = random.Random(seed)
        graph = make_graph(choose)
        s, _ = make_schedule(choose, graph)
        func = lower_or_refuse(s, graph.args)
        if func is not None:
            assert str(lower_classic(s, graph.args).func) == str(func)


def campaign(seconds: float, seed: int) -> None:
    """Check graph after graph, and report."""
    end, count, taken = time.monotonic() + seconds, 0, 0
    while time.monotonic() < end:
        taken += check(seed + count)
        count += 1
    sys.stdout.write(f"{count} schedules from seed {seed}, {taken} taken, no mismatch\n")


if __name__ == "__main__":
    campaign(float(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0)
