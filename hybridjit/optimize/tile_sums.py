"""Choose which loops around sums run side by side: one as lanes, one as rows.

    for i in range(n):                              for i in serial(n, annotations={
        for k in range(l):                                  "sums_in_rows": 4}):
            for j in range(m):                   -->    for k in range(l):
                c[i, j] += a[i, k] * b[k, j]                for j in serial(m, annotations={
                                                                    "sums_in_lanes": 32}):
                                                                c[i, j] += a[i, k] * b[k, j]

One sum after the other would wait for each addition, and where the sums are spread over the
iterations of an outer loop they would go to memory and back for each. Lanes go along elements that
lie side by side in memory; rows share what is read for them. Each sum keeps the order of its terms.
What a tile is, and what it becomes: schedule/arrays/sum_tiles.py, lowering/sum_in_lanes.py.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence

from hybridjit.analysis.cost import count_nodes
from hybridjit.analysis.counting_nest import Nest
from hybridjit.analysis.limits import loop_extent
from hybridjit.analysis.vector_width import count_lanes
from hybridjit.arith.linear import linear_form
from hybridjit.ir.expr import Expr, Load, Var
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.hints import wants_lanes
from hybridjit.ir.stmt import (
    IN_LANES,
    SUMS_IN_LANES,
    SUMS_IN_ROWS,
    Allocate,
    For,
    If,
    Let,
    Seq,
    Stmt,
    Store,
    flat_stmts,
)
from hybridjit.ir.visit import walk, walk_stmts
from hybridjit.record import record
from hybridjit.schedule.arrays.sum_tiles import Tile, TileSums, find_sums, ways_to_tile
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
_ALL_ROWS = 8  # if there are no more, they are taken all at once: what they share is read once
# What is read down a column comes in lines of the cache. Tiles that take half of one fetch it
# twice: sums may have more registers then (six rows of a product: 18.5 GFLOP/s, not 10.8, on ARM).
LINE_BITS = 512
# Where the elements are that neighbouring lanes read. Those apart are gathered one by one, which
# is as fast as the sums of one vector are: more of them at once do not help.
SAME, NEXT, APART = range(3)

IsFree = Callable[[Var], bool]
"""Whether the order of the loop over a variable may be chosen."""


@record
class SumTile:
    """A tile that is worth it, by the variables of its loops, and of all `loops` in it."""

    lane: Var
    row: Var | None
    lanes: int
    rows: int
    loops: frozenset[Var]

    @property
    def places(self) -> tuple[Var, ...]:
        """The loops that the step takes."""
        return (self.lane,) if self.row is None else (self.lane, self.row)

    @property
    def numbers(self) -> dict[str, int]:
        """How many lanes it takes, and rows."""
        lanes = {"lanes": self.lanes}
        return lanes if self.row is None else {**lanes, "rows": self.rows}


def choose_sum_tiles(view: PrimFunc, target: Target, is_free: IsFree) -> list[SumTile]:
    """The loops of `view`, a program in plain loops, whose sums are worth to run side by side.

    Only such whose order `is_free` to choose.
    """
    choose = _ChooseTiles(view, target, is_free)
    choose.rewrite(view.body)
    return choose.found


def find_lanes_for(
    loop: For, func: PrimFunc, scope: Sequence[For | Let | Expr], target: Target, is_free: IsFree
) -> int | None:
    """How many iterations of `loop`, which stands in `scope` of `func`, run in lanes, if it stood
    there; None if none do. All indices in it are proved.
    """
    choose = _ChooseTiles(dataclasses.replace(func, is_checked=True), target, is_free, scope)
    tile = choose.find_tile(loop)
    return None if tile is None or tile.lane.var is not loop.var else tile.lanes


class _ChooseTiles(TileSums):
    def __init__(
        self,
        view: PrimFunc,
        target: Target,
        is_free: IsFree,
        scope: Sequence[For | Let | Expr] = (),
    ) -> None:
        TileSums.__init__(self, view, tuple(scope))
        self.target = target
        self.is_free = is_free
        self.found: list[SumTile] = []

    def is_candidate(self, nest: Nest, sunk: Nest) -> bool:
        if any(not self.is_free(loop.var) or _has_marks(loop) for loop in nest.loops):
            return False
        return _has_long_sums(sunk.body, MIN_MOVED_TERMS if _is_moved(nest, sunk) else MIN_TERMS)

    def find_tiles(self, nest: Nest, sunk: Nest) -> Sequence[Tile]:
        is_open = "reassoc" in self.func.fastmath
        found = find_tiles(sunk, self.target, needs_rows=_is_moved(nest, sunk), is_open=is_open)
        if wants_lanes(nest.loops[0]):
            found = [tile for tile in found if tile.lane.hint(IN_LANES) is not None]
        return [tile for tile in found if tile.lane.hint(IN_LANES) != 1]

    def take(self, tile: Tile) -> Stmt:
        row = None if tile.row is None else tile.row.var
        inside = (stmt.var for stmt in walk_stmts(tile.body) if isinstance(stmt, For))
        loops = frozenset((*inside, *(loop.var for loop in (*tile.outside, *tile.side_by_side))))
        self.found.append(SumTile(tile.lane.var, row, tile.lanes, tile.rows, loops))
        return tile.lane_loop

    def take_apart(self, loop: For, stmts: Sequence[Stmt]) -> list[For]:
        return [dataclasses.replace(loop, body=stmt) for stmt in stmts]


def _has_marks(loop: For) -> bool:
    return loop.hint(SUMS_IN_LANES) is not None or loop.hint(SUMS_IN_ROWS) is not None


def _is_moved(nest: Nest, sunk: Nest) -> bool:
    """True if the loop over lanes was innermost: it has vectors already, and is moved for rows."""
    return len(sunk.loops) < len(nest.loops) and sunk.loops[-1] is nest.loops[-1]


def find_tiles(
    nest: Nest, target: Target, *, needs_rows: bool, is_open: bool = False
) -> list[Tile]:
    """The ways to run loops of `nest` side by side that are worth it, the best one first.

    With `needs_rows`, there are vectors of what lies side by side already. Lanes alone would only
    read it in another order, one that caches do not foresee. Where the order of terms `is_open`,
    lanes along them need not gather.
    """
    found: list[tuple[bool, Tile]] = []
    for outside, lane, row in ways_to_tile(nest):
        distance = _find_distance(nest.body, lane.var)
        is_far = distance == APART
        if distance is None or (needs_rows and row is None and not is_far):
            continue
        if is_far and is_open:
            continue
        numbers = _find_numbers(lane, row, nest.body, is_far=is_far, target=target)
        tile = None if numbers is None else Tile(outside, lane, row, nest.body, *numbers)
        if tile is not None and tile.has_rows:
            found.append((is_far, tile))
    return [tile for _, tile in sorted(found, key=lambda item: item[0])]


def _find_numbers(
    lane: For, row: For | None, body: Stmt, *, is_far: bool, target: Target
) -> tuple[int, int] | None:
    """How many lanes and rows are worth it; None if there are not enough of them."""
    width, columns = count_lanes(body, target), loop_extent(lane)
    if columns is not None and columns < width:
        return None
    # Half of the registers are for sums. The others hold what is added.
    each, nodes = _count_registers(body, width, target), count_nodes(body)
    room = min(target.vector_registers // 2 // each, MAX_NODES // nodes)
    vectors = _fit(1 if is_far else VECTORS, room, None if columns is None else columns // width)
    count = 1 if row is None else loop_extent(row)
    if count is not None and 0 < count <= _ALL_ROWS:
        most = min(target.vector_registers * 3 // 4 // each, MAX_NODES // nodes)
        line = _fit(min(vectors, LINE_BITS // target.vector_bits), most // count, None)
        rows, vectors = count, max(line, _fit(vectors, room // count, None))
    else:
        rows = _fit(_MAX_ROWS, room // vectors, count)
    return lane.hint(IN_LANES) or vectors * width, rows


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


def _has_long_sums(body: Stmt, least: int) -> bool:
    """True if `body` adds up floats one after the other, at least so many of them."""
    loops = [stmt for stmt in walk_stmts(body) if isinstance(stmt, For)]
    return any(is_long(Nest.of(loop).loops, least) and _sums_floats(loop) for loop in loops)


def _outermost_loops(body: Stmt) -> Iterator[For]:
    for stmt in flat_stmts(body):
        if isinstance(stmt, For):
            yield stmt
        elif isinstance(stmt, If):
            yield from _outermost_loops(stmt.then)
            yield from _outermost_loops(stmt.otherwise or Seq(()))


def _sums_floats(loop: For) -> bool:
    return any(store.buffer.dtype.is_inexact for store in find_sums(loop))


def is_long(loops: Sequence[For], least: int) -> bool:
    """True unless a nest of `loops` is known to have fewer than so many iterations."""
    terms = 1
    for loop in loops:
        extent = loop_extent(loop)
        if extent is None:
            return True
        terms *= extent
    return terms >= least
