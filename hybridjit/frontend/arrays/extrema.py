"""Where the smallest or largest element of an array is."""

from __future__ import annotations

import ast

from hybridjit.arith.ranges import ZERO, plus, times
from hybridjit.errors import Span
from hybridjit.frontend.arrays.memory import nest, scratch
from hybridjit.frontend.arrays.reductions import Axes, as_kept, kept, new_register, require_elements
from hybridjit.frontend.builder import Builder
from hybridjit.frontend.values import ArrayExpr
from hybridjit.ir.dtype import INT64, ScalarType
from hybridjit.ir.expr import And, Call, Expr, Gt, Load, Lt, Not, Or
from hybridjit.ir.stmt import If, Store
from hybridjit.scalars.comparisons import compare
from hybridjit.scalars.scalar import Scalar


def find_extremum(
    build: Builder, name: str, value: ArrayExpr, axes: Axes, node: ast.AST
) -> Scalar | ArrayExpr:
    """The index of the extremum: of the flat array, or along an axis."""
    span = build.span(node)
    if value.dtype.is_complex:
        raise build.refuse(
            f"{name} takes arrays of real numbers",
            node,
            help="look at the absolute value, a.real or a.imag",
        )
    require_elements(build, name, value, axes, node)
    shape = tuple(value.shape[axis] for axis in axes.kept)
    if shape:
        best = scratch(build, "best", ArrayExpr(shape, value.dtype, value.element), span)
        where = scratch(build, "where", ArrayExpr(shape, INT64, value.element), span)
    else:
        best = new_register(build, "best", value.dtype, span)
        where = new_register(build, "where", INT64, span)
    order = Gt if name == "argmax" else Lt

    def begin(indices: tuple[Expr, ...]) -> None:
        first: list[Expr] = [ZERO] * axes.ndim
        for axis, position in zip(axes.kept, indices, strict=True):
            first[axis] = position
        build.emit(Store(best, indices, value.element(first).expr, span=span))
        build.emit(Store(where, indices, ZERO, span=span))

    def body(indices: tuple[Expr, ...]) -> None:
        place = tuple(indices[axis] for axis in axes.kept)
        found = build.let(value.element(indices), "x", span)
        old = Scalar(Load(best, place, span=span), found.type)
        is_better = _beats(build, order, found, old, span)
        with build.collect() as stmts:
            build.emit(Store(best, place, found.expr, span=span))
            build.emit(Store(where, place, _flat(value, axes, indices), span=span))
        build.emit(If(is_better, build.close(stmts), span=span))

    nest(build, shape, begin, span)
    nest(build, value.shape, body, span)
    if shape:
        return kept(build, where, axes)
    found = Scalar(Load(where, (), span=span), ScalarType(INT64))
    return as_kept(build.let(found, name, span), axes)


def _beats(
    build: Builder, order: type[Lt] | type[Gt], new: Scalar, old: Scalar, span: Span
) -> Expr:
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
