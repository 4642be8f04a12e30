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
from typing import TYPE_CHECKING

from hybridjit.analysis.lanes import Lanes, find_lanes
from hybridjit.analysis.limits import limits_in, loop_extent, most_iterations
from hybridjit.analysis.loop_mutator import LoopMutator
from hybridjit.analysis.traffic import exceeds_caches
from hybridjit.analysis.vector_width import find_lanes_wanted, find_width
from hybridjit.ir.expr import Const
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.hints import with_lanes
from hybridjit.ir.stmt import HAS_LANES, For, Let, LoopKind, Stmt, Store, flat_stmts, seq
from hybridjit.lazy import lazy_module
from hybridjit.lowering.cut_loops import cut
from hybridjit.lowering.drop_continues import drop_continues
from hybridjit.target import Target

if TYPE_CHECKING:
    from hybridjit.lowering import private_lanes
else:
    private_lanes = lazy_module("hybridjit.lowering.private_lanes")  # for reductions


def vectorize_loops(func: PrimFunc, target: Target) -> PrimFunc:
    """`func` with its vector loops cut into vectors of `target`."""
    body = _VectorizeLoops(func, target).rewrite(func.body)
    return func if body is func.body else dataclasses.replace(func, body=body)


class _VectorizeLoops(LoopMutator):
    def __init__(self, func: PrimFunc, target: Target) -> None:
        LoopMutator.__init__(self, func)
        self.fastmath = func.fastmath
        self.target = target

    def rewrite_For(self, node: For) -> Stmt:
        if node.kind is not LoopKind.VECTORIZED:
            return self.go_inside(node)
        vector = dataclasses.replace(node, body=drop_continues(node.body))
        lanes = find_lanes(vector, self.fastmath, self.unset)
        if not _has_vectors(lanes):
            return dataclasses.replace(self.generic(node), kind=LoopKind.SERIAL)
        partial_results = [reduction.buffer.dtype for reduction in lanes.shared]
        width = find_width(vector, self.target, partial_results)
        if vector.hint(HAS_LANES) is None:  # else it is a part of a tile, whose lanes count
            vector = with_lanes(vector, find_lanes_wanted(vector, self.target))
        if not lanes.needs_number and self._is_large(vector):
            return vector
        if lanes.needs_number:
            return private_lanes.private_lanes(lanes, cut(vector, width), self.fastmath)
        parts = cut(vector, width, most_iterations(vector, limits_in(self.scope)))
        return seq(*parts.names, *parts.loops)

    def _is_large(self, loop: For) -> bool:
        """Whether some of what `loop` stores may go past the caches: it is cut later.

        Where the lines of the caches begin is known at run time only (emit/stream_stores.py).
        """
        around = [item for item in self.scope if isinstance(item, For)]
        is_plain = all(isinstance(stmt, Let | Store) for stmt in flat_stmts(loop.body))
        return is_plain and exceeds_caches([*around, loop], loop.body)


def _has_vectors(lanes: Lanes) -> bool:
    """Whether the loop has vector code, and enough iterations to need it."""
    loop = lanes.loop
    if lanes.obstacle is not None or not isinstance(loop.step, Const):
        return False
    extent = loop_extent(loop)
    return extent is None or extent > 1
