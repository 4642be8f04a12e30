"""Search: what a minute finds for programs without a schedule, and what the model is good for.

    python -m benchmarks.search --budget 60s
    python -m benchmarks.search matmul --budget 20s       # programs whose names have this in them

All ways of one program are raced in turns at the end: as the compiler does it by itself, as tuned,
and as somebody wrote it by hand.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

import hybridjit as hj
from benchmarks.search_model import model_table, read_lessons
from benchmarks.search_programs import Program, programs
from hybridjit.tuning.timing import race

RACE = 2.0  # seconds
RELATIVE = 1e-3  # how far results of float32 may differ from NumPy's order of sums


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
    console.print(model_table(lessons))


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


if __name__ == "__main__":
    import sys

    main(sys.argv[1:])
