"""Search: what a minute finds for programs without a schedule, and how well the model guesses.

    python -m benchmarks.search --budget 60s
    python -m benchmarks.search matmul --budget 20s       # programs whose names have this in them

All ways of one program are raced in turns at the end: as the compiler does it by itself, as tuned,
and as somebody wrote it by hand.
"""

from __future__ import annotations

import argparse
import json
import math
import tempfile
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

import hybridjit as hj
from benchmarks.search_programs import Program, programs
from hybridjit.tuning.model import make_model, rank_correlation
from hybridjit.tuning.timing import race

RACE = 2.0  # seconds
RELATIVE = 1e-3  # how far results of float32 may differ from NumPy's order of sums

Lessons = dict[str, list[tuple[list[float], float]]]
"""Features and logarithms of scores, by program."""


def main(arguments: Sequence[str] = ()) -> None:
    """Tune, race, and tell."""
    options = _parse(arguments)
    chosen = [it for it in programs() if any(word in it.name for word in options.words or [""])]
    columns = ("program", "by itself", "tuned", "by hand", "gain", "of by hand", "trials", "s")
    table = Table(*columns, title=f"{options.budget} of search each, one thread, milliseconds")
    with tempfile.TemporaryDirectory() as folder, hj.threads(1):
        database = options.database or Path(folder) / "search.db"
        for program in chosen:
            hj.tune.use(database)
            tuned = program.plain.tune(*program.args, budget=options.budget)
            hj.tune.use(None)  # by itself is without it
            row = _race(program, tuned)
            print(*row, sep="  ", flush=True)
            table.add_row(*row)
        hj.tune.use(database)
        lessons = read_lessons(hj.tune.export())
        hj.tune.use(None)
    console = Console()
    console.print(table)
    console.print(_model_table(lessons))


def _parse(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.search", description=__doc__)
    parser.add_argument("words", nargs="*", help="parts of the names of programs")
    parser.add_argument("--budget", default="60s", help="of each search")
    parser.add_argument("--database", help="where measurements are kept")
    return parser.parse_args(arguments)


def _race(program: Program, tuned: hj.Kernel[..., Any]) -> list[str]:
    assert tuned.tuned is not None
    plain = program.plain.copy()  # it has seen no other sizes: these are known
    ways: list[Callable[..., Any]] = [plain, tuned]
    if program.by_hand is not None:
        ways.append(program.by_hand)
    expected = plain(*program.args)
    for way in ways:
        np.testing.assert_allclose(way(*program.args), expected, rtol=RELATIVE, atol=1e-5)
    runs = [partial(way, *program.args) for way in ways]
    itself, best, *hand = (times.best * 1e3 for times in race(runs, RACE))
    return [
        program.name,
        f"{itself:.3g}",
        f"{best:.3g}",
        f"{hand[0]:.3g}" if hand else "",
        f"{itself / best:.2f}",
        f"{hand[0] / best:.2f}" if hand else "",
        str(tuned.tuned.trials),
        f"{tuned.tuned.seconds:.0f}",
    ]


# -- the model -------------------------------------------------------------------------------------


def read_lessons(text: str) -> Lessons:
    """What the database has measured, by program."""
    data = json.loads(text)
    names = {row["id"]: row["name"] for row in data["programs"]}
    found: Lessons = {}
    for row in data["measurements"]:
        if row["score"] is not None:
            name = f"{names[row['program']]} {row['shapes']}"
            pair = json.loads(row["features"]), math.log(row["score"])
            found.setdefault(name, []).append(pair)
    return found


def held_out(lessons: Lessons, name: str) -> float:
    """How well a model that learned from the others tells the order of one program's candidates."""
    known = [pair for other, pairs in lessons.items() if other != name for pair in pairs]
    model = make_model()
    model.fit(*(np.array(column, np.float64) for column in zip(*known, strict=True)))
    features, scores = zip(*lessons[name], strict=True)
    guesses = model.predict(np.array(features, np.float64))
    return rank_correlation(guesses.tolist(), scores)


def _model_table(lessons: Lessons) -> Table:
    table = Table("program", "measured", "rank correlation", title="the model, never shown these")
    enough = [name for name, pairs in lessons.items() if len(pairs) > 5]
    for name in enough if len(enough) > 1 else ():
        table.add_row(name, str(len(lessons[name])), f"{held_out(lessons, name):.2f}")
    return table


if __name__ == "__main__":
    import sys

    main(sys.argv[1:])
