"""What the machine can do: multiply-adds and bytes per second, measured in the same run."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from hybridjit import hybrid
from hybridjit.profiling.limits import find_limits

_BYTES = 1 << 28
_LINE = 1 << 14  # what is read beside: bandwidth is that of copies here
_TIMES = 15


@hybrid.script
def copy(a: Any, b: Any) -> None:
    for i in hybrid.parallel(a.shape[0]):
        for j in range(a.shape[1]):
            b[i, j] = a[i, j] + np.float32(1)


@dataclass(frozen=True, slots=True)
class Machine:
    """Rates of the cores in use: multiply-adds of float32 (two flops each), and memory."""

    flops: float
    bandwidth: float

    def seconds(self, flops: float, moved: float, itemsize: int) -> float:
        """The least that so much work takes."""
        return max(flops / (self.flops * 4 / itemsize), moved / self.bandwidth)


def measure_machine(threads: int) -> Machine:
    """Rates with so many threads."""
    data = np.ones((threads * 4, _BYTES // 4 // threads // 4), np.float32)
    other = np.ones_like(data)
    copied = _best(lambda: copy(data, other))
    flops = find_limits("float", _LINE, threads).flops
    return Machine(flops, 2.0 * data.nbytes / copied)


def _best(run: Callable[[], Any]) -> float:
    run()
    times: list[float] = []
    for _ in range(_TIMES):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return min(times)
