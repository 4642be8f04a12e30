"""The first call of each operator: what its example takes where nothing was called before.

    python -m benchmarks.operators [NAME ...]

Each example runs in a process of its own that has imported `hybridjit.stdlib` and nothing more: it
loads the compiler, compiles, and keeps nothing on disk.
"""

from __future__ import annotations

import doctest
import multiprocessing
import statistics
import sys
import time
from collections.abc import Sequence
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table

from hybridjit import config
from hybridjit import stdlib as hs

ROUNDS = 5
SHOWN = 15  # of the slowest


def examples_of(name: str) -> list[str]:
    """What the documentation of an operator calls, without what it prints."""
    return [
        example.source
        for example in doctest.DocTestParser().get_examples(getattr(hs, name).__doc__)
    ]


def first_call(sources: Sequence[str]) -> float:
    """Seconds of CPU time of a process that runs the lines."""
    names: dict[str, Any] = {"hs": hs, "np": np}
    start = time.process_time()
    with config.scope(cache_enabled=False):
        for source in sources:
            exec(compile(source, "<example>", "single"), names)
    return time.process_time() - start


def _send(sources: Sequence[str], to: Any) -> None:
    sys.displayhook = lambda value: None
    to.send(first_call(sources))


def measure(name: str) -> float:
    """The time of a first call in a process that was forked for it."""
    ways = multiprocessing.get_context("fork")
    receiver, sender = ways.Pipe(duplex=False)
    process = ways.Process(target=_send, args=(examples_of(name), sender))
    process.start()
    sender.close()
    try:
        return receiver.recv()
    finally:
        process.join()


def main(names: Sequence[str] = ()) -> None:
    """Print the slowest first calls, and those of most operators."""
    chosen = names or list(hs.OPERATORS)
    console = Console()
    best = dict.fromkeys(chosen, float("inf"))
    for _ in range(ROUNDS):
        for name in track(chosen, "first calls", console=console, transient=True):
            best[name] = min(best[name], measure(name))
    table = Table("operator", "first call [ms]")
    for name in sorted(best, key=lambda each: -best[each])[:SHOWN]:
        table.add_row(name, f"{best[name] * 1e3:.0f}")
    console.print(table)
    middle = statistics.median(best.values())
    console.print(
        f"{len(best)} operators, best of {ROUNDS}: median {middle * 1e3:.0f} ms, "
        f"{sum(each > 0.3 for each in best.values())} above 300 ms"
    )


if __name__ == "__main__":
    main(sys.argv[1:])
