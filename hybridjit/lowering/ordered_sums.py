"""Compute the terms of a sum in lanes, and add them up one after the other, as the program does.

    for i in range(n):              for i_0 in range(0, n // 8 * 8, 8):
        s = s + log(a[i])               s_terms = allocate((8,), "float64", "local")
                                        for i in vectorize(i_0, i_0 + 8):
                              -->           s_terms[i - i_0] = log(a[i])
                                        for lane in unroll(8):
                                            s = s + s_terms[lane]

The variables that iterations hand on, sums or not, and the elements that all of them update get the
same values in the same order: so this is for iterations that take many instructions besides. Relies
on: nothing in the loop that fails; `OrderedSums.lanes_loop`, whose iterations may be lanes.
"""

from __future__ import annotations

import dataclasses
from dataclasses import field

from hybridjit.analysis.cost import is_dear
from hybridjit.analysis.limits import loop_extent
from hybridjit.analysis.vector_width import find_width, has_masks
from hybridjit.arith.simplify import simplify
from hybridjit.ir.expr import Buffer, Const, Expr, FloorDiv, Load, Lt, Mod, Sub, Var
from hybridjit.ir.stmt import Allocate, For, If, Let, LoopKind, Stmt, Store, flat_stmts, seq
from hybridjit.ir.visit import Mutator, fresh_copy, walk, walk_stmts
from hybridjit.lowering.cut_loops import Names, at_most
from hybridjit.record import record
from hybridjit.target import Target

# From so many rounds on they are of several vectors, if a round of these takes less time.
_MIN_ROUNDS = 8


def find_ordered_sums(loop: For, target: Target) -> OrderedSums | None:
    """The variables that iterations of `loop`, a range of step 1, hand on, if all else is dear."""
    if loop.step != Const(1) or not is_dear([loop.body], divisions=False):
        return None
    width, extent = find_width(loop, target), loop_extent(loop)
    if extent is not None and extent < width.lanes:
        return None
    # Where it is not known how many rounds there are, a long rest may be most of it.
    is_long = extent is not None and extent >= _MIN_ROUNDS * width.wide
    lanes = width.wide if is_long else width.lanes
    stmts = flat_stmts(loop.body)
    own = {node.buffer for node in walk_stmts(loop.body) if isinstance(node, Allocate)}
    varying = {loop.var, *(stmt.var for stmt in stmts if isinstance(stmt, Let))}
    stores = [stmt for stmt in stmts if isinstance(stmt, Store) and stmt.buffer not in own]
    updates = [stmt for stmt in stores if _is_one_element(stmt, varying)]
    found = OrderedSums(loop, _Terms({stmt.buffer for stmt in updates}, lanes))
    for stmt in stmts:
        found.take(stmt, any(stmt is update for update in updates))
    rest = [node for stmt in found.in_lanes for node in walk(stmt)]
    touched = {node.buffer for node in rest if isinstance(node, Load | Store)}
    loads = [node for stmt in found.in_order for node in walk(stmt) if isinstance(node, Load)]
    handed_on = [load for load in loads if load.buffer in found.terms.variables]
    is_apart = bool(updates) and touched.isdisjoint(found.terms.variables)
    # What the updates read themselves, where a variable says, later lanes have set by then.
    set_in_lanes = {node.buffer for node in rest if isinstance(node, Store)} - {*found.terms.found}
    is_apart = is_apart and set_in_lanes.isdisjoint(load.buffer for load in loads)
    return found if is_apart and all(_is_one_element(each, varying) for each in handed_on) else None


def _is_one_element(access: Load | Store, varying: set[Var]) -> bool:
    """True if all iterations mean the same variable, or the same element of an array."""
    nodes = [node for index in access.indices for node in walk(index)]
    return not any(isinstance(node, Load) or node in varying for node in nodes)


