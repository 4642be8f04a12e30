"""`x if condition else y` on arrays: a new array, which takes the elements of one or the other."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import replace

from hybridjit.frontend.arrays.elementwise import shape_text
from hybridjit.frontend.arrays.memory import elements_of, scratch, settled, store_array, view_of
from hybridjit.frontend.arrays.refusals import refuse_choice
from hybridjit.frontend.builder import Builder
from hybridjit.frontend.values import AnyArray, Array, ArrayExpr, buffers_of
from hybridjit.ir.expr import Expr
from hybridjit.ir.stmt import If, Let, Stmt
from hybridjit.ir.visit import walk

# An array that may not be needed, and the statements that it needs.
Side = tuple[AnyArray, list[Stmt]]


def choose_array(build: Builder, cond: Expr, sides: Sequence[Side], node: ast.IfExp) -> ArrayExpr:
    """The array that a condition chooses. What NumPy would write to it is refused."""
    sides = [_settled(build, *side) for side in sides]
    span, values = build.span(node), [value for value, _ in sides]
    arrays = [elements_of(build, value) for value in values]
    _check_choice(build, arrays, sides, node)
    chosen = scratch(build, "chosen", arrays[0], span)
    branches: list[Stmt] = []
    for array, (_, needed) in zip(arrays, sides, strict=True):
        with build.collect() as stmts:
            build.body.extend(needed)
            store_array(build, view_of(build, Array(chosen)), array, span)
        branches.append(build.close(stmts))
    build.emit(If(cond, branches[0], branches[1], span=span))
    sources = [buffer for value in values for buffer in buffers_of(value)]
    if sources:
        build.unit.copied_from[chosen] = sources
        build.unit.standins[chosen] = (
            f"`{ast.unparse(node)}` is one of two arrays, and a copy of it here, which would "
            "not see what is written to it",
            "choose with if and else on lines of their own, or copy it with .copy()",
        )
    return replace(elements_of(build, Array(chosen)), buffer=chosen)


def _settled(build: Builder, value: AnyArray, needed: list[Stmt]) -> Side:
    """A side by indices that are read where it is chosen, after what it needs."""
    if not isinstance(value, Array):
        return value, needed
    with build.collect() as stmts:
        build.body.extend(needed)
        value = settled(build, value)
    return value, stmts


def _check_choice(
    build: Builder, arrays: Sequence[ArrayExpr], sides: Sequence[Side], node: ast.IfExp
) -> None:
    """Refuse arrays of different types or shapes, or whose shape only one side computes."""
    if any(array.mask is not None for array in arrays):
        raise build.refuse(
            "how many elements a mask selects is known only on one side of this",
            node,
            help="choose between arrays with if and else on lines of their own",
        )
    one, other = arrays
    is_alike = one.dtype is other.dtype and len(one.shape) == len(other.shape)
    if not is_alike or not all(map(build.ranges.same, one.shape, other.shape)):
        raise build.mismatch(
            f"one side is {one.dtype} of shape {shape_text(one.shape)}, the other "
            f"{other.dtype} of shape {shape_text(other.shape)}",
            node,
            help="choose between arrays with if and else on lines of their own",
        )
    inside = {stmt.var for stmt in sides[0][1] if isinstance(stmt, Let)}
    if any(part in inside for size in one.shape for part in walk(size)):
        raise refuse_choice(one, build.span(node.body))
