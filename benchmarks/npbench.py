"""The kernels of NPBench against NumPy and Numba: in NumPy style and as loops.

    python -m benchmarks.npbench [kernel ...] [--budget SECONDS] [--size test|S|M] [--threads N]

On one thread, or with `parallel=True`, ours and Numba's, on several: then our own code for one
thread is a column, too. NumPy's products take what OPENBLAS_NUM_THREADS says.

All runs of a kernel are first checked against NumPy, then timed in turn on fresh copies of the same
arguments, and the best time of each counts. Numba gets the same source, with its helper functions
compiled too; where it cannot compile it (linear algebra needs SciPy), there is no number.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
import types
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import FunctionType
from typing import Any, cast

import numba
import numpy as np
from numba.core.errors import NumbaError
from rich.console import Console
from rich.table import Table

import hybridjit as hj
from benchmarks.compare_cases import turned
from benchmarks.peers.measure import wait_for_sleep
from hybridjit import hybrid
from hybridjit.errors import HybridError
from tests.npbench import data, kernels, loops
from tests.support.oracle import fresh_copies

BUDGET = 2.0  # seconds for the runs of one kernel, beyond the first round
MAX_ROUNDS = 400
# Vector units sleep while scalar code of others runs; before runs as short as this, they are woken.
SHORT = 2e-3
TABLE_WIDTH = 130
NUMPY, OURS, NUMBA, OUR_LOOPS, NUMBA_LOOPS = "NumPy", "ours", "Numba", "our loops", "Numba loops"
ONE, ONE_LOOPS = "one thread", "loops, one"
RATIOS = {
    "vs NumPy": (NUMPY, OURS),
    "vs Numba": (NUMBA, OURS),
    "loops vs Numba": (NUMBA_LOOPS, OUR_LOOPS),
}
RATIOS_OF_THREADS = {"vs one": (ONE, OURS), "loops vs one": (ONE_LOOPS, OUR_LOOPS)}

Run = Callable[..., Any]


@dataclass(frozen=True, slots=True)
class Report:
    """The best time of each way to run a kernel, in seconds; none where there is no such way."""

    kernel: str
    best: dict[str, float]

    def ratio(self, slow: str, fast: str) -> float | None:
        """How many times faster the second way is."""
        if slow not in self.best or fast not in self.best:
            return None
        return self.best[slow] / self.best[fast]


def ways_of(kernel: str, *, parallel: bool) -> dict[str, Run]:
    """Every way to run a kernel."""
    plain, in_loops = getattr(kernels, kernel), getattr(loops, kernel)
    ways = {
        NUMPY: plain,
        OURS: hybrid.script(plain, parallel=parallel),
        NUMBA: compile_with_helpers(plain, parallel=parallel),
        OUR_LOOPS: hybrid.script(in_loops, parallel=parallel),
        NUMBA_LOOPS: compile_with_helpers(in_loops, parallel=parallel),
    }
    alone = {ONE: hybrid.script(plain), ONE_LOOPS: hybrid.script(in_loops)}
    return {**ways, **alone} if parallel else ways


def compile_with_helpers(function: FunctionType, *, parallel: bool) -> Run:
    """`function` for Numba, which wants the functions that it calls to be compiled as well."""
    scope = dict(function.__globals__)
    for name in function.__code__.co_names:
        if isinstance(scope.get(name), FunctionType):
            scope[name] = compile_with_helpers(scope[name], parallel=parallel)
    copy = types.FunctionType(function.__code__, scope, function.__name__, function.__defaults__)
    return numba.njit(copy, error_model="numpy", parallel=parallel)


def check(kernel: str, ways: dict[str, Run], args: data.Arguments) -> dict[str, Run]:
    """The ways that work; one of ours that gives another result than NumPy is an error."""
    expected = fresh_copies(args)
    wanted = ways[NUMPY](*expected)
    working = {NUMPY: ways[NUMPY]}
    for name, run in ways.items():
        found = fresh_copies(args)
        try:
            result = run(*found)
        except (HybridError, NumbaError, ImportError, AssertionError) as error:  # Numba's asserts
            reason = str(error).strip().partition("\n")[0] or type(error).__name__
            print(f"{kernel}: {name} gives up: {reason}", flush=True)
            continue
        try:
            assert_near((result, *found), (wanted, *expected))
        except AssertionError:
            if name not in (NUMBA, NUMBA_LOOPS):
                raise
            print(f"{kernel}: {name} gives another result", flush=True)
            continue
        working[name] = run
    return working


def assert_near(found: Any, expected: Any) -> None:
    """Fail unless results are alike to half their digits: small differences grow in long runs."""
    if isinstance(expected, tuple):
        for got, want in zip(found, cast("tuple[Any, ...]", expected), strict=True):
            assert_near(got, want)
    elif expected is not None:
        want: Any = np.asarray(expected)
        near = math.sqrt(np.finfo(want.dtype).eps) if want.dtype.kind in "fc" else 0.0
        np.testing.assert_allclose(found, want, rtol=near, atol=near)


def measure(
    ways: dict[str, Run], args: data.Arguments, budget: float, *, settle: bool = False
) -> dict[str, float]:
    """The best time of each way; one that takes long is run less often than the others.

    To `settle` is to wait before each run: threads of OpenBLAS and OpenMP go on spinning for a
    while, on cores that the next one would need.
    """
    best = dict.fromkeys(ways, math.inf)
    spent = dict.fromkeys(ways, 0.0)
    share = budget / len(ways)
    for run in ways.values():
        run(*fresh_copies(args))  # the second call may still compile: what makes later ones quick
    for number in range(MAX_ROUNDS):
        active = [name for name in ways if number == 0 or spent[name] < share]
        for name in active:
            if settle:
                wait_for_sleep()
            if best[name] < SHORT:
                ways[name](*turned(fresh_copies(args), -number))
            copies = turned(fresh_copies(args), number)
            seconds = time_once(ways[name], copies)
            best[name] = min(best[name], seconds)
            spent[name] += seconds
        if not active:
            break
    return best


def time_once(run: Run, args: Sequence[Any]) -> float:
    start = time.perf_counter()
    run(*args)
    return time.perf_counter() - start


def report_on(kernel: str, size: str, budget: float, *, parallel: bool = False) -> Report:
    """Check a kernel and measure it."""
    args = data.make(kernel, size)
    with np.errstate(all="ignore"):
        ways = check(kernel, ways_of(kernel, parallel=parallel), args)
        return Report(kernel, measure(ways, args, budget, settle=parallel))


def table_of(reports: Sequence[Report], threads: int = 1) -> Table:
    """The times in microseconds, and how many times faster we are."""
    times = (NUMPY, OURS, NUMBA, OUR_LOOPS, NUMBA_LOOPS)
    ratios = RATIOS | (RATIOS_OF_THREADS if threads > 1 else {})
    count = "one thread" if threads == 1 else f"{threads} threads"
    table = Table(title=f"NPBench, {count}: µs, and times faster than NumPy and Numba")
    for column in ("kernel", *times, *ratios):
        table.add_column(column, justify="left" if column == "kernel" else "right")
    for report in reports:
        shown = [report.best.get(name) for name in times]
        numbers = ["" if seconds is None else f"{seconds * 1e6:.1f}" for seconds in shown]
        found = (_text(report.ratio(*pair)) for pair in ratios.values())
        table.add_row(report.kernel, *numbers, *found)
    pairs = ratios.values()
    means = [geometric_mean([report.ratio(*pair) for report in reports]) for pair in pairs]
    table.add_row("geometric mean", *[""] * len(times), *map(_text, means))
    return table


def _text(ratio: float | None) -> str:
    return "" if ratio is None else f"{ratio:.2f}"


def geometric_mean(ratios: Sequence[float | None]) -> float | None:
    known = [math.log(ratio) for ratio in ratios if ratio is not None]
    return math.exp(sum(known) / len(known)) if known else None


def main(arguments: Sequence[str] = ()) -> None:
    parser = argparse.ArgumentParser(description="NPBench kernels against NumPy and Numba")
    parser.add_argument("kernels", nargs="*", help="those to run, or all")
    parser.add_argument("--budget", type=float, default=BUDGET, help="seconds for each kernel")
    parser.add_argument("--size", default="S", help="of the data: test, S or M")
    parser.add_argument("--threads", type=int, default=1, help="how many; above 1: parallel=True")
    options = parser.parse_args(arguments)
    parallel = options.threads > 1
    if parallel:
        hj.set_num_threads(options.threads)
        numba.set_num_threads(options.threads)
    reports: list[Report] = []
    for kernel in options.kernels or data.KERNELS:
        reports.append(report_on(kernel, options.size, options.budget, parallel=parallel))
        best = {name: f"{seconds * 1e6:.1f}" for name, seconds in reports[-1].best.items()}
        print(f"{kernel}: {best}", flush=True)
    Console(width=TABLE_WIDTH).print(table_of(reports, options.threads))


if __name__ == "__main__":
    main(sys.argv[1:])
