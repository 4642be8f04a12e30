"""Contiguous groups of the iterations of a loop, one for a thread at a time."""

from __future__ import annotations

from dataclasses import field, replace

from hybridjit.analysis.cost import MIN_PARALLEL_WORK, find_work
from hybridjit.analysis.limits import loop_extent
from hybridjit.arith.simplify import simplify
from hybridjit.ir.expr import Const, Expr, FloorDiv, Max, Min, Var
from hybridjit.ir.stmt import UNNAMED, Annotations, For, Let, LoopKind, Stmt, seq
from hybridjit.record import record

# Enough for the threads of a large machine, few enough to combine at no cost.
MAX_CHUNKS = 256
_ZERO, _ONE = Const(0), Const(1)
# The hint of loops that nobody asked to be parallel.
AUTOMATIC = ("automatic", True)


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
        """`loop` for the iterations of one chunk.

        Written so that no bound overflows.
        """
        before = simplify(self.var * self.size)
        if loop.step == _ONE:
            start = simplify(loop.start + before)
            stop = simplify(start + Min(self.size, loop.stop - start))
            return replace(loop, start=start, stop=stop)
        counter = Var(f"{loop.var.name}_count")
        stop = simplify(before + Min(self.size, self.trips - before))
        value = Let(loop.var, simplify(loop.start + counter * loop.step))
        body = seq(value, loop.body)
        return replace(loop, var=counter, start=before, stop=stop, step=_ONE, body=body)
