"""What tests of loops on threads share: sizes, threads, and that values show neither."""

from __future__ import annotations

from typing import Any

import numpy as np

from hybridjit import threads
from tests.support.oracle import assert_same_outcome, run_interpreted, run_native, run_once
from tests.support.parallel_programs import AnyKernel

SIZES = (0, 1, 2, 7, 8, 9, 31, 64, 65, 257)
THREADS = (1, 2, 3)
# So many elements that several threads are worth it.
LARGE = 1 << 18


def arrays(n: int) -> tuple[Any, Any]:
    """Numbers below 1, some of them equal, and room for results."""
    return np.floor(np.random.default_rng(n).random(n) * 64) * 0.015, np.zeros(max(n, 2))


def check(kernel: AnyKernel, *args: Any) -> None:
    """The same, bit for bit, on any number of threads as in the interpreter."""
    expected = run_once(run_interpreted, kernel, args)
    for count in THREADS:
        with threads(count):
            assert_same_outcome(run_once(run_native, kernel, args), expected)


def lowered(kernel: AnyKernel, *args: Any) -> str:
    return kernel.inspect("lowered", *args)
