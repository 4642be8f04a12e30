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
from typing import TYPE_CHECKING

from hybridjit.analysis.counting_nest import can_hand_out
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.stmt import SUMS_IN_LANES, SUMS_IN_ROWS, For, Stmt
from hybridjit.ir.visit import StmtMutator, walk_stmts
from hybridjit.lazy import lazy_module

if TYPE_CHECKING:
    from hybridjit.lowering import blocks
    from hybridjit.schedule.arrays import sum_tiles
else:
    blocks = lazy_module("hybridjit.lowering.blocks")
    sum_tiles = lazy_module("hybridjit.schedule.arrays.sum_tiles")


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
        return blocks.make_blocks(loop, multiple=together) if together > 1 else loop


def _count_together(loop: For) -> int:
    """How many iterations of a parallel loop are to run side by side, with sums in each of them.

    1 if it cannot be cut.
    """
    if not can_hand_out(loop):
        return 1
    inside = [stmt for stmt in walk_stmts(loop.body) if isinstance(stmt, For)]
    if not any(map(sum_tiles.find_sums, inside)):
        return 1
    return max(_asked(loop, name, inside) for name in (SUMS_IN_LANES, SUMS_IN_ROWS))


def _asked(loop: For, name: str, inside: Sequence[For]) -> int:
    """What a hint of `loop` asks for, unless a loop in it, which was cut off from it, does."""
    is_cut = any(each.hint(name) is not None for each in inside)
    return 1 if is_cut else loop.hint(name) or 1
