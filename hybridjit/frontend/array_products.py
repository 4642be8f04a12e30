"""Products of arrays: `a @ b`, dot, matmul, outer, as loop nests."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from hybridjit.errors import ShapeMismatch
from hybridjit.frontend.array_elementwise import Elementwise, shape_text
from hybridjit.frontend.array_extents import constant
from hybridjit.frontend.array_extrema import ArrayExtrema
from hybridjit.frontend.array_reductions import Axes, fold_of
from hybridjit.frontend.conversion import join_types
from hybridjit.frontend.operators import binary
from hybridjit.frontend.values import AnyArray, ArrayExpr, Scalar, Value, describe
from hybridjit.ir.dtype import BFLOAT16, FLOAT16, FLOAT32, DType, ScalarType
from hybridjit.ir.expr import Const, Expr, Mul


class ArrayProducts(ArrayExtrema):
    """Sums of products. The middle loop is over what is summed: rows are read in order."""

    def product(self, lhs: Value, rhs: Value, node: ast.expr) -> Scalar | ArrayExpr:
        """`lhs @ rhs`."""
        a, b = self._factor(lhs, node), self._factor(rhs, node)
        if not a.shape or not b.shape:
            raise self.mismatch(
                "a matrix product needs arrays of at least one dimension",
                node,
                help="multiply by a number with *",
            )
        dtype = join_types(ScalarType(a.dtype), ScalarType(b.dtype), self.span(node)).dtype
        self._check_inner(a, b, node)
        if len(a.shape) == len(b.shape) == 1:
            return self._dot(a, b, dtype, node)
        return self._matrix_product(a, b, dtype, node)

    def _factor(self, value: Value, node: ast.expr) -> ArrayExpr:
        """An operand of a product: its elements are used many times, so they are in memory."""
        if not isinstance(value, AnyArray):
            raise self.mismatch(f"expected an array, found {describe(value)}", node)
        if isinstance(value, ArrayExpr):
            value = self.materialize(value, "t", self.span(node))
        return self.array(value)

    def _check_inner(self, a: ArrayExpr, b: ArrayExpr, node: ast.expr) -> None:
        inner, other = a.shape[-1], b.shape[-2 if len(b.shape) > 1 else -1]
        if self.ranges.same(inner, other):
            return
        if isinstance(inner, Const) and isinstance(other, Const):
            raise self.refuse_product(a, b, node)
        self.require_size(inner, other, node)

    def _dot(self, a: ArrayExpr, b: ArrayExpr, dtype: DType, node: ast.expr) -> Scalar:
        span = self.span(node)

        def element(indices: Sequence[Expr]) -> Scalar:
            return binary(Mul, a.element(indices), b.element(indices), span)

        terms = ArrayExpr(a.shape, dtype, element)
        result = self.sum_of_products(terms, Axes((0,), 1), node)
        assert isinstance(result, Scalar)
        return result

    def _matrix_product(
        self, a: ArrayExpr, b: ArrayExpr, dtype: DType, node: ast.expr
    ) -> Scalar | ArrayExpr:
        """Axes of the terms: those of the batch, then the row, what is summed, the column."""
        span = self.span(node)
        rows = a.shape[-2:-1]
        columns = b.shape[-1:] if len(b.shape) > 1 else ()
        inner = a.shape[-1]
        batch: tuple[Expr, ...] = ()
        if len(a.shape) > 2 or len(b.shape) > 2:
            batch = self.broadcast_shape([a.shape[:-2], b.shape[:-2]], node)
            a = self.broadcast_to(a, (*batch, *a.shape[-2:]), node)
            b = self.broadcast_to(b, (*batch, *b.shape[-2:]), node)
        middle = len(batch) + len(rows)

        def element(indices: Sequence[Expr]) -> Scalar:
            left = [*indices[: len(batch)], *indices[len(batch) : middle], indices[middle]]
            right = [*indices[: len(batch)], indices[middle], *indices[middle + 1 :]]
            factors = a.element(left[-len(a.shape) :]), b.element(right[-len(b.shape) :])
            return binary(Mul, *factors, span)

        terms = ArrayExpr((*batch, *rows, inner, *columns), dtype, element)
        return self.sum_of_products(terms, Axes((middle,), len(terms.shape)), node)

    def sum_of_products(self, terms: ArrayExpr, axes: Axes, node: ast.expr) -> Scalar | ArrayExpr:
        """The sums along one axis, in the type of the terms: a product of int8 stays int8."""
        span, dtype = self.span(node), terms.dtype
        if dtype.is_bool:
            return self.fold(terms, axes, fold_of("any", dtype, span), node)
        wide = FLOAT32 if dtype in (FLOAT16, BFLOAT16) else dtype
        result = self.fold(self.as_dtype(terms, wide, span), axes, fold_of("sum", wide, span), node)
        return result if wide is dtype else self.converted_to(result, dtype, span)

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
