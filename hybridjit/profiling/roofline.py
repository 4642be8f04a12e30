"""How near loops come to the best that the machine can do."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

from hybridjit.ir.stmt import Stmt
from hybridjit.profiling.limits import Limits, find_limits, kind_of_numbers, rounded_footprint
from hybridjit.profiling.profile import LoopTime
from hybridjit.runtime.report import LoopReport


def with_shared_rows(loops: Sequence[LoopReport]) -> Iterator[LoopReport]:
    """Loops with the bytes that they move at least: what some rows of a loop around them read at
    once is read for all of these.
    """
    around: list[LoopReport] = []
    for loop in loops:
        del around[loop.depth :]
        rows = math.prod(outer.rows for outer in around)
        around.append(loop)
        work = loop.work
        yield loop if work is None else replace(loop, work=replace(work, bytes=work.bytes / rows))


def with_reach(times: Sequence[LoopTime], stmts: Sequence[Stmt]) -> tuple[LoopTime, ...]:
    """Loops, the times of which are known, with how near they come to the best."""
    measured = [
        _find_limits(each, stmt, _count_threads(times[k:]))
        for k, (each, stmt) in enumerate(zip(times, stmts, strict=True))
    ]
    return tuple(map(_with_reach, times, _exceeded(measured, times)))


def _find_limits(each: LoopTime, stmt: Stmt, threads: int) -> Limits | None:
    """What can be done with its kind of numbers, and with as much memory."""
    work = each.loop.work
    if work is None or not each.seconds or work.flops + work.bytes <= 0:
        return None
    footprint = rounded_footprint(work.footprint / threads)
    return find_limits(kind_of_numbers(stmt), footprint, threads)


def _count_threads(times: Sequence[LoopTime]) -> int:
    """How many threads are at the first of these loops, or at one inside of it."""
    first, *others = times
    inside = itertools.takewhile(lambda each: each.loop.depth > first.loop.depth, others)
    return max(1, len(first.threads), *(len(each.threads) for each in inside))


def _exceeded(measured: Sequence[Limits | None], times: Sequence[LoopTime]) -> list[Limits | None]:
    """The limits; where a loop was faster, since others have disturbed the measurement, what it
    has reached.
    """
    flops: dict[tuple[float, int], float] = {}
    moved: dict[tuple[int, int], float] = {}
    for limits, each in zip(measured, times, strict=True):
        work, seconds = each.loop.work, each.seconds
        if limits is None or work is None or not seconds:
            continue
        of_kind, of_size = (limits.flops, limits.threads), (limits.footprint, limits.threads)
        flops[of_kind] = max(flops.get(of_kind, limits.flops), work.flops / seconds)
        moved[of_size] = max(moved.get(of_size, limits.bytes), work.bytes / seconds)
    return [
        None
        if limits is None
        else replace(
            limits,
            flops=flops[limits.flops, limits.threads],
            bytes=moved[limits.footprint, limits.threads],
        )
        for limits in measured
    ]


def _with_reach(each: LoopTime, limits: Limits | None) -> LoopTime:
    work, seconds = each.loop.work, each.seconds
    if limits is None or work is None or not seconds:
        return each
    reach = limits.least_seconds(work.flops, work.bytes) / seconds
    return replace(each, reach=reach, limits=limits)
