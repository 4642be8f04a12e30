"""Reduce rows of arrays in lanes: sums, products and extrema of floats.

    for j in range(n):                     for block in range(0, n, BLOCK):
        total = total + a[i, j]    -->         partial[l] = ... in lanes, see lanes.py
                                               total = total + (partial[0] + partial[1] ...)

Only folds are whose order is open: NumPy does not say in which order it adds, and adds in blocks
itself. A loop of the script keeps its order. Blocks keep the error of long sums small.

A loop that does more than fold is left as it is unless each iteration, folds included, writes only
to what no other one touches; within an iteration, statements keep their order. Relies on: arrays
that share no memory; indices along the loop inside of their arrays.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from hybridjit.analysis.footprint import find_footprint
from hybridjit.analysis.forms import if_positive
from hybridjit.analysis.independence import LoopProofs
from hybridjit.analysis.private_reduction import find_identity
from hybridjit.analysis.reduction import ReductionOp, find_reduction
from hybridjit.arith.ranges import ZERO, constant, minus, plus, tidy
from hybridjit.arith.substitution import FoldingSubstitute
from hybridjit.ir.expr import (
    Add,
    BitAnd,
    BitOr,
    Buffer,
    Call,
    Const,
    Expr,
    Load,
    Min,
    Mul,
    Node,
    Var,
)
from hybridjit.ir.stmt import Allocate, For, Let, LoopKind, Seq, Stmt, Store, flat_stmts
from hybridjit.ir.visit import fresh_copy, rewrite, walk
from hybridjit.record import record
from hybridjit.schedule.arrays.builder import Builder
from hybridjit.schedule.arrays.lanes import Merge, Result, Shape, combine_in_lanes
from hybridjit.schedule.arrays.multiply_add import fused_sum

_MERGES: dict[ReductionOp, Merge] = {
    ReductionOp.ADD: Add,
    ReductionOp.MUL: Mul,
    ReductionOp.MINIMUM: lambda x, y: Call("minimum", (x, y)),
    ReductionOp.MAXIMUM: lambda x, y: Call("maximum", (x, y)),
    ReductionOp.BIT_AND: BitAnd,
    ReductionOp.BIT_OR: BitOr,
}
# Where nothing else is folded, any loop takes lanes: vectorize_inner.py.
_ALONE = (ReductionOp.BIT_AND, ReductionOp.BIT_OR)


@record
class _Fold:
    """A store that folds an element into one that is the same in all iterations."""

    store: Store
    op: ReductionOp

    def result(self, start: Const | None = None) -> Result:
        """What it is in lanes, which begin with `start`, or with what changes nothing."""
        identity = find_identity(self.op, self.store.buffer.dtype)
        return Result(identity if start is None else start, _MERGES[self.op])

    @property
    def adds_product(self) -> bool:
        """True for a term of a dot product."""
        match self.store.value:
            case Add(Mul(), _) | Add(_, Mul()):
                return True
            case _:
                return False

    @property
    def terms(self) -> tuple[Expr, ...]:
        """All that it evaluates: the element that the result is at, and its new value."""
        return (*self.store.indices, self.store.value)


@record
class Row:
    """A loop that folds, by some of its statements."""

    loop: For
    stmts: list[Stmt]
    folds: list[_Fold]

    @property
    def others(self) -> list[Stmt]:
        """The statements that do not fold."""
        stores = [fold.store for fold in self.folds]
        return [stmt for stmt in self.stmts if stmt not in stores]


def find_row(loop: For, reassociable: Collection[Buffer] | None) -> Row | str:
    """The loop as one that folds, with what may be taken apart; else what is in the way.

    `reassociable` are the buffers that floats are folded into in an open order, None for all.
    """
    if loop.kind is not LoopKind.SERIAL or loop.start != ZERO or loop.step != Const(1):
        return "it is no plain loop from 0 on"
    stmts = flat_stmts(loop.body)
    if not all(_is_simple(stmt) for stmt in stmts):
        return "there is more in it than names and stores"
    inside = {loop.var, *(stmt.var for stmt in stmts if isinstance(stmt, Let))}
    made = [stmt.buffer for stmt in stmts if isinstance(stmt, Allocate)]
    found = [fold for stmt in stmts if (fold := _fold_of(stmt, inside)) is not None]
    found = [fold for fold in found if fold.store.buffer not in made]
    folds = [fold for fold in found if _is_open(fold.store.buffer, reassociable)]
    if not folds:
        return "the order of its sum is not open" if found else "it folds into no one element"
    if all(fold.op in _ALONE for fold in folds):
        return "its bits are combined in lanes as those of any loop"
    return Row(loop, stmts, folds)


def _is_open(buffer: Buffer, reassociable: Collection[Buffer] | None) -> bool:
    """True if the order in which elements are folded into a buffer makes no difference."""
    return not buffer.dtype.is_inexact or reassociable is None or buffer in reassociable


def prove_free(proofs: LoopProofs, row: Row) -> bool:
    """True if nothing in the loop but the folds depends on the order of its iterations.

    What a fold reads is part of its iteration as what any other statement reads: it must be
    what no other iteration writes.
    """
    results = [fold.store.buffer for fold in row.folds]
    terms = [term for fold in row.folds for term in fold.terms]
    roots = (*row.others, *terms)
    reads = [node.buffer for root in roots for node in walk(root) if isinstance(node, Load)]
    if any(reads.count(buffer) != 1 or results.count(buffer) != 1 for buffer in results):
        return False  # read by another statement, or folded into twice
    named = (Let(Var("term", term.dtype), term) for term in terms)
    rest = replace(row.loop, body=Seq((*row.others, *named)))
    return proofs.prove_independent(rest)


@record
class InLanes:
    """In how many lanes a row is folded; `block` elements at a time, None for all of them.

    `fuse` has products rounded together with their sums.
    """

    shape: Shape
    block: int | None
    fuse: bool


def make_in_lanes(row: Row, before: list[Stmt], options: InLanes) -> Stmt:
    """The row in lanes. What sets its results right `before` may go, and is taken out there."""
    if options.block is not None:
        return _InLanes(row, {}, options).make()
    starts = {fold.store.buffer: _take_start(before, fold) for fold in row.folds}
    return _InLanes(row, starts, options).make()


class _InLanes:
    """The code of one row that is folded in lanes, so many elements at a time.

    A buffer that is set to one of `starts` before takes the result as it is.
    """

    def __init__(self, row: Row, starts: Mapping[Buffer, Const | None], options: InLanes) -> None:
        self.row = row
        self.starts = starts
        self.options = options
        self.code = Builder()

    def make(self) -> Stmt:
        """The loop in lanes; after each block of elements, its results go into the whole one."""
        size, code, block = self.row.loop.stop, self.code, self.options.block
        known = constant(size)
        if block is None:
            self._fold_block(ZERO, size)
            return code.made

        def run_time_block(first: Expr) -> None:
            # There is a block: max(n, 0) is n.
            length = tidy(Min(minus(if_positive(size), first), Const(block)))
            self._fold_block(first, code.let(length, "length"))

        if known is None:
            code.each("block", size, run_time_block, step=block)
            return code.made
        whole = known // block * block
        code.each("block", whole, lambda first: self._fold_block(first, Const(block)), step=block)
        if known > whole:
            self._fold_block(Const(whole), Const(known - whole))
        return code.made

    def _fold_block(self, first: Expr, length: Expr) -> None:
        """Fold some elements in lanes, then what comes of it into the results."""
        row = self.row

        def update(old: Sequence[Expr], k: Expr) -> Sequence[Expr]:
            moved = FoldingSubstitute({row.loop.var: plus(first, k)}).rewrite(row.loop.body)
            return self._emit_copy(flat_stmts(fresh_copy(moved)), old)

        starts = [self.starts.get(fold.store.buffer) for fold in row.folds]
        results = list(map(_Fold.result, row.folds, starts))
        totals = combine_in_lanes(self.code, results, length, update, self.options.shape)
        for fold, result, start, total in zip(row.folds, results, starts, totals, strict=True):
            old = Load(fold.store.buffer, fold.store.indices, span=fold.store.span)
            value = total if start is not None else result.merge(old, total)
            self.code.emit(replace(fold.store, value=value))

    def _emit_copy(self, copies: Sequence[Stmt], old: Sequence[Expr]) -> Sequence[Expr]:
        """Emit a copy of the body but for the folds, and give what they fold `old` results to."""
        row = self.row
        by_buffer = {fold.store.buffer: lane for fold, lane in zip(row.folds, old, strict=True)}
        stores = [fold.store for fold in row.folds]

        def read_lane(node: Node) -> Node | None:
            return by_buffer.get(node.buffer) if isinstance(node, Load) else None

        values: list[Expr] = []
        for position, (stmt, copy) in enumerate(zip(row.stmts, copies, strict=True)):
            if stmt not in stores:
                self.code.emit(copy)
                continue
            assert isinstance(copy, Store)
            value = rewrite(copy.value, read_lane)
            if self.options.fuse:
                value = fused_sum(value, by_buffer[copy.buffer])
            later = [other for other in row.stmts[position + 1 :] if other not in stores]
            values.append(self._now(value) if _overwrite(later, stmt) else value)
        return values

    def _now(self, value: Expr) -> Expr:
        """A value as it is here, before statements that change what it is made of."""
        var = Var("term", value.dtype, span=value.span)
        self.code.emit(Let(var, value, span=value.span))
        return var


def _take_start(before: list[Stmt], fold: _Fold) -> Const | None:
    """What a variable is set to before it is folded into, if that changes nothing: then it need not
    be set, and is taken out of the list. A sum may begin with either zero.
    """
    buffer = fold.store.buffer
    for position in reversed(range(len(before))):
        if not find_footprint(before[position]).touches(buffer):
            continue
        match before[position]:
            case Store(_, (), Const() as start) if buffer.is_register:
                identity = find_identity(fold.op, buffer.dtype)
                is_zero = fold.op is ReductionOp.ADD and not any(start.bits)
                if is_zero or start == identity:
                    del before[position]
                    return start
                return None
            case _:
                return None
    return None


def _is_simple(stmt: Stmt) -> bool:
    """True for statements that lanes can run side by side."""
    return isinstance(stmt, Let | Store) or (isinstance(stmt, Allocate) and stmt.buffer.is_register)


def _overwrite(later: Sequence[Stmt], fold: Stmt) -> bool:
    """True if some of the statements that follow a fold write to what it reads."""
    read = find_footprint(fold).reads
    return any(not find_footprint(stmt).writes.isdisjoint(read) for stmt in later)


def _fold_of(stmt: Stmt, inside: Collection[Var]) -> _Fold | None:
    """How `stmt` folds into an element that is the same in all iterations; None if it does not."""
    if not isinstance(stmt, Store):
        return None
    found = find_reduction(stmt)
    if found is None or found.op not in _MERGES:
        return None
    moves = any(node in inside for place in stmt.indices for node in walk(place))
    return None if moves else _Fold(stmt, found.op)
