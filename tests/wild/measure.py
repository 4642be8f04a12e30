"""How long a function of the collection takes, compiled by us and by Numba."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from functools import cache
from types import ModuleType
from typing import Any

from hybridjit.scalars.contents import fresh_copies
from tests.wild.compilers import functions_of, script
from tests.wild.table import ENTRIES, Entry

# For how long, in seconds, a function is called again and again; the fastest call counts.
SECONDS = 0.2
# The second call may compile once more, for any size.
ROUNDS = 4

Times = tuple[float, float]
"""How long the first call took, and the fastest one, in seconds."""


def measure(number: int, with_numba: bool) -> tuple[Times | None, Times | None]:
    """The times of both compilers, whose calls take turns; None for one that refuses."""
    entry = ENTRIES[number]
    runs = [_start(kernel, entry) for kernel in _kernels(entry, with_numba)]
    best = [run[0] if run else 0.0 for run in runs]
    end, rounds = time.perf_counter() + SECONDS * len(runs), 0
    while time.perf_counter() < end or rounds < ROUNDS:
        rounds += 1
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


def _kernels(entry: Entry, with_numba: bool) -> Iterator[Any]:
    yield getattr(_module(entry.field), entry.name)
    if with_numba:
        yield getattr(_module_for_numba(entry.field), entry.name)


@cache
def _module(field: str) -> ModuleType:
    return functions_of(field, script)


@cache
def _module_for_numba(field: str) -> ModuleType:
    from numba import njit, prange  # noqa: PLC0415  # pyright: ignore

    return functions_of(field, njit, prange)  # pyright: ignore[reportUnknownArgumentType]
