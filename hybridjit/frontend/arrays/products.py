"""Products of arrays: `a @ b`, dot, matmul, outer, as loop nests."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import replace

from hybridjit.arith.ranges import constant
from hybridjit.errors import ShapeMismatch, Span
from hybridjit.frontend.arrays.elementwise import (
    Elementwise,
    broadcast_shape,
    broadcast_to,
    elementwise,
    require_size,
    shape_text,
    without_list,
)
from hybridjit.frontend.arrays.memory import elements_of, materialize
from hybridjit.frontend.arrays.reductions import (
    Axes,
    Fold,
    as_dtype,
    converted_to,
    fold_axes,
    fold_of,
)
from hybridjit.frontend.builder import Builder
from hybridjit.frontend.values import AnyArray, ArrayExpr, Value, describe
from hybridjit.ir.dtype import BFLOAT16, BOOL, FLOAT16, FLOAT32, INT32, DType, ScalarType
from hybridjit.ir.expr import BitAnd, Const, Expr, Load, Mul, Var
from hybridjit.scalars.conversion import join_types
from hybridjit.scalars.operators import binary
from hybridjit.scalars.scalar import Scalar


def product(build: Builder, lhs: Value, rhs: Value, node: ast.expr) -> Scalar | ArrayExpr:
    """`lhs @ rhs`."""
    a, b = _factor(build, lhs, node), _factor(build, rhs, node)
    if not a.shape or not b.shape:
        raise build.mismatch(
            "a matrix product needs arrays of at least one dimension",
            node,
            help="multiply by a number with *",
        )
    span = build.span(node)
    dtype = join_types(ScalarType(a.dtype), ScalarType(b.dtype), span).dtype
    _check_inner(build, a, b, node)
    if len(b.shape) == 1 and len(a.shape) > 1:
        b = _in_memory(build, b, span)
    elif len(a.shape) == 1 and len(b.shape) > 1:
        a = _in_memory(build, a, span)
    elif len(a.shape) > 1:
        a, b = _in_memory(build, a, span), _in_memory(build, b, span)
    if len(a.shape) > 1 and len(b.shape) > 2:
        a, b = _batched(build, a, b, node)
    if dtype.is_bool:
        return _sum_of_products(build, a, b, fold_of("any", BOOL, span), node)
    wide = sum_type(dtype)
    a, b = as_dtype(build, a, wide, span), as_dtype(build, b, wide, span)
    name = "dot" if len(a.shape) == len(b.shape) == 1 else "product"
    fold = replace(fold_of("sum", wide, span), name=name)
    return converted_to(build, _sum_of_products(build, a, b, fold, node), dtype, span)


def _sum_of_products(
    build: Builder, a: ArrayExpr, b: ArrayExpr, fold: Fold, node: ast.expr
) -> Scalar | ArrayExpr:
    """One fold of the products of elements: the last axis is that of the terms."""
    span, multiply = build.span(node), BitAnd if fold.dtype.is_bool else Mul
    inner, other = a.shape[-1], b.shape[-2 if len(b.shape) > 1 else -1]
    inner = other if isinstance(other, Const) else inner
    columns = b.shape[-1:] if len(b.shape) > 1 else ()
    rows = a.shape[:-1] if len(a.shape) > 1 else b.shape[:-2]

    def element(indices: Sequence[Expr]) -> Scalar:
        *place, k = indices
        row = place[: len(rows)]
        left = (*row, k) if len(a.shape) > 1 else (k,)
        right = (*row[: len(b.shape) - 2], k, *place[len(rows) :]) if columns else (k,)
        return binary(multiply, a.element(left), b.element(right), span)

    terms = ArrayExpr((*rows, *columns, inner), fold.dtype, element)
    axes = Axes((len(terms.shape) - 1,), len(terms.shape))
    return fold_axes(build, terms, axes, fold, node)


def _factor(build: Builder, value: Value, node: ast.expr) -> ArrayExpr:
    value = without_list(build, value, node)
    if not isinstance(value, AnyArray):
        raise build.mismatch(f"expected an array, found {describe(value)}", node)
    if isinstance(value, ArrayExpr) and value.mask is not None:
        return elements_of(build, materialize(build, value, "t", build.span(node)))
    return elements_of(build, value)


def _in_memory(build: Builder, value: ArrayExpr, span: Span | None) -> ArrayExpr:
    """An operand whose elements are used many times."""
    return (
        value
        if _is_read(build, value)
        else elements_of(build, materialize(build, value, "t", span))
    )


def _is_read(build: Builder, value: ArrayExpr) -> bool:
    """True if the elements are just read from memory."""
    with build.collect() as stmts:
        element = value.element([Var(f"i{axis}") for axis in range(len(value.shape))])
    return isinstance(element.expr, Load) and not stmts


def _check_inner(build: Builder, a: ArrayExpr, b: ArrayExpr, node: ast.expr) -> None:
    inner, other = a.shape[-1], b.shape[-2 if len(b.shape) > 1 else -1]
    if build.ranges.same(inner, other):
        return
    if isinstance(inner, Const) and isinstance(other, Const):
        raise refuse_product(build, a, b, node)
    require_size(build, inner, other, node)


def _batched(
    build: Builder, a: ArrayExpr, b: ArrayExpr, node: ast.expr
) -> tuple[ArrayExpr, ArrayExpr]:
    """Two stacks of matrices, of the shape in which they meet."""
    if len(a.shape) == len(b.shape) == 2:
        return a, b
    batch = broadcast_shape(build, [a.shape[:-2], b.shape[:-2]], node)
    return (
        broadcast_to(build, a, (*batch, *a.shape[-2:]), node),
        broadcast_to(build, b, (*batch, *b.shape[-2:]), node),
    )


def outer(build: Builder, lhs: Value, rhs: Value, node: ast.expr) -> Scalar | ArrayExpr:
    """`np.outer(a, b)`: every element of one array with every element of the other."""
    span = build.span(node)
    a, b = _factor(build, lhs, node), _factor(build, rhs, node)
    if len(a.shape) != 1 or len(b.shape) != 1:
        raise build.refuse(
            "np.outer takes arrays of one dimension", node, help="write a[:, None] * b"
        )
    return outer_of(build, a, b, lambda parts: binary(Mul, parts[0], parts[1], span), node)


def outer_of(
    build: Builder, a: ArrayExpr, b: ArrayExpr, function: Elementwise, node: ast.expr
) -> ArrayExpr | Scalar:
    """`function` of every element of `a` with every element of `b`; of two numbers, a number."""
    ndim = len(a.shape)

    def first(indices: Sequence[Expr]) -> Scalar:
        return a.element(indices[:ndim])

    def second(indices: Sequence[Expr]) -> Scalar:
        return b.element(indices[ndim:])

    shape = (*a.shape, *b.shape)
    operands = [ArrayExpr(shape, a.dtype, first), ArrayExpr(shape, b.dtype, second)]
    return elementwise(build, operands, function, node)


def refuse_product(build: Builder, a: ArrayExpr, b: ArrayExpr, node: ast.expr) -> ShapeMismatch:
    """The error for a product of shapes that do not fit."""
    inner = constant(a.shape[-1])
    return ShapeMismatch(
        f"the matrices in `{ast.unparse(node)}` do not fit: {shape_text(a.shape)} and "
        f"{shape_text(b.shape)}; the last size of the first, {inner}, must be the "
        f"{'first' if len(b.shape) == 1 else 'second last'} of the second",
        build.span(node),
    )


def sum_type(dtype: DType) -> DType:
    """The type in which products are added: the low bits of an integer sum need no others."""
    if dtype in (FLOAT16, BFLOAT16):
        return FLOAT32
    return INT32 if dtype.is_integer and dtype.bits < 32 else dtype
