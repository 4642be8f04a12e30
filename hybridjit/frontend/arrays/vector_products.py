"""Products with vectors: `x @ y`, `a @ x`, `x @ a`. Every element of a matrix is used only once.

So what counts is the order in which it is read: along the axis in which it lies in memory. If that
is what is summed, each sum is made in lanes; else several terms are added to all sums at once:

    for k in range(0, n, 4):
        for j in range(m):
            sums[j] = x[k + 3] * a[k + 3, j] + (x[k + 2] * a[k + 2, j] + ( ... + sums[j]))
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from hybridjit.arith.ranges import constant, plus, tidy, times
from hybridjit.errors import Span
from hybridjit.frontend.arrays.extrema import ArrayExtrema
from hybridjit.frontend.arrays.lanes import MIN_LANE_TERMS, VECTOR_BITS, Result, reduce_in_lanes
from hybridjit.frontend.values import Array, ArrayExpr, Scalar
from hybridjit.ir.dtype import BFLOAT16, FLOAT16, FLOAT32, INT32, DType, ScalarType
from hybridjit.ir.expr import Add, Buffer, Call, Const, Expr, FloorDiv, Load, Mul, Var, const
from hybridjit.ir.stmt import Store
from hybridjit.ir.visit import walk

TERMS_AT_ONCE = 4  # rows of a matrix that are read side by side

Term = Callable[[Expr, Expr], Expr]


class VectorProducts(ArrayExtrema):
    """Code for products with vectors."""

    def vector_by_vector(
        self, a: ArrayExpr, b: ArrayExpr, dtype: DType, span: Span | None
    ) -> Scalar:
        """The sum of the products of the elements of two vectors."""
        wide = sum_type(dtype)
        a, b = self.as_dtype(a, wide, span), self.as_dtype(b, wide, span)

        def term(total: Expr, k: Expr) -> Expr:
            return multiply_add(a.element((k,)).expr, b.element((k,)).expr, total)

        total = Scalar(self._sum(term, a.shape[0], wide, span), ScalarType(wide))
        result = self.converted_to(self.let(total, "dot", span), dtype, span)
        assert isinstance(result, Scalar)
        return result

    def matrix_by_vector(
        self, matrix: ArrayExpr, vector: ArrayExpr, dtype: DType, span: Span | None
    ) -> ArrayExpr:
        """The sums along the last axis of `matrix`, whose elements are multiplied by `vector`."""
        wide = sum_type(dtype)
        matrix, vector = self.as_dtype(matrix, wide, span), self.as_dtype(vector, wide, span)
        in_rows = self._lies_along_last(matrix)
        shape = ArrayExpr(matrix.shape[:-1], wide, vector.element)
        result = self.scratch("product", shape, span, zero=not in_rows)
        if in_rows:
            self._sum_each_row(matrix, vector, result, span)
        else:
            self._add_to_all(matrix, vector, result, span)
        product = replace(self.array(Array(result)), buffer=result)
        return product if wide is dtype else self.as_dtype(product, dtype, span)

    def _lies_along_last(self, matrix: ArrayExpr) -> bool:
        """True if elements next to each other along the last axis are so in memory, mostly."""
        places = [Var(f"i{axis}") for axis in range(len(matrix.shape))]
        with self.collect() as stmts:
            element = matrix.element(places).expr
        loads = [
            node
            for root in (element, *stmts)
            for node in walk(root)
            if isinstance(node, Load) and node.buffer.ndim > 1
        ]
        votes = [places[-1] in walk(load.indices[-1]) for load in loads]
        return 2 * sum(votes) >= len(votes)

    def _sum_each_row(
        self, matrix: ArrayExpr, vector: ArrayExpr, result: Buffer, span: Span | None
    ) -> None:
        def row(place: tuple[Expr, ...]) -> None:
            def term(total: Expr, k: Expr) -> Expr:
                x = matrix.element((*place, k)).expr
                return multiply_add(x, vector.element((k,)).expr, total)

            total = self._sum(term, matrix.shape[-1], result.dtype, span)
            self.emit(Store(result, place, total, span=span))
            if isinstance(place[-1], Var) and self.unit.vector_bits >= VECTOR_BITS:
                self.unit.row_loops.add(place[-1])

        self.nest(matrix.shape[:-1], row, span)

    def _sum(self, term: Term, size: Expr, dtype: DType, span: Span | None) -> Expr:
        """The sum of `size` terms; `term(total, k)` adds one of them."""
        zero, known = const(0, dtype), constant(size)
        if known is None or known >= MIN_LANE_TERMS:
            (total,) = reduce_in_lanes(
                self, [Result(zero, Add)], size, lambda old, k: [term(old[0], k)]
            )
            return total
        sum = self.register("sum", zero, span)

        def add(k: Expr) -> None:
            self.emit(Store(sum, (), term(Load(sum, ()), k), span=span))

        self.each("k", size, add, span=span)
        return Load(sum, ())

    def _add_to_all(
        self, matrix: ArrayExpr, vector: ArrayExpr, result: Buffer, span: Span | None
    ) -> None:
        size, several = matrix.shape[-1], Const(TERMS_AT_ONCE)
        known = constant(size)
        whole = tidy(times(FloorDiv(size, several), several))
        if known is not None:
            whole = Const(known // TERMS_AT_ONCE * TERMS_AT_ONCE)

        def add(terms: Sequence[Expr]) -> None:
            factors = [self.let(vector.element((k,)), "x", span).expr for k in terms]

            def one(place: tuple[Expr, ...]) -> None:
                total: Expr = Load(result, place, span=span)
                for k, factor in zip(terms, factors, strict=True):
                    total = multiply_add(factor, matrix.element((*place, k)).expr, total)
                self.emit(Store(result, place, total, span=span))

            self.nest(result.shape, one, span)

        self.each(
            "k",
            whole,
            lambda k: add([plus(k, Const(term)) for term in range(TERMS_AT_ONCE)]),
            step=TERMS_AT_ONCE,
            span=span,
        )
        self.each("k", size, lambda k: add([k]), start=whole, span=span)


def multiply_add(x: Expr, y: Expr, total: Expr) -> Expr:
    """`x * y + total`, rounded once where there is an instruction for it."""
    if total.dtype.is_complex:
        return Add(Mul(x, y), total)
    return Call("fma", (x, y, total))


def sum_type(dtype: DType) -> DType:
    """The type in which products are added: the low bits of an integer sum need no others."""
    if dtype in (FLOAT16, BFLOAT16):
        return FLOAT32
    return INT32 if dtype.is_integer and dtype.bits < 32 else dtype
