"""Whole searches in which things go wrong: nothing is lost but the trial."""

from __future__ import annotations

import ctypes
import os
import pickle
import sqlite3
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np

from hybridjit.tuning.picks import Picks
from hybridjit.tuning.search import Search
from hybridjit.tuning.session import Limits, Session
from hybridjit.tuning.space import Candidate
from hybridjit.tuning.tasks import Task
from tests.tuning.kernels import CASES, loops

ROOT = Path(__file__).parents[2]
SLEEP = 0.02  # seconds that the plain program takes


def _crash() -> None:
    ctypes.string_at(0)


def _hang() -> None:
    while True:
        pass


def _eat() -> None:
    kept: list[Any] = []
    while True:
        kept.append(np.ones(1 << 24))


def _leave() -> None:
    raise SystemExit(3)


FAULTS: dict[str, Callable[[], None]] = {
    "crash": _crash,
    "hang": _hang,
    "eat": _eat,
    "leave": _leave,
}
RECIPES = ["good", "wrong", *FAULTS]


class Faulty:
    """Doubles numbers, or does what its recipe says."""

    def make(self, recipe: str | None) -> Callable[[Any], Any]:
        """What does it."""

        def run(x: Any) -> Any:
            if recipe in FAULTS:
                FAULTS[recipe]()
            time.sleep(SLEEP if recipe is None else SLEEP / 2)
            return x * (3 if recipe == "wrong" else 2)

        return run


class Space:
    """One recipe for each thing that can go wrong."""

    def make(self, picks: Picks) -> Candidate:
        """The one that is picked."""
        recipe = RECIPES[picks([1.0] * len(RECIPES))]
        return Candidate(tuple(picks.taken), recipe, loops.schedule(*CASES["loops"][1]).func)


def test_the_good_one_wins_whatever_the_others_do() -> None:
    task = Task(pickle.dumps(Faulty()), pickle.dumps([np.ones(100)]))
    found = Session(task, Search(Space(), 0, "grid"), Limits(None)).run()
    assert found.recipe == "good"
    counts = found.counts
    assert counts["measured"] == counts["wrong"] == 1
    # One that takes long, to hang or to eat, may be given up before it comes to its end.
    assert counts["crashed"] + counts["slow"] == len(FAULTS)
    assert found.trials == len(RECIPES)


SEARCH = """
    import sys
    import hybridjit as hj
    from tests.tuning.kernels import CASES

    kernel, args = CASES["loops"]
    hj.tune.use(sys.argv[1])
    fast = kernel.tune(*args, trials=int(sys.argv[2]))
    print(fast.tuned.trials)
"""


def test_a_search_that_is_killed_loses_one_trial_and_can_go_on(tmp_path: Path) -> None:
    program, database = tmp_path / "search.py", tmp_path / "tuned.db"
    program.write_text(textwrap.dedent(SEARCH), encoding="utf-8")
    environment = os.environ | {"PYTHONPATH": str(ROOT)}

    def command(trials: int) -> list[str]:
        return [sys.executable, str(program), str(database), str(trials)]

    with subprocess.Popen(command(1000), env=environment) as search:
        while len(_recipes(database)) < 3 and search.poll() is None:
            time.sleep(0.02)
        search.kill()
    before = _recipes(database)
    assert len(before) >= 3
    done = subprocess.run(command(2), capture_output=True, text=True, env=environment, check=False)
    assert done.stdout == "2\n", done.stderr
    after = _recipes(database)
    assert after[: len(before)] == before
    assert len(set(after)) == len(before) + 2


def _recipes(database: Path) -> list[str]:
    """What was measured, of a file that is in order."""
    if not database.exists():
        return []
    with closing(sqlite3.connect(database, timeout=10)) as connection:
        (verdict,) = connection.execute("pragma integrity_check").fetchone()
        assert verdict == "ok"
        tables = connection.execute("select name from sqlite_master").fetchall()
        if ("measurements",) not in tables:
            return []
        return [row[0] for row in connection.execute("select recipe from measurements order by id")]
