"""How operators run on arrays: schedules that fit many shapes.

Loops without steps are good already where the compiler's own choice is: elementwise work, small
windows. What is done here is the rest: which loop should be the innermost, that the order of a
reduction is free, and, of loops with steps, what is large enough for threads.
"""

from __future__ import annotations

from collections.abc import Sequence

from hybridjit.errors import ScheduleError
from hybridjit.optimize.products import MIN_SIDE
from hybridjit.schedule.handles import LoopHandle
from hybridjit.schedule.schedule import Schedule
from hybridjit.stdlib.running.nests import Loop, Nest, find_nests

# From this on, threads are worth waking up.
PARALLEL_WORK = 1 << 21
# Below this, products as they are take no longer than packed ones, and compile sooner.
TILED_WORK = 1 << 15
# Below this, reductions as they are take 20 microseconds at most, and compile sooner.
REDUCED_WORK = 1 << 13
# Elements from which on stages are taken through row by row, which takes a while to compile.
ROWS_WORK = 1 << 18
# Elements of a row of results that are combined at once: they stay in the first cache.
ROW = 4096


def as_written(s: Schedule) -> None:
    """No steps: the compiler chooses lanes and threads, as for scripts."""


def in_tiles(s: Schedule) -> None:
    """Compute products that are added up in tiles, what is too small or no product along rows."""
    for nest in find_nests(s):
        is_tiled = nest.work >= TILED_WORK and _multiply(s, nest)
        if not is_tiled and nest.work >= REDUCED_WORK:
            reduce_along_rows(s, nest)


def _multiply(s: Schedule, nest: Nest) -> bool:
    """Compute a product in tiles, as scripts do; False if it is none."""
    if len(nest.reads) != 2 or min(nest.sides) < MIN_SIDE:
        return False
    try:
        s.gemm(nest.block)
    except ScheduleError:
        return False
    if nest.work >= PARALLEL_WORK:
        _run_first_parallel(s, s.loops(nest.block))
    return True


def _run_first_parallel(s: Schedule, loops: Sequence[LoopHandle]) -> None:
    """Run the outermost loop in parallel that can be: what is packed is shared by those inside."""
    for loop in loops:
        try:
            s.parallel(loop)
        except ScheduleError:
            continue
        return


def along_rows(s: Schedule) -> None:
    """Let every reduction run along the last axis of what it reads."""
    for nest in find_nests(s):
        if nest.work >= REDUCED_WORK:
            reduce_along_rows(s, nest)


def reduce_along_rows(s: Schedule, nest: Nest) -> None:
    """Make vectors of a reduction: of neighbouring results, or of partial results of one."""
    if not nest.reduced or not nest.reads:
        return
    row = nest.loop_along_rows()
    if row is None:
        return
    if row.is_reduced:
        # Its lanes are the compiler's choice, once its result is in a register.
        s.in_register(nest.reduced[0].handle, if_possible=True)
    else:
        _combine_rows(s, nest, row)


def _combine_rows(s: Schedule, nest: Nest, row: Loop) -> None:
    """Combine whole rows: results that lie side by side, all at once.

    for j: for k: c[j] += a[k, j]    -->    for k: for j: c[j] += a[k, j]
    """
    others = [loop.handle for loop in nest.spatial if loop is not row]
    reduced = [loop.handle for loop in nest.reduced]
    inner = row.handle
    if row.extent > ROW:
        outer, inner = s.split(row.handle, factor=ROW)
        others.append(outer)
    s.reorder(*others, inner, *reduced)
    s.decompose_reduction(nest.block, inner)
    inner, *reduced = s.loops(nest.block)[-len(reduced) - 1 :]
    s.reorder(*reduced, inner)


def row_by_row(s: Schedule) -> None:
    """Take one row after the other through all stages, where all of them together are large.

    A row is what is reduced, and the last axis: several rows side by side, if that is another one.
    """
    nests = find_nests(s)
    result = nests[-1]
    if result.work < REDUCED_WORK:
        return
    if result.work >= ROWS_WORK:
        _attach_to_rows(s, nests, result)
    for nest in find_nests(s):
        reduce_along_rows(s, nest)


def _attach_to_rows(s: Schedule, nests: list[Nest], result: Nest) -> None:
    axes = _reduced_axes(nests)
    last = len(result.loops) - 1
    rows = [
        loop.handle
        for axis, loop in enumerate(result.loops)
        if axis not in axes and axis != last and loop.extent > 1
    ]
    if not rows:
        return
    s.reorder(*rows, *(loop.handle for loop in result.loops if loop.handle not in rows))
    for nest in reversed(nests[:-1]):
        s.compute_at(nest.block, rows[-1])
    s.parallel(rows[0])


def _reduced_axes(nests: list[Nest]) -> set[int]:
    """The axes of what is read that are reduced."""
    first = next(nest for nest in nests if nest.reduced)
    reduced = [loop.var for loop in first.reduced]
    return {axis for axis, index in enumerate(first.reads[0].indices) if index in reduced}


def scan_inside(s: Schedule) -> None:
    """Let a scan, which is the outermost loop at first, stand where its axis does.

    for t: for i: c[i, t] = c[i, t - 1] + a[i, t]    -->    for i: for t: ...
    """
    for nest in find_nests(s):
        if nest.is_scanned and len(nest.loops) > 1:
            s.reorder(*(loop.handle for loop in nest.loops))
