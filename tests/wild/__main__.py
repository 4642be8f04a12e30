"""What becomes of the collection: runs or refused, the first call, and speed against Numba.

python -m tests.wild                    # every function
python -m tests.wild signals dijkstra   # those of a field, or of a name
"""

from __future__ import annotations

import sys
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from importlib.util import find_spec
from multiprocessing import get_context

import numpy as np

from tests.wild.measure import Times, measure
from tests.wild.table import ENTRIES, Entry


def main() -> None:
    """Print a line for each function that the command line names, or for all."""
    wanted = sys.argv[1:]
    print(f"{'function':42} {'hybridjit':>24} {'numba':>24} {'times as fast':>14}")
    ratios: list[float] = []
    refused = 0
    for entry in ENTRIES:
        if wanted and entry.field not in wanted and entry.name not in wanted:
            continue
        ours, theirs = _measure_apart(entry)
        refused += ours is None
        ratio = theirs[1] / ours[1] if ours and theirs else None
        ratios += [] if ratio is None else [ratio]
        told = "" if ratio is None else f"{ratio:.2f}"
        name = f"{entry.field}.{entry.name}"
        print(f"{name:42} {_tell(ours):>24} {_tell(theirs):>24} {told:>14}", flush=True)
    if ratios:
        mean = float(np.exp(np.log(ratios).mean()))
        print(f"{refused} refused; geometric mean {mean:.2f}, least {min(ratios):.2f}")


def _measure_apart(entry: Entry) -> tuple[Times | None, Times | None]:
    """The times of both compilers, in a process of its own; of ours alone if that crashes."""
    for with_numba in (find_spec("numba") is not None, False):
        with ProcessPoolExecutor(1, get_context("spawn")) as pool, suppress(BrokenProcessPool):
            return pool.submit(measure, ENTRIES.index(entry), with_numba).result()
        print("    crashed" + " with Numba" * with_numba)
    return None, None


def _tell(times: Times | None) -> str:
    if times is None:
        return "refused"
    return f"{times[0]:.2f} s {1e6 * times[1]:10.1f} us"


if __name__ == "__main__":
    main()
