"""Products of arrays: `a @ b`, dot, matmul, outer, as loop nests."""

from __future__ import annotations

import ast
import math
from collections.abc import Sequence
from dataclasses import replace

from hybridjit.analysis.cost import is_dear
from hybridjit.arith.ranges import ZERO, constant, tidy, times
from hybridjit.errors import ShapeMismatch, Span
from hybridjit.frontend.arrays.elementwise import Elementwise, shape_text
from hybridjit.frontend.arrays.reductions import Axes, fold_of
from hybridjit.frontend.arrays.tiles import Factors, Tile, TiledProduct, TileMemory
from hybridjit.frontend.arrays.vector_products import VectorProducts, multiply_add, sum_type
from hybridjit.frontend.conversion import join_types
from hybridjit.frontend.operators import binary
from hybridjit.frontend.values import AnyArray, Array, ArrayExpr, Scalar, Value, describe
from hybridjit.ir.dtype import BOOL, DType, ScalarType
from hybridjit.ir.expr import And, BitAnd, Buffer, Const, Expr, FloorDiv, Ge, Load, Mod, Mul, Var
from hybridjit.ir.stmt import If, Let, Store

# Terms of a product that are worth packing: below, loops as they stand are faster.
MIN_BLOCKED_TERMS = 1 << 14
MIN_SIDE = 3  # of the result: a tile of which less is used is no gain


class ArrayProducts(VectorProducts):
    """Sums of products, each made in the way that suits its sizes."""

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
        if dtype.is_bool:
            return self._product_of_bools(a, b, node)
        if len(a.shape) == len(b.shape) == 1:
            return self.vector_by_vector(a, b, dtype, span)
        if len(b.shape) == 1:
            return self.matrix_by_vector(a, self._in_memory(b, span), dtype, span)
        if len(a.shape) == 1:
            return self.matrix_by_vector(_swapped(b), self._in_memory(a, span), dtype, span)
        if len(b.shape) > 2 or _is_large(_sizes_of(a, b)) is not True:
            a, b = self._in_memory(a, span), self._in_memory(b, span)
        else:
            a, b = self._for_packing(a, span), self._for_packing(b, span)
        if len(b.shape) > 2:
            a, b = self._batched(a, b, node)
        return self._matrix_by_matrix(a, b, dtype, span)

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

    def _for_packing(self, value: ArrayExpr, span: Span | None) -> ArrayExpr:
        """An operand whose elements are packed, few times: what costs little is done then."""
        with self.collect() as stmts:
            element = value.element([Var(f"i{axis}") for axis in range(len(value.shape))])
        is_simple = all(isinstance(stmt, Let) for stmt in stmts)
        if is_simple and not is_dear((*stmts, element.expr), divisions=True):
            return value
        return self._in_memory(value, span)

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

    def _product_of_bools(self, a: ArrayExpr, b: ArrayExpr, node: ast.expr) -> Scalar | ArrayExpr:
        """Whether any pair is true twice. Axes: the batch, the row, what is reduced, the column."""
        span = self.span(node)
        rows, columns = a.shape[-2:-1], b.shape[-1:] if len(b.shape) > 1 else ()
        inner = a.shape[-1]
        batch: tuple[Expr, ...] = ()
        if rows and columns:
            a, b = self._batched(a, b, node)
            batch = a.shape[:-2]
        elif len(a.shape) > 2 or len(b.shape) > 2:
            batch = (a if rows else b).shape[:-2]
        middle = len(batch) + len(rows)

        def element(indices: Sequence[Expr]) -> Scalar:
            left = (*indices[: len(batch)], *indices[len(batch) : middle], indices[middle])
            right = (*indices[: len(batch)], indices[middle], *indices[middle + 1 :])
            factors = a.element(left[-len(a.shape) :]), b.element(right[-len(b.shape) :])
            return binary(BitAnd, *factors, span)

        terms = ArrayExpr((*batch, *rows, inner, *columns), BOOL, element)
        axes = Axes((middle,), len(terms.shape))
        return self.fold(terms, axes, fold_of("any", BOOL, span), node)

    def _matrix_by_matrix(
        self, a: ArrayExpr, b: ArrayExpr, dtype: DType, span: Span | None
    ) -> ArrayExpr:
        """In blocks if it is worth it; what is known only at run time is decided there.

        With a single matrix on the right, all rows of a stack on the left are those of one matrix.
        """
        wide = sum_type(dtype)
        a, b = self.as_dtype(a, wide, span), self.as_dtype(b, wide, span)
        is_large = _is_large(_sizes_of(a, b))
        shape = ArrayExpr((*a.shape[:-1], b.shape[-1]), wide, a.element)
        result = self.scratch("product", shape, span, zero=is_large is False)
        if is_large is False:
            self._add_terms(a, b, result, span)
        elif is_large is True:
            self._multiply_in_blocks(a, b, result, span)
        else:
            with self.collect() as blocked:
                self._multiply_in_blocks(a, b, result, span)
            with self.collect() as plain:
                self._multiply_by_rows(a, b, result, span)
            self.emit(If(is_large, self.close(blocked), self.close(plain), span=span))
        if is_large is not False and self.never_fails(a) and self.never_fails(b):
            self.unit.products.add(result)
        product = replace(self.array(Array(result)), buffer=result)
        return product if wide is dtype else self.as_dtype(product, dtype, span)

    def _multiply_in_blocks(
        self, a: ArrayExpr, b: ArrayExpr, result: Buffer, span: Span | None
    ) -> None:
        sizes = _sizes_of(a, b)
        tile = Tile.of(a.dtype, self.unit.vector_bits, constant(sizes[0]))
        memory = TileMemory.of(self, tile, sizes)

        def one(place: tuple[Expr, ...]) -> None:
            def row(i: Expr) -> tuple[Expr, ...]:
                return (*place, *_unravel(i, a.shape[len(place) : -1]))

            factors = Factors(
                lambda i, k: a.element((*row(i), k)),
                lambda k, j: b.element((*place, k, j)),
                sizes,
                lambda i, j, value: self.emit(Store(result, (*row(i), j), value, span=span)),
            )
            TiledProduct(self, factors, tile, memory).emit()

        self.nest(b.shape[:-2], one, span)

    def _multiply_by_rows(
        self, a: ArrayExpr, b: ArrayExpr, result: Buffer, span: Span | None
    ) -> None:
        """Sum each row of the product apart, so that each element is stored once, as in blocks."""

        def one(row: tuple[Expr, ...]) -> None:
            shape = ArrayExpr(b.shape[-1:], result.dtype, a.element)
            sums = self.scratch("sums", shape, span, zero=True)

            def add(indices: tuple[Expr, ...]) -> None:
                k, j = indices
                factors = a.element((*row, k)), b.element((*row[: len(b.shape) - 2], k, j))
                total = multiply_add(factors[0].expr, factors[1].expr, Load(sums, (j,)))
                self.emit(Store(sums, (j,), total, span=span))

            def put(indices: tuple[Expr, ...]) -> None:
                self.emit(Store(result, (*row, *indices), Load(sums, indices), span=span))

            self.nest(b.shape[-2:], add, span)
            self.nest(b.shape[-1:], put, span)

        self.nest(a.shape[:-1], one, span)

    def _add_terms(self, a: ArrayExpr, b: ArrayExpr, result: Buffer, span: Span | None) -> None:
        """Add each term to its element of the product."""

        def body(indices: tuple[Expr, ...]) -> None:
            *row, k, j = indices
            factors = a.element((*row, k)), b.element((*row[: len(b.shape) - 2], k, j))
            old = Load(result, (*row, j), span=span)
            total = multiply_add(factors[0].expr, factors[1].expr, old)
            self.emit(Store(result, (*row, j), total, span=span))

        self.nest((*a.shape, b.shape[-1]), body, span)

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


