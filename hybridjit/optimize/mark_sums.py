"""Mark the loops of sums: which run side by side, and which keep their sums in variables.

The marks are hints that lowering carries out, each once it has proved it: see the docstrings of
lowering/sum_in_lanes.py and lowering/keep_in_registers.py for why that is not done here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from hybridjit.analysis.counting_nest import can_hand_out
from hybridjit.analysis.lower_blocks import lower_blocks
from hybridjit.ir.expr import Load, Var
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.stmt import Block, For, Let, LoopKind, Stmt, seq
from hybridjit.ir.visit import StmtMutator, walk
from hybridjit.optimize.decisions import Decisions
from hybridjit.optimize.promote_sums import choose_promoted_sums
from hybridjit.optimize.tile_sums import choose_sum_tiles
from hybridjit.schedule.primitives.hints import make_in_register, make_sums_in_lanes
from hybridjit.target import Target

MARKS = ("sums_in_lanes", "in_register")
"""The steps that mark loops and leave the rest of a program as it is."""


def mark_sums(
    func: PrimFunc, target: Target, is_free: Callable[[Var], bool], decisions: Decisions
) -> PrimFunc:
    """`func` with marks on loops around sums, those whose order `is_free` to choose."""
    view = _plain_loops(func)
    in_tiles: set[Var] = set()
    for tile in choose_sum_tiles(view, target, is_free):
        in_tiles |= tile.loops
        if decisions.take("sums_in_lanes", *tile.places, **tile.numbers, if_possible=True):
            numbers = tile.lanes, tile.rows
            func = make_sums_in_lanes(func, tile.lane, tile.row, *numbers, if_possible=True)
    for var in choose_promoted_sums(view, is_free):
        if var not in in_tiles and decisions.take("in_register", var, if_possible=True):
            func = make_in_register(func, var, if_possible=True)
    return func


def _plain_loops(func: PrimFunc) -> PrimFunc:
    """`func` in plain loops as they are in the end, if every index is inside of its array.

    Inits of sums stand in front of the loops over terms then, and bounds that are read have names.
    Of a parallel loop, threads are given blocks, and run their iterations as those of any loop.
    """
    plain = lower_blocks(replace(func, body=_WithoutInits().rewrite(func.body)))
    return replace(plain, body=_EachThread().rewrite(plain.body), is_checked=True)


class _WithoutInits(StmtMutator):
    def rewrite_Block(self, node: Block) -> Stmt:
        return self.generic(node if node.init is None else replace(node, init=None))


class _EachThread(StmtMutator):
    def rewrite_For(self, node: For) -> Stmt:
        loop = self.generic(node)
        if can_hand_out(loop):
            loop = replace(loop, kind=LoopKind.SERIAL, annotations=loop.hints)
        bounds = (loop.start, loop.stop)
        if not any(isinstance(part, Load) for bound in bounds for part in walk(bound)):
            return loop
        start, stop = (Let(Var("bound"), bound) for bound in bounds)
        return seq(start, stop, replace(loop, start=start.var, stop=stop.var))
