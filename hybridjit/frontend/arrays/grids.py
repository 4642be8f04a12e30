"""Arrays along axes of a grid, arrays written down, and running sums."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from hybridjit.arith.ranges import ONE, minus, plus, tidy
from hybridjit.frontend.arrays.arrangements import along, as_array
from hybridjit.frontend.arrays.axes import with_axis
from hybridjit.frontend.arrays.calls import cast_element, computed, store_out
from hybridjit.frontend.arrays.creation import array_argument
from hybridjit.frontend.arrays.elementwise import elementwise
from hybridjit.frontend.arrays.joins import flat, joined, owned
from hybridjit.frontend.arrays.lists import array_of_list
from hybridjit.frontend.arrays.memory import elements_of, nest, scratch
from hybridjit.frontend.arrays.reductions import Fold, as_dtype, fold_of, sum_dtype
from hybridjit.frontend.arrays.shapes import in_row_major_order
from hybridjit.frontend.builder import Builder
from hybridjit.frontend.call_arguments import (
    arguments,
    find_dtype_argument,
    flag_argument,
    refuse_keyword,
    text_argument,
)
from hybridjit.frontend.values import AnyArray, ArrayExpr, GrowingList, Items, Value
from hybridjit.ir.dtype import FLOAT64, DType, ScalarType
from hybridjit.ir.expr import Const, Expr, Load, Min
from hybridjit.ir.stmt import Store
from hybridjit.scalars.conversion import convert, join_types, store_value
from hybridjit.scalars.scalar import Scalar


def mesh(build: Builder, name: str, node: ast.Call) -> Value:
    """`np.meshgrid(x, y, indexing=..., sparse=...)`: each array along an axis of its own."""
    options = {keyword.arg or "**": keyword.value for keyword in node.keywords}
    for keyword in node.keywords:
        if keyword.arg not in ("indexing", "sparse"):
            raise refuse_keyword(build, ast.unparse(node.func), keyword)
    order = text_argument(build, options["indexing"], "an order") if "indexing" in options else ""
    is_sparse = flag_argument(build, options, "sparse", False)
    is_by_row = order == "ij"
    parts = [elements_of(build, flat(build, array_argument(build, arg), node)) for arg in node.args]
    axes = list(range(len(parts)))
    if not is_by_row and len(parts) > 1:
        axes[0], axes[1] = 1, 0
    shape = tuple(parts[axes.index(axis)].shape[0] for axis in range(len(parts)))

    def along(part: ArrayExpr, axis: int) -> ArrayExpr:
        alone = tuple(size if k == axis else ONE for k, size in enumerate(shape))
        sizes = alone if is_sparse else shape
        return ArrayExpr(sizes, part.dtype, lambda indices: part.element([indices[axis]]))

    return Items(tuple(along(part, axis) for part, axis in zip(parts, axes, strict=True)))


# arrays written down


def make_array(build: Builder, name: str, node: ast.Call) -> Value:
    """`np.array(values, dtype)`: a copy of an array, or numbers written as lists."""
    copies = ("copy",) if name == "array" else ()
    args = arguments(build, node, "object", "dtype", *copies, required=1)
    if not flag_argument(build, args, "copy", True):
        raise build.refuse("np.array makes a copy here", args["copy"], help="write np.asarray(x)")
    value = build.evaluate(args["object"])
    dtype = find_dtype_argument(build, args)
    if isinstance(value, AnyArray) and name != "array":
        own = elements_of(build, value).dtype
        if name == "asarray" and dtype in (None, own):
            return value
        if value.shape and dtype in (None, own):
            return in_row_major_order(build, value, name)
    array = elements_of(build, array_of_items(build, value, args["object"], dtype))
    if name == "ascontiguousarray" and not array.shape:
        array = elements_of(build, with_axis(build, array, 0, node))
    if dtype is None:
        return computed(build, array)
    span = build.span(node)
    return elementwise(
        build, [computed(build, array)], lambda parts: cast_element(parts[0], dtype, span), node
    )


def array_of_items(
    build: Builder, value: Value, node: ast.expr, dtype: DType | None = None
) -> AnyArray:
    """Lists of numbers or arrays, as arrays; numbers are stored in `dtype`, which they must fit."""
    if isinstance(value, GrowingList):
        return array_of_list(build, value, node)
    if isinstance(value, Scalar) and dtype is not None:
        value = cast_element(value, dtype, build.span(node))
    if not isinstance(value, Items):
        return as_array(build, value, node)
    if all(isinstance(item, Scalar) for item in value.items):
        numbers = [build.as_scalar(item, node) for item in value.items]
        return _of_numbers(build, numbers, node, dtype)
    rows = [array_of_items(build, item, node, dtype) for item in value.items]
    return joined(build, [with_axis(build, row, 0, node) for row in rows], 0, node)


def _of_numbers(
    build: Builder, numbers: Sequence[Scalar], node: ast.expr, dtype: DType | None
) -> ArrayExpr:
    span = build.span(node)
    if dtype is None:
        type = ScalarType(numbers[0].type.dtype) if numbers else ScalarType(FLOAT64)
        for number in numbers:
            type = join_types(type, ScalarType(number.type.dtype), span)
        dtype = type.dtype
    shape = (Const(len(numbers)),)
    buffer = scratch(build, "values", ArrayExpr(shape, dtype, lambda _: numbers[0]), span)
    for position, number in enumerate(numbers):
        stored = store_value(number, dtype, span)
        build.emit(Store(buffer, (Const(position),), stored, span=span))
    return owned(build, buffer)


# running sums


def accumulate(build: Builder, name: str, node: ast.Call) -> Value:
    """`np.cumsum(a, axis, dtype)` and np.cumprod: each result is the one before, and one more.

    In order, as NumPy does it: the results are equal bit by bit.
    """
    args = arguments(build, node, "a", "axis", "dtype", "out", required=1)
    owner, axis = along(build, args, node)
    source = elements_of(build, owner)
    dtype = find_dtype_argument(build, args) or sum_dtype(source.dtype)
    fold = fold_of("sum" if name == "cumsum" else "prod", dtype, build.span(node))
    wide = as_dtype(build, source, dtype, build.span(node))
    result = accumulated(build, wide, axis, fold, node)
    return store_out(build, args["out"], result, node) if "out" in args else result


def accumulated(
    build: Builder, value: ArrayExpr, axis: int, fold: Fold, node: ast.Call
) -> ArrayExpr:
    """The results of a fold after each element along an axis."""
    span = build.span(node)
    buffer = scratch(build, fold.name, value, span)

    def around(size: Expr) -> tuple[Expr, ...]:
        return (*value.shape[:axis], size, *value.shape[axis + 1 :])

    def begin(indices: tuple[Expr, ...]) -> None:
        build.emit(Store(buffer, indices, value.element(indices).expr, span=span))

    def go_on(indices: tuple[Expr, ...]) -> None:
        here = (*indices[:axis], plus(indices[axis], ONE), *indices[axis + 1 :])
        before = Scalar(Load(buffer, indices, span=span), ScalarType(value.dtype))
        new = fold.combine(before, value.element(here))
        build.emit(Store(buffer, here, convert(new, value.dtype, span), span=span))

    nest(build, around(tidy(Min(value.shape[axis], ONE))), begin, span)
    nest(build, around(minus(value.shape[axis], ONE)), go_on, span)
    return owned(build, buffer)
