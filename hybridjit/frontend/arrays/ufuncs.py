"""Methods of the functions of NumPy: `np.add.at`, `np.maximum.reduce`, `np.add.accumulate`."""

from __future__ import annotations

import ast

from hybridjit.frontend.arrays.arrangements import as_array
from hybridjit.frontend.arrays.creation import array_argument
from hybridjit.frontend.arrays.elementwise import broadcast_to
from hybridjit.frontend.arrays.functions import reduction
from hybridjit.frontend.arrays.gather import Entry, Gathered, has_mask, place_in, scattered
from hybridjit.frontend.arrays.grids import accumulated
from hybridjit.frontend.arrays.memory import (
    check_writable,
    copied,
    elements_of,
    evaluate_all,
    may_read,
    nest,
)
from hybridjit.frontend.arrays.products import outer_of
from hybridjit.frontend.arrays.reductions import as_dtype, check_order, fold_of, sum_dtype
from hybridjit.frontend.arrays.shapes import axes_argument
from hybridjit.frontend.builder import Builder
from hybridjit.frontend.call_arguments import arguments, find_dtype_argument
from hybridjit.frontend.values import (
    AnyArray,
    Array,
    ArrayExpr,
    Items,
    NumpyFunction,
    Value,
    View,
    describe,
)
from hybridjit.ir.dtype import BOOL, ScalarType
from hybridjit.ir.expr import Expr, Load
from hybridjit.ir.stmt import Store
from hybridjit.scalars.conversion import store_value
from hybridjit.scalars.functions import apply, arity_of
from hybridjit.scalars.scalar import Scalar
from hybridjit.scalars.style import Style

# The reduction that a function of two numbers makes.
_REDUCTIONS = {
    **{"+": "sum", "*": "prod", "minimum": "min", "maximum": "max"},
    **{"logical_and": "all", "logical_or": "any"},
    **{"&": "bitwise_and", "|": "bitwise_or", "^": "bitwise_xor"},
}


def call_ufunc_method(build: Builder, ufunc: NumpyFunction, method: str, node: ast.Call) -> Value:
    """The value of `np.add.reduce(a)` and its kin."""
    match method:
        case "outer":
            return _all_pairs(build, ufunc.name, node)
        case "at":
            return _update_at(build, ufunc.name, node)
        case "reduce":
            return _reduce_by(build, ufunc, node)
        case _:
            return _accumulate_by(build, ufunc, node)


def _all_pairs(build: Builder, function: str, node: ast.Call) -> Value:
    args, span = arguments(build, node, "a", "b", required=2), build.span(node)
    values = evaluate_all(build, [args["a"], args["b"]])
    a, b = (elements_of(build, as_array(build, value, node)) for value in values)
    return outer_of(build, a, b, lambda p: apply(function, Style.NUMPY, p, span), node)


# updates at places that may be equal


def _update_at(build: Builder, function: str, node: ast.Call) -> Value:
    """`np.add.at(a, indices, b)`: one after the other, equal indices too."""
    args = arguments(build, node, "a", "indices", "b", required=arity_of(function) + 1)
    owner = build.evaluate(args["a"])
    if not isinstance(owner, (Array, View)):
        raise build.mismatch(f"expected an array, found {describe(owner)}", args["a"])
    check_writable(build, owner.buffer, args["a"])
    place = _places(build, owner, args, node)
    operands = [_spread(build, build.evaluate(args["b"]), place, node)] if "b" in args else []

    def body(indices: tuple[Expr, ...]) -> None:
        span = build.span(node)
        where = tuple(
            build.let(Scalar(index, ScalarType(index.dtype)), "t", span).expr
            for index in place_in(place, indices)
        )
        old = Scalar(Load(owner.buffer, where, span=span), ScalarType(owner.buffer.dtype))
        parts = [old, *(operand.element(indices) for operand in operands)]
        new = store_value(apply(function, Style.NUMPY, parts, span), owner.buffer.dtype, span)
        build.emit(Store(owner.buffer, where, new, span=span))

    nest(build, place.shape, body, build.span(node))
    return owner


def _places(
    build: Builder, owner: Array | View, args: dict[str, ast.expr], node: ast.Call
) -> Gathered:
    subscript = ast.Subscript(args["a"], args["indices"], ast.Load())
    subscript = ast.fix_missing_locations(ast.copy_location(subscript, node))
    value = build.evaluate(args["indices"])
    entries: list[Entry] = list(value.items) if isinstance(value, Items) else [value]
    if not any(isinstance(entry, AnyArray) for entry in entries) or has_mask(entries):
        raise build.refuse(
            f"{ast.unparse(node.func)} takes arrays of indices",
            args["indices"],
            help="where no index comes twice, write a[indices] += b",
        )
    return scattered(build, owner, entries, subscript)


def _spread(build: Builder, value: Value, place: Gathered, node: ast.Call) -> ArrayExpr:
    """What is combined with the elements, with their shape."""
    operand = elements_of(build, as_array(build, value, node))
    if may_read(build, operand, place.view.buffer):
        operand = elements_of(build, Array(copied(build, operand, "t", build.span(node))))
    return broadcast_to(build, operand, place.shape, node)


# reductions


def _reduce_by(build: Builder, ufunc: NumpyFunction, node: ast.Call) -> Value:
    name = _reduction_name(build, ufunc, node)
    names = ("array", "axis", "dtype", "keepdims", "initial", "where")
    args = arguments(build, node, *names, required=1)
    value = array_argument(build, args.pop("array"))
    args.setdefault("axis", ast.copy_location(ast.Constant(0), node))
    return reduction(build, name, value, args, node)


def _accumulate_by(build: Builder, ufunc: NumpyFunction, node: ast.Call) -> Value:
    name = _reduction_name(build, ufunc, node)
    args = arguments(build, node, "array", "axis", "dtype", required=1)
    value = array_argument(build, args["array"])
    if not value.shape:
        raise build.mismatch("a number has no elements to go through", node)
    axes = axes_argument(build, args.get("axis"), len(value.shape)) or (0,)
    dtype = sum_dtype(value.dtype) if name in ("sum", "prod") else value.dtype
    dtype = find_dtype_argument(build, args) or dtype
    check_order(build, name, value, node)
    if name in ("any", "all"):
        dtype = BOOL
    fold = fold_of(name, dtype, build.span(node))
    return accumulated(build, as_dtype(build, value, dtype, build.span(node)), axes[0], fold, node)


def _reduction_name(build: Builder, ufunc: NumpyFunction, node: ast.Call) -> str:
    if ufunc.name not in _REDUCTIONS:
        raise build.refuse(
            f"'{ast.unparse(node.func)}' is not supported inside a script",
            node.func,
            help="write a loop over the elements",
        )
    return _REDUCTIONS[ufunc.name]
