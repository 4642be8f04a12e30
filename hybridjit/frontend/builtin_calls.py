"""Calls of the functions of the language: arrays, extrema, rounding and mathematics."""

from __future__ import annotations

import ast
from collections.abc import Callable
from types import FunctionType
from typing import TYPE_CHECKING, Any

import numpy as np

from hybridjit.frontend.arrays.calls import apply_once, call_ufunc
from hybridjit.frontend.arrays.elementwise import elementwise
from hybridjit.frontend.arrays.lists import length
from hybridjit.frontend.arrays.memory import fixed_index, whole
from hybridjit.frontend.builder import Builder
from hybridjit.frontend.call_arguments import (
    arguments,
    dtype_argument,
    number_arguments,
    shape_argument,
    text_argument,
)
from hybridjit.frontend.expansion import LOOP_NAMES
from hybridjit.frontend.extern_calls import part_from
from hybridjit.frontend.named_calls import call_declared, call_intrinsic_by_name
from hybridjit.frontend.values import (
    AnyArray,
    Array,
    ArrayExpr,
    Callee,
    GivenList,
    GrowingList,
    ItemPlace,
    Items,
    Nothing,
    Records,
    Text,
    Value,
    View,
    describe,
)
from hybridjit.ir.dtype import DTYPES, ScalarType
from hybridjit.ir.expr import Buffer, BufferRef, Div, Expr, FloorDiv, Load, Max, Min, Pow
from hybridjit.ir.expr import const as make_const
from hybridjit.ir.intrinsics import INTRINSICS
from hybridjit.ir.signature import Part
from hybridjit.ir.stmt import Allocate, Reserve
from hybridjit.ir.visit import walk
from hybridjit.lazy import lazy_module
from hybridjit.scalars.builtins import MAX_NUM_THREADS, extreme
from hybridjit.scalars.conversion import truth
from hybridjit.scalars.functions import (
    Style,
    apply,
    arity_of,
    intrinsic,
    minimum_of,
    nearest_integer,
)
from hybridjit.scalars.operators import binary, select, unary
from hybridjit.scalars.scalar import Scalar, index, integer
from hybridjit.scalars.suggest import did_you_mean

if TYPE_CHECKING:
    from hybridjit.frontend.library import python as library_python
else:
    library_python = lazy_module("hybridjit.frontend.library.python")

SCOPES = ("global", "local", "shared")

Handler = Callable[[Any, ast.Call], Value]


def call_builtin(build: Builder, name: str, node: ast.Call) -> Value:
    """The value of a call to a function of the language."""
    handler = _HANDLERS.get(name)
    if handler is not None:
        return handler(build, node)
    if name in INTRINSICS:
        return call_function(build, name, Style.LANGUAGE, node)
    if name in LOOP_NAMES or name == "grid":
        raise build.refuse(
            f"{name}(...) can only stand after `for ... in`",
            node,
            help=f"write it in the loop, as in `for i in {ast.unparse(node)}:`"
            + (", or make an array with np.arange(...)" if name == "range" else ""),
        )
    if name in ("block", "init"):
        raise build.refuse(
            f"{name}(...) can only stand after `with`",
            node,
            help=f"write it as in `with {ast.unparse(node)}:`",
        )
    raise build.refuse(
        f"{name}(...) can only stand in block(...)",
        node,
        help=f'write it as in `with block("name", {ast.unparse(node)}):`',
    )


def call_function(build: Builder, name: str, style: Style, node: ast.Call) -> Value:
    """The value of a function of numbers, as hybridjit, numpy or math define it."""
    if name == "log" and style is Style.MATH and len(node.args) == 2:
        logs = [apply(name, style, [x], build.span(node)) for x in number_arguments(build, node, 2)]
        return binary(Div, logs[0], logs[1], build.span(node))
    if style is Style.NUMPY:
        return call_ufunc(build, name, node)
    if name == "hypot" and style is Style.MATH and len(node.args) != 2:
        return _length(build, node)
    return apply_once(build, name, style, number_arguments(build, node, arity_of(name)), node)


def _length(build: Builder, node: ast.Call) -> Value:
    """`math.hypot(x, y, z)`, of any number of coordinates."""
    total, span = integer(0), build.span(node)
    for number in number_arguments(build, node, len(node.args)):
        total = build.let(apply("hypot", Style.MATH, [total, number], span), "t", span)
    return total


def _allocate(build: Builder, node: ast.Call) -> Value:
    args = arguments(build, node, "shape", "dtype", "scope", "zero", required=1)
    scope = text_argument(build, args["scope"], "a scope") if "scope" in args else "global"
    if scope not in SCOPES and not (scope == Buffer.GROWING and build.frame.source.is_printed):
        raise build.mismatch(
            f"unknown scope {scope!r}",
            args["scope"],
            help=did_you_mean(scope, SCOPES) or f"use one of {', '.join(SCOPES)}",
        )
    zero = build.scalar(args["zero"]).constant if "zero" in args else True
    if not isinstance(zero, bool):
        raise build.mismatch(
            "zero= must be known when the script is compiled",
            args["zero"],
            help="write zero=True or zero=False",
        )
    return _new_array(build, args, scope, zero, node)


