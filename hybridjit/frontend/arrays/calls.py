"""Functions of numbers, called on whole arrays: `np.exp(a)`, `np.add(a, b, out)`."""

from __future__ import annotations

import ast
from dataclasses import replace
from itertools import islice

import numpy as np

from hybridjit.errors import Span, TypeMismatch
from hybridjit.frontend.arrays.elementwise import (
    broadcast_to,
    elementwise,
    refuse_shapes,
    without_list,
)
from hybridjit.frontend.arrays.memory import (
    check_writable,
    elements_of,
    evaluate_all,
    store_array,
    view_of,
    whole,
)
from hybridjit.frontend.builder import Builder
from hybridjit.frontend.call_arguments import (
    arguments,
    dtype_argument,
    flag_argument,
    refuse_keyword,
)
from hybridjit.frontend.refusals import refusal
from hybridjit.frontend.values import (
    AnyArray,
    Array,
    ArrayExpr,
    Items,
    Nothing,
    Value,
    View,
    describe,
)
from hybridjit.ir.dtype import DType, ScalarType
from hybridjit.ir.expr import Expr, const
from hybridjit.ir.visit import walk
from hybridjit.scalars.conversion import store_value
from hybridjit.scalars.functions import apply, arity_of
from hybridjit.scalars.scalar import Scalar
from hybridjit.scalars.style import Style

# These use an argument more than once.
_DOUBLING = ("square", "imag", "sign", "clip", "complex_inverse")
_DIVIDING = ("//", "%", "fmod")
# Nodes of an expression that may as well be written twice, such as a[i, j] - a[i, j + 1].
_SHORT = 16


def call_ufunc(build: Builder, name: str, node: ast.Call) -> Value:
    """The value of a function of NumPy, of numbers or arrays."""
    nodes, out, where = _ufunc_arguments(build, name, node)
    if where is not None:
        return _call_where(build, name, nodes, out, where, node)
    values = evaluate_all(build, nodes)
    if not any(isinstance(value, (AnyArray, Items)) for value in values):
        numbers = build.as_operands(values, nodes, node)
        result: Value = apply_once(build, name, Style.NUMPY, numbers, node)
    elif name in ("real", "imag") and isinstance(values[0], AnyArray):
        result = complex_part(build, values[0], name, nodes[0])
    else:
        result = elementwise(build, values, lambda parts: _applied(build, name, parts, node), node)
    return result if out is None else store_out(build, out, result, node)


def _call_where(
    build: Builder,
    name: str,
    nodes: list[ast.expr],
    out: ast.expr | None,
    where: ast.expr,
    node: ast.Call,
) -> Value:
    """`np.log(a, out=b, where=a > 0)`: the elements of `b` stay where the condition is false."""
    if out is None:
        raise build.refuse(
            f"{ast.unparse(node.func)} with where= leaves open what the other elements are",
            where,
            help="give the array that has them, as in out=np.zeros_like(a)",
        )
    *values, target, condition = evaluate_all(build, [*nodes, out, where])
    if not isinstance(target, AnyArray):
        raise build.refuse(f"out must be an array, found {describe(target)}", out)
    chosen = elements_of(build, _truths(build, condition, where))
    kept = elements_of(build, target)
    span = build.span(node)

    def compute(parts: list[Scalar]) -> Scalar:
        *numbers, is_chosen, old = parts
        if name in _DIVIDING:  # by zero, maybe, where nobody looks
            one = Scalar(const(1, numbers[1].type.dtype), numbers[1].type)
            numbers[1] = apply("select", Style.NUMPY, [is_chosen, numbers[1], one], span)
        new = _applied(build, name, numbers, node)
        _check_stored(new.type.dtype, kept.dtype, build.span(out))
        new = cast_element(new, kept.dtype, span)
        return apply("select", Style.NUMPY, [is_chosen, new, old], span)

    found = elementwise(build, [*values, chosen, kept], compute, node)
    if not isinstance(target, ArrayExpr):
        return store_in(build, target, found, out, node)
    return found if isinstance(found, Scalar) else broadcast_to(build, found, kept.shape, node)


def _truths(build: Builder, value: Value, node: ast.expr) -> AnyArray:
    """A condition of a function, which must be an array of bools, or a bool."""
    found = without_list(build, value, node)
    if isinstance(value, Scalar):
        found = ArrayExpr((), value.type.dtype, lambda _: value)
    if not isinstance(found, AnyArray) or not elements_of(build, found).dtype.is_bool:
        raise build.mismatch(f"where= must be an array of bools, found {describe(value)}", node)
    return found


def complex_part(build: Builder, owner: AnyArray, name: str, node: ast.expr) -> Value:
    """`a.real` or `a.imag` of the array `a` at `node`: in NumPy a view; of real numbers, `a`."""
    is_complex = elements_of(build, owner).dtype.is_complex
    if name == "real" and not is_complex:
        return owner
    span = build.span(node)

    def compute(parts: list[Scalar]) -> Scalar:
        part = build.let(parts[0], "t", span) if name in _DOUBLING else parts[0]
        return apply(name, Style.NUMPY, [part], span)

    made = elementwise(build, [owner], compute, node)
    is_called = isinstance(node, ast.Call)  # then it has no name, and nothing else can show it
    if is_called or not isinstance(owner, (Array, View)) or not isinstance(made, ArrayExpr):
        return made
    return replace(made, part_of=owner.buffer if is_complex else None)


