"""What the counters of `kernel.profile` cost: the same code with and without them, in turns.

Times are of the processor: what else the machine does takes no part in them.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

from hybridjit import hybrid
from hybridjit.profiling.measure import Counted, make_counted
from hybridjit.runtime.report import known_values
from tests.profiling.profiled import KERNELS, NESTS

SECONDS, LEAST_TURNS = 1.0, 7
LEAST_TIME = 1e-4  # of a turn: shorter calls are repeated


def main() -> None:
    """Print a row for each kernel, and the dearest."""
    costs: dict[str, float] = {}
    for function, argument in {**KERNELS, **NESTS}.items():
        name = function.__name__
        plain, with_counters, notes = _race(hybrid.script(function), (argument,))
        costs[name] = with_counters / plain - 1
        print(f"{name:16} {plain * 1e3:9.3f} ms {100 * costs[name]:+6.1f} %, {notes} notes")
    dearest = max(costs, key=lambda name: costs[name])
    print(f"at most {100 * costs[dearest]:+.1f} % ({dearest}); 5 % is the aim")


def _race(kernel: Any, args: Sequence[Any]) -> tuple[float, float, int]:
    """The best time without and with counters, and how often one is written."""
    specs, values = kernel._bind(args, {})
    made = kernel._specialize(specs)
    layout, native = made.prepare(values)
    counted = make_counted(made, layout, known_values(made.compiled_func(layout), values))
    once = _time(native, values, 1)
    count = max(1, int(LEAST_TIME / once))
    found: tuple[list[float], list[float]] = [], []
    end = time.perf_counter() + SECONDS
    while len(found[0]) < LEAST_TURNS or time.perf_counter() < end:
        for run, times in zip((native, counted.native), found, strict=True):
            times.append(_time(run, values, count))
    return min(found[0]), min(found[1]), _count_notes(counted, values)


def _time(run: Callable[[Sequence[Any]], object], values: Sequence[Any], count: int) -> float:
    start = time.process_time()
    for _ in range(count):
        run(values)
    return (time.process_time() - start) / count


def _count_notes(counted: Counted, values: Sequence[Any]) -> int:
    counted.memory[:] = 0
    counted.native(values)
    slots = counted.timers.slot_count
    return int(counted.memory[slots : 2 * slots].sum())


if __name__ == "__main__":
    main()
