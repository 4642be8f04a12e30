"""Where the smallest or largest element of an array is."""

from __future__ import annotations

import ast

from hybridjit.arith.ranges import ZERO, plus, times
from hybridjit.errors import Span
from hybridjit.frontend.arrays.reductions import ArrayReductions, Axes
from hybridjit.frontend.comparisons import compare
from hybridjit.frontend.values import ArrayExpr, Scalar
from hybridjit.ir.dtype import INT64, ScalarType
from hybridjit.ir.expr import And, Call, Expr, Gt, Load, Lt, Not, Or
from hybridjit.ir.stmt import If, Store


class ArrayExtrema(ArrayReductions):
    """argmin and argmax: the first of several equal ones; a NaN comes before all numbers."""

    def find_extremum(
        self, name: str, value: ArrayExpr, axes: Axes, node: ast.AST
    ) -> Scalar | ArrayExpr:
        """The index of the extremum: of the flat array, or along an axis."""
        span = self.span(node)
        if value.mask is not None or value.dtype.is_complex:
            raise self.refuse(
                f"{name} takes arrays of real numbers, without a mask",
                node,
                help="write a loop with an if",
            )
        self.require_elements(name, value, axes, node)
        shape = tuple(value.shape[axis] for axis in axes.kept)
        if shape:
            best = self.scratch("best", ArrayExpr(shape, value.dtype, value.element), span)
            where = self.scratch("where", ArrayExpr(shape, INT64, value.element), span)
        else:
            best = self.new_register("best", value.dtype, span)
            where = self.new_register("where", INT64, span)
        order = Gt if name == "argmax" else Lt

        def begin(indices: tuple[Expr, ...]) -> None:
            first: list[Expr] = [ZERO] * axes.ndim
            for axis, position in zip(axes.kept, indices, strict=True):
                first[axis] = position
            self.emit(Store(best, indices, value.element(first).expr, span=span))
            self.emit(Store(where, indices, ZERO, span=span))

        def body(indices: tuple[Expr, ...]) -> None:
            place = tuple(indices[axis] for axis in axes.kept)
            found = self.let(value.element(indices), "x", span)
            old = Scalar(Load(best, place, span=span), found.type)
            is_better = self._beats(order, found, old, span)
            with self.collect() as stmts:
                self.emit(Store(best, place, found.expr, span=span))
                self.emit(Store(where, place, _flat(value, axes, indices), span=span))
            self.emit(If(is_better, self.close(stmts), span=span))

        self.nest(shape, begin, span)
        self.nest(value.shape, body, span)
        if shape:
            return self.kept(where, axes)
        found = Scalar(Load(where, (), span=span), ScalarType(INT64))
        return self.as_kept(self.let(found, name, span), axes)

    def _beats(self, order: type[Lt] | type[Gt], new: Scalar, old: Scalar, span: Span) -> Expr:
        better = compare(order, new, old, span).expr
        if not new.type.dtype.is_float:
            return better
        is_nan, was_nan = (Call("isnan", (value.expr,), span=span) for value in (new, old))
        return Or(better, And(is_nan, Not(was_nan)))


def _flat(value: ArrayExpr, axes: Axes, indices: tuple[Expr, ...]) -> Expr:
    """The index of an element among those that are reduced, in row-major order."""
    flat: Expr = ZERO
    for axis in axes.reduced:
        flat = plus(times(flat, value.shape[axis]), indices[axis])
    return flat
