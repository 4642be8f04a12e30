"""Which accesses of loops in lanes do not take whole rows: `kernel.report(...)`.

    for i in vectorize(...):        1 of 2 loads gathers: elements of a column lie apart
        c[i] = a[i, 0] + b[i]

Asks what codegen/emit/vector_memory.py asks of a whole vector. The rest of a loop, under a mask,
may gather what others pick.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from hybridjit.codegen.layout import Layout
from hybridjit.ir.expr import Buffer, Const, Load
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.stmt import For, LoopKind, Store
from hybridjit.ir.visit import walk
from hybridjit.lowering.lane_cost import find_step, max_picked_step


class Gathers:
    """How far apart the lanes of accesses lie, in a function whose arguments lie as in `layout`."""

    def __init__(self, func: PrimFunc, layout: Layout, vector_bits: int) -> None:
        arrays = zip(func.buffers, layout.arrays, strict=True)
        self.strides = {buffer: array.strides for buffer, array in arrays if array.strides}
        self.most = max_picked_step(vector_bits)

    def describe(self, loop: For) -> str:
        """Which accesses of a loop that has lanes gather or scatter, in words."""
        loops = (node for node in walk(loop) if isinstance(node, For))
        vectors = [inner for inner in loops if inner.kind is LoopKind.VECTORIZED]
        return max(map(self._describe, vectors), key=len, default="")

    def _describe(self, loop: For) -> str:
        nodes = [node for node in walk(loop.body) if isinstance(node, Load | Store)]
        found = [node for node in nodes if node.indices and not node.buffer.is_register]
        loads = [self._is_apart(node, loop) for node in found if isinstance(node, Load)]
        stores = [self._is_apart(node, loop) for node in found if isinstance(node, Store)]
        texts = (_count(loads, "loads", "gather"), _count(stores, "stores", "scatter"))
        return ", ".join(filter(None, texts))

    def _is_apart(self, node: Load | Store, loop: For) -> bool:
        distance = self._distance(node, loop)
        if distance is None:
            return True
        most = self.most if isinstance(node, Load) else 1
        return not -1 <= distance <= most

    def _distance(self, node: Load | Store, loop: For) -> float | None:
        """How many elements further the next lane is; None if that is not known."""
        total = 0.0
        for axis, index in enumerate(node.indices):
            step = find_step(index, loop.var)
            if step == 0:
                continue
            stride = self._stride(node.buffer, axis)
            if step is None or stride is None:
                return None
            total += step * stride
        return total

    def _stride(self, buffer: Buffer, axis: int) -> float | None:
        """How many elements apart neighbours along an axis are."""
        strides = self.strides.get(buffer)
        if strides is not None:
            stride = strides[axis]
            return None if stride is None else stride / (buffer.dtype.bits / 8)
        sizes = buffer.shape[axis + 1 :]
        known = [int(size.value.real) for size in sizes if isinstance(size, Const)]
        return math.prod(known) if len(known) == len(sizes) else None


def _count(apart: Sequence[bool], name: str, verb: str) -> str:
    number = sum(apart)
    return f"{number} of {len(apart)} {name} {verb}{'s' * (number == 1)}" if number else ""
