"""Reductions of arrays: sums, products, extrema, means, and where the extrema are.

Elements are taken in the order in which they stand, one after the other. For floats that order is
open, as it is in NumPy, and the blocks say so.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import replace

from hybridjit.arith.fold import wrap
from hybridjit.arith.ranges import ONE, ZERO, constant, times
from hybridjit.errors import Span
from hybridjit.frontend.arrays.calls import cast_element
from hybridjit.frontend.arrays.elementwise import elementwise, require_natural
from hybridjit.frontend.arrays.memory import elements_of, materialize, nest, scratch
from hybridjit.frontend.builder import Builder
from hybridjit.frontend.values import Array, ArrayExpr
from hybridjit.ir.dtype import (
    BFLOAT16,
    BOOL,
    COMPLEX128,
    FLOAT16,
    FLOAT32,
    FLOAT64,
    INT64,
    UINT64,
    DType,
    Kind,
    ScalarType,
)
from hybridjit.ir.expr import (
    Add,
    BitAnd,
    BitOr,
    BitXor,
    Buffer,
    Const,
    Div,
    Eq,
    Expr,
    Load,
    Max,
    Mul,
    Or,
    Sub,
    const,
)
from hybridjit.ir.stmt import Allocate, If, Raise, Store
from hybridjit.record import record
from hybridjit.scalars.comparisons import extremum
from hybridjit.scalars.conversion import convert, store_value, truth
from hybridjit.scalars.functions import apply
from hybridjit.scalars.operators import binary, select
from hybridjit.scalars.scalar import Scalar, index
from hybridjit.scalars.style import Style

Combine = Callable[[Scalar, Scalar], Scalar]
_NARROW = (FLOAT16, BFLOAT16)


@record
class Axes:
    """What a reduction reduces: some axes of an array, or all of them; and whether they stay."""

    reduced: tuple[int, ...]
    ndim: int
    keepdims: bool = False

    @property
    def kept(self) -> tuple[int, ...]:
        """The axes of the result."""
        return tuple(axis for axis in range(self.ndim) if axis not in self.reduced)


@record
class Fold:
    """How elements are combined: what to start with, and the type of the running result."""

    name: str
    dtype: DType
    start: Const
    combine: Combine


def sum_dtype(dtype: DType) -> DType:
    """The type of a sum or product: NumPy widens integers."""
    if dtype.is_bool or dtype.kind is Kind.INT:
        return INT64
    return UINT64 if dtype.kind is Kind.UINT else dtype


def fold_of(name: str, dtype: DType, span: Span | None) -> Fold:
    """The fold of a reduction, for elements of some type."""
    wide = FLOAT32 if dtype in _NARROW else dtype
    match name:
        case "sum":
            return Fold(name, wide, const(0, wide), lambda a, x: binary(Add, a, x, span))
        case "prod":
            return Fold(name, wide, const(1, wide), lambda a, x: binary(Mul, a, x, span))
        case "any" | "all":
            op = BitOr if name == "any" else BitAnd
            return Fold(
                name,
                BOOL,
                Const(name == "all", BOOL),
                lambda a, x: binary(op, a, Scalar(truth(x, span), ScalarType(BOOL)), span),
            )
        case "bitwise_and" | "bitwise_or" | "bitwise_xor":
            bits = {"bitwise_and": BitAnd, "bitwise_or": BitOr, "bitwise_xor": BitXor}[name]
            start = _all_ones(dtype) if name == "bitwise_and" else const(0, dtype)
            return Fold(name, dtype, start, lambda a, x: binary(bits, a, x, span))
        case _:
            function = "minimum" if name == "min" else "maximum"
            return Fold(
                name,
                dtype,
                _worst(dtype, lowest=name == "max"),
                lambda a, x: apply(function, Style.NUMPY, [a, x], span),
            )


def _all_ones(dtype: DType) -> Const:
    return Const(True, BOOL) if dtype is BOOL else Const(wrap(-1, dtype), dtype)


def _worst(dtype: DType, *, lowest: bool) -> Const:
    """What no element is smaller, or larger, than."""
    if dtype.is_float:
        return const(float("-inf" if lowest else "inf"), dtype)
    value = dtype.bounds[0 if lowest else 1]
    return Const(bool(value) if dtype.is_bool else value, dtype)


def reduce(
    build: Builder,
    name: str,
    value: ArrayExpr,
    axes: Axes,
    node: ast.AST,
    dtype: DType | None = None,
) -> Scalar | ArrayExpr:
    """A sum, product, extremum, any or all."""
    span = build.span(node)
    if name in ("min", "max"):
        check_order(build, name, value, node)
        require_elements(build, name, value, axes, node)
    if name in ("sum", "prod"):
        dtype = dtype or sum_dtype(value.dtype)
        value = as_dtype(build, value, FLOAT32 if dtype in _NARROW else dtype, span)
    fold = fold_of(name, dtype or value.dtype, span)
    result = fold_axes(build, value, axes, fold, node)
    if dtype is not None and dtype in _NARROW:
        return converted_to(build, result, dtype, span)
    return result


def check_order(build: Builder, name: str, value: ArrayExpr, node: ast.AST) -> None:
    """Refuse to look for the smallest or largest of complex numbers."""
    if name in ("min", "max") and value.dtype.is_complex:
        raise build.mismatch(
            "complex numbers have no order", node, help="reduce a.real, a.imag or abs(a)"
        )


def as_dtype(build: Builder, value: ArrayExpr, dtype: DType, span: Span | None) -> ArrayExpr:
    """`value` with its elements converted."""
    if value.dtype is dtype:
        return value

    def element(indices: Sequence[Expr]) -> Scalar:
        return cast_element(value.element(indices), dtype, span)

    return replace(value, dtype=dtype, buffer=None, arranged=None, element=element)


def converted_to(
    build: Builder, value: Scalar | ArrayExpr, dtype: DType, span: Span | None
) -> Scalar | ArrayExpr:
    """A result of a reduction in another type."""
    if isinstance(value, ArrayExpr):
        return as_dtype(build, value, dtype, span)
    return cast_element(value, dtype, span)


def fold_axes(
    build: Builder, value: ArrayExpr, axes: Axes, fold: Fold, node: ast.AST
) -> Scalar | ArrayExpr:
    """Combine the elements along some axes, in order."""
    span = build.span(node)
    for size in value.shape:
        require_natural(build, size, node)
    if not axes.kept:
        return as_kept(_fold_all(build, value, fold, span), axes)
    assert value.mask is None
    shape = tuple(value.shape[axis] for axis in axes.kept)
    result = ArrayExpr(shape, fold.dtype, value.element)
    is_zero = not any(fold.start.bits)
    buffer = scratch(build, fold.name, result, span, zero=is_zero)
    build.unit.reassociable.add(buffer)
    if not is_zero:
        nest(build, shape, lambda i: build.emit(Store(buffer, i, fold.start, span=span)), span)

    def body(indices: tuple[Expr, ...]) -> None:
        place = tuple(indices[axis] for axis in axes.kept)
        _update(build, buffer, place, value.element(indices), fold, span)

    nest(build, value.shape, body, span)
    return kept(build, buffer, axes)


def _update(
    build: Builder,
    buffer: Buffer,
    place: tuple[Expr, ...],
    x: Scalar,
    fold: Fold,
    span: Span | None,
) -> None:
    old = Scalar(Load(buffer, place, span=span), ScalarType(fold.dtype))
    new = store_value(fold.combine(old, x), fold.dtype, span)
    build.emit(Store(buffer, place, new, span=span))


def _chosen(
    build: Builder, value: ArrayExpr, indices: tuple[Expr, ...], fold: Fold, span: Span | None
) -> Scalar | None:
    """An element where the mask is true, elsewhere what the fold starts with: that changes
    nothing, and takes no branch. None if the element takes statements of its own.
    """
    assert value.mask is not None
    with build.collect() as stmts:
        x = convert(value.element(indices), fold.dtype, span)
    if stmts:
        return None
    cond = value.mask.element(indices).expr
    found, start = (Scalar(side, ScalarType(fold.dtype)) for side in (x, fold.start))
    return select(cond, found, start, span)


def _fold_all(build: Builder, value: ArrayExpr, fold: Fold, span: Span | None) -> Scalar:
    total = new_register(build, fold.name, fold.dtype, span)
    build.emit(Store(total, (), fold.start, span=span))
    build.unit.reassociable.add(total)

    def body(indices: tuple[Expr, ...]) -> None:
        if value.mask is None:
            _update(build, total, (), value.element(indices), fold, span)
            return
        picked = _chosen(build, value, indices, fold, span)
        if picked is not None:
            _update(build, total, (), picked, fold, span)
            return
        chosen = value.mask.element(indices).expr
        with build.collect() as stmts:
            _update(build, total, (), value.element(indices), fold, span)
        build.emit(If(chosen, build.close(stmts), span=span))

    nest(build, value.shape, body, span)
    return build.let(Scalar(Load(total, (), span=span), ScalarType(fold.dtype)), fold.name, span)


def new_register(build: Builder, name: str, dtype: DType, span: Span | None) -> Buffer:
    """A new variable in a register, not yet set."""
    buffer = Buffer(name, dtype, (), Buffer.REGISTER)
    build.emit(Allocate(buffer, zero=False, span=span))
    return buffer


def kept(build: Builder, buffer: Buffer, axes: Axes) -> ArrayExpr:
    """The result of a reduction in memory; reduced axes stay, of size one, if they should."""
    source = elements_of(build, Array(buffer))
    if not axes.keepdims:
        return replace(source, buffer=buffer)
    shape = tuple(
        ONE if axis in axes.reduced else buffer.shape[axes.kept.index(axis)]
        for axis in range(axes.ndim)
    )
    return ArrayExpr(
        shape, source.dtype, lambda indices: source.element([indices[k] for k in axes.kept])
    )


def as_kept(value: Scalar, axes: Axes) -> Scalar | ArrayExpr:
    if not axes.keepdims or not axes.ndim:
        return value
    return ArrayExpr((ONE,) * axes.ndim, value.type.dtype, lambda _: value)


def array_of_one(value: Scalar) -> ArrayExpr:
    """A number as an array without axes."""
    return ArrayExpr((), value.type.dtype, lambda _: value)


def require_elements(
    build: Builder, name: str, value: ArrayExpr, axes: Axes, node: ast.AST
) -> None:
    """A ValueError at run time if there is nothing to reduce, as in NumPy."""
    span = build.span(node)
    message = (f"zero-size array to reduction operation {name} which has no identity",)
    failure = Raise("ValueError", message, span=span)
    if value.mask is not None:
        none = Eq(convert(_reduced_count(build, value, axes, span), INT64, span), ZERO)
        build.emit(If(none, failure, span=span))
        return
    reduced = [value.shape[axis] for axis in axes.reduced]
    if any(constant(size) == 0 for size in reduced):
        build.fail(failure)
        return
    empty = [Eq(size, ZERO) for size in reduced if not build.ranges.is_at_most(ONE, size)]
    if not empty:
        return
    cond: Expr = empty[0]
    for other in empty[1:]:
        cond = Or(cond, other)
    build.emit(If(cond, failure, span=span))


# means


def _reduced_count(build: Builder, value: ArrayExpr, axes: Axes, span: Span | None) -> Scalar:
    """How many elements are reduced to one."""
    if value.mask is not None:
        one = Scalar(ONE, ScalarType(INT64))
        ones = ArrayExpr(value.shape, INT64, lambda _: one, mask=value.mask)
        return _fold_all(build, ones, fold_of("sum", INT64, span), span)
    size: Expr = ONE
    for axis in axes.reduced:
        size = times(size, value.shape[axis])
    return index(size)


def mean(
    build: Builder, value: ArrayExpr, axes: Axes, node: ast.expr, dtype: DType | None = None
) -> Scalar | ArrayExpr:
    """The arithmetic mean, in float64 for integers."""
    span = build.span(node)
    dtype = dtype or (value.dtype if value.dtype.is_inexact else FLOAT64)
    wide = FLOAT32 if dtype in _NARROW else dtype
    total = reduce(build, "sum", as_dtype(build, value, wide, span), axes, node)
    return _divided(build, total, _reduced_count(build, value, axes, span), dtype, node)


def _divided(
    build: Builder, total: Scalar | ArrayExpr, count: Scalar, dtype: DType, node: ast.expr
) -> Scalar | ArrayExpr:
    """A sum divided by a number of elements: in double precision, then rounded."""
    span = build.span(node)
    wide = COMPLEX128 if dtype.is_complex else FLOAT64
    divisor = build.let(Scalar(convert(count, wide, span), ScalarType(wide)), "count", span)

    def divide(parts: list[Scalar]) -> Scalar:
        quotient = binary(Div, cast_element(parts[0], wide, span), divisor, span)
        return cast_element(quotient, dtype, span)

    if isinstance(total, Scalar):
        return divide([total])
    return elementwise(build, [total], divide, node)


def variance(
    build: Builder, value: ArrayExpr, axes: Axes, node: ast.expr, ddof: Scalar
) -> Scalar | ArrayExpr:
    """The mean of the squared distances from the mean."""
    span = build.span(node)
    dtype = value.dtype if value.dtype.is_inexact else FLOAT64
    source = as_dtype(build, value, dtype, span)
    centre = mean(build, source, replace(axes, keepdims=bool(axes.kept)), node)
    if isinstance(centre, ArrayExpr):
        centre = elements_of(build, materialize(build, centre, "mean", span))
    else:
        centre = build.let(centre, "mean", span)
    square = elementwise(
        build, [source, centre], lambda parts: _squared_distance(build, parts, span), node
    )
    if isinstance(square, Scalar):  # the distance of a number from itself
        square = array_of_one(square)
    total = reduce(build, "sum", square, axes, node)
    count = _reduced_count(build, value, axes, span)
    left = extremum(Max, binary(Sub, count, ddof, span), index(ZERO), span)
    return _divided(build, total, left, square.dtype, node)


def _squared_distance(build: Builder, parts: Sequence[Scalar], span: Span | None) -> Scalar:
    distance = build.let(apply("-", Style.NUMPY, list(parts), span), "d", span)
    if not distance.type.dtype.is_complex:
        return binary(Mul, distance, distance, span)
    squares: list[Scalar] = []
    for part in ("real", "imag"):
        side = build.let(apply(part, Style.NUMPY, [distance], span), part, span)
        squares.append(binary(Mul, side, side, span))
    return binary(Add, squares[0], squares[1], span)
