"""Which loops around sums are worth running side by side: one as lanes, one as rows.

A tile is the part of the results that is computed at once, its sums in registers. Lanes go along
elements that lie side by side in memory; rows share what is read for them.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from hybridjit.analysis.cost import count_nodes
from hybridjit.analysis.counting_nest import Nest
from hybridjit.analysis.limits import loop_extent
from hybridjit.analysis.vector_width import Width, count_lanes, picks
from hybridjit.arith.linear import linear_form
from hybridjit.ir.expr import Load, Var
from hybridjit.ir.hints import with_lanes
from hybridjit.ir.stmt import (
    IN_LANES,
    Allocate,
    For,
    If,
    Let,
    LoopKind,
    Seq,
    Stmt,
    Store,
    flat_stmts,
    seq,
)
from hybridjit.ir.visit import walk, walk_stmts
from hybridjit.lowering.cut_loops import cut
from hybridjit.schedule.arrays.unroll_and_jam import make_unroll_and_jam
from hybridjit.schedule.arrays.update_nests import indices_of
from hybridjit.target import Target

# Code for a tile: more takes longer to compile than it saves, and has no use for so many vectors.
MAX_NODES = 1600
# With fewer terms than this, sums are over before lanes pay. LLVM writes out loops with some more,
# so that each sum is in a register between them, if the loop over elements is inside.
MIN_TERMS, MIN_MOVED_TERMS = 8, 16
# So many sums, in vectors, are under way at once: enough to hide how long an addition takes.
VECTORS = 4
_MAX_ROWS = 4
# Where the elements are that neighbouring lanes read. Those apart are gathered one by one, which
# is as fast as the sums of one vector are: more of them at once do not help.
SAME, NEXT, APART = range(3)


@dataclass(frozen=True, slots=True)
class Tile:
    """Loops whose iterations run side by side: as lanes, and some of them in rows.

    It `is_near` if no lane reads elements apart from those of its neighbours.
    """

    outside: tuple[For, ...]
    lane: For
    row: For | None
    body: Stmt
    lanes: int
    rows: int
    is_near: bool

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

    def make(self) -> Stmt:
        """The loops, cut into tiles and a rest."""
        loop = self.lane_loop
        if self.row is not None and self.rows > 1:
            jammed = make_unroll_and_jam(dataclasses.replace(self.row, body=self.body), self.rows)
            loop = dataclasses.replace(loop, body=jammed)
        is_masked = not picks(loop, list(walk(loop.body)))
        width = Width(self.lanes, self.lanes, is_masked, whole=1)
        parts = cut(with_lanes(loop, self.lanes), width)
        return Nest(self.outside, loop).over(seq(*parts.names, *parts.loops))


def find_tiles(nest: Nest, target: Target, *, needs_rows: bool) -> list[Tile]:
    """The ways to run loops of `nest` side by side that are worth it, the best one first.

    With `needs_rows`, there are vectors of what lies side by side already. Lanes alone would only
    read it in another order, one that caches do not foresee.
    """
    *outside, last = nest.loops
    ways: list[tuple[Sequence[For], For, For | None]] = [(outside, last, None)]
    if outside:
        *others, before = outside
        ways = [(others, last, before), (others, before, last), *ways]
    found = [_find_tile(*way, nest.body, target) for way in ways]
    tiles = [tile for tile in found if tile is not None]
    if needs_rows:
        tiles = [tile for tile in tiles if tile.row is not None or not tile.is_near]
    return sorted(tiles, key=lambda tile: not tile.is_near)


def _find_tile(
    outside: Sequence[For], lane: For, row: For | None, body: Stmt, target: Target
) -> Tile | None:
    distance = _find_distance(body, lane.var)
    width = count_lanes(body, target)
    columns = loop_extent(lane)
    if distance is None or (columns is not None and columns < width):
        return None
    if row is not None and not _are_rows(row, lane, body):
        return None
    # Half of the registers are for sums. The others hold what is added.
    room = target.vector_registers // 2 // _count_registers(body, width, target)
    room = min(room, MAX_NODES // count_nodes(body))
    most = VECTORS if distance < APART else 1
    vectors = _fit(most, room, None if columns is None else columns // width)
    rows = _fit(_MAX_ROWS, room // vectors, 1 if row is None else loop_extent(row))
    lanes = lane.hint(IN_LANES) or vectors * width
    return Tile(tuple(outside), lane, row, body, lanes, rows, distance < APART)


def _are_rows(row: For, lane: For, body: Stmt) -> bool:
    """True if all lanes have the same rows, and all rows the same lanes and terms."""
    is_rectangle = not _mentions(lane, row.var) and not _mentions(row, lane.var)
    return is_rectangle and has_common_bounds(row, body)


def has_common_bounds(row: For, body: Stmt) -> bool:
    """True if loops in `body` run equally often in all iterations of `row`."""
    lets = (node.var for node in walk(body) if isinstance(node, Let))
    own = frozenset((row.var, *lets))
    inner = (node for node in walk(body) if isinstance(node, For))
    bounds = [node for loop in inner for bound in (loop.start, loop.stop) for node in walk(bound)]
    return not any(node in own or isinstance(node, Load) for node in bounds)


def _fit(most: int, room: int, count: int | None) -> int:
    """How many of `count`, of which `most` would do, have room at once: a power of two."""
    room = room if count is None else min(room, count)
    while most > 1 and most > room:
        most //= 2
    return most


def _count_registers(body: Stmt, lanes: int, target: Target) -> int:
    """The registers that hold one vector of what each iteration keeps in variables."""
    bits = 0
    for node in walk(body):
        if isinstance(node, Allocate):
            bits += lanes * max(32, node.buffer.dtype.bits)
    return max(1, bits // target.vector_bits)


def _mentions(loop: For, var: Var) -> bool:
    return any(node is var for bound in (loop.start, loop.stop) for node in walk(bound))


def _find_distance(body: Stmt, var: Var) -> int | None:
    """How far apart the elements are that sums read in lanes over `var`; None if not known."""
    inside = [node for loop in _outermost_loops(body) for node in walk(loop.body)]
    distances = [_distance(node, var) for node in inside if isinstance(node, Load | Store)]
    return None if None in distances else max((each or 0 for each in distances), default=0)


def _distance(access: Load | Store, var: Var) -> int | None:
    if var not in indices_of(access):
        return SAME
    forms = [linear_form(index) for index in access.indices]
    steps = [form.terms.get(var, 0) for form in forms if form is not None]
    if len(steps) < len(forms):
        return None
    if steps[-1] == 1 and not any(steps[:-1]):
        return NEXT
    # One store for each lane would take longer than the lanes save.
    return APART if isinstance(access, Load) else None


def has_long_sums(body: Stmt, least: int) -> bool:
    """True if `body` adds up floats one after the other, at least so many of them."""
    loops = [stmt for stmt in walk_stmts(body) if isinstance(stmt, For)]
    return any(_is_long(Nest.of(loop).loops, least) and _sums(loop) for loop in loops)


def _outermost_loops(body: Stmt) -> Iterator[For]:
    for stmt in flat_stmts(body):
        if isinstance(stmt, For):
            yield stmt
        elif isinstance(stmt, If):
            yield from _outermost_loops(stmt.then)
            yield from _outermost_loops(stmt.otherwise or Seq(()))


def _sums(loop: For) -> bool:
    """True if a float is computed, in each iteration, from what the iteration before has left."""
    return any(
        isinstance(node, Store)
        and node.buffer.dtype.is_inexact
        and loop.var not in indices_of(node)
        and Load(node.buffer, node.indices) in walk(node.value)
        for node in walk_stmts(loop.body)
    )


def _is_long(loops: Sequence[For], least: int) -> bool:
    terms = 1
    for loop in loops:
        extent = loop_extent(loop)
        if extent is None:
            return True
        terms *= extent
    return terms >= least
