"""Look for an extremum in lanes: each lane keeps the best value that it has seen, and its place.

    for i in range(n):           for lane in vectorize(32):
        if a[i] > best:              best_lanes[lane], places[lane] = best, -1
            best = a[i]          for i_0 in range(0, n // 32 * 32, 32):
            where = i                for i in vectorize(i_0, i_0 + 32):
                          -->            if a[i] > best_lanes[i - i_0]:
                                             best_lanes[i - i_0], places[i - i_0] = a[i], i
                                 for lane in vectorize(16):             # then 8, 4, 2, 1
                                     the better one of `lane` and `lane + 16`
                                 if places[0] >= 0:
                                     i = places[0]
                                     best, where = a[i], i
                                 for i in range(n // 32 * 32, n): ...   # as before

The first of equal values is the one that counts: a lane sees its own in order, and of two lanes
with equal values that with the smaller place wins. A lane that has found nothing better has what
all began with, and the place -1. What else is set with the best value is computed once, for the
iteration that was found. Relies on: nothing in the loop that fails.
"""

from __future__ import annotations

import dataclasses

from hybridjit.analysis.limits import loop_extent
from hybridjit.analysis.vector_width import count_lanes
from hybridjit.arith.simplify import simplify
from hybridjit.arith.totality import is_total
from hybridjit.ir.dtype import INT32, INT64, DType
from hybridjit.ir.expr import (
    And,
    Buffer,
    Call,
    Cast,
    Const,
    Eq,
    Expr,
    FloorDiv,
    Ge,
    Load,
    Lt,
    Node,
    Or,
    Select,
    Sub,
    Var,
    const,
)
from hybridjit.ir.stmt import (
    UNROLL,
    Allocate,
    For,
    If,
    Let,
    LoopKind,
    Stmt,
    Store,
    flat_stmts,
    seq,
)
from hybridjit.ir.visit import fresh_copy, rewrite, substitute, walk
from hybridjit.lowering.cut_loops import Names, at_most
from hybridjit.lowering.split_selections import find_order
from hybridjit.record import record
from hybridjit.target import Target

# So many vectors are under way at once: each comparison waits for the one before it.
_VECTORS = 4
# Rounds: with fewer, comparing the lanes with each other takes longer than they save.
_MIN_ROUNDS = 3
_SMALLEST_FLOAT = 32  # bits; smaller ones are compared as larger ones, one by one as fast


@record
class LaneSelection:
    """A loop that does nothing but look for an extremum, and notes things about it.

    `lets` are what each iteration computes, `found` what is run for a value that is better than
    what `best` holds, which is one of its stores.
    """

    loop: For
    lets: tuple[Let, ...]
    found: If
    best: Store

    @property
    def old(self) -> Load:
        """The best value so far."""
        return Load(self.best.buffer, self.best.indices)

    @property
    def stores(self) -> list[Store]:
        """All that is set with the best value."""
        return [stmt for stmt in flat_stmts(self.found.then) if isinstance(stmt, Store)]

    @property
    def lanes_loop(self) -> For:
        """What lanes compute, stored somewhere: it must be right for each iteration by itself."""
        room = Buffer("values", self.best.buffer.dtype, (self.loop.stop,), "local")
        store = Store(room, (self.loop.var,), self.best.value)
        return dataclasses.replace(self.loop, body=seq(*self.lets, store))


def find_lane_selection(loop: For) -> LaneSelection | None:
    """The search for an extremum that is all that `loop`, a range of step 1, does."""
    stmts = flat_stmts(loop.body)
    found, lets = seq(*stmts[-1:]), [stmt for stmt in stmts[:-1] if isinstance(stmt, Let)]
    if loop.step != Const(1) or not isinstance(found, If) or len(lets) < len(stmts) - 1:
        return None
    stores = [stmt for stmt in flat_stmts(found.then) if isinstance(stmt, Store)]
    if found.otherwise is not None or len(stores) < len(flat_stmts(found.then)):
        return None
    varying = {loop.var, *(let.var for let in lets)}
    if not all(_stays(store, varying) for store in stores):
        return None
    for store in stores:
        old = Load(store.buffer, store.indices)
        if find_order(found.cond, store.value, old) is not None and _is_number(store.buffer):
            selection = LaneSelection(loop, tuple(lets), found, store)
            return selection if _is_alone(selection) else None
    return None


def _stays(store: Store, varying: set[Var]) -> bool:
    """Whether all iterations store to the same element, which is there."""
    nodes = [node for index in store.indices for node in walk(index)]
    return all(map(is_total, store.indices)) and not any(
        isinstance(node, Load) or node in varying for node in nodes
    )


def _is_number(buffer: Buffer) -> bool:
    dtype = buffer.dtype
    return dtype.is_integer or (dtype.is_float and dtype.bits >= _SMALLEST_FLOAT)


def _is_alone(selection: LaneSelection) -> bool:
    """Whether nothing else in the loop touches what it sets, each of which is another array."""
    stores = selection.stores
    buffers = {store.buffer for store in stores}
    computed = [*(let.value for let in selection.lets), *(store.value for store in stores)]
    read = [node for value in computed for node in walk(value) if isinstance(node, Load)]
    if len(buffers) < len(stores) or any(load.buffer in buffers for load in read):
        return False
    compared = [node for node in walk(selection.found.cond) if isinstance(node, Load)]
    return all(load == selection.old for load in compared if load.buffer in buffers)


