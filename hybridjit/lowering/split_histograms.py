"""Give chunks of a loop arrays of their own to combine values into, wherever they go.

    for i in range(n):             if chunks > 1:
        h[a[i]] += 1                   h_partial = allocate((chunks, m), ...)
                                       for chunk in parallel(chunks):
                            -->            for k in range(m):
                                               h_partial[chunk, k] = 0
                                           for i in range(...):
                                               h_partial[chunk, a[i]] += 1
                                       for chunk in range(chunks):
                                           for k in range(m):
                                               h[k] += h_partial[chunk, k]
                                   else:
                                       as it was

The chunks depend on the number of iterations and the sizes of the arrays only, and are combined in
order: the result does not depend on the number of threads. Where an iteration fails, the arrays
are as they were. Relies on: checked indices, which are inside of the copies as well.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from functools import reduce

from hybridjit.analysis.limits import loop_extent
from hybridjit.analysis.private_reduction import PrivateReduction
from hybridjit.arith.simplify import simplify
from hybridjit.ir.expr import Add, Buffer, Const, Expr, FloorDiv, Gt, Load, Max, Min, Mul, Var
from hybridjit.ir.stmt import Allocate, For, If, Stmt, Store, seq
from hybridjit.ir.visit import Mutator, fresh_copy
from hybridjit.lowering.chunks import Chunks, make_parallel, unnamed

# More copies take longer to combine than they save.
_MOST_CHUNKS = 32
# A chunk has so many iterations for each element of the copies, and at least some thousands.
_PER_ELEMENT = 4
MIN_CHUNK = 1 << 14
# Larger arrays go through the caches at each update: copies would do so, too.
_MOST_ELEMENTS = 1 << 16


def can_split(reductions: Sequence[PrivateReduction]) -> bool:
    """True if copies of the arrays are small, as far as that is known."""
    sizes = [_size(found.buffer) for found in reductions]
    if any(found.buffer.is_growing for found in reductions):
        return False
    return all(
        not isinstance(size, Const) or 0 < int(size.value.real) <= _MOST_ELEMENTS for size in sizes
    )


def split_histograms(
    loop: For, reductions: Sequence[PrivateReduction], fastmath: Sequence[str]
) -> Stmt | None:
    """`loop`, of a constant step, in chunks with arrays of their own, if it has enough to do."""
    chunks = _find_chunks(loop, reductions)
    copies = {found.buffer: _copy_of(found.buffer, chunks.count) for found in reductions}
    on_threads = seq(
        *(Allocate(copy, zero=False) for copy in copies.values()),
        _make_loop(loop, chunks, copies, {found: found.identity(fastmath) for found in reductions}),
        *(_combine(found, copies[found.buffer], chunks.count) for found in reductions),
    )
    match simplify(Gt(chunks.count, Const(1))):
        case Const(value=are_several):
            return seq(*chunks.lets, on_threads) if are_several else None
        case are_several:
            versions = If(are_several, on_threads, fresh_copy(loop), span=loop.span)
            return seq(*chunks.lets, versions)


def _find_chunks(loop: For, reductions: Sequence[PrivateReduction]) -> Chunks:
    chunks = Chunks(Const(0), Const(1), Const(0), Const(_MOST_CHUNKS))
    extent = loop_extent(loop)
    chunks.trips = chunks.bind("trips", loop.safe_extent if extent is None else Const(extent))
    chunks.count = chunks.bind("chunks", _count_chunks(chunks.trips, reductions))
    even = FloorDiv(chunks.trips + chunks.count - 1, Max(chunks.count, Const(1)))
    chunks.size = chunks.bind("size", even)
    return chunks


def _count_chunks(trips: Expr, reductions: Sequence[PrivateReduction]) -> Expr:
    elements = reduce(Add, (_size(found.buffer) for found in reductions))
    least = Max(elements * _PER_ELEMENT, Const(MIN_CHUNK))
    return Min(FloorDiv(trips, simplify(least)), Const(_MOST_CHUNKS))


def _size(buffer: Buffer) -> Expr:
    return simplify(reduce(Mul, buffer.shape, Const(1)))


def _copy_of(buffer: Buffer, chunks: Expr) -> Buffer:
    return Buffer(f"{buffer.name}_partial", buffer.dtype, (chunks, *buffer.shape), "global")


def _make_loop(
    loop: For,
    chunks: Chunks,
    copies: dict[Buffer, Buffer],
    identities: dict[PrivateReduction, Const],
) -> For:
    """The loop over chunks: each starts with the identity, and has its part of the iterations."""
    body = _Redirect(copies, chunks.var).rewrite(loop.body)
    starts: list[Stmt] = []
    for found, identity in identities.items():
        places = [Var("k") for _ in found.buffer.shape]
        store = Store(copies[found.buffer], (chunks.var, *places), identity)
        starts.append(_over(found.buffer, places, store))
    inner = chunks.inner_loop(dataclasses.replace(loop, body=body))
    whole = For(chunks.var, Const(0), chunks.count, Const(1), seq(*starts, inner), span=loop.span)
    return make_parallel(dataclasses.replace(whole, annotations=unnamed(loop.hints)))


def _combine(reduction: PrivateReduction, copy: Buffer, count: Expr) -> For:
    chunk, places = Var("chunk"), [Var("k") for _ in reduction.buffer.shape]
    old = Load(reduction.buffer, tuple(places))
    joined = reduction.join(old, Load(copy, (chunk, *places)))
    store = Store(reduction.buffer, tuple(places), joined)
    return For(chunk, Const(0), count, Const(1), _over(reduction.buffer, places, store))


def _over(buffer: Buffer, places: Sequence[Var], stmt: Stmt) -> Stmt:
    """`stmt` for all places of an array."""
    for var, extent in zip(reversed(places), reversed(buffer.shape), strict=True):
        stmt = For(var, Const(0), extent, Const(1), stmt)
    return stmt


class _Redirect(Mutator):
    """Accesses of arrays go to the copies of a chunk."""

    def __init__(self, copies: dict[Buffer, Buffer], chunk: Var) -> None:
        self.copies, self.chunk = copies, chunk

    def rewrite_Load(self, node: Load) -> Expr:
        made: Load = self.generic(node)
        if made.buffer not in self.copies:
            return made
        return dataclasses.replace(
            made, buffer=self.copies[made.buffer], indices=(self.chunk, *made.indices)
        )

    def rewrite_Store(self, node: Store) -> Stmt:
        made: Store = self.generic(node)
        if made.buffer not in self.copies:
            return made
        return dataclasses.replace(
            made, buffer=self.copies[made.buffer], indices=(self.chunk, *made.indices)
        )
