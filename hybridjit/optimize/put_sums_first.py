"""Compute the sums of several rows before the rest of these rows, where they can be in lanes then.

What becomes of such a loop is in schedule/arrays/sums_first.py, and how its sums come into lanes in
optimize/tile_sums.py. Loops that are nothing but sums are in lanes without that.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from hybridjit.analysis.cost import is_dear
from hybridjit.analysis.counting_nest import Nest
from hybridjit.analysis.loop_mutator import LoopMutator
from hybridjit.analysis.reduction import ReductionOp, find_reduction
from hybridjit.ir.expr import Var
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.stmt import Allocate, For, LoopKind, Stmt, Store, seq
from hybridjit.ir.visit import walk_stmts
from hybridjit.optimize.decisions import Decisions
from hybridjit.optimize.tile_sums import find_lanes_for, is_long
from hybridjit.schedule.arrays.sink import SinkProofs
from hybridjit.schedule.arrays.sum_tiles import find_sums
from hybridjit.schedule.arrays.sums_first import SumsFirst, find_sums_first
from hybridjit.target import Target

# Shorter sums of neighbouring rows overlap in the processor already.
_MIN_TERMS = 32
_EXTREMA = (ReductionOp.MIN, ReductionOp.MAX, ReductionOp.MINIMUM, ReductionOp.MAXIMUM)


def put_sums_first(
    func: PrimFunc,
    body: Stmt,
    is_free: Callable[[Var], bool],
    target: Target,
    decisions: Decisions,
) -> Stmt:
    """`body`, that of `func` in plain loops, with sums before the rest of groups of rows.

    Only in those loops whose order `is_free` to choose.
    """
    return _PutSumsFirst(func, body, is_free, target, decisions).rewrite(body)


class _PutSumsFirst(LoopMutator):
    def __init__(
        self,
        func: PrimFunc,
        body: Stmt,
        is_free: Callable[[Var], bool],
        target: Target,
        decisions: Decisions,
    ) -> None:
        LoopMutator.__init__(self, func)
        self.proofs = SinkProofs(func, body)
        self.is_free, self.target, self.decisions = is_free, target, decisions

    def rewrite_For(self, node: For) -> Stmt:
        if node.kind in (LoopKind.VECTORIZED, LoopKind.UNROLLED):
            return node
        found = find_sums_first(node) if self.is_free(node.var) else None
        group = None if found is None else self._find_group(found)
        if found is None or group is None:
            return self.go_inside(node)
        is_taken = self.decisions.take("sums_first", node.var, group=group)
        return found.make(group) if is_taken else node

    def _find_group(self, found: SumsFirst) -> int | None:
        """How many rows are worth it; None if none are, or if their order has to stay."""
        if not any(isinstance(stmt, For) and _waits(stmt) for stmt in found.sums):
            return None
        lanes = self._find_lanes(found.sum_loop)
        if lanes is None or self._find_lanes(found.loop) is not None:
            return None
        sums, rest = seq(*found.sums), seq(*found.rest)
        if self.func.parallel and _sets_variables(found.rest):
            return None  # threads may have copies of these, of a loop that is as it was
        obstacle = self.proofs.find_obstacle_between(found.loop, sums, rest)
        return lanes if obstacle is None else None

    def _find_lanes(self, loop: For) -> int | None:
        return find_lanes_for(loop, self.func, self.scope, self.target, self.is_free)


def _sets_variables(stmts: Sequence[Stmt]) -> bool:
    """True if something is left in variables that were there before."""
    nodes = [node for stmt in stmts for node in walk_stmts(stmt)]
    own = {node.buffer for node in nodes if isinstance(node, Allocate)}
    set_there = {node.buffer for node in nodes if isinstance(node, Store)}
    return any(buffer.is_register and buffer not in own for buffer in set_there)


def _waits(loop: For) -> bool:
    """True for a long sum of which each addition waits for the one before, with little to do
    meanwhile. Sums of functions are in lanes along their terms, and so are extrema.
    """
    is_cheap = not is_dear([loop.body], divisions=False)
    is_worth = is_cheap and is_long(Nest.of(loop).loops, _MIN_TERMS)
    return is_worth and any(map(_adds_floats, find_sums(loop)))


def _adds_floats(store: Store) -> bool:
    found = find_reduction(store)
    return store.buffer.dtype.is_inexact and (found is None or found.op not in _EXTREMA)
