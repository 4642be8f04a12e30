"""Which accesses of loops in lanes do not take whole rows: `kernel.report(...)`.

    for i in vectorize(...):        1 of 2 loads gathers: elements of a column lie apart
        c[i] = a[i, 0] + b[i]

Asks what codegen/emit/vector_memory.py asks. Under a mask, as in the rest of a loop, elements that
lie close are gathered as well, which others pick from whole rows.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import TypeGuard

from hybridjit.codegen.layout import Layout
from hybridjit.ir.expr import Buffer, Const, Load, Node, Var
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.stmt import For, If, LoopKind, Store
from hybridjit.ir.visit import children, walk
from hybridjit.lowering.lane_cost import find_step, max_picked_step, spelled_out


class Gathers:
    """How far apart the lanes of accesses lie, in a function whose arguments lie as in `layout`."""

    def __init__(self, func: PrimFunc, layout: Layout, vector_bits: int) -> None:
        arrays = zip(func.buffers, layout.arrays, strict=True)
        self.strides = {buffer: array.strides for buffer, array in arrays if array.strides}
        self.most = max_picked_step(vector_bits)

    def describe(self, loops: Iterable[For]) -> str:
        """Which accesses of loops that have lanes gather or scatter, in words."""
        nodes = (node for loop in loops for node in walk(loop))
        vectors = [node for node in nodes if _is_vector(node)]
        whole = [self._describe(loop) for loop in vectors if not _is_rest(loop)]
        rests = [self._describe(loop) for loop in vectors if _is_rest(loop)]
        rest = max(rests, key=len, default="")
        return max(whole, key=len, default="") or (f"in the rest, {rest}" if rest else "")

    def _describe(self, loop: For) -> str:
        loop = spelled_out(loop)
        loads: list[bool] = []
        stores: list[bool] = []
        for node, is_masked in _accesses(loop.body, loop.var, is_masked=False):
            found = loads if isinstance(node, Load) else stores
            found.append(self._is_apart(node, loop, is_masked=is_masked))
        texts = (_count(loads, "loads", "gather"), _count(stores, "stores", "scatter"))
        return ", ".join(filter(None, texts))

    def _is_apart(self, node: Load | Store, loop: For, *, is_masked: bool) -> bool:
        distance = self._distance(node, loop)
        if distance is None:
            return True
        most = self.most if isinstance(node, Load) and not is_masked else 1
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


def _is_vector(node: Node) -> TypeGuard[For]:
    return isinstance(node, For) and node.kind is LoopKind.VECTORIZED


def _is_rest(loop: For) -> bool:
    """True of a loop in which a bound says which lanes take part."""
    return isinstance(loop.body, If) and not any(isinstance(n, Load) for n in walk(loop.body.cond))


def _accesses(node: Node, lane: Var, *, is_masked: bool) -> Iterator[tuple[Load | Store, bool]]:
    """The accesses to arrays, and whether some lanes may take no part in each."""
    if isinstance(node, Load | Store) and node.indices and not node.buffer.is_register:
        yield node, is_masked
    inside = is_masked or (isinstance(node, If) and lane in walk(node.cond))
    for child in children(node):
        is_condition = isinstance(node, If) and child is node.cond
        yield from _accesses(child, lane, is_masked=is_masked if is_condition else inside)


def _count(apart: Sequence[bool], name: str, verb: str) -> str:
    number = sum(apart)
    return f"{number} of {len(apart)} {name} {verb}{'s' * (number == 1)}" if number else ""
