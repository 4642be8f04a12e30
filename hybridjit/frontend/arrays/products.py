"""Products of arrays: `a @ b`, dot, matmul, outer, as loop nests."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import replace

from hybridjit.arith.ranges import constant
from hybridjit.errors import ShapeMismatch, Span
from hybridjit.frontend.arrays.elementwise import Elementwise, shape_text
from hybridjit.frontend.arrays.extrema import ArrayExtrema
from hybridjit.frontend.arrays.reductions import Axes, Fold, fold_of
from hybridjit.frontend.conversion import join_types
from hybridjit.frontend.operators import binary
from hybridjit.frontend.values import AnyArray, ArrayExpr, Scalar, Value, describe
from hybridjit.ir.dtype import BFLOAT16, BOOL, FLOAT16, FLOAT32, INT32, DType, ScalarType
from hybridjit.ir.expr import BitAnd, Const, Expr, Load, Mul, Var


class ArrayProducts(ArrayExtrema):
    """Products: sums of the products of elements."""

    def product(self, lhs: Value, rhs: Value, node: ast.expr) -> Scalar | ArrayExpr:
        """`lhs @ rhs`."""
        a, b = self._factor(lhs, node), self._factor(rhs, node)
        if not a.shape or not b.shape:
            raise self.mismatch(
                "a matrix product needs arrays of at least one dimension",
                node,
                help="multiply by a number with *",
            )
        span = self.span(node)
        dtype = join_types(ScalarType(a.dtype), ScalarType(b.dtype), span).dtype
        self._check_inner(a, b, node)
        if len(b.shape) == 1 and len(a.shape) > 1:
            b = self._in_memory(b, span)
        elif len(a.shape) == 1 and len(b.shape) > 1:
            a = self._in_memory(a, span)
        elif len(a.shape) > 1:
            a, b = self._in_memory(a, span), self._in_memory(b, span)
        if len(a.shape) > 1 and len(b.shape) > 2:
            a, b = self._batched(a, b, node)
        if dtype.is_bool:
            return self._sum_of_products(a, b, fold_of("any", BOOL, span), node)
        wide = sum_type(dtype)
        a, b = self.as_dtype(a, wide, span), self.as_dtype(b, wide, span)
        name = "dot" if len(a.shape) == len(b.shape) == 1 else "product"
        fold = replace(fold_of("sum", wide, span), name=name)
        return self.converted_to(self._sum_of_products(a, b, fold, node), dtype, span)

    def _sum_of_products(
        self, a: ArrayExpr, b: ArrayExpr, fold: Fold, node: ast.expr
    ) -> Scalar | ArrayExpr:
        """One fold of the products of elements: the last axis is that of the terms."""
        span, multiply = self.span(node), BitAnd if fold.dtype.is_bool else Mul
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
        return self.fold(terms, axes, fold, node)

    def _factor(self, value: Value, node: ast.expr) -> ArrayExpr:
        value = self.without_list(value, node)
        if not isinstance(value, AnyArray):
            raise self.mismatch(f"expected an array, found {describe(value)}", node)
        if isinstance(value, ArrayExpr) and value.mask is not None:
            return self.array(self.materialize(value, "t", self.span(node)))
        return self.array(value)

    def _in_memory(self, value: ArrayExpr, span: Span | None) -> ArrayExpr:
        """An operand whose elements are used many times."""
        return value if self._is_read(value) else self.array(self.materialize(value, "t", span))

    def _is_read(self, value: ArrayExpr) -> bool:
        """True if the elements are just read from memory."""
        with self.collect() as stmts:
            element = value.element([Var(f"i{axis}") for axis in range(len(value.shape))])
        return isinstance(element.expr, Load) and not stmts

    def _check_inner(self, a: ArrayExpr, b: ArrayExpr, node: ast.expr) -> None:
        inner, other = a.shape[-1], b.shape[-2 if len(b.shape) > 1 else -1]
        if self.ranges.same(inner, other):
            return
        if isinstance(inner, Const) and isinstance(other, Const):
            raise self.refuse_product(a, b, node)
        self.require_size(inner, other, node)

    def _batched(self, a: ArrayExpr, b: ArrayExpr, node: ast.expr) -> tuple[ArrayExpr, ArrayExpr]:
        """Two stacks of matrices, of the shape in which they meet."""
        if len(a.shape) == len(b.shape) == 2:
            return a, b
        batch = self.broadcast_shape([a.shape[:-2], b.shape[:-2]], node)
        return (
            self.broadcast_to(a, (*batch, *a.shape[-2:]), node),
            self.broadcast_to(b, (*batch, *b.shape[-2:]), node),
        )

    def outer(self, lhs: Value, rhs: Value, node: ast.expr) -> Scalar | ArrayExpr:
        """`np.outer(a, b)`: every element of one array with every element of the other."""
        span = self.span(node)
        a, b = self._factor(lhs, node), self._factor(rhs, node)
        if len(a.shape) != 1 or len(b.shape) != 1:
            raise self.refuse(
                "np.outer takes arrays of one dimension", node, help="write a[:, None] * b"
            )
        return self.outer_of(a, b, lambda parts: binary(Mul, parts[0], parts[1], span), node)

    def outer_of(
        self, a: ArrayExpr, b: ArrayExpr, function: Elementwise, node: ast.expr
    ) -> ArrayExpr:
        """`function` of every element of `a` with every element of `b`."""
        ndim = len(a.shape)

        def first(indices: Sequence[Expr]) -> Scalar:
            return a.element(indices[:ndim])

        def second(indices: Sequence[Expr]) -> Scalar:
            return b.element(indices[ndim:])

        shape = (*a.shape, *b.shape)
        operands = [ArrayExpr(shape, a.dtype, first), ArrayExpr(shape, b.dtype, second)]
        result = self.elementwise(operands, function, node)
        assert isinstance(result, ArrayExpr)
        return result

    def refuse_product(self, a: ArrayExpr, b: ArrayExpr, node: ast.expr) -> ShapeMismatch:
        """The error for a product of shapes that do not fit."""
        inner = constant(a.shape[-1])
        return ShapeMismatch(
            f"the matrices in `{ast.unparse(node)}` do not fit: {shape_text(a.shape)} and "
            f"{shape_text(b.shape)}; the last size of the first, {inner}, must be the "
            f"{'first' if len(b.shape) == 1 else 'second last'} of the second",
            self.span(node),
        )


def sum_type(dtype: DType) -> DType:
    """The type in which products are added: the low bits of an integer sum need no others."""
    if dtype in (FLOAT16, BFLOAT16):
        return FLOAT32
    return INT32 if dtype.is_integer and dtype.bits < 32 else dtype
