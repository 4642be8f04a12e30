"""Measure the rows in this process, one line of JSON each: `... measure --threads 1 [word ...]`.

The process is pinned to its cores before any library counts them.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import time
import warnings
from collections.abc import Iterator
from typing import Any

OURS = ("script", "stdlib", "te")
SETTINGS = ("OPENBLAS", "OMP", "MKL", "NUMBA", "NUMEXPR")
# A call that is too short for the clock is repeated within one measurement.
_SHORTEST = 2e-4
_LEAST_ROUNDS = 7
# Threads of OpenBLAS, OpenMP and onnxruntime spin for up to 0.1 s after a call, on a core that the
# next in turn needs: it waits until they use less than this share of one. Calls that wake its own
# threads and the processor up are not timed.
_ASLEEP = 0.1
_LOOK_EVERY = 0.005
_LONGEST_WAIT = 0.5
_WARM_UP = 0.01


def main() -> None:
    """Print the machine, then every row."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("words", nargs="*")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--budget", type=float, default=1.0, help="seconds for each row")
    given = parser.parse_args()
    _pin(given.threads)

    from benchmarks.peers import (  # noqa: PLC0415
        families,
        machine,
        memory,
        network,
        products,
    )

    rates = machine.measure_machine(given.threads)
    _print({"flops": rates.flops, "bandwidth": rates.bandwidth})
    for module in (products, network, memory, families):
        for row in module.rows():
            label = f"{row.family}: {row.name}"
            if all(word in label for word in given.words):
                limit = rates.seconds(row.flops, row.moved, row.args[0].itemsize)
                found = measure_row(row, given.budget, settle=given.threads > 1)
                _print({**_describe(row), "limit": limit, **found})


def _pin(threads: int) -> None:
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:threads])
    for library in SETTINGS:
        os.environ[f"{library}_NUM_THREADS"] = str(threads)
    os.environ["HYBRIDJIT_NUM_THREADS"] = str(threads)


def _print(line: dict[str, Any]) -> None:
    print(json.dumps(line), flush=True)


def _describe(row: Any) -> dict[str, Any]:
    return {"family": row.family, "name": row.name, "flops": row.flops, "bytes": row.moved}


def measure_row(row: Any, budget: float, *, settle: bool = False) -> dict[str, Any]:
    """The times of each way, taken in turns, and how far each is from the truth.

    With `settle`, each begins once the threads of the one before sleep.
    """
    expected = row.expected()
    ready: dict[str, Any] = {}
    errors: dict[str, float] = {}
    missing: dict[str, str] = {}
    for name, function in _ways(row, missing):
        result = _first_result(name, function, row.args, missing)
        if result is None:
            continue
        error = _distance(result, expected)
        if not error <= row.tolerance:
            raise AssertionError(f"{row.name}: {name} is wrong by {error:.1e}")
        ready[name], errors[name] = function, error
    times = _take_turns(ready, row.args, budget, settle=settle)
    found = {
        name: {"best": min(each), "median": statistics.median(each)} for name, each in times.items()
    }
    return {"times": found, "errors": errors, "missing": missing}


def _ways(row: Any, missing: dict[str, str]) -> Iterator[tuple[str, Any]]:
    for name, make in row.ways.items():
        try:
            yield name, make()
        except ImportError as error:
            missing[name] = str(error)


def _first_result(name: str, function: Any, args: Any, missing: dict[str, str]) -> Any:
    """What a way gives; None for a peer that cannot do it."""
    try:
        return function(*args)
    except Exception as error:
        if name in OURS:
            raise
        missing[name] = f"{type(error).__name__}: {error}"
        return None


def _distance(result: Any, expected: Any) -> float:
    import numpy as np  # noqa: PLC0415 - only once this process has its cores

    found = np.asarray(result, np.float64)
    if found.shape != expected.shape:
        return float("inf")
    scale = max(1.0, float(np.abs(expected).max(initial=0.0)))
    return float(np.abs(found - expected).max(initial=0.0)) / scale


def _take_turns(
    ready: dict[str, Any], args: Any, budget: float, *, settle: bool
) -> dict[str, list[float]]:
    repeats = {name: _repeats(function, args) for name, function in ready.items()}
    times: dict[str, list[float]] = {name: [] for name in ready}
    end = time.perf_counter() + budget
    rounds = 0
    while rounds < _LEAST_ROUNDS or time.perf_counter() < end:
        for name, function in ready.items():
            if settle:
                wait_for_sleep()
                _warm_up(function, args)
            elif repeats[name] > 1:  # short calls feel that vector units sleep, where others do not
                function(*args)
            times[name].append(_time(function, args, repeats[name]))
        rounds += 1
    return times


def wait_for_sleep() -> None:
    """Return once no thread of this process spins any more."""
    share, end = 1.0, time.perf_counter() + _LONGEST_WAIT
    while share > _ASLEEP and time.perf_counter() < end:
        used, start = time.process_time(), time.perf_counter()
        time.sleep(_LOOK_EVERY)
        share = (time.process_time() - used) / (time.perf_counter() - start)


def _warm_up(function: Any, args: Any) -> None:
    end = time.perf_counter() + _WARM_UP
    while time.perf_counter() < end:
        function(*args)


def _repeats(function: Any, args: Any) -> int:
    for _ in range(2):
        taken = _time(function, args, 1)
    return max(1, round(_SHORTEST / max(taken, 1e-7)))


def _time(function: Any, args: Any, repeats: int) -> float:
    start = time.perf_counter()
    for _ in range(repeats):
        function(*args)
    return (time.perf_counter() - start) / repeats


if __name__ == "__main__":
    warnings.simplefilter("ignore")  # of peers
    sys.exit(main())
