"""Hand out blocks of a parallel loop to threads, where some of its iterations run side by side.

    for i in parallel(n, annotations={             for block in parallel(blocks):
            "sums_in_lanes": 16}):          -->        for i in serial(16, annotations={
        for k in range(l):                                     "sums_in_lanes": 16}):
            y[i] += a[i, k]                                for k in range(l):
                                                               y[i] += a[i, k]

A thread that is given single iterations would have nothing to put into lanes. Relies on: parallel
loops whose iterations are independent, as privatize_reductions leaves them; sum_in_lanes, which
comes next.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from hybridjit.analysis.limits import loop_extent
from hybridjit.arith.totality import is_total
from hybridjit.ir.expr import Const
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.stmt import (
    HINTS,
    SUMS_IN_LANES,
    SUMS_IN_ROWS,
    UNSAFE,
    For,
    LoopKind,
    Stmt,
)
from hybridjit.ir.visit import StmtMutator, walk_stmts
from hybridjit.lowering.blocks import make_blocks
from hybridjit.schedule.arrays.sum_tiles import find_sums


def hand_out_blocks(func: PrimFunc) -> PrimFunc:
    """`func` with blocks in the place of parallel loops whose sums are to run side by side."""
    loops = (stmt for stmt in walk_stmts(func.body) if isinstance(stmt, For))
    if not any(_count_together(loop) > 1 for loop in loops):
        return func
    return dataclasses.replace(func, body=_HandOut().rewrite(func.body))


class _HandOut(StmtMutator):
    def rewrite_For(self, node: For) -> Stmt:
        together = _count_together(node)
        loop = self.generic(node)
        return make_blocks(loop, multiple=together) if together > 1 else loop


def _count_together(loop: For) -> int:
    """How many iterations of a parallel loop are to run side by side, with sums in each of them.

    1 if it cannot be cut.
    """
    is_plain = all(name == UNSAFE or name in HINTS for name, _ in loop.annotations)
    can_cut = isinstance(loop.step, Const) and is_total(loop.start) and is_total(loop.stop)
    if loop.kind is not LoopKind.PARALLEL or not is_plain or not can_cut:
        return 1
    if loop_extent(loop) in (0, 1):
        return 1
    inside = [stmt for stmt in walk_stmts(loop.body) if isinstance(stmt, For)]
    if not any(map(find_sums, inside)):
        return 1
    return max(_asked(loop, name, inside) for name in (SUMS_IN_LANES, SUMS_IN_ROWS))


def _asked(loop: For, name: str, inside: Sequence[For]) -> int:
    """What a hint of `loop` asks for, unless a loop in it, which was cut off from it, does."""
    is_cut = any(each.hint(name) is not None for each in inside)
    return 1 if is_cut else loop.hint(name) or 1
