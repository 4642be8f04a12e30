"""Which loops around sums are worth running side by side: one as lanes, one as rows.

A tile is the part of the results that is computed at once, its sums in registers. Lanes go along
elements that lie side by side in memory; rows share what is read for them.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from hybridjit.analysis.work import loop_extent
from hybridjit.arith.linear import linear_form
from hybridjit.ir.expr import Load, Var
from hybridjit.ir.stmt import Allocate, For, LoopKind, Stmt, Store, seq
from hybridjit.ir.visit import walk
from hybridjit.lower.cut_loops import cut
from hybridjit.lower.jam_loops import can_jam, jam_loop
from hybridjit.lower.update_nests import Nest
from hybridjit.lower.vector_width import Width, find_width
from hybridjit.target import Target

# With fewer terms than this, sums are over before lanes pay.
MIN_TERMS = 8
# So many sums, in vectors, are under way at once: enough to hide how long an addition takes.
VECTORS = 4
# Registers for sums: half of those that a processor has. The others hold what is added.
_REGISTERS = {512: 16, 256: 8, 128: 8}
_MAX_ROWS = 4


@dataclass(frozen=True, slots=True)
class Tile:
    """Loops whose iterations run side by side: as lanes, and some of them in rows."""

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
            jammed = jam_loop(dataclasses.replace(self.row, body=self.body), self.rows)
            loop = dataclasses.replace(loop, body=jammed)
        parts = cut(loop, Width(self.lanes, self.lanes))
        return Nest(self.outside, loop).over(seq(*parts.names, *parts.loops))


def find_tiles(nest: Nest, target: Target, *, needs_rows: bool) -> Iterator[Tile]:
    """The ways to run loops of `nest` side by side that are worth it, the best one first."""
    *outside, last = nest.loops
    if outside:
        *others, before = outside
        yield from _find_tile(others, last, before, nest.body, target)
        yield from _find_tile(others, before, last, nest.body, target)
    if not needs_rows:
        yield from _find_tile(outside, last, None, nest.body, target)


def _find_tile(
    outside: Sequence[For], lane: For, row: For | None, body: Stmt, target: Target
) -> Iterator[Tile]:
    if not _is_near(body, lane.var):
        return
    rows = 1
    if row is not None:
        whole = dataclasses.replace(row, body=body)
        if _mentions(lane, row.var) or _mentions(row, lane.var) or not can_jam(whole):
            return
        rows = min(_MAX_ROWS, loop_extent(row) or _MAX_ROWS)
    width = find_width(dataclasses.replace(lane, body=body), target).lanes
    extent = loop_extent(lane)
    if extent is not None and extent < width:
        return
    vectors = VECTORS
    room = _REGISTERS[target.vector_bits] // _count_registers(body, width, target)
    while vectors > 1 and (vectors > room or (extent is not None and extent < vectors * width)):
        vectors //= 2
    while rows > 1 and vectors * rows > room:
        rows //= 2
    yield Tile(tuple(outside), lane, row, body, vectors * width, rows)


def _count_registers(body: Stmt, lanes: int, target: Target) -> int:
    """The registers that hold one vector of what each iteration keeps in variables."""
    bits = 0
    for node in walk(body):
        if isinstance(node, Allocate):
            bits += lanes * max(32, node.buffer.dtype.bits)
    return max(1, bits // target.vector_bits)


def _mentions(loop: For, var: Var) -> bool:
    return any(node is var for bound in (loop.start, loop.stop) for node in walk(bound))


def _is_near(body: Stmt, var: Var) -> bool:
    """True if sums read elements that lie side by side for lanes over `var`, or common ones."""
    return all(
        _moves_little(node, var)
        for loop in _loops_in(body)
        for node in walk(loop.body)
        if isinstance(node, Load | Store)
    )


def _moves_little(node: Load | Store, var: Var) -> bool:
    forms = [linear_form(index) for index in node.indices]
    steps = [0 if form is None else form.terms.get(var, 0) for form in forms]
    if None in forms:
        return False
    return not any(steps) or (steps[-1] == 1 and not any(steps[:-1]))


def has_long_sums(body: Stmt) -> bool:
    """True if `body` adds up floats one after the other, not just a few of them."""
    return any(_sums(loop) and _is_long(Nest.of(loop).loops) for loop in _loops_in(body))


def _loops_in(body: Stmt) -> Iterator[For]:
    """The outermost loops in `body`."""
    return (node for node in walk(body) if isinstance(node, For))


def _sums(loop: For) -> bool:
    """True if a float is computed, in each iteration, from what the iteration before has left."""
    return any(
        isinstance(node, Store)
        and node.buffer.dtype.is_inexact
        and not any(loop.var in walk(index) for index in node.indices)
        and Load(node.buffer, node.indices) in walk(node.value)
        for node in walk(loop.body)
    )


def _is_long(loops: Sequence[For]) -> bool:
    terms = 1
    for loop in loops:
        extent = loop_extent(loop)
        if extent is None:
            return True
        terms *= extent
    return terms >= MIN_TERMS
