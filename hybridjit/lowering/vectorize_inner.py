"""Run the iterations of innermost loops side by side, in lanes; conditions become masks.

    for j in range(m):                 for j in vectorize(m):
        if a[j] > 0.5:          -->        if a[j] > 0.5:
            b[j] = a[j]                        b[j] = a[j]

Here is decided which loops; how many lanes they have, and what becomes of the rest, is decided when
they are cut (vectorize_loops.py). LLVM is not asked to make vectors of loops. Relies on: indices
that are proved or checked before the loops; arguments that share no memory.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING

from hybridjit.analysis.lane_order import prove_lane_order
from hybridjit.analysis.lanes import Lanes, find_lanes
from hybridjit.analysis.loop_mutator import LoopMutator
from hybridjit.analysis.packing import Packing
from hybridjit.analysis.plain import is_plain
from hybridjit.analysis.vector_width import find_lanes_wanted
from hybridjit.arith.totality import is_total
from hybridjit.ir.expr import Buffer, Const, Load, Var
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.hints import wants_lanes, with_lanes
from hybridjit.ir.stmt import (
    AUTOMATIC,
    HINTS,
    IN_LANES,
    LANES,
    For,
    If,
    LoopKind,
    Stmt,
    flat_stmts,
    seq,
)
from hybridjit.ir.visit import StmtMutator, walk
from hybridjit.lazy import lazy_module
from hybridjit.lowering.drop_continues import drop_continues
from hybridjit.lowering.join_branches import join_branches
from hybridjit.lowering.lane_cost import fit_in_lanes, packs, pays, reduction_pays, selection_pays
from hybridjit.target import Target

if TYPE_CHECKING:
    from hybridjit.analysis import counting_nest
    from hybridjit.lowering import blocks, free_iterations, ordered_sums, select_in_lanes
else:
    # For iterations that hand something on to each other.
    free_iterations = lazy_module("hybridjit.lowering.free_iterations")
    ordered_sums = lazy_module("hybridjit.lowering.ordered_sums")
    select_in_lanes = lazy_module("hybridjit.lowering.select_in_lanes")
    blocks = lazy_module("hybridjit.lowering.blocks")
    counting_nest = lazy_module("hybridjit.analysis.counting_nest")


def vectorize_inner(func: PrimFunc, target: Target) -> PrimFunc:
    """`func` with lanes for the iterations of its innermost loops, where they may and pay."""
    body = VectorizeInner(func, target).rewrite(func.body)
    return func if body is func.body else dataclasses.replace(func, body=body)


class VectorizeInner(LoopMutator):
    """Decides for each loop, outermost first."""

    def __init__(self, func: PrimFunc, target: Target) -> None:
        LoopMutator.__init__(self, func)
        self.target = target

    def rewrite_For(self, node: For) -> Stmt:
        if node.kind in (LoopKind.VECTORIZED, LoopKind.UNROLLED):
            return node
        loop = dataclasses.replace(node, body=join_branches(drop_continues(node.body)))
        made = self._vectorize(loop) or self._vectorize_selection(loop)
        return self.go_inside(node) if made is None else made

    def _vectorize(self, loop: For) -> Stmt | None:
        if not _is_counting(loop) or not self._pays(loop):
            return None
        lanes = find_lanes(loop, self.func.fastmath, self.unset)
        if lanes.shared and not (loop.hint(IN_LANES) or reduction_pays(loop)):
            return None
        own = self._own_arrays(lanes)
        if loop.kind is LoopKind.PARALLEL:
            can = not (lanes.shared or lanes.packing) and self._is_legal(lanes, own, may_wait=True)
            if lanes.arrays:
                return self._in_blocks(loop) if can and counting_nest.can_hand_out(loop) else None
            marked = dataclasses.replace(loop, annotations=((LANES, True), *loop.annotations))
            return with_lanes(marked, find_lanes_wanted(loop, self.target)) if can else None
        if self._is_legal(lanes, own, may_wait=True):
            return _in_lanes(loop) if self._can_pack(lanes.packing) else None
        freed = self._vectorize_freed(lanes)
        return self._vectorize_sums(loop) if freed is None else freed

    def _pays(self, loop: For) -> bool:
        """Whether lanes are worth it: a hint knows, else the cost model does."""
        wanted = loop.hint(IN_LANES)
        if wanted is None:
            return not wants_lanes(loop.body) and pays(loop, self.target)
        return wanted > 1

    def _vectorize_freed(self, lanes: Lanes) -> Stmt | None:
        """Lanes for iterations that do not need what they hand on to each other."""
        shared = {reduction.buffer for reduction in lanes.shared}
        live = self._live_around(lanes.loop)
        free = free_iterations.find_free_iterations(lanes.loop, shared, live)
        if free is None or not self.unset.isdisjoint(free.earlier.carried):
            return None
        parts = free.parts()
        self.scope += parts.names
        middle = find_lanes(parts.middle, self.func.fastmath, self.unset)
        can = self._pays(parts.middle) and self._is_legal(middle)
        del self.scope[len(self.scope) - len(parts.names) :]
        return parts.around(_in_lanes(parts.middle)) if can else None

    def _live_around(self, loop: For) -> set[Buffer]:
        """The variables that are read outside of `loop`."""
        inside = {id(node) for node in walk(loop) if isinstance(node, Load)}
        loads = (node for node in walk(self.func.body) if isinstance(node, Load))
        return {node.buffer for node in loads if not node.indices and id(node) not in inside}

    def _vectorize_sums(self, loop: For) -> Stmt | None:
        sums = ordered_sums.find_ordered_sums(loop, self.target)
        if sums is None or not self.unset.isdisjoint(sums.terms.variables):
            return None
        if not self._is_plain(loop, sums.terms.variables, may_wait=False):
            return None
        rest = find_lanes(sums.lanes_loop, self.func.fastmath, self.unset)
        return sums.make(self.target) if not rest.shared and self._is_legal(rest) else None

    def _vectorize_selection(self, loop: For) -> Stmt | None:
        """Lanes that look for an extremum: a condition at the end of the loop."""
        if not _is_counting(loop) or not isinstance(seq(*flat_stmts(loop.body)[-1:]), If):
            return None
        found = select_in_lanes.find_lane_selection(loop)
        if found is None or loop.kind is LoopKind.PARALLEL or loop.hint(IN_LANES) == 1:
            return None
        if not selection_pays(found.lanes_loop):
            return None
        if not self._is_plain(loop, {store.buffer for store in found.stores}, may_wait=False):
            return None
        rest = find_lanes(found.lanes_loop, self.func.fastmath, self.unset)
        can = not rest.shared and self._is_legal(rest)
        return select_in_lanes.select_in_lanes(found, self.target) if can else None

    def _in_blocks(self, loop: For) -> Stmt:
        """Blocks of a parallel loop, in each of which lanes have arrays of their own."""
        wanted = find_lanes_wanted(loop, self.target)
        return _InLanes(loop.var).rewrite(blocks.make_blocks(loop, multiple=wanted))

    def _own_arrays(self, lanes: Lanes) -> list[Buffer]:
        """The arrays of an iteration, if every lane can have its own."""
        arrays = [stmt.buffer for stmt in lanes.arrays]
        can = not lanes.picks and fit_in_lanes(arrays, find_lanes_wanted(lanes.loop, self.target))
        return arrays if can else []

    def _is_legal(
        self, lanes: Lanes, own: Sequence[Buffer] = (), *, may_wait: bool = False
    ) -> bool:
        """Whether nothing keeps iterations from being lanes, which have their `own` arrays.

        They `may_wait` for each other in loops that end when something happens.
        """
        if lanes.obstacle is not None or len(lanes.arrays) > len(own):
            return False
        shared = {reduction.buffer for reduction in lanes.shared}
        if not self._is_plain(lanes.plain, shared.union(own), may_wait=may_wait):
            return False
        return prove_lane_order(self.independence(), lanes.plain)

    def _can_pack(self, packing: Packing | None) -> bool:
        """Whether the lanes that are let through can be stored side by side."""
        if packing is None:
            return True
        is_set = self.unset.isdisjoint(group.count for group in packing.groups)
        return is_set and all(packs(store.buffer.dtype, self.target) for store in packing.stores)

    def _is_plain(self, loop: For, variables: set[Buffer], *, may_wait: bool) -> bool:
        """True if nothing can fail, leave the loop, or set variables of others than these."""
        inside = list(walk(loop.body))
        loops = (node for node in inside if isinstance(node, For))
        if any(node.kind is not LoopKind.SERIAL or not _is_counting(node) for node in loops):
            return False
        read = {node.buffer for node in inside if isinstance(node, Load)}
        return self.unset.isdisjoint(read) and is_plain(loop.body, variables, may_wait=may_wait)


def _in_lanes(loop: For) -> For:
    return dataclasses.replace(loop, kind=LoopKind.VECTORIZED)


class _InLanes(StmtMutator):
    """Give lanes to the loop over a variable."""

    def __init__(self, var: Var) -> None:
        self.var = var

    def rewrite_For(self, node: For) -> Stmt:
        return _in_lanes(node) if node.var is self.var else self.generic(node)


def _is_counting(loop: For) -> bool:
    """True for a plain range whose bounds cannot fail."""
    is_plain = loop.kind in (LoopKind.SERIAL, LoopKind.PARALLEL)
    is_plain = is_plain and all(item == AUTOMATIC or item[0] in HINTS for item in loop.annotations)
    return (
        is_plain
        and loop.has_short_steps
        and loop.step != Const(0)
        and is_total(loop.start)
        and is_total(loop.stop)
    )
