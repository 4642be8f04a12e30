"""Fold rows of arrays in lanes: sums, products and extrema of floats, after fusion.

    for j in range(n):                     for block in range(0, n, BLOCK):
        total = total + a[i, j]    -->         partial[l] = ... in lanes, see array_lanes.py
                                               total = total + (partial[0] + partial[1] ...)

Only loops of whole-array operations are: NumPy does not say in which order it adds, and adds in
blocks itself. A loop of the script keeps its order. Blocks keep the error of long sums small.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace

from hybridjit.analysis.own_elements import prove_own_elements
from hybridjit.analysis.private_reduction import find_identity
from hybridjit.analysis.reduction import ReductionOp, find_reduction
from hybridjit.frontend.array_extents import ZERO, constant, minus, plus, tidy
from hybridjit.frontend.array_lanes import MIN_LANE_TERMS, Merge, reduce_in_lanes
from hybridjit.frontend.array_loops import ArrayLoops
from hybridjit.frontend.values import index
from hybridjit.ir.expr import Add, Call, Const, Expr, Load, Min, Mul, Node, Var
from hybridjit.ir.stmt import Allocate, For, Let, LoopKind, Seq, Stmt, Store, flat_stmts
from hybridjit.ir.visit import Mutator, fresh_copy, rewrite, substitute, walk

BLOCK = 1 << 14  # elements: as many are added in lanes before their sum is

_MERGES: dict[ReductionOp, Merge] = {
    ReductionOp.ADD: Add,
    ReductionOp.MUL: Mul,
    ReductionOp.MINIMUM: lambda x, y: Call("minimum", (x, y)),
    ReductionOp.MAXIMUM: lambda x, y: Call("maximum", (x, y)),
}


def fold_in_lanes(body: Stmt, loops: Collection[Var], code: ArrayLoops) -> Stmt:
    """`body` with the folds of rows in lanes; `loops` are those over elements of arrays."""
    return _FoldInLanes(body, loops, code).rewrite(body)


@dataclass(frozen=True, slots=True)
class _Fold:
    """A loop that folds: its statements, of which one, `store`, does so."""

    loop: For
    stmts: list[Stmt]
    store: Store
    op: ReductionOp


class _FoldInLanes(Mutator):
    def __init__(self, root: Stmt, loops: Collection[Var], code: ArrayLoops) -> None:
        self.root = root
        self.loops = loops
        self.code = code

    def rewrite_For(self, node: For) -> Stmt:
        loop = self.generic(node)
        fold = self._find(loop) if node.var in self.loops else None
        return loop if fold is None else self._in_lanes(fold)

    def _find(self, loop: For) -> _Fold | None:
        size = constant(loop.stop)
        is_plain = loop.kind is LoopKind.SERIAL and loop.start == ZERO and loop.step == Const(1)
        if not is_plain or (size is not None and size < MIN_LANE_TERMS):
            return None
        stmts = flat_stmts(loop.body)
        if not all(_is_simple(stmt) for stmt in stmts):
            return None
        folds = [fold for stmt in stmts if (fold := _fold_of(loop, stmts, stmt)) is not None]
        return folds[0] if len(folds) == 1 and self._is_free(folds[0]) else None

    def _is_free(self, fold: _Fold) -> bool:
        """True if nothing else in the loop depends on the order of its iterations."""
        others = [stmt for stmt in fold.stmts if stmt is not fold.store]
        nodes = [node for root in (*others, fold.store.value) for node in walk(root)]
        reads = [node for node in nodes if isinstance(node, Load)]
        if sum(load.buffer is fold.store.buffer for load in reads) != 1:
            return False
        rest = replace(fold.loop, body=Seq(tuple(others)))
        return prove_own_elements(self.root, rest)

    def _in_lanes(self, fold: _Fold) -> Stmt:
        code, size = self.code, fold.loop.stop
        known = constant(size)

        def block(first: Expr) -> None:
            length = index(tidy(Min(minus(size, first), Const(BLOCK))))
            self._fold_block(fold, first, code.let(length, "length", None).expr)

        with code.collect() as stmts:
            if known is not None and known <= BLOCK:
                self._fold_block(fold, ZERO, size)
            else:
                code.each("block", size, block, step=BLOCK)
        return code.close(stmts)

    def _fold_block(self, fold: _Fold, first: Expr, length: Expr) -> None:
        """Fold some elements in lanes, then what comes of it into the result."""
        store, merge = fold.store, _MERGES[fold.op]

        def update(old: Expr, k: Expr) -> Expr:
            moved = substitute(fold.loop.body, {fold.loop.var: plus(first, k)})
            return self._emit_but_fold(fold, flat_stmts(fresh_copy(moved)), old)

        start = find_identity(fold.op, store.buffer.dtype)
        total = reduce_in_lanes(self.code, start, merge, length, update)
        old = Load(store.buffer, store.indices, span=store.span)
        self.code.emit(replace(store, value=merge(old, total)))

    def _emit_but_fold(self, fold: _Fold, stmts: list[Stmt], old: Expr) -> Expr:
        """Emit a copy of the body; the value that its fold would store, with `old` folded in."""
        place = next(k for k, stmt in enumerate(fold.stmts) if stmt is fold.store)

        def read_lane(node: Node) -> Node | None:
            is_result = isinstance(node, Load) and node.buffer is fold.store.buffer
            return old if is_result else None

        for stmt in (*stmts[:place], *stmts[place + 1 :]):
            self.code.emit(stmt)
        store = stmts[place]
        assert isinstance(store, Store)
        return rewrite(store.value, read_lane)


def _is_simple(stmt: Stmt) -> bool:
    """True for statements that lanes can run side by side."""
    return isinstance(stmt, Let | Store) or (isinstance(stmt, Allocate) and stmt.buffer.is_register)


def _fold_of(loop: For, stmts: list[Stmt], stmt: Stmt) -> _Fold | None:
    """How `stmt` folds into an element that is the same in all iterations; None if it does not."""
    if not isinstance(stmt, Store) or not stmt.buffer.dtype.is_inexact:
        return None
    found = find_reduction(stmt)
    inside = {loop.var, *(each.var for each in stmts if isinstance(each, Let))}
    if found is None or found.op not in _MERGES:
        return None
    moves = any(node in inside for place in stmt.indices for node in walk(place))
    made = any(isinstance(each, Allocate) and each.buffer is stmt.buffer for each in stmts)
    return None if moves or made else _Fold(loop, stmts, stmt, found.op)
