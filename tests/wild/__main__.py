"""What becomes of the collection: runs or refused, the first call, and speed against Numba.

python -m tests.wild                    # every function
python -m tests.wild signals dijkstra   # those of a field, or of a name
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from functools import cache
from importlib.util import find_spec
from types import ModuleType
from typing import Any

import numpy as np

from hybridjit.scalars.contents import fresh_copies
from tests.wild.compilers import functions_of, script
from tests.wild.table import ENTRIES, Entry

# For how long, in seconds, a function is called again and again; the fastest call counts.
SECONDS = 0.2


def main() -> None:
    """Print a line for each function that the command line names, or for all."""
    wanted = sys.argv[1:]
    print(f"{'function':42} {'hybridjit':>24} {'numba':>24} {'times as fast':>14}")
    ratios: list[float] = []
    refused = 0
    for entry in ENTRIES:
        if wanted and entry.field not in wanted and entry.name not in wanted:
            continue
        ours, theirs = _measure(entry)
        refused += ours is None
        ratio = theirs[1] / ours[1] if ours and theirs else None
        ratios += [] if ratio is None else [ratio]
        told = "" if ratio is None else f"{ratio:.2f}"
        name = f"{entry.field}.{entry.name}"
        print(f"{name:42} {_tell(ours):>24} {_tell(theirs):>24} {told:>14}", flush=True)
    if ratios:
        mean = float(np.exp(np.log(ratios).mean()))
        print(f"{refused} refused; geometric mean {mean:.2f}, least {min(ratios):.2f}")


Times = tuple[float, float]
"""How long the first call took, and the fastest one, in seconds."""


def _measure(entry: Entry) -> tuple[Times | None, Times | None]:
    """The times of both compilers, whose calls take turns; None for one that refuses."""
    runs = [_start(kernel, entry) for kernel in _kernels(entry)]
    best = [run[0] if run else 0.0 for run in runs]
    end = time.perf_counter() + SECONDS * len(runs)
    while time.perf_counter() < end:
        for position, run in enumerate(runs):
            if run is not None:
                best[position] = min(best[position], _timed(run[1], entry))
    times = [None if run is None else (run[0], best[k]) for k, run in enumerate(runs)]
    return times[0], times[1] if len(times) > 1 else None


def _start(kernel: Any, entry: Entry) -> tuple[float, Any] | None:
    """How long the first call takes, with the kernel; None if it fails."""
    try:
        return _timed(kernel, entry), kernel
    except Exception as error:
        print(f"    {type(error).__name__}: {str(error).splitlines()[0][:90]}")
        return None


def _timed(kernel: Callable[..., Any], entry: Entry) -> float:
    args = fresh_copies(_arguments(entry))
    start = time.perf_counter()
    kernel(*args)
    return time.perf_counter() - start


@cache
def _arguments(entry: Entry) -> tuple[Any, ...]:
    return entry.make(entry.large)


def _kernels(entry: Entry) -> Iterator[Any]:
    yield getattr(_module(entry.field), entry.name)
    if find_spec("numba") is not None:
        yield getattr(_module_for_numba(entry.field), entry.name)


@cache
def _module(field: str) -> ModuleType:
    return functions_of(field, script)


@cache
def _module_for_numba(field: str) -> ModuleType:
    from numba import njit, prange  # noqa: PLC0415  # pyright: ignore

    return functions_of(field, njit, prange)


def _tell(times: Times | None) -> str:
    if times is None:
        return "refused"
    return f"{times[0]:.2f} s {1e6 * times[1]:10.1f} us"


if __name__ == "__main__":
    main()
