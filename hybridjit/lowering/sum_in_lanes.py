"""Compute sums side by side, in lanes and rows, where loops are marked so.

    for i in serial(n, annotations={                       for j_0 in range(0, m, 32):
            "sums_in_rows": 4}):                               for j in vectorize(j_0, j_0 + 32):
        for k in range(l):                                         for i in range(0, n, 4):
            for j in serial(m, annotations={         -->               sums of c[i : i + 4, j],
                    "sums_in_lanes": 32}):                             over k, in variables
                c[i, j] += a[i, k] * b[k, j]

Which loops is decided before (optimize/tile_sums.py), or by a schedule; here it is proved, and
built. It cannot be built before: a sum whose terms are checked runs in its order, and which checks
are left, in which version of a loop, is known after hoist_checks and version_guards; sums that are
declared have their inits in front of them after hoist_inits only; and threads (parallelize) have
blocks of rows each, with tiles inside of a block. Where rows may not run at once, lanes alone do.
Tiles come one below the other, as here, or one beside the other (`Tile.goes_along_rows`).
Relies on: indices that are proved or checked before the loops; arguments that share no memory.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from hybridjit.analysis.counting_nest import Nest
from hybridjit.analysis.limits import loop_extent
from hybridjit.analysis.vector_width import Width, would_gather
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.hints import with_lanes
from hybridjit.ir.stmt import SUMS_IN_LANES, SUMS_IN_ROWS, For, LoopKind, Stmt, seq
from hybridjit.ir.visit import StmtMutator, fresh_copy, walk, walk_stmts
from hybridjit.lowering.cut_loops import cut
from hybridjit.schedule.arrays.sum_tiles import Tile, TileSums, find_sums, ways_to_tile
from hybridjit.schedule.arrays.unroll_and_jam import make_unroll_and_jam
from hybridjit.target import Target


def sum_in_lanes(func: PrimFunc, target: Target) -> PrimFunc:
    """`func` with lanes and rows for sums, as its loops say."""
    loops = (stmt for stmt in walk_stmts(func.body) if isinstance(stmt, For))
    if not any(loop.hint(SUMS_IN_LANES) for loop in loops):
        return func
    body = _SumInLanes(func, target).rewrite(func.body)
    return func if body is func.body else dataclasses.replace(func, body=body)


class _SumInLanes(TileSums):
    def __init__(self, func: PrimFunc, target: Target) -> None:
        TileSums.__init__(self, func)
        self.target = target

    def is_candidate(self, nest: Nest, sunk: Nest) -> bool:
        if not any((loop.hint(SUMS_IN_LANES) or 1) > 1 for loop in sunk.loops[-2:]):
            return False
        inner = (stmt for stmt in walk_stmts(sunk.body) if isinstance(stmt, For))
        return any(map(find_sums, inner))  # loops over terms that run on threads are not inside

    def find_tiles(self, nest: Nest, sunk: Nest) -> Sequence[Tile]:
        ways = [way for way in ways_to_tile(sunk) if _is_marked(*way[1:])]
        tiles = (Tile(*way, sunk.body, *_numbers(*way[1:])) for way in ways)
        return [tile for tile in tiles if tile.has_rows]

    def take(self, tile: Tile) -> Stmt:
        """The loops, cut into tiles and a rest."""
        loop = tile.lane_loop
        if tile.row is None or tile.rows == 1:
            made = _cut_lanes(loop, tile.lanes, self.target)
        elif tile.goes_along_rows:
            row = dataclasses.replace(tile.row, body=dataclasses.replace(loop, body=tile.body))
            cutting = _CutLanes(tile.lanes, self.target)
            made = cutting.rewrite(make_unroll_and_jam(row, tile.rows))
        else:
            row = dataclasses.replace(tile.row, body=tile.body)
            jammed = make_unroll_and_jam(row, tile.rows)
            jammed_loop = dataclasses.replace(loop, body=jammed)
            made = _cut_lanes(jammed_loop, tile.lanes, self.target)
        return Nest(tile.outside, loop).over(made)

    def take_apart(self, loop: For, stmts: Sequence[Stmt]) -> list[For]:
        if not (loop.hint(SUMS_IN_LANES) or loop.hint(SUMS_IN_ROWS)):
            return []
        copies = (fresh_copy(dataclasses.replace(loop, body=stmt)) for stmt in stmts)
        return [copy for copy in copies if isinstance(copy, For)]


class _CutLanes(StmtMutator):
    """Cuts every vector loop, also those of rows that are left."""

    def __init__(self, lanes: int, target: Target) -> None:
        self.lanes = lanes
        self.target = target

    def rewrite_For(self, node: For) -> Stmt:
        if node.kind is LoopKind.VECTORIZED:
            return _cut_lanes(node, self.lanes, self.target)
        return self.generic(node)


def _cut_lanes(loop: For, lanes: int, target: Target) -> Stmt:
    is_masked = not would_gather(loop, list(walk(loop.body)), target)
    width = Width(lanes, lanes, is_masked, whole=1)
    parts = cut(with_lanes(loop, min(lanes, loop_extent(loop) or lanes)), width)
    return seq(*parts.names, *parts.loops)


def _is_marked(lane: For, row: For | None) -> bool:
    has_lanes = (lane.hint(SUMS_IN_LANES) or 1) > 1
    return has_lanes and (row is None or row.hint(SUMS_IN_ROWS) is not None)


def _numbers(lane: For, row: For | None) -> tuple[int, int]:
    """How many lanes and rows the loops are to have."""
    return lane.hint(SUMS_IN_LANES), 1 if row is None else row.hint(SUMS_IN_ROWS)