def _swapped(value: ArrayExpr) -> ArrayExpr:
    """A stack of matrices with the last two axes exchanged."""

    def element(indices: Sequence[Expr]) -> Scalar:
        return value.element((*indices[:-2], indices[-1], indices[-2]))

    shape = (*value.shape[:-2], value.shape[-1], value.shape[-2])
    return ArrayExpr(shape, value.dtype, element)


def _sizes_of(a: ArrayExpr, b: ArrayExpr) -> tuple[Expr, Expr, Expr]:
    """The rows, terms and columns of what is multiplied at once."""
    rows: Expr = Const(1)
    for size in a.shape[len(b.shape) - 2 : -1]:
        rows = times(rows, size)
    return rows, a.shape[-1], b.shape[-1]


def _unravel(row: Expr, shape: Sequence[Expr]) -> tuple[Expr, ...]:
    """The indices of the element that is the `row`-th one of an array in C order."""
    indices: list[Expr] = []
    for size in reversed(shape[1:]):
        indices.append(ZERO if constant(size) == 1 else tidy(Mod(row, size)))
        row = tidy(FloorDiv(row, size))
    return (row, *reversed(indices))


def _is_large(sizes: tuple[Expr, Expr, Expr]) -> bool | Expr:
    """Whether a product of (rows, inner, columns) is to be computed in blocks."""
    known = [constant(size) for size in sizes]
    total = math.prod(size for size in known if size is not None)
    if any(size is not None and size < MIN_SIDE for size in (known[0], known[2])):
        return False
    if None not in known or total == 0:
        return total >= MIN_BLOCKED_TERMS
    terms: Expr = Const(total)
    for size in sizes:
        if constant(size) is None:
            terms = times(terms, size)
    is_large: Expr = Ge(terms, Const(MIN_BLOCKED_TERMS))
    for side in (sizes[0], sizes[2]):
        if constant(side) is None:
            is_large = And(is_large, Ge(side, Const(MIN_SIDE)))
    return is_large