def _output_tensor(build: Builder, node: ast.Call) -> Value:
    args = arguments(build, node, "shape", "dtype", required=1)
    if not build.frame.is_root:
        return _new_array(build, args, "global", True, node)
    if build.frame.loops or build.depth > 0:
        raise build.refuse(
            "output_tensor must stand at the top level of the script",
            node,
            help="make it before the loop or the if; for scratch use allocate(shape, dtype)",
        )
    array = _new_array(build, args, "global", True, node)
    build.unit.declared_outputs[array.buffer] = build.span(node)
    return array


def _new_array(
    build: Builder, args: dict[str, ast.expr], scope: str, zero: bool, node: ast.Call
) -> Array:
    name = build.hint or "t"
    shape = tuple(_as_it_is_now(build, size) for size in shape_argument(build, args["shape"]))
    dtype = dtype_argument(build, args["dtype"]) if "dtype" in args else DTYPES["float32"]
    buffer = Buffer(name, dtype, shape, scope)
    build.emit(Allocate(buffer, zero, span=build.span(node)))
    return Array(buffer)


def _as_it_is_now(build: Builder, size: Expr) -> Expr:
    """A size as it is when the array is made: indices are checked against it from then on."""
    is_read = any(isinstance(node, Load) for node in walk(size))
    return fixed_index(build, size, "size") if is_read else size


def _constant_array_of(build: Builder, node: ast.Call) -> Value:
    args = arguments(build, node, "values", "dtype", "shape", required=2)
    dtype = dtype_argument(build, args["dtype"])
    data = np.array(_constants(build, build.evaluate(args["values"]), node), dtype.numpy)
    if "shape" in args:
        data = np.reshape(data, _constants(build, build.evaluate(args["shape"]), node))
    return Array(build.make_constant(build.hint or "t", dtype, data).buffer)


def _constants(build: Builder, value: Value, node: ast.AST) -> Any:
    if isinstance(value, Items):
        return [_constants(build, item, node) for item in value.items]
    if isinstance(value, Scalar) and value.constant is not None:
        return value.constant
    raise build.mismatch(
        f"constant_array takes numbers that are known when the script is compiled, "
        f"found {describe(value)}",
        node,
    )


def extreme_of(build: Builder, node: ast.Call, *, least: bool) -> Value:
    """`ninf(dtype)` or `inf(dtype)`: the least or the largest value of a type."""
    if len(node.args) != 1 or node.keywords:
        name = "ninf" if least else "inf"
        raise build.refuse(f'{name} takes a type, as in {name}("float32")', node)
    dtype = dtype_argument(build, node.args[0])
    value = extreme(dtype.numpy, least=least)
    return Scalar(make_const(value.item(), dtype), ScalarType(dtype))


def _max_num_threads(build: Builder, node: ast.Call) -> Value:
    del build, node
    return integer(MAX_NUM_THREADS)


def _likely(build: Builder, node: ast.Call) -> Value:
    return number_arguments(build, node, 1)[0]


def _ceil_div(build: Builder, node: ast.Call) -> Value:
    a, b = number_arguments(build, node, 2)
    span = build.span(node)
    return unary(ast.USub(), binary(FloorDiv, unary(ast.USub(), a, span), b, span), span)


def _select(build: Builder, node: ast.Call) -> Value:
    cond, then, otherwise = number_arguments(build, node, 3)
    return select(truth(cond, build.span(node)), then, otherwise, build.span(node))


def _power(build: Builder, node: ast.Call) -> Value:
    if len(node.args) == 3 and not node.keywords:
        return build.language.inline(build, Callee(library_python.power_modulo), node)
    a, b = number_arguments(build, node, 2)
    return binary(Pow, a, b, build.span(node))


def _abs(build: Builder, node: ast.Call) -> Value:
    if len(node.args) == 1 and not node.keywords:
        value, span = build.evaluate(node.args[0]), build.span(node)
        if isinstance(value, AnyArray):
            return elementwise(
                build, [value], lambda parts: intrinsic(INTRINSICS["abs"], parts, span), node
            )
        values = build.as_operands([value], node.args, node)
        return intrinsic(INTRINSICS["abs"], values, span)
    return intrinsic(INTRINSICS["abs"], number_arguments(build, node, 1), build.span(node))


def _round(build: Builder, node: ast.Call) -> Value:
    args = arguments(build, node, "number", "ndigits", required=1)
    digits = args.get("ndigits")
    if digits is None or (isinstance(digits, ast.Constant) and digits.value is None):
        return nearest_integer(build.scalar(args["number"]), build.span(node))
    return build.language.inline(build, Callee(_rounding(build.scalar(args["number"]))), node)


