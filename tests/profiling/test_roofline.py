"""How near loops come to the best: never nearer than to it, whatever was measured."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from hybridjit import hybrid
from hybridjit.analysis.loop_work import LoopWork
from hybridjit.ir.stmt import Stmt
from hybridjit.profiling.limits import Limits
from hybridjit.profiling.profile import LoopTime, Profile
from hybridjit.profiling.roofline import with_reach, with_shared_rows
from hybridjit.runtime.report import LoopReport

WORK = LoopWork(runs=1.0, flops=100.0, bytes=4000.0, footprint=4000.0, operations=1.0, share=1.0)


def loop(depth: int = 0, rows: int = 1, **changes: Any) -> LoopReport:
    return LoopReport("i", depth, 1, "8", rows=rows, work=replace(WORK, **changes))


@pytest.fixture
def slow_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    def limits(kind: str, footprint: int, threads: int) -> Limits:
        return Limits(1000.0, 2000.0, threads, footprint)

    monkeypatch.setattr("hybridjit.profiling.roofline.find_limits", limits)
    monkeypatch.setattr("hybridjit.profiling.roofline.kind_of_numbers", str)


def reached(*times: LoopTime) -> tuple[LoopTime, ...]:
    stmts: Any = [Stmt] * len(times)
    return with_reach(times, stmts)


@pytest.mark.usefixtures("slow_machine")
def test_a_loop_is_held_against_what_takes_longer() -> None:
    (found,) = reached(LoopTime(loop(), 4.0, 1))
    assert found.reach == pytest.approx(0.5)
    assert found.bound == "memory"


@pytest.mark.usefixtures("slow_machine")
def test_what_is_faster_than_the_best_is_the_best_of_all() -> None:
    fast, slow = reached(LoopTime(loop(), 1.0, 1), LoopTime(loop(), 4.0, 1))
    assert fast.limits is not None
    assert fast.limits.bytes == 4000.0
    assert fast.reach == 1
    assert slow.reach == pytest.approx(0.25)
    assert slow.limits == fast.limits


def test_rows_that_run_at_once_share_what_they_read() -> None:
    loops = (loop(0, rows=4), loop(1, rows=2), loop(2), loop(0))
    moved = [each.work and each.work.bytes for each in with_shared_rows(loops)]
    assert moved == [4000.0, 1000.0, 500.0, 4000.0]


def test_each_amount_of_memory_has_a_rate() -> None:
    times = [
        LoopTime(loop(), 1.0, 1, (), 1.0, Limits(1e9, rate, 1, size))
        for size, rate in ((1 << 20, 2e9), (1 << 15, 9e9), (1 << 15, 9e9))
    ]
    *_, last = str(Profile("f", tuple(times), 3.0, 0.0, 0.0, 3.0)).splitlines()
    assert last == (
        "the best of this machine on 1 thread: 1 Gflop/s; 9 GB/s in 32 KiB, 2 GB/s in 1 MiB"
    )


@pytest.mark.usefixtures("unchecked")
def test_while_is_there_without_a_time() -> None:
    @hybrid.script
    def halved(a: Any) -> Any:
        n = 0
        while a[0] > 1:
            for i in range(a.shape[0]):
                a[i] *= 0.5
            n += 1
        for i in range(a.shape[0]):
            a[i] = np.exp(a[i])
        return n

    first, inner, last = halved.profile(np.full(50_000, 9.0)).loops
    assert (first.loop.name, first.seconds) == ("while", None)
    assert last.seconds is not None
    assert inner.loop.line is not None
    assert last.loop.line is not None
    assert inner.loop.line < last.loop.line
