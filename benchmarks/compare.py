"""This checkout against another one, kernel by kernel: how fast the code is, and the first call.

    git worktree add ../before some-commit
    python -m benchmarks.compare ../before [--only GROUP/NAME ...] [--budget SECONDS] [--json FILE]

Two processes, one of each checkout, take turns on the same arguments; the best time of each counts.
One thread, no disk cache. A ratio above 1 says that this checkout is faster.

    python -m benchmarks.compare . --python ../llvm20/bin/python

The same checkout with the packages of another environment (an older llvmlite, say). Cases whose
results differ in any bit are named.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from statistics import geometric_mean
from typing import Any

from rich.console import Console
from rich.table import Table

HERE = Path(__file__).resolve().parents[1]
TURNS = 5
# The file is run by its path, with the checkout first on the path that modules are found by.
PROGRAM = "import runpy, sys; sys.path[0] = {tree!r}; runpy.run_path({file!r}, run_name='__main__')"


class Checkout:
    """A process that runs the cases in one checkout, by the packages of one Python."""

    def __init__(self, tree: Path, python: str = sys.executable) -> None:
        file = HERE / "benchmarks" / "compare_cases.py"
        settings = {
            "HYBRIDJIT_CACHE": "0",
            "HYBRIDJIT_NUM_THREADS": "1",
            "OPENBLAS_NUM_THREADS": "1",
        }
        self.process = subprocess.Popen(
            [python, "-W", "ignore", "-c", PROGRAM.format(tree=str(tree), file=str(file))],
            cwd=tree,
            env={**os.environ, **settings},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def ask(self, *question: Any) -> Any:
        """The answer to one question; ValueError with the reason if there is none."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        print(json.dumps(question), file=self.process.stdin, flush=True)
        answer = json.loads(self.process.stdout.readline())
        if "error" in answer:
            raise ValueError(answer["error"])
        return answer["value"]


@dataclass(frozen=True, slots=True)
class Row:
    """One case before and after: the seconds of a run and of the first call; whether bits agree."""

    name: str
    before: float
    after: float
    first_before: float
    first_after: float
    same_bits: bool

    @property
    def group(self) -> str:
        return self.name.partition("/")[0]

    @property
    def ratio(self) -> float:
        return self.before / self.after

    @property
    def first_ratio(self) -> float:
        return self.first_before / self.first_after


def compare(names: Sequence[str], sides: Sequence[Checkout], budget: float) -> Iterator[Row]:
    """Each case on both sides, in turns."""
    for name in names:
        try:
            first = [side.ask("prepare", name) for side in sides]
            digests = [side.ask("digest", name) for side in sides]
            best = [math.inf, math.inf]
            for _ in range(TURNS):
                for place, side in enumerate(sides):
                    seconds = side.ask("measure", name, budget / TURNS / 2)
                    best[place] = min(best[place], seconds)
        except ValueError as error:
            print(f"{name}: {error}", flush=True)
            continue
        finally:
            for side in sides:
                side.ask("forget", name)
        row = Row(name, *best, *first, len(set(digests)) == 1)
        print(f"{name}: {row.before * 1e6:.1f} -> {row.after * 1e6:.1f} us, {row.ratio:.2f}")
        yield row


def table_of(rows: Sequence[Row]) -> Table:
    """The means of every group, and the rows that differ by more than a twentieth."""
    table = Table(title="times faster than the other checkout")
    for column in ("case", "before, µs", "after, µs", "ratio", "first call"):
        table.add_column(column, justify="left" if column == "case" else "right")
    ordered = sorted(rows, key=lambda row: row.group)
    for group, found in groupby(ordered, key=lambda row: row.group):
        members = list(found)
        for row in sorted(members, key=lambda row: row.ratio):
            if abs(math.log(row.ratio)) > math.log(1.05):
                times = f"{row.before * 1e6:.1f}", f"{row.after * 1e6:.1f}"
                table.add_row(row.name, *times, f"{row.ratio:.2f}", f"{row.first_ratio:.2f}")
        means = (
            geometric_mean([row.ratio for row in members]),
            geometric_mean([row.first_ratio for row in members]),
        )
        label = f"{group}: mean of {len(members)}"
        table.add_row(label, "", "", *(f"{mean:.2f}" for mean in means), end_section=True)
    return table


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0], allow_abbrev=False)
    parser.add_argument("before", type=Path, help="the other checkout")
    parser.add_argument("--python", default=sys.executable, help="what runs the other checkout")
    parser.add_argument("--only", nargs="*", default=[""], help="names of cases begin with one")
    parser.add_argument("--budget", type=float, default=1.0, help="seconds for each case")
    parser.add_argument("--json", type=Path, help="a file for all rows")
    options = parser.parse_args()
    if not (options.before / "hybridjit").is_dir():  # it would be this checkout, twice
        parser.error(f"'{options.before}' is no checkout: there is no folder hybridjit in it")
    sides = Checkout(options.before.resolve(), options.python), Checkout(HERE)
    known = [name for name in sides[1].ask("list") if name.startswith(tuple(options.only))]
    rows = list(compare(known, sides, options.budget))
    Console().print(table_of(rows))
    others = [row.name for row in rows if not row.same_bits]
    print(f"{len(rows) - len(others)} of {len(rows)} give the same bits")
    if others:
        print("others in:", *others, sep="\n  ")
    if options.json is not None:
        facts = [{name: getattr(row, name) for name in Row.__slots__} for row in rows]
        options.json.write_text(json.dumps(facts, indent=1))


if __name__ == "__main__":
    main()
