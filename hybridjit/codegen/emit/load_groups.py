"""Loads of a vector loop that lie between each other: `a[2 * i]` and `a[2 * i + 1]`, or `a[i, 0]`
and `a[i, 1]` of rows of two.

They are picked from the same rows of memory, each of which is loaded once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from hybridjit.arith.linear import Linear, linear_form
from hybridjit.codegen.emit.memory import ArrayAddress
from hybridjit.codegen.llvm_types import find_constant
from hybridjit.ir.expr import Buffer, Const, Expr, Load, Var
from hybridjit.ir.stmt import For, Let, Stmt, Store, flat_stmts
from hybridjit.ir.visit import walk

# Of loads that lie a constant number of elements apart: the array, the indices that are not linear,
# and what the others add up to, in elements, but for a constant.
Key = tuple[Buffer, tuple[Expr | None, ...], frozenset[tuple[Var, int]]]


class LoadGroups:
    """For what the simple statements of a vector loop load: the least and the largest offset.

    All of them run each time, so that what lies between two elements may be loaded, too.
    """

    def __init__(self, loop: For, arrays: Mapping[Buffer, ArrayAddress]) -> None:
        self.loop, self.arrays = loop, arrays
        self.offsets: dict[Key, tuple[int, int]] = {}
        for load in _sure_loads(loop.body):
            found = self._find_place(load)
            if found is not None:
                key, offset = found
                low, high = self.offsets.get(key, (offset, offset))
                self.offsets[key] = min(low, offset), max(high, offset)

    def elements_beside(self, load: Load) -> tuple[int, int]:
        """How many elements lie before and after that of `load` in its group, if it is close."""
        found = self._find_place(load)
        if found is None or not isinstance(self.loop.step, Const):
            return 0, 0
        key, offset = found
        low, high = self.offsets.get(key, (offset, offset))
        step = dict(key[2]).get(self.loop.var, 0) * self.loop.step.value.real
        # A load that is none of the group's may lie outside of it: nobody else loads that element.
        is_close = low <= offset <= high and high - low < step
        return (offset - low, high - offset) if is_close else (0, 0)

    def _find_place(self, load: Load) -> tuple[Key, int] | None:
        """Where an element lies; None if the elements of a row are not next to each other."""
        array = self.arrays.get(load.buffer)
        steps = [] if array is None else _steps(array)
        if not steps or steps[-1] != 1:
            return None
        place, others = Linear({}), list[Expr | None]()
        for index, step in zip(load.indices, steps, strict=True):
            form = None if step is None else linear_form(index)
            others.append(index if form is None else None)
            place = place if form is None else place.plus(form, step or 0)
        return (load.buffer, tuple(others), frozenset(place.terms.items())), place.constant


def _sure_loads(body: Stmt) -> Iterator[Load]:
    for stmt in flat_stmts(body):
        if isinstance(stmt, Let | Store):
            yield from (node for node in walk(stmt) if isinstance(node, Load) and node.indices)


def _steps(array: ArrayAddress) -> list[int | None]:
    """How many elements further the next index along each axis is, if that is known."""
    size = array.dtype.bits // 8
    known = [find_constant(stride) for stride in array.strides]
    return [None if stride is None or stride % size else stride // size for stride in known]