def _rounding(number: Scalar) -> FunctionType:
    """How a number is rounded to digits: Python's exactly, NumPy's as np.round does."""
    if not number.type.weak:
        return library_python.rounded_element
    is_float = number.type.dtype.is_float
    return library_python.rounded if is_float else library_python.rounded_integer


def _min(build: Builder, node: ast.Call) -> Value:
    return _extremum(build, node, Min)


def _max(build: Builder, node: ast.Call) -> Value:
    return _extremum(build, node, Max)


def _extremum(build: Builder, node: ast.Call, op: type[Min] | type[Max]) -> Value:
    if len(node.args) == 1 and not node.keywords:
        value = build.evaluate(node.args[0])
        if isinstance(value, Items) and value.items:
            scalars = [build.as_scalar(item, node.args[0]) for item in value.items]
            return minimum_of(scalars, op, build.span(node))
        if isinstance(value, (AnyArray, GrowingList)):
            found = library_python.smallest if op is Min else library_python.largest
            return build.language.inline(build, Callee(found), node)
    if [word.arg for word in node.keywords] == ["default"] and len(node.args) == 1:
        found = library_python.smallest_or if op is Min else library_python.largest_or
        return build.language.inline(build, Callee(found), node)
    if [word.arg for word in node.keywords] == ["key"] and len(node.args) == 1:
        found = library_python.smallest_by if op is Min else library_python.largest_by
        return build.language.inline(build, Callee(found), node)
    numbers = number_arguments(build, node)
    if len(numbers) < 2:
        name = op.__name__.lower()
        raise build.refuse(f"{name} needs at least two numbers, as in {name}(x, y)", node)
    return minimum_of(numbers, op, build.span(node))


def _len(build: Builder, node: ast.Call) -> Value:
    (arg,) = arguments(build, node, "obj", required=1).values()
    value = build.evaluate(arg)
    match value:
        case Items(items):
            return integer(len(items))
        case GrowingList():
            return index(length(build, value, node))
        case Records(ndim=0):
            return integer(len(value.fields))
        case Records():
            return index(value.shape[0])
        case ArrayExpr() if value.mask is not None:
            return index(whole(build, value, build.span(node)).shape[0])
        case Array() | View() | ArrayExpr() if value.shape:
            return index(value.shape[0])
        case Text(text):
            return integer(len(text))
        case _:
            raise build.mismatch(f"{describe(value)} has no length", arg)


def _reserve(build: Builder, node: ast.Call) -> Value:
    """Of a printed program: room in a growing array."""
    array = build.evaluate(node.args[0])
    assert isinstance(array, Array)
    size, span = build.index(node.args[1], "a size"), build.span(node)
    build.emit(Reserve(BufferRef(array.buffer), size, span=span))
    return Nothing()


def _list_of(build: Builder, node: ast.Call) -> Value:
    """Of a printed program: arrays with what a list holds at each place, and whether it is weak."""
    columns: list[tuple[Array, ItemPlace, bool]] = []
    for arg in node.args:
        assert isinstance(arg, ast.Tuple)
        array, (place, weak) = build.evaluate(arg.elts[0]), map(ast.literal_eval, arg.elts[1:])
        assert isinstance(array, Array)
        columns.append((array, place, weak))
    return GivenList(tuple(columns))


def _view_of(build: Builder, node: ast.Call) -> Value:
    """Of a printed program: a view of an argument, which is returned."""
    match node.args:
        case [array, axes, ndim, ast.Constant(str(way)), *numbers]:
            pass
        case [array, axes, ndim, *numbers]:
            way = ""
        case _:
            raise build.refuse("view_of needs an array and its axes", node)
    values = [build.evaluate(arg) for arg in (array, *numbers)]
    part = Part(ast.literal_eval(axes), ast.literal_eval(ndim), way)
    return Items(tuple(values), maker=part)


def _print(build: Builder, node: ast.Call) -> Value:
    raise build.refuse("print(...) has no value", node, help="write it on a line of its own")


_HANDLERS: dict[str, Handler] = {
    "allocate": _allocate,
    "output_tensor": _output_tensor,
    "constant_array": _constant_array_of,
    "part": part_from,
    "call_intrin": call_intrinsic_by_name,
    "call_extern": lambda build, node: call_declared(build, node, 2),
    "call_packed": lambda build, node: call_declared(build, node, 1),
    "ninf": lambda build, node: extreme_of(build, node, least=True),
    "max_num_threads": _max_num_threads,
    "likely": _likely,
    "ceil_div": _ceil_div,
    "select": _select,
    "pow": _power,
    "power": _power,
    "abs": _abs,
    "round": _round,
    "min": _min,
    "max": _max,
    "len": _len,
    "print": _print,
    "reserve": _reserve,
    "list_of": _list_of,
    "view_of": _view_of,
}
