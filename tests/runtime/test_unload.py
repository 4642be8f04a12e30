"""Kernels that are dropped are unloaded: compiling for ever needs no more memory.

With --fuzz=N, 10 N kernels are made and dropped, and what stays behind of each is printed.
"""

from __future__ import annotations

import gc
import itertools
import weakref
from collections.abc import Iterable
from typing import Any

import numpy as np
import pytest

from hybridjit import Kernel, config, hybrid
from hybridjit.codegen.engine import LIBRARIES_PER_SESSION
from tests.support.memory import needs_proc, resident_megabytes
from tests.support.oracle import fresh

CYCLES = 50
WARM_UP = 80
# Per cycle, measured over 2000: 150 bytes. Pass managers that llvmlite does not free would be
# 68 kB, a session that is never renewed 9 kB per library, the common LLVM context 3 kB. What is
# more here is the heap, which takes pages when it first needs them.
MOST_LEFT_BYTES = 2_000


def make_and_drop(number: int) -> weakref.ref[Any]:
    """Compile a kernel that was never seen before and call it, also without Python."""

    @hybrid.script
    def kernel(a: Any, out: Any) -> Any:
        for i in range(a.shape[0]):
            out[i] = a[i] * number + a[a.shape[0] - 1 - i]
        return out[0]

    a, out = np.arange(8.0), np.zeros(8)
    for _ in range(3):
        assert kernel(a, out) == 7
    (code,) = kernel.specializations[0].natives.values()
    return weakref.ref(code.library.tracker)


def executable_mappings() -> int:
    with open("/proc/self/maps") as file:
        return sum(line.split()[1][2] == "x" for line in file)


@pytest.fixture(autouse=True)
def quick_collections() -> None:
    """Collections, of which there are hundreds here, need not look at all that lives already."""
    gc.collect()
    gc.freeze()


def test_dropped_code_is_let_go() -> None:
    seen = [make_and_drop(number) for number in range(5)]
    gc.collect()
    assert [ref() for ref in seen] == [None] * 5


def left_behind(numbers: Iterable[int], cycles: int) -> float:
    """By how many bytes the process grows with each kernel that is made and dropped."""
    before = resident_megabytes()
    for number in numbers:
        make_and_drop(number)
    return (resident_megabytes() - before) * 2**20 / cycles


@needs_proc
def test_memory_stays_flat(
    request: pytest.FixtureRequest, capsys: pytest.CaptureFixture[str]
) -> None:
    given: int | None = request.config.getoption("--fuzz")
    cycles = CYCLES if given is None else 10 * given
    with config.scope(interpret=False, cache_enabled=False):
        for number in range(WARM_UP):
            make_and_drop(number)
        mappings = executable_mappings()
        numbers = itertools.count(WARM_UP)
        # What the heap takes for once, it may take at any time; a leak shows every time.
        left = min(left_behind(itertools.islice(numbers, cycles), cycles) for _ in range(2))
    if given is not None:
        with capsys.disabled():
            print(f"\n{cycles} kernels dropped: {left:.0f} bytes left of each")
    assert executable_mappings() <= mappings + 3
    assert left < MOST_LEFT_BYTES


@needs_proc
def test_code_that_is_kept_stays_loaded() -> None:
    """Dropping its neighbours, or their whole session, does not unload a kernel in use."""

    @hybrid.script
    def kept(a: Any) -> Any:
        return a[0] + 1

    for number in range(LIBRARIES_PER_SESSION + 4):
        make_and_drop(-1 - number)
        gc.collect()
        assert kept(np.zeros(1)) == 1.0


def test_dropped_while_others_run() -> None:
    """A callback drops the last reference to another kernel, and its own name."""
    kernels: dict[str, Kernel[..., Any]] = {}

    @hybrid.packed
    def drop(x: Any) -> None:
        kernels.clear()
        gc.collect()

    for _ in range(5):

        @hybrid.script
        def visit(a: Any) -> Any:
            drop(a[0])
            return a[0] + 2

        kernels["visit"], kernels["other"] = visit, fresh(visit)
        del visit
        for name in ("other", "visit"):
            kernel = kernels.get(name)
            if kernel is not None:
                assert kernel(np.zeros(1)) == 2.0
            del kernel
