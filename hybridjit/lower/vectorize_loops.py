"""Cut vector loops into vectors of the machine, and a rest.

    for j in vectorize(n):            for j_0 in range(0, n // 16 * 16, 16):
        b[j] = a[j] + 1.0      -->        for j in vectorize(j_0, j_0 + 16):
                                              b[j] = a[j] + 1.0
                                      for j_1 in vectorize(n // 16 * 16, n // 16 * 16 + 16):
                                          if j_1 < n:
                                              b[j_1] = a[j_1] + 1.0

Afterwards a vector loop has a constant number of lanes, a power of two. One that has no vector
code is a `range`. Relies on: checked indices; iterations that are independent but for reductions.
"""

from __future__ import annotations

import dataclasses
from functools import cached_property

from hybridjit.analysis.initialization import find_unassigned_reads
from hybridjit.analysis.lanes import Lanes, find_lanes
from hybridjit.analysis.limits import loop_extent
from hybridjit.ir.expr import Buffer, Const
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.stmt import For, LoopKind, Seq, Stmt, seq
from hybridjit.ir.visit import Mutator
from hybridjit.lower.cut_loops import cut
from hybridjit.lower.drop_continues import drop_continues
from hybridjit.lower.private_lanes import private_lanes
from hybridjit.lower.vector_width import find_width
from hybridjit.target import Target


def vectorize_loops(func: PrimFunc, target: Target) -> PrimFunc:
    """`func` with its vector loops cut into vectors of `target`."""
    body = _VectorizeLoops(func, target).rewrite(func.body)
    return func if body is func.body else dataclasses.replace(func, body=body)


class _VectorizeLoops(Mutator):
    def __init__(self, func: PrimFunc, target: Target) -> None:
        self.func = func
        self.fastmath = func.fastmath
        self.target = target

    @cached_property
    def unset(self) -> frozenset[Buffer]:
        return find_unassigned_reads(self.func)

    def rewrite_Seq(self, node: Seq) -> Stmt:
        rewritten = self.generic(node)
        return rewritten if rewritten is node else seq(*rewritten.stmts)

    def rewrite_For(self, node: For) -> Stmt:
        if node.kind is not LoopKind.VECTORIZED:
            return self.generic(node)
        vector = dataclasses.replace(node, body=drop_continues(node.body))
        lanes = find_lanes(vector, self.fastmath, self.unset)
        if not _has_vectors(lanes):
            return dataclasses.replace(self.generic(node), kind=LoopKind.SERIAL)
        parts = cut(vector, find_width(vector, self.target))
        if lanes.needs_number:
            return private_lanes(lanes, parts, self.fastmath)
        return seq(*parts.names, *parts.loops)


def _has_vectors(lanes: Lanes) -> bool:
    """Whether the loop has vector code, and enough iterations to need it."""
    loop = lanes.loop
    if lanes.obstacle is not None or not isinstance(loop.step, Const):
        return False
    extent = loop_extent(loop)
    return extent is None or extent > 1
