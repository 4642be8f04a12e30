"""The functions of numpy, and the methods of arrays, that take arrays as a whole."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any

from hybridjit.arith.ranges import times
from hybridjit.frontend.arrays.arrangements import (
    as_array,
    broadcast,
    repeat,
    result_type,
    roll,
    slide,
    take,
    tile,
)
from hybridjit.frontend.arrays.axes import diagonal, expand_axis, move_axis, squeeze, swap_axes
from hybridjit.frontend.arrays.calls import cast_element, computed, elementwise_method, store_out
from hybridjit.frontend.arrays.contractions import dot, einsum, tensordot
from hybridjit.frontend.arrays.creation import (
    evaluate_array,
    make_eye,
    make_filled,
    make_filled_like,
    make_full,
    make_linspace,
    make_range,
)
from hybridjit.frontend.arrays.elementwise import elementwise
from hybridjit.frontend.arrays.extrema import find_extremum
from hybridjit.frontend.arrays.grids import accumulate, make_array, mesh
from hybridjit.frontend.arrays.index_grids import make_indices
from hybridjit.frontend.arrays.joins import block, concatenate, split, stack_along, stack_arrays
from hybridjit.frontend.arrays.memory import (
    check_writable,
    count_chosen,
    elements_of,
    evaluate_all,
    fixed_index,
    store_array,
    view_of,
    whole,
)
from hybridjit.frontend.arrays.padding import pad
from hybridjit.frontend.arrays.products import outer, product
from hybridjit.frontend.arrays.reductions import (
    Axes,
    Fold,
    array_of_one,
    as_dtype,
    check_order,
    converted_to,
    fold_axes,
    fold_of,
    mean,
    reduce,
    sum_dtype,
    variance,
)
from hybridjit.frontend.arrays.shapes import (
    axes_argument,
    axis_of,
    different_axes,
    flip,
    ravel_in_order,
    reshape,
    reshape_in_order,
    transposed,
)
from hybridjit.frontend.builder import Builder
from hybridjit.frontend.call_arguments import arguments, find_dtype_argument, flag_argument
from hybridjit.frontend.values import (
    AnyArray,
    ArrayExpr,
    GrowingList,
    Items,
    Nothing,
    Value,
    describe,
)
from hybridjit.ir.dtype import ScalarType
from hybridjit.ir.expr import Const, Expr
from hybridjit.scalars.functions import apply
from hybridjit.scalars.scalar import Scalar, index, integer
from hybridjit.scalars.style import Style

REDUCTIONS = ("sum", "prod", "min", "max", "any", "all", "mean", "var", "std", "argmin", "argmax")
Handler = Callable[[Any, str, ast.Call], Value]
_REDUCTION_ARGUMENTS = {
    **dict.fromkeys(("sum", "prod"), ("axis", "dtype", "out", "keepdims", "initial", "where")),
    "mean": ("axis", "dtype", "out", "keepdims"),
    **dict.fromkeys(("min", "max"), ("axis", "out", "keepdims", "initial", "where")),
    **dict.fromkeys(("any", "all"), ("axis", "out", "keepdims", "where")),
    **dict.fromkeys(("argmin", "argmax"), ("axis", "out", "keepdims")),
    **dict.fromkeys(("var", "std"), ("axis", "dtype", "out", "ddof", "keepdims")),
}


def call_array_function(build: Builder, name: str, node: ast.Call) -> Value:
    """The value of `np.sum(a)`, `np.zeros(n)` and their kind."""
    if name in REDUCTIONS:
        args = arguments(build, node, "a", *_REDUCTION_ARGUMENTS[name], required=1)
        value = build.evaluate(args.pop("a"))
        return reduction(build, name, _reducible(build, value, node), args, node)
    return _ARRAY_HANDLERS[name](build, name, node)


def array_method(build: Builder, owner: AnyArray, name: str, node: ast.Call) -> Value:
    """The value of `a.sum()`, `a.reshape(n, m)` and their kind."""
    if name in REDUCTIONS:
        args = arguments(build, node, *_REDUCTION_ARGUMENTS[name], required=0)
        return reduction(build, name, elements_of(build, owner), args, node)
    match name:
        case "reshape":
            values = evaluate_all(build, node.args)
            if len(values) == 1 and isinstance(values[0], Items):
                values = list(values[0].items)
            order = _keywords(build, node, "order").get("order")
            return reshape_in_order(build, owner, _sizes(build, values, node), order, node)
        case "transpose":
            _keywords(build, node)
            items = [build.evaluate(arg) for arg in node.args]
            if len(items) == 1 and isinstance(items[0], Items):
                items = list(items[0].items)
            axes = [axis_of(build, item, len(owner.shape), node) for item in items]
            return transposed(build, owner, axes or None, node)
        case "flatten" | "ravel":
            args = arguments(build, node, "order", required=0)
            flat = ravel_in_order(build, owner, args.get("order"), node)
            return computed(build, flat) if name == "flatten" else flat
        case "dot":
            args = arguments(build, node, "b", required=1)
            return dot(build, owner, build.evaluate(args["b"]), node)
        case "fill":
            args = arguments(build, node, "value", required=1)
            return _fill_owner(build, owner, build.scalar(args["value"]), node)
        case _:
            return elementwise_method(build, owner, name, node)


def count_selected(build: Builder, value: ArrayExpr, node: ast.expr) -> Scalar:
    """How many elements a mask selects."""
    assert value.mask is not None
    size = count_chosen(build, value.mask, build.span(node))
    for extent in value.mask.without(value.shape):
        size = times(size, extent)
    return index(size)


def _reducible(build: Builder, value: Value, node: ast.Call) -> ArrayExpr:
    if isinstance(value, Scalar):
        return ArrayExpr((), value.type.dtype, lambda _: value)
    if isinstance(value, (Items, GrowingList)):
        return elements_of(build, build.language.array_of_items(build, value, node))
    if not isinstance(value, AnyArray):
        raise build.mismatch(f"expected an array, found {describe(value)}", node)
    return elements_of(build, value)


def reduction(
    build: Builder, name: str, value: ArrayExpr, args: dict[str, ast.expr], node: ast.Call
) -> Value:
    """The value of a reduction whose arguments, other than the array, are given by name."""
    if "out" in args:
        out = args.pop("out")
        return store_out(build, out, reduction(build, name, value, args, node), node)
    if value.mask is not None and (name in ("argmin", "argmax") or {"axis", "keepdims"} & {*args}):
        value = elements_of(build, whole(build, value, build.span(node)))
    ndim = len(value.shape)
    found = different_axes(build, args.get("axis"), ndim)
    keepdims = flag_argument(build, args, "keepdims", False)
    axes = Axes(tuple(range(ndim)) if found is None else found, ndim, keepdims)
    dtype = find_dtype_argument(build, args)
    match name:
        case "mean":
            return mean(build, value, axes, node, dtype)
        case "var" | "std":
            ddof = build.scalar(args["ddof"]) if "ddof" in args else integer(0)
            source = value if dtype is None else as_dtype(build, value, dtype, build.span(node))
            result = variance(build, source, axes, node, ddof)
            return result if name == "var" else _root(build, result, node)
        case "argmin" | "argmax":
            return find_extremum(build, name, value, axes, node)
        case _ if "initial" in args or "where" in args:
            return _reduced_from(build, name, value, axes, args, node)
        case _:
            return reduce(build, name, value, axes, node, dtype)


def _reduced_from(
    build: Builder,
    name: str,
    value: ArrayExpr,
    axes: Axes,
    args: dict[str, ast.expr],
    node: ast.Call,
) -> Value:
    """A reduction of the elements where a condition holds, and of a number to begin with."""
    span = build.span(node)
    check_order(build, name, value, node)
    dtype = find_dtype_argument(build, args)
    if dtype is None:
        dtype = sum_dtype(value.dtype) if name in ("sum", "prod") else value.dtype
    fold = fold_of(name, dtype, span)
    source = as_dtype(build, value, fold.dtype, span) if name not in ("any", "all") else value
    if "where" in args:
        source = _where(build, source, args, fold, node)
    result = fold_axes(build, source, axes, fold, node)
    if "initial" in args:
        given = cast_element(build.scalar(args["initial"]), fold.dtype, span)
        result = _begun_with(build, build.let(given, "initial", span), result, fold, node)
    return result if fold.name in ("any", "all") else converted_to(build, result, dtype, span)


def _begun_with(
    build: Builder, initial: Scalar, result: Scalar | ArrayExpr, fold: Fold, node: ast.Call
) -> Scalar | ArrayExpr:
    if isinstance(result, Scalar):
        return fold.combine(result, initial)
    return elementwise(build, [result, initial], lambda p: fold.combine(p[0], p[1]), node)


def _where(
    build: Builder, value: ArrayExpr, args: dict[str, ast.expr], fold: Fold, node: ast.Call
) -> ArrayExpr:
    """The array, with what changes nothing where a condition does not hold."""
    if fold.name in ("min", "max") and "initial" not in args:
        raise build.refuse(
            f"{ast.unparse(node.func)} with where= needs a number to begin with",
            node,
            help="give it, as in initial=0",
        )
    nothing = Scalar(fold.start, ScalarType(fold.dtype))
    condition = build.evaluate(args["where"])
    chosen = elementwise(
        build, [condition, value, nothing], lambda p: apply("select", Style.NUMPY, p, None), node
    )
    return array_of_one(chosen) if isinstance(chosen, Scalar) else chosen


def _root(build: Builder, value: Scalar | ArrayExpr, node: ast.Call) -> Value:
    span = build.span(node)
    if isinstance(value, Scalar):
        return apply("sqrt", Style.NUMPY, [value], span)
    return elementwise(build, [value], lambda p: apply("sqrt", Style.NUMPY, p, span), node)


def _sizes(build: Builder, values: Sequence[Value], node: ast.Call) -> list[Expr]:
    return [
        fixed_index(build, build.as_index(build.as_scalar(value, node), node, "a size"))
        for value in values
    ]


def _fill_owner(build: Builder, owner: AnyArray, value: Scalar, node: ast.Call) -> Value:
    if isinstance(owner, ArrayExpr):
        raise build.refuse("fill needs an array with a name", node)
    view = view_of(build, owner)
    check_writable(build, view.buffer, node)
    kept = build.let(value, "value", build.span(node))
    filling = ArrayExpr(view.shape, kept.type.dtype, lambda _: kept)
    store_array(build, view, filling, build.span(node))
    return Nothing()


# functions of numpy


def _arrays(build: Builder, node: ast.Call, *names: str) -> list[Value]:
    args = arguments(build, node, *names, required=len(names))
    return evaluate_all(build, [args[name] for name in names])


def _product_of(build: Builder, name: str, node: ast.Call) -> Value:
    args = arguments(build, node, "a", "b", "out", required=2)
    a, b = evaluate_all(build, [args["a"], args["b"]])
    result = dot(build, a, b, node) if name == "dot" else product(build, a, b, node)
    return store_out(build, args["out"], result, node) if "out" in args else result


def _outer(build: Builder, name: str, node: ast.Call) -> Value:
    args = arguments(build, node, "a", "b", "out", required=2)
    flat = [
        reshape(build, as_array(build, value, node), (Const(-1),), node)
        for value in evaluate_all(build, [args["a"], args["b"]])
    ]
    result = outer(build, flat[0], flat[1], node)
    return store_out(build, args["out"], result, node) if "out" in args else result


def _copy(build: Builder, name: str, node: ast.Call) -> Value:
    (value,) = _arrays(build, node, "a")
    return computed(build, _reducible(build, value, node))


def _transpose(build: Builder, name: str, node: ast.Call) -> Value:
    args = arguments(build, node, "a", "axes", required=1)
    owner = evaluate_array(build, args["a"])
    axes = axes_argument(build, args.get("axes"), len(owner.shape))
    return transposed(build, owner, axes, node)


def _reshape(build: Builder, name: str, node: ast.Call) -> Value:
    args = arguments(build, node, "a", "shape", "order", required=2)
    owner, shape = evaluate_all(build, [args["a"], args["shape"]])
    values = list(shape.items) if isinstance(shape, Items) else [shape]
    if not isinstance(owner, AnyArray):
        raise build.mismatch(f"expected an array, found {describe(owner)}", args["a"])
    return reshape_in_order(build, owner, _sizes(build, values, node), args.get("order"), node)


def _keywords(build: Builder, node: ast.Call, *names: str) -> dict[str, ast.expr]:
    """The arguments by name of a call that takes any number of others."""
    by_name = ast.copy_location(ast.Call(node.func, [], node.keywords), node)
    return arguments(build, by_name, *names, required=0)


def _flip(build: Builder, name: str, node: ast.Call) -> Value:
    args = arguments(build, node, "m", "axis", required=1)
    owner = evaluate_array(build, args["m"])
    axes = different_axes(build, args.get("axis"), len(owner.shape))
    return flip(build, owner, range(len(owner.shape)) if axes is None else axes, node)


def _ravel(build: Builder, name: str, node: ast.Call) -> Value:
    args = arguments(build, node, "a", "order", required=1)
    return ravel_in_order(build, evaluate_array(build, args["a"]), args.get("order"), node)


_ARRAY_HANDLERS: dict[str, Handler] = {
    **dict.fromkeys(("zeros", "ones", "empty"), make_filled),
    **dict.fromkeys(("zeros_like", "ones_like", "empty_like"), make_filled_like),
    **dict.fromkeys(("full", "full_like"), make_full),
    "arange": make_range,
    "linspace": make_linspace,
    "eye": make_eye,
    "identity": make_eye,
    "dot": _product_of,
    "matmul": _product_of,
    "outer": _outer,
    "pad": pad,
    "einsum": einsum,
    "tensordot": tensordot,
    "copy": _copy,
    "transpose": _transpose,
    "reshape": _reshape,
    "flip": _flip,
    "ravel": _ravel,
    "swapaxes": swap_axes,
    "moveaxis": move_axis,
    "expand_dims": expand_axis,
    "squeeze": squeeze,
    "diagonal": diagonal,
    "repeat": repeat,
    "tile": tile,
    "roll": roll,
    "take": take,
    "broadcast_to": broadcast,
    "sliding_window_view": slide,
    "concatenate": concatenate,
    "stack": stack_arrays,
    **dict.fromkeys(("hstack", "vstack", "dstack", "column_stack"), stack_along),
    "block": block,
    **dict.fromkeys(("split", "array_split", "hsplit", "vsplit", "dsplit"), split),
    "result_type": result_type,
    "indices": make_indices,
    "meshgrid": mesh,
    **dict.fromkeys(("array", "asarray", "ascontiguousarray"), make_array),
    **dict.fromkeys(("cumsum", "cumprod"), accumulate),
}
