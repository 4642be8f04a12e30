"""From nothing to a result: import, the first call, and the first call of a later process.

    python -m benchmarks.startup

Both packages are measured as they are once installed: with their bytecode compiled.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from rich.console import Console
from rich.progress import track
from rich.table import Table

ROUNDS = 7
ROOT = Path(__file__).parent.parent

FIRST_CALL = """
import time
import numpy as np
{imports}

{decorator}
def add(a, b, c):
{body}

a = np.ones(1000)
c = np.empty(1000)
start = time.perf_counter()
add(a, a, c)
print((time.perf_counter() - start) * 1e3)
"""
LOOP = """
    for i in range(a.shape[0]):
        c[i] = a[i] + b[i]
"""
ARRAYS = """
    weights = np.exp(a - np.max(a))
    c[:] = weights / np.sum(weights) * np.where(b > 0, b, np.zeros_like(b))
"""
IMPORT = """
import time
import numpy
start = time.perf_counter()
import {module}
print((time.perf_counter() - start) * 1e3)
"""


def run(source: str, cache: str, bytecode: str) -> float:
    """What a new process that runs `source` prints."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "measured.py"
        path.write_text(source, encoding="utf-8")
        environment = os.environ | {
            "PYTHONPATH": str(ROOT),
            "PYTHONPYCACHEPREFIX": bytecode,
            "HYBRIDJIT_CACHE_DIR": cache,
        }
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        output = subprocess.run(
            [sys.executable, str(path)], env=environment, capture_output=True, check=True
        ).stdout
    return float(output)


def measure(warm: str, bytecode: str) -> dict[str, list[float]]:
    """Milliseconds, by what was measured; everything in turn, so that all see the same machine."""
    ours, on_arrays = (
        FIRST_CALL.format(
            imports="from hybridjit import hybrid", decorator="@hybrid.script", body=body
        )
        for body in (LOOP, ARRAYS)
    )
    theirs = FIRST_CALL.format(imports="import numba", decorator="@numba.njit", body=LOOP)
    for source in (ours, on_arrays, theirs):
        run(source, warm, bytecode)
    times: dict[str, list[float]] = {}
    for _ in track(range(ROUNDS), "measuring", transient=True):
        with tempfile.TemporaryDirectory() as cold:
            for name, source, cache in (
                ("import hybridjit, beyond numpy", IMPORT.format(module="hybridjit"), cold),
                ("import numba, beyond numpy", IMPORT.format(module="numba"), cold),
                ("first call, cold", ours, cold),
                ("first call, kernel on disk", ours, warm),
                ("first call of arrays, cold", on_arrays, cold),
                ("first call of arrays, kernel on disk", on_arrays, warm),
                ("first call, Numba", theirs, cold),
            ):
                times.setdefault(name, []).append(run(source, cache, bytecode))
    return times


def main() -> None:
    with tempfile.TemporaryDirectory() as warm, tempfile.TemporaryDirectory() as bytecode:
        times = measure(warm, bytecode)
    table = Table("what", "best", "median", title="start-up, ms")
    for name, found in times.items():
        table.add_row(name, f"{min(found):.1f}", f"{statistics.median(found):.1f}")
    Console().print(table)


if __name__ == "__main__":
    main()
