"""Contiguous groups of the iterations of a loop, one for a thread at a time."""

from __future__ import annotations

from dataclasses import field, replace

from hybridjit.analysis.cost import MIN_PARALLEL_WORK, find_work
from hybridjit.analysis.limits import loop_extent
from hybridjit.arith.simplify import simplify
from hybridjit.ir.expr import Const, Expr, FloorDiv, Max, Min, Var
from hybridjit.ir.stmt import AUTOMATIC, UNNAMED, Annotations, For, Let, LoopKind, Stmt
from hybridjit.record import record

# Enough for the threads of a large machine, few enough to combine at no cost.
MAX_CHUNKS = 256
_ZERO, _ONE = Const(0), Const(1)


def make_parallel(loop: For) -> For:
    """`loop` on several threads, by itself."""
    return replace(loop, kind=LoopKind.PARALLEL, annotations=(AUTOMATIC, *loop.hints))


def unnamed(annotations: Annotations) -> Annotations:
    """Those of a loop over parts of another one that has `annotations`."""
    return ((UNNAMED, True), *annotations)


@record(frozen=False)
class Chunks:
    """Contiguous groups of the iterations of a loop: how many there are, and of which size."""

    trips: Expr
    size: Expr
    count: Expr
    most: Expr
    lets: list[Stmt] = field(default_factory=list[Stmt])
    var: Var = field(default_factory=lambda: Var("chunk"))

    @staticmethod
    def single(loop: For) -> Chunks:
        """One for each iteration."""
        trips = loop_extent(loop)
        chunks = Chunks(_ZERO, _ONE, _ZERO, _ONE)
        chunks.trips = chunks.bind("trips", loop.safe_extent if trips is None else Const(trips))
        chunks.count = chunks.most = chunks.trips
        return chunks

    @staticmethod
    def of(loop: For) -> Chunks:
        """As many chunks as are worth it, up to `MAX_CHUNKS`."""
        work = find_work(loop.body)
        least = 1 if work is None else max(1, MIN_PARALLEL_WORK // (work + 1))
        trips = loop_extent(loop)
        if trips is not None:
            size = max(-(-trips // MAX_CHUNKS), least)
            count = -(-trips // size)
            return Chunks(Const(trips), Const(size), Const(count), Const(max(1, count)))
        chunks = Chunks(_ZERO, _ONE, _ZERO, Const(MAX_CHUNKS))
        chunks.trips = chunks.bind("trips", loop.safe_extent)
        even = FloorDiv(chunks.trips + (MAX_CHUNKS - 1), Const(MAX_CHUNKS))
        chunks.size = chunks.bind("size", Max(even, Const(least)))
        needed = FloorDiv(chunks.trips + chunks.size - 1, chunks.size)
        chunks.count = chunks.bind("chunks", Min(needed, Const(MAX_CHUNKS)))
        return chunks

    def bind(self, name: str, value: Expr) -> Expr:
        """A name for `value`, or `value` itself where it needs none."""
        value = simplify(value)
        if isinstance(value, Const | Var):
            return value
        var = Var(name)
        self.lets.append(Let(var, value))
        return var

    def inner_loop(self, loop: For) -> For:
        """`loop` for the iterations of one chunk."""
        before = simplify(self.var * self.size)
        # The end of the loop says more than a count of its iterations, to those who prove bounds.
        trips = loop.stop - loop.start if loop.step == _ONE else self.trips
        return part_of(loop, before, Min(self.size, trips - before))


def part_of(loop: For, first: Expr, count: Expr) -> For:
    """`count` iterations of `loop`, of a constant step, from number `first` on: one at least.

    for i in range(a, b, 3):    -->    x = a + first * 3
                                       for i in range(x, x + count * 3 - 2, 3):

    The end is next to the last value, so that it does not overflow where the loop's does not.
    """
    start = simplify(loop.start + first * loop.step)
    step = int(loop.step.value.real) if isinstance(loop.step, Const) else 0
    beyond = step - 1 if step > 0 else step + 1
    return replace(loop, start=start, stop=simplify(start + count * loop.step - beyond))
