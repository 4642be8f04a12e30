"""`x if condition else y` on arrays: a new array, which takes the elements of one or the other."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import replace

from hybridjit.frontend.arrays.elementwise import shape_text
from hybridjit.frontend.arrays.gather import ArrayGather
from hybridjit.frontend.arrays.refusals import refuse_choice
from hybridjit.frontend.values import AnyArray, Array, ArrayExpr, buffers_of
from hybridjit.ir.expr import Expr
from hybridjit.ir.stmt import If, Let, Stmt
from hybridjit.ir.visit import walk

# An array that may not be needed, and the statements that it needs.
Side = tuple[AnyArray, list[Stmt]]


class ArrayChoices(ArrayGather):
    """One of two arrays."""

    def choose_array(self, cond: Expr, sides: Sequence[Side], node: ast.IfExp) -> ArrayExpr:
        """The array that a condition chooses. What NumPy would write to it is refused."""
        span, values = self.span(node), [value for value, _ in sides]
        arrays = [self.array(value) for value in values]
        self._check_choice(arrays, sides, node)
        chosen = self.scratch("chosen", arrays[0], span)
        branches: list[Stmt] = []
        for array, (_, needed) in zip(arrays, sides, strict=True):
            with self.collect() as stmts:
                self.body.extend(needed)
                self.store_array(self.view(Array(chosen)), array, span)
            branches.append(self.close(stmts))
        self.emit(If(cond, branches[0], branches[1], span=span))
        sources = [buffer for value in values for buffer in buffers_of(value)]
        if sources:
            self.unit.copied_from[chosen] = sources
            self.unit.standins[chosen] = (
                f"`{ast.unparse(node)}` is one of two arrays, and a copy of it here, which would "
                "not see what is written to it",
                "choose with if and else on lines of their own, or copy it with .copy()",
            )
        return replace(self.array(Array(chosen)), buffer=chosen)

    def _check_choice(
        self, arrays: Sequence[ArrayExpr], sides: Sequence[Side], node: ast.IfExp
    ) -> None:
        """Refuse arrays of different types or shapes, or whose shape only one side computes."""
        for array, part in zip(arrays, (node.body, node.orelse), strict=True):
            self.check_whole(array, self.span(part))
        one, other = arrays
        is_alike = one.dtype is other.dtype and len(one.shape) == len(other.shape)
        if not is_alike or not all(map(self.ranges.same, one.shape, other.shape)):
            raise self.mismatch(
                f"one side is {one.dtype} of shape {shape_text(one.shape)}, the other "
                f"{other.dtype} of shape {shape_text(other.shape)}",
                node,
                help="choose between arrays with if and else on lines of their own",
            )
        inside = {stmt.var for stmt in sides[0][1] if isinstance(stmt, Let)}
        if any(part in inside for size in one.shape for part in walk(size)):
            raise refuse_choice(one, self.span(node.body))
