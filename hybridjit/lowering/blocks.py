"""Blocks of the iterations of a loop, on several threads, with the loop as it was in each of them.

    for i in range(n):          for block in parallel(blocks):
        body(i)          -->        for i in range(block * size, min((block + 1) * size, n)):
                                        body(i)

What later passes make of the loop, lanes and rows that run side by side, is made inside of a block.
Blocks are made of sizes, never of the number of threads: results do not depend on that.
"""

from __future__ import annotations

import dataclasses

from hybridjit.analysis.limits import loop_extent
from hybridjit.arith.simplify import simplify
from hybridjit.ir.expr import Const, Expr, FloorDiv, Load, Max, Min, Var
from hybridjit.ir.stmt import For, Let, LoopKind, Stmt, Store, seq
from hybridjit.ir.visit import StmtMutator, walk
from hybridjit.lowering.chunks import make_parallel, part_of, unnamed

# Enough for the threads to share evenly, each long enough for rows that run side by side.
_BLOCKS, _ROWS = 64, 8
# Blocks of columns: memory is read in pieces of rows, which had better be long. Row times matrix,
# 4000 x 4000 on two threads: 6.8 ms in eight blocks, 5.4 in four, 4.6 in two.
_COLUMNS, _FEW = 2048, 4


def make_blocks(loop: For, nest: For | None = None, *, multiple: int = 1) -> Stmt:
    """`loop`, of a constant step, in blocks of a `multiple` of iterations.

    With `nest`, blocks go around a whole loop that it is in.
    """
    extent = simplify(loop.safe_extent)
    trips = int(extent.value.real) if isinstance(extent, Const) else loop_extent(loop)
    is_along = nest is not None and _goes_along_rows(loop)
    least, few = (_COLUMNS, _FEW) if is_along else (_ROWS, _ROWS)
    if trips is not None:
        size = -(-max(trips, 1) // min(_BLOCKS, max(trips // least, min(trips, few), 1)))
        if size > _ROWS:  # whole groups of rows
            # Rather fewer than more of them: smaller blocks are shared evenly. But of columns none
            # are left over: a block of few of them takes as long as one of many.
            size = (-(-size // _ROWS) if is_along else size // _ROWS) * _ROWS
        size = -(-size // multiple) * multiple
        return _blocked(loop, nest, (Const(trips), Const(size), Const(-(-trips // size))))
    count, size = Var("trips"), Var("size")
    shortest: Expr = Const(least)
    if is_along:
        shortest = Min(shortest, (FloorDiv(count, Const(few * _ROWS)) + 1) * _ROWS)
    even = Max(FloorDiv(count + (_BLOCKS - 1), Const(_BLOCKS)), shortest)
    if multiple > 1:
        even = FloorDiv(even + (multiple - 1), Const(multiple)) * multiple
    lets = [Let(count, extent), Let(size, even)]
    blocks = FloorDiv(count + size - 1, size)
    return seq(*lets, _blocked(loop, nest, (count, size, blocks)))


def _goes_along_rows(loop: For) -> bool:
    """Whether the iterations of a loop touch elements that lie next to each other."""
    accesses = (node for node in walk(loop.body) if isinstance(node, Load | Store))
    return any(access.indices and access.indices[-1] is loop.var for access in accesses)


def _blocked(loop: For, nest: For | None, counts: tuple[Expr, Expr, Expr]) -> For:
    """Blocks of `counts`: the iterations, those of a block, and how many blocks there are."""
    block = Var("block")
    trips, size, blocks = counts
    each = dataclasses.replace(loop, kind=LoopKind.SERIAL, annotations=loop.hints)
    first = simplify(block * size)
    is_even = simplify(blocks * size) == trips
    length = size if is_even else simplify(Min(size, trips - first))
    inner = part_of(each, first, length)
    body = inner if nest is None else _Exchange(loop, inner).rewrite(nest)
    hints = unnamed(loop.hints)
    outer = For(block, Const(0), blocks, Const(1), body, annotations=hints, span=loop.span)
    if loop.kind is not LoopKind.PARALLEL:
        return make_parallel(outer)
    return dataclasses.replace(outer, kind=loop.kind, annotations=unnamed(loop.annotations))


class _Exchange(StmtMutator):
    """Put a loop in the place of another one."""

    def __init__(self, old: For, new: For) -> None:
        self.old, self.new = old, new

    def rewrite_For(self, node: For) -> Stmt:
        return self.new if node is self.old else self.generic(node)
