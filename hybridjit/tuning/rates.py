"""How fast a program runs in operations per second, and as a share of what the machine can do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hybridjit.analysis.loop_work import find_loop_work
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.stmt import For, Stmt
from hybridjit.ir.visit import children
from hybridjit.processor import current_target
from hybridjit.profiling.limits import kind_of_numbers, peak_flops
from hybridjit.record import record
from hybridjit.runtime.pool import get_num_threads
from hybridjit.runtime.report import known_values


@record
class Work:
    """The floating-point operations of one call, and how many a second this machine can do."""

    flops: float
    peak: float

    def describe(self, seconds: float) -> str:
        """`87.3 GFLOP/s, 54% of the peak`."""
        rate = self.flops / seconds
        return f"{rate / 1e9:.3g} GFLOP/s, {rate / self.peak:.0%} of the peak"


def work_of(func: PrimFunc, args: Sequence[Any], *, is_parallel: bool) -> Work | None:
    """The work of a program; None if it has none, or if only a run tells."""
    # Numbers tell how long loops are; those inside of tuples are not looked at.
    known = known_values(func, args) if len(args) == len(func.params) else {}
    found = find_loop_work(func.body, known, current_target().caches.shared)
    works = [found[loop] for loop in _outermost(func.body)]
    flops = sum(work.flops for work in works if work is not None)
    if not flops or None in works:
        return None
    threads = get_num_threads() if is_parallel else 1
    return Work(flops, peak_flops(kind_of_numbers(func.body), threads))


def _outermost(stmt: Stmt) -> list[For]:
    if isinstance(stmt, For):
        return [stmt]
    inner = (child for child in children(stmt) if isinstance(child, Stmt))
    return [loop for child in inner for loop in _outermost(child)]
