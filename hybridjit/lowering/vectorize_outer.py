"""Compute sums side by side, in lanes: several elements at once, each in the order of its terms.

    for i in range(n):                         for j_0 in range(0, m, 32):
        for k in range(l):                         for j in vectorize(j_0, j_0 + 32):
            for j in range(m):          -->            for i in range(0, n, 4):
                c[i, j] += a[i, k] * b[k, j]               sums of c[i : i + 4, j], over k,
                                                           in variables

One sum after the other would wait for each addition, and where the sums are spread over the
iterations of an outer loop they would go to memory and back for each. Relies on: indices that are
proved or checked before the loops; arguments that share no memory.
"""

from __future__ import annotations

import dataclasses

from hybridjit.analysis.counting_nest import Nest, is_counting
from hybridjit.analysis.lanes import find_lanes
from hybridjit.analysis.loop_mutator import LoopMutator
from hybridjit.analysis.plain import is_plain
from hybridjit.ir.expr import Load
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.hints import wants_lanes
from hybridjit.ir.stmt import IN_LANES, For, LoopKind, Seq, Stmt, Store, seq
from hybridjit.ir.visit import fresh_copy, walk
from hybridjit.lowering.sum_tiles import MIN_MOVED_TERMS, MIN_TERMS, Tile, find_tiles, has_long_sums
from hybridjit.schedule.arrays.update_nests import (
    AccumulateSums,
    has_own_updates,
    indices_of,
    sink_sums,
)
from hybridjit.target import Target


def vectorize_outer(func: PrimFunc, target: Target) -> PrimFunc:
    """`func` with lanes for sums that cannot have them inside."""
    body = _VectorizeOuter(func, target).rewrite(func.body)
    return func if body is func.body else dataclasses.replace(func, body=body)


class _VectorizeOuter(LoopMutator):
    def __init__(self, func: PrimFunc, target: Target) -> None:
        LoopMutator.__init__(self, func)
        self.target = target

    def rewrite_For(self, node: For) -> Stmt:
        if node.kind in (LoopKind.VECTORIZED, LoopKind.UNROLLED):
            return node
        tile = self._find_tile(node)
        if tile is not None:
            return tile.make()
        parts = self._apart(node)
        return self.go_inside(node) if parts is None else parts

    def _find_tile(self, loop: For) -> Tile | None:
        """The loops from `loop` on inwards that are to run side by side."""
        nest = Nest.of(loop)
        if not nest.loops:
            return None
        found = sink_sums(nest) or nest
        # Where the loop over lanes was innermost, it has vectors already. It is moved for rows.
        is_moved = len(found.loops) < len(nest.loops) and found.loops[-1] is nest.loops[-1]
        least = MIN_MOVED_TERMS if is_moved else MIN_TERMS
        if not has_long_sums(found.body, least) or not _is_plain_nest(loop):
            return None
        if found is nest:
            accumulating = AccumulateSums(self.func, (*self.scope, *nest.loops))
            found = Nest(nest.loops, accumulating.rewrite(nest.body))
        elif not has_own_updates(nest, self.independence()):
            return None
        tiles = find_tiles(found, self.target, needs_rows=is_moved)
        if wants_lanes(loop):
            tiles = [tile for tile in tiles if tile.lane.hint(IN_LANES) is not None]
        tiles = [tile for tile in tiles if tile.lane.hint(IN_LANES) != 1]
        return next((tile for tile in tiles if self._is_legal(tile)), None)

    def _apart(self, loop: For) -> Stmt | None:
        """Loops, one after the other, for the statements of `loop`, if that makes a tile of some.

        for i in range(n):            for i in range(n):
            first(i)           -->        first(i)
            second(i)                 for i in range(n):
                                          second(i)
        """
        stmts = loop.body.stmts if isinstance(loop.body, Seq) else ()
        if not is_counting(loop) or not all(isinstance(stmt, For | Store) for stmt in stmts):
            return None
        if not all(loop.var in indices_of(node) for node in walk(loop) if isinstance(node, Store)):
            return None
        copies = [fresh_copy(dataclasses.replace(loop, body=stmt)) for stmt in stmts]
        parts = {part: self._find_tile(part) for part in copies if isinstance(part, For)}
        if not any(tile is not None and tile.is_of(part) for part, tile in parts.items()):
            return None
        if not _is_plain_nest(loop) or not self.independence().prove_independent([loop], loop.body):
            return None
        made = parts.items()
        return seq(*(self.rewrite(part) if tile is None else tile.make() for part, tile in made))

    def _is_legal(self, tile: Tile) -> bool:
        independence = self.independence(*tile.outside)
        if not independence.prove_independent(tile.side_by_side, tile.body):
            return False
        read = {node.buffer for node in walk(tile.body) if isinstance(node, Load)}
        is_set = not any(buffer.is_register for buffer in read) or self.unset.isdisjoint(read)
        return is_set and find_lanes(tile.lane_loop, self.func.fastmath).obstacle is None


def _is_plain_nest(loop: For) -> bool:
    """True if nothing in `loop` is seen from outside but for arrays, and its loops count."""
    loops = (node for node in walk(loop) if isinstance(node, For))
    return all(map(is_counting, loops)) and is_plain(loop)