class _Terms(Mutator):
    """Replaces the largest expressions that do not read variables by elements of new arrays."""

    def __init__(self, variables: set[Buffer], lanes: int) -> None:
        self.variables, self.lanes = variables, Const(lanes)
        self.lane = Var("lane")
        self.found: dict[Buffer, Expr] = {}

    def rewrite_Store(self, node: Store) -> Stmt:
        return dataclasses.replace(node, value=self.rewrite(node.value))

    def rewrite_Load(self, node: Load) -> Expr:
        return node if node.buffer in self.variables else self.rewrite_Expr(node)

    def rewrite_Expr(self, node: Expr) -> Expr:
        parts = list(walk(node))
        if any(isinstance(part, Load) and part.buffer in self.variables for part in parts):
            return self.generic(node)
        if not any(isinstance(part, Load | Var) for part in parts):
            return node
        terms = Buffer("terms", node.dtype, (self.lanes,), "local")
        self.found[terms] = node
        return Load(terms, (self.lane,), span=node.span)


@record(frozen=False)
class OrderedSums:
    """The statements that run in lanes, with terms in the place of updates, and the updates."""

    loop: For
    terms: _Terms
    in_lanes: list[Stmt] = field(default_factory=list[Stmt])
    in_order: list[Stmt] = field(default_factory=list[Stmt])

    def take(self, stmt: Stmt, is_update: bool) -> None:
        """Sort a statement of the loop into one of the two."""
        if not is_update:
            self.in_lanes.append(stmt)
            return
        known = len(self.terms.found)
        self.in_order.append(self.terms.rewrite(stmt))
        for terms, value in list(self.terms.found.items())[known:]:
            self.in_lanes.append(Store(terms, (self.loop.var,), value))

    @property
    def lanes_loop(self) -> For:
        """The loop without its updates: what its iterations do must be independent."""
        return dataclasses.replace(self.loop, body=seq(*self.in_lanes))

    def make(self, target: Target) -> Stmt:
        """The loop, in rounds of vectors, and a rest."""
        lanes = self.terms.lanes
        names = Names(self.loop)
        start = names.give("start", self.loop.start)
        trips = names.give("trips", dataclasses.replace(self.loop, start=start).safe_extent)
        end = names.give("end", start + FloorDiv(trips, lanes) * lanes)
        strip = Var(f"{self.loop.var.name}_0")
        whole = For(strip, start, end, lanes, self._round(strip, lanes))
        count = names.give("rest", Mod(trips, lanes))
        if count == Const(0):
            return seq(*names.made, whole)
        is_masked = has_masks(self.loop.body, target)
        rest = self._round(end, count) if is_masked else self._one_by_one(end)
        return seq(*names.made, whole, rest)

    def _one_by_one(self, first: Expr) -> Stmt:
        return fresh_copy(at_most(self._most, dataclasses.replace(self.loop, start=first)))

    @property
    def _most(self) -> int:
        return int(self.terms.lanes.value.real) - 1

    def _round(self, first: Expr, count: Expr) -> Stmt:
        """The iterations from `first` on, so many of them."""
        place = simplify(Sub(self.loop.var, first))
        body = seq(*(self._at(place, stmt) for stmt in self.in_lanes))
        update = seq(*self.in_order)
        add = For(self.terms.lane, Const(0), count, Const(1), update, LoopKind.UNROLLED)
        if count != self.terms.lanes:
            body = If(Lt(place, count), body)
            add = at_most(self._most, dataclasses.replace(add, kind=LoopKind.SERIAL))
        vector = dataclasses.replace(
            self.loop,
            start=first,
            stop=simplify(first + self.terms.lanes),
            body=body,
            kind=LoopKind.VECTORIZED,
        )
        made = [Allocate(terms, zero=False) for terms in self.terms.found]
        return fresh_copy(seq(*made, vector, add))

    def _at(self, place: Expr, stmt: Stmt) -> Stmt:
        """`stmt`, with a term where its lane says."""
        is_term = isinstance(stmt, Store) and stmt.buffer in self.terms.found
        return dataclasses.replace(stmt, indices=(place,)) if is_term else stmt