def select_in_lanes(selection: LaneSelection, target: Target) -> Stmt | None:
    """The loop in rounds of some vectors, and a rest; None if it has not enough iterations."""
    loop = selection.loop
    extent, width = loop_extent(loop), count_lanes(selection.lanes_loop.body, target)
    vectors = _VECTORS
    while vectors > 1 and extent is not None and extent < _MIN_ROUNDS * vectors * width:
        vectors //= 2
    if extent is not None and extent < _MIN_ROUNDS * vectors * width:
        return None
    return Maker(selection, vectors * width).make()


class Maker:
    """Writes the code, with so many lanes."""

    def __init__(self, selection: LaneSelection, lanes: int) -> None:
        self.selection, self.loop, self.lanes = selection, selection.loop, lanes
        dtype = selection.best.buffer.dtype
        extent = loop_extent(self.loop)
        is_short = extent is not None and extent <= INT32.bounds[1] and dtype.bits <= INT32.bits
        self.values = Buffer(f"{selection.best.buffer.name}_lanes", dtype, (Const(lanes),), "local")
        kind = INT32 if is_short else INT64
        self.places = Buffer("places", kind, (Const(lanes),), "local")

    def make(self) -> Stmt:
        """The rounds, the comparison of lanes with each other, and the rest."""
        names, count = Names(self.loop), Const(self.lanes)
        start = names.give("start", self.loop.start)
        trips = names.give("trips", dataclasses.replace(self.loop, start=start).safe_extent)
        end = names.give("end", start + FloorDiv(trips, count) * count)
        strip = Var(f"{self.loop.var.name}_0")
        rounds = For(
            strip, start, end, count, self._round(start, strip), annotations=((UNROLL, False),)
        )
        made = seq(
            Allocate(self.values, zero=False),
            Allocate(self.places, zero=False),
            self._begin(),
            rounds,
            *self._halves(),
            self._take(start),
        )
        if not isinstance(trips, Const):
            made = If(Ge(trips, count), made)
        rest = at_most(self.lanes - 1, dataclasses.replace(self.loop, start=end))
        return seq(*names.made, made, *([] if simplify(rest.extent) == Const(0) else [rest]))

    def _vector(self, lanes: int, body: Stmt, lane: Var) -> For:
        return For(lane, Const(0), Const(lanes), Const(1), body, LoopKind.VECTORIZED)

    def _begin(self) -> Stmt:
        lane = Var("lane")
        body = seq(
            Store(self.values, (lane,), self.selection.old),
            Store(self.places, (lane,), const(-1, self.places.dtype)),
        )
        return self._vector(self.lanes, body, lane)

    def _round(self, start: Expr, strip: Var) -> Stmt:
        """Each lane looks at one element."""
        lane = simplify(Sub(self.loop.var, strip))
        value = self.selection.best.value
        better = self._is_better(value, Load(self.values, (lane,)))
        place = _as(simplify(Sub(self.loop.var, start)), self.places.dtype)
        body = seq(*self.selection.lets, *self._keep(better, lane, value, place))
        stop = simplify(strip + Const(self.lanes))
        kind = LoopKind.VECTORIZED
        return fresh_copy(
            dataclasses.replace(self.loop, start=strip, stop=stop, body=body, kind=kind)
        )

    def _halves(self) -> list[Stmt]:
        """Compare lanes with each other until the best is in the first one."""
        made: list[Stmt] = []
        lanes = self.lanes
        while lanes > 1:
            lanes //= 2
            lane = Var("lane")
            other = simplify(lane + Const(lanes))
            (mine, theirs), (here, there) = (
                [Load(array, (index,)) for index in (lane, other)]
                for array in (self.values, self.places)
            )
            is_first = And(self.is_equal(theirs, mine), Lt(there, here))
            better = Or(self._is_better(theirs, mine), is_first)
            made.append(self._vector(lanes, seq(*self._keep(better, lane, theirs, there)), lane))
        return made

    def _keep(self, better: Expr, lane: Expr, value: Expr, place: Expr) -> list[Stmt]:
        """Let a lane have a value and its place, if it is better than what it has."""
        chosen = Var("chosen", better.dtype)
        return [
            Let(chosen, better),
            *(
                Store(array, (lane,), Select(chosen, new, Load(array, (lane,))))
                for array, new in ((self.values, value), (self.places, place))
            ),
        ]

    def _take(self, start: Expr) -> Stmt:
        """Set what the loop sets, as the iteration does that was found."""
        place = Load(self.places, (Const(0),))
        found = simplify(start + _as(place, INT64))
        index = Var(f"{self.loop.var.name}_found")
        body = substitute(
            seq(*self.selection.lets, self.selection.found.then), {self.loop.var: index}
        )
        return If(Ge(place, const(0, place.dtype)), fresh_copy(seq(Let(index, found), body)))

    def _is_better(self, new: Expr, old: Expr) -> Expr:
        """The condition of the loop, for other values."""
        value, kept = self.selection.best.value, self.selection.old

        def rule(node: Node) -> Node | None:
            return new if node == value else old if node == kept else None

        return rewrite(self.selection.found.cond, rule)

    def is_equal(self, new: Expr, old: Expr) -> Expr:
        """Whether neither is better: where NaN is looked for, all NaN are equal."""
        if not isinstance(self.selection.found.cond, Or):
            return Eq(new, old)
        return Or(Eq(new, old), And(Call("isnan", (new,)), Call("isnan", (old,))))


def _as(value: Expr, dtype: DType) -> Expr:
    return value if value.dtype is dtype else Cast(dtype, value)