def _applied(build: Builder, name: str, parts: list[Scalar], node: ast.Call) -> Scalar:
    span = build.span(node)
    if name in _DOUBLING:
        parts = [build.let(part, "t", span) for part in parts]
    return apply(name, Style.NUMPY, parts, span)


def apply_once(
    build: Builder, name: str, style: Style, numbers: list[Scalar], node: ast.Call
) -> Scalar:
    """A function of numbers. What it uses more than once is computed once, unless it is short.

    Otherwise nested calls would double what is in them at each level.
    """
    span = build.span(node)
    if name in _DOUBLING:
        numbers = [x if _is_short(x.expr) else build.let(x, "t", span) for x in numbers]
    return apply(name, style, numbers, span)


def _ufunc_arguments(
    build: Builder, name: str, node: ast.Call
) -> tuple[list[ast.expr], ast.expr | None, ast.expr | None]:
    """The operands, the array for the result, which is after them or `out=`, and `where=`."""
    label, arity = ast.unparse(node.func), arity_of(name)
    given: dict[str, ast.expr] = {}
    for keyword in node.keywords:
        if keyword.arg not in ("out", "where"):
            raise refuse_keyword(build, label, keyword)
        given[keyword.arg] = keyword.value
    out = given.get("out")
    args = list(node.args)
    for arg in args:
        if isinstance(arg, ast.Starred):
            raise refusal(arg, build.span(arg))
    if out is None and len(args) == arity + 1 and name not in ("select", "clip"):
        out = args.pop()
    if len(args) != arity:
        plural = "argument" if arity == 1 else "arguments"
        raise build.refuse(f"{label} takes {arity} {plural}, found {len(args)}", node)
    return args, out, given.get("where")


def store_out(build: Builder, out: ast.expr, result: Value, node: ast.Call) -> Value:
    """Put the result of a function into the array given for it, which is its value then."""
    return store_in(build, build.evaluate(out), result, out, node)


def store_in(build: Builder, target: Value, result: Value, out: ast.expr, node: ast.Call) -> Value:
    """Put the result of a function into `target`, unless that is None."""
    if isinstance(target, Nothing):
        return result
    if not isinstance(target, (Array, View)):
        raise build.refuse(f"out must be an array, found {describe(target)}", out)
    check_writable(build, target.buffer, out)
    view = view_of(build, target)
    if isinstance(result, Scalar):
        kept = build.let(result, "t", build.span(node))
        value = ArrayExpr(view.shape, kept.type.dtype, lambda _: kept)
    else:
        assert isinstance(result, AnyArray)
        value = elements_of(build, whole(build, result, build.span(node)))
    _check_stored(value.dtype, view.dtype, build.span(out))
    if len(value.shape) > len(view.shape):
        raise refuse_shapes(build, [view.shape, value.shape], node)
    store_array(build, view, broadcast_to(build, value, view.shape, node), build.span(node))
    return target


def _check_stored(found: DType, wanted: DType, span: Span | None) -> None:
    """Refuse a result that NumPy does not convert to the type of `out`."""
    if not np.can_cast(found.numpy, wanted.numpy, "same_kind"):
        raise TypeMismatch(
            f"the result is {found}, which NumPy does not store in {wanted}",
            span,
            help=f"make out an array of {found}",
        )


def elementwise_method(build: Builder, owner: AnyArray, name: str, node: ast.Call) -> Value:
    """The value of a method that keeps the shape of an array."""
    span = build.span(node)
    match name:
        case "copy":
            arguments(build, node, required=0)
            return computed(build, owner)
        case "astype":
            args = arguments(build, node, "dtype", "copy", required=1)
            dtype = dtype_argument(build, args["dtype"])
            is_same = elements_of(build, owner).dtype is dtype
            if not flag_argument(build, args, "copy", True) and is_same:
                return owner
            return elementwise(
                build,
                [computed(build, owner)],
                lambda parts: cast_element(parts[0], dtype, span),
                node,
            )
        case "conj" | "conjugate":
            arguments(build, node, required=0)
            if not elements_of(build, owner).dtype.is_complex:
                return owner
            return elementwise(build, [owner], lambda p: _applied(build, "conj", p, node), node)
        case _:
            raise build.refuse(f"{describe(owner)} has no method '{name}'", node.func)


def computed(build: Builder, owner: Value) -> ArrayExpr:
    """An array that is a copy, not a view of memory."""
    assert isinstance(owner, AnyArray)
    return replace(elements_of(build, owner), buffer=None, shown=None, part_of=None)


def cast_element(value: Scalar, dtype: DType, span: Span | None) -> Scalar:
    """An element as NumPy's astype converts it."""
    return Scalar(store_value(value, dtype, span), ScalarType(dtype))


def _is_short(expr: Expr) -> bool:
    return sum(1 for _ in islice(walk(expr), _SHORT + 1)) <= _SHORT
