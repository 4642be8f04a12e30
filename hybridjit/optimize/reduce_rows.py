"""Fold rows of arrays in lanes where that is worth it, after fusion.

Which rows can be, and what becomes of them, is in schedule/arrays/reduce_in_lanes.py.
"""

from __future__ import annotations

import operator
from collections.abc import Collection

from hybridjit.analysis.independence import LoopProofs
from hybridjit.arith.ranges import Ranges, constant
from hybridjit.ir.expr import Buffer, Const, Expr, Load, Var
from hybridjit.ir.stmt import For, Seq, Stmt, seq
from hybridjit.ir.visit import Mutator, walk
from hybridjit.optimize.decisions import Decisions
from hybridjit.record import record
from hybridjit.schedule.arrays.lanes import Shape
from hybridjit.schedule.arrays.multiply_add import has_fma
from hybridjit.schedule.arrays.reduce_in_lanes import (
    InLanes,
    Row,
    find_row,
    make_in_lanes,
    prove_free,
)
from hybridjit.target import Target

VECTORS = 4  # as many additions are under way at once
# A vector of partial results is two registers, where these are not so long: the maxima of 10,000
# numbers take 1.3 times as long with half of it, and sums with more than that.
LONG_BITS = 512
MIN_LANE_TERMS = 16  # fewer elements are combined one after the other
MIN_GATHERED_TERMS = 32  # where lanes are filled one by one, fewer are combined one by one, too
BLOCK = 1 << 14  # elements: as many are added in lanes before their sum is


@record
class Folds:
    """Which loops may be reduced in lanes: those over elements of arrays, for folds into buffers
    whose order is open. `ranges` tell how long loops are at most.
    """

    loops: Collection[Var]
    reassociable: Collection[Buffer]
    ranges: Ranges
    target: Target


def reduce_rows(body: Stmt, folds: Folds, decisions: Decisions) -> Stmt:
    """`body` with the folds of rows in lanes, wherever that is right and worth it."""
    return _ReduceRows(body, folds, decisions).rewrite(body)


class _ReduceRows(Mutator):
    def __init__(self, root: Stmt, folds: Folds, decisions: Decisions) -> None:
        self.proofs = LoopProofs(root)
        self.folds = folds
        self.decisions = decisions
        # What stands before a statement in the list that it is in.
        self.before: list[Stmt] = []

    def rewrite_Seq(self, node: Seq) -> Stmt:
        done: list[Stmt] = []
        for stmt in node.stmts:
            self.before = done
            done.append(self.rewrite(stmt))
        is_same = len(done) == len(node.stmts) and all(map(operator.is_, done, node.stmts))
        return node if is_same else seq(*done)

    def rewrite_For(self, node: For) -> Stmt:
        before, self.before = self.before, []
        loop = self.generic(node)
        is_tried = node.var in self.folds.loops and not self.decisions.is_over
        row = self._find(loop) if is_tried else None
        if row is None or not self._decide(row):
            return loop
        return make_in_lanes(row, before, self._options(row))

    def _decide(self, row: Row) -> bool:
        options = self._options(row)
        numbers = {"lanes": options.shape.width, "vectors": options.shape.vectors}
        block = {} if options.block is None else {"block": options.block}
        fma = {"fma": True} if options.fuse else {}
        return self.decisions.take("reduce_in_lanes", row.loop.var, **numbers, **block, **fma)

    def _options(self, row: Row) -> InLanes:
        widest = max(fold.store.buffer.dtype.bits for fold in row.folds)
        block = None if self._is_one_block(row) else BLOCK
        fuse = has_fma(self.folds.target) and any(fold.adds_product for fold in row.folds)
        bits = min(LONG_BITS, 2 * self.folds.target.vector_bits)
        return InLanes(Shape(VECTORS, bits // widest), block, fuse)

    def _is_one_block(self, row: Row) -> bool:
        """True for a row that is short, or of products, of which there are often many rows."""
        if self.folds.ranges.is_at_most(row.loop.stop, Const(BLOCK)):
            return True
        return constant(row.loop.stop) is None and all(fold.adds_product for fold in row.folds)

    def _find(self, loop: For) -> Row | None:
        size = constant(loop.stop)
        least = MIN_GATHERED_TERMS if _gathers(loop) else MIN_LANE_TERMS
        if size is not None and size < least:
            return None
        row = find_row(loop, self.folds.reassociable)
        if isinstance(row, str):
            return None
        # Integers are taken apart where loops get lanes: they add up to the same.
        is_worth_it = any(fold.store.buffer.dtype.is_inexact for fold in row.folds)
        return row if is_worth_it and prove_free(self.proofs, row) else None


def _gathers(loop: For) -> bool:
    """True if elements that do not lie side by side are read for neighbouring iterations."""
    loads = (node for node in walk(loop.body) if isinstance(node, Load))
    places = (place for load in loads for place in _outer_places(load))
    return any(node is loop.var for place in places for node in walk(place))


def _outer_places(load: Load) -> tuple[Expr, ...]:
    """All indices but the last one that counts: along axes of size one there is nothing."""
    last = max((k for k, size in enumerate(load.buffer.shape) if size != Const(1)), default=0)
    return load.indices[:last]
