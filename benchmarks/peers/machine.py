"""What the machine can do: multiply-adds and bytes per second, measured in the same run."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from hybridjit import hybrid

# Independent chains of multiply-adds hide the latency of each other; a vector of the widest each.
_LANES, _CHAINS = 16, 12
_ROUNDS = 20_000
_BYTES = 1 << 28
_TIMES = 15


@hybrid.script(fastmath={"contract"})
def multiply_add(a: Any, rounds: Any) -> None:
    x = np.float32(0.999)
    y = np.float32(0.001)
    for i in hybrid.parallel(a.shape[0]):
        for j in hybrid.vectorize(16):
            c0 = a[i, j] + np.float32(0)
            c1 = a[i, j] + np.float32(1)
            c2 = a[i, j] + np.float32(2)
            c3 = a[i, j] + np.float32(3)
            c4 = a[i, j] + np.float32(4)
            c5 = a[i, j] + np.float32(5)
            c6 = a[i, j] + np.float32(6)
            c7 = a[i, j] + np.float32(7)
            c8 = a[i, j] + np.float32(8)
            c9 = a[i, j] + np.float32(9)
            c10 = a[i, j] + np.float32(10)
            c11 = a[i, j] + np.float32(11)
            for _ in range(rounds):
                c0 = c0 * x + y
                c1 = c1 * x + y
                c2 = c2 * x + y
                c3 = c3 * x + y
                c4 = c4 * x + y
                c5 = c5 * x + y
                c6 = c6 * x + y
                c7 = c7 * x + y
                c8 = c8 * x + y
                c9 = c9 * x + y
                c10 = c10 * x + y
                c11 = c11 * x + y
            total = c0 + c1 + c2 + c3 + c4 + c5
            a[i, j] = total + c6 + c7 + c8 + c9 + c10 + c11


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
    a = np.ones((threads, _LANES), np.float32)
    seconds = _best(lambda: multiply_add(a, _ROUNDS))
    data = np.ones((threads * 4, _BYTES // 4 // threads // 4), np.float32)
    other = np.ones_like(data)
    copied = _best(lambda: copy(data, other))
    return Machine(2.0 * _CHAINS * a.size * _ROUNDS / seconds, 2.0 * data.nbytes / copied)


def _best(run: Callable[[], Any]) -> float:
    run()
    times: list[float] = []
    for _ in range(_TIMES):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return min(times)
