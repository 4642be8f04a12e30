"""How much memory this process has."""

from __future__ import annotations

import ctypes
import gc
import os
from collections.abc import Callable
from typing import Any

import pytest

STATISTICS = "/proc/self/statm"

needs_proc = pytest.mark.skipif(
    not os.path.exists(STATISTICS), reason="reads the memory in use from /proc"
)


def resident_megabytes() -> float:
    """Without what is free already and only kept for the next allocation.

    malloc gives blocks above 32 MB back at once; of smaller ones, it keeps what it likes. Leaks of
    such large blocks are told from whatever else the process does meanwhile.
    """
    gc.collect()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)
    with open(STATISTICS) as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20


def growth(call: Callable[[], Any], calls: int) -> float:
    """How many megabytes more the process has after so many calls."""
    for _ in range(calls // 50):
        call()
    before = resident_megabytes()
    for _ in range(calls):
        call()
    return resident_megabytes() - before
