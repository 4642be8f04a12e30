"""Loops around sums that run side by side: one as lanes, one as rows, all sums in variables.

    for i in range(n):                         for j_0 in range(0, m, 32):
        for k in range(l):                         for j in vectorize(j_0, j_0 + 32):
            for j in range(m):          -->            for i in range(0, n, 4):
                c[i, j] += a[i, k] * b[k, j]               sums of c[i : i + 4, j], over k,
                                                           in variables

A tile is the part of the results that is computed at once. Which loops of a nest may make one is
asked twice, by the same walk: when it is chosen, on the program as if all indices were proved
(optimize/tile_sums.py), and when it is built, where that is known (lowering/sum_in_lanes.py).
"""

from __future__ import annotations

import dataclasses
from abc import abstractmethod
from collections.abc import Sequence

from hybridjit.analysis.counting_nest import Nest, is_counting
from hybridjit.analysis.lanes import find_lanes
from hybridjit.analysis.loop_mutator import LoopMutator
from hybridjit.analysis.plain import is_plain
from hybridjit.ir.expr import Load
from hybridjit.ir.stmt import For, Let, LoopKind, Seq, Stmt, Store, seq
from hybridjit.ir.visit import walk, walk_stmts
from hybridjit.record import record
from hybridjit.schedule.arrays.update_nests import (
    AccumulateSums,
    has_own_updates,
    indices_of,
    sink_sums,
)


@record
class Tile:
    """Loops whose iterations run side by side: so many as lanes, and some of them in rows."""

    outside: tuple[For, ...]
    lane: For
    row: For | None
    body: Stmt
    lanes: int
    rows: int

    @property
    def side_by_side(self) -> list[For]:
        """The loops that run in another order than they were written."""
        return [self.lane] if self.row is None else [self.lane, self.row]

    def is_of(self, loop: For) -> bool:
        """True if iterations of `loop` run side by side."""
        return any(loop.var is each.var for each in self.side_by_side)

    @property
    def lane_loop(self) -> For:
        """The loop over lanes, with all that runs in it."""
        body = self.body
        if self.row is not None:
            body = dataclasses.replace(self.row, body=body)
        return dataclasses.replace(self.lane, body=body, kind=LoopKind.VECTORIZED)

    @property
    def has_rows(self) -> bool:
        """True if all lanes have the same rows, if any, and all rows the same lanes and terms."""
        row, lane = self.row, self.lane
        if row is None:
            return True
        is_rectangle = not _mentions(lane, row) and not _mentions(row, lane)
        return is_rectangle and has_common_bounds(row, self.body)

    @property
    def goes_along_rows(self) -> bool:
        """True if the next tile is beside this one, not below it.

        Below, it finds in the cache what both read: columns of `b` in `a[i, k] * b[k, j]`. If rows
        have none in common, as windows have none, memory is fastest the way that it lies.
        """
        row = self.row
        if row is None:
            return False
        loads = (node for node in walk(self.body) if isinstance(node, Load))
        return all(row.var in indices_of(load) for load in loads if self._is_in_lanes(load))

    def _is_in_lanes(self, load: Load) -> bool:
        return self.lane.var in indices_of(load)


def ways_to_tile(nest: Nest) -> list[tuple[tuple[For, ...], For, For | None]]:
    """What of `nest` can be outside of a tile, its lanes and its rows."""
    *outside, last = nest.loops
    alone = tuple(outside), last, None
    if not outside:
        return [alone]
    *others, before = outside
    return [(tuple(others), last, before), (tuple(others), before, last), alone]


def find_sums(loop: For) -> list[Store]:
    """What is computed, in each iteration of `loop`, from what the iteration before has left."""
    stores = (stmt for stmt in walk_stmts(loop.body) if isinstance(stmt, Store))
    return [
        store
        for store in stores
        if loop.var not in indices_of(store)
        and Load(store.buffer, store.indices) in walk(store.value)
    ]


def has_common_bounds(row: For, body: Stmt) -> bool:
    """True if loops in `body` run equally often in all iterations of `row`."""
    lets = (node.var for node in walk_stmts(body) if isinstance(node, Let))
    own = frozenset((row.var, *lets))
    inner = (node for node in walk_stmts(body) if isinstance(node, For))
    bounds = [node for loop in inner for bound in (loop.start, loop.stop) for node in walk(bound)]
    return not any(node in own or isinstance(node, Load) for node in bounds)


def _mentions(loop: For, other: For) -> bool:
    return any(node is other.var for bound in (loop.start, loop.stop) for node in walk(bound))


class TileSums(LoopMutator):
    """The walk over loops around sums, outermost first."""

    @abstractmethod
    def is_candidate(self, nest: Nest, sunk: Nest) -> bool:
        """Whether to look further at `nest`, which is `sunk` with its sums inside."""

    @abstractmethod
    def find_tiles(self, nest: Nest, sunk: Nest) -> Sequence[Tile]:
        """The tiles of `sunk` that are wanted, the best one first."""

    @abstractmethod
    def take(self, tile: Tile) -> Stmt:
        """What becomes of a tile that is legal."""

    @abstractmethod
    def take_apart(self, loop: For, stmts: Sequence[Stmt]) -> list[For]:
        """Loops like `loop`, one for each of `stmts`."""

    def rewrite_For(self, node: For) -> Stmt:
        if node.kind in (LoopKind.VECTORIZED, LoopKind.UNROLLED):
            return node
        tile = self.find_tile(node)
        if tile is not None:
            return self.take(tile)
        parts = self._apart(node)
        return self.go_inside(node) if parts is None else parts

    def find_tile(self, loop: For) -> Tile | None:
        """The loops from `loop` on inwards that are to run side by side."""
        nest = Nest.of(loop)
        if not nest.loops:
            return None
        found = sink_sums(nest) or nest
        if not self.is_candidate(nest, found) or not _is_plain_nest(loop):
            return None
        if found is nest:
            accumulating = AccumulateSums(self.func, (*self.scope, *nest.loops))
            found = Nest(nest.loops, accumulating.rewrite(nest.body))
        elif not has_own_updates(nest, self.independence()):
            return None
        return next((tile for tile in self.find_tiles(nest, found) if self._is_legal(tile)), None)

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
        if not all(
            loop.var in indices_of(node) for node in walk_stmts(loop) if isinstance(node, Store)
        ):
            return None
        parts = {part: self.find_tile(part) for part in self.take_apart(loop, stmts)}
        if not any(tile is not None and tile.is_of(part) for part, tile in parts.items()):
            return None
        if not _is_plain_nest(loop) or not self.independence().prove_independent([loop], loop.body):
            return None
        made = parts.items()
        return seq(
            *(self.rewrite(part) if tile is None else self.take(tile) for part, tile in made)
        )

    def _is_legal(self, tile: Tile) -> bool:
        independence = self.independence(*tile.outside)
        if not independence.prove_independent(tile.side_by_side, tile.body):
            return False
        read = {node.buffer for node in walk(tile.body) if isinstance(node, Load)}
        is_set = not any(buffer.is_register for buffer in read) or self.unset.isdisjoint(read)
        return is_set and find_lanes(tile.lane_loop, self.func.fastmath).obstacle is None


def _is_plain_nest(loop: For) -> bool:
    """True if nothing in `loop` is seen from outside but for arrays, and its loops count."""
    loops = (node for node in walk_stmts(loop) if isinstance(node, For))
    return all(map(is_counting, loops)) and is_plain(loop)
