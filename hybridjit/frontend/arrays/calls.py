"""Functions of numbers, called on whole arrays: `np.exp(a)`, `np.add(a, b, out)`."""

from __future__ import annotations

import ast
from dataclasses import replace
from itertools import islice

import numpy as np

from hybridjit.errors import Span, TypeMismatch
from hybridjit.frontend.call_arguments import CallArguments
from hybridjit.frontend.conversion import store_value
from hybridjit.frontend.functions import apply, arity_of
from hybridjit.frontend.numpy_refusals import UNKNOWN_SIZE
from hybridjit.frontend.refusals import refusal
from hybridjit.frontend.style import Style
from hybridjit.frontend.values import (
    AnyArray,
    Array,
    ArrayExpr,
    Items,
    Nothing,
    Scalar,
    Value,
    View,
    describe,
)
from hybridjit.ir.dtype import DType, ScalarType
from hybridjit.ir.expr import Expr
from hybridjit.ir.visit import walk

# These use an argument more than once.
_DOUBLING = ("square", "imag", "sign", "clip")
# Nodes of an expression that may as well be written twice, such as a[i, j] - a[i, j + 1].
_SHORT = 16


class ArrayCalls(CallArguments):
    """What a function of NumPy makes of arrays, element by element."""

    def call_ufunc(self, name: str, node: ast.Call) -> Value:
        """The value of a function of NumPy, of numbers or arrays."""
        nodes, out = self._ufunc_arguments(name, node)
        values = self.evaluate_all(nodes)
        if not any(isinstance(value, (AnyArray, Items)) for value in values):
            numbers = self.as_operands(values, nodes, node)
            result: Value = self.apply_once(name, Style.NUMPY, numbers, node)
        else:
            result = self.elementwise(values, lambda parts: self._applied(name, parts, node), node)
        return result if out is None else self.store_out(out, result, node)

    def _applied(self, name: str, parts: list[Scalar], node: ast.Call) -> Scalar:
        span = self.span(node)
        if name in _DOUBLING:
            parts = [self.let(part, "t", span) for part in parts]
        return apply(name, Style.NUMPY, parts, span)

    def apply_once(self, name: str, style: Style, numbers: list[Scalar], node: ast.Call) -> Scalar:
        """A function of numbers. What it uses more than once is computed once, unless it is short.

        Otherwise nested calls would double what is in them at each level.
        """
        span = self.span(node)
        if name in _DOUBLING:
            numbers = [x if _is_short(x.expr) else self.let(x, "t", span) for x in numbers]
        return apply(name, style, numbers, span)

    def _ufunc_arguments(self, name: str, node: ast.Call) -> tuple[list[ast.expr], ast.expr | None]:
        """The operands, and the array for the result: after them, or `out=`."""
        label, arity = ast.unparse(node.func), arity_of(name)
        out = None
        for keyword in node.keywords:
            if keyword.arg != "out":
                raise self.refuse_keyword(label, keyword)
            out = keyword.value
        args = list(node.args)
        for arg in args:
            if isinstance(arg, ast.Starred):
                raise refusal(arg, self.span(arg))
        if out is None and len(args) == arity + 1 and name not in ("select", "clip"):
            out = args.pop()
        if len(args) != arity:
            plural = "argument" if arity == 1 else "arguments"
            help = UNKNOWN_SIZE if name == "select" and len(args) == 1 else None
            raise self.refuse(f"{label} takes {arity} {plural}, found {len(args)}", node, help=help)
        return args, out

    def store_out(self, out: ast.expr, result: Value, node: ast.Call) -> Value:
        """Put the result of a function into the array given for it, which is its value then."""
        return self.store_in(self.evaluate(out), result, out, node)

    def store_in(self, target: Value, result: Value, out: ast.expr, node: ast.Call) -> Value:
        """Put the result of a function into `target`, unless that is None."""
        if isinstance(target, Nothing):
            return result
        if not isinstance(target, (Array, View)):
            raise self.refuse(f"out must be an array, found {describe(target)}", out)
        self.check_writable(target.buffer, out)
        view = self.view(target)
        if isinstance(result, Scalar):
            kept = self.let(result, "t", self.span(node))
            value = ArrayExpr(view.shape, kept.type.dtype, lambda _: kept)
        else:
            assert isinstance(result, AnyArray)
            self.check_whole(result, self.span(node))
            value = self.array(result)
        if not np.can_cast(value.dtype.numpy, view.dtype.numpy, "same_kind"):
            raise TypeMismatch(
                f"the result is {value.dtype}, which NumPy does not store in {view.dtype}",
                self.span(out),
                help=f"make out an array of {value.dtype}",
            )
        if len(value.shape) > len(view.shape):
            raise self.refuse_shapes([view.shape, value.shape], node)
        self.store_array(view, self.broadcast_to(value, view.shape, node), self.span(node))
        return target

    def array_method(self, owner: AnyArray, name: str, node: ast.Call) -> Value:
        """The value of a method of an array."""
        span = self.span(node)
        match name:
            case "copy":
                self.arguments(node, required=0)
                return self.computed(owner)
            case "astype":
                dtype = self.dtype_argument(self.arguments(node, "dtype", required=1)["dtype"])
                return self.elementwise(
                    [self.computed(owner)], lambda parts: cast_element(parts[0], dtype, span), node
                )
            case "conj" | "conjugate":
                self.arguments(node, required=0)
                return self.elementwise([owner], lambda p: self._applied("conj", p, node), node)
            case _:
                raise self.refuse(f"{describe(owner)} has no method '{name}'", node.func)

    def computed(self, owner: Value) -> ArrayExpr:
        """An array that is a copy, not a view of memory."""
        assert isinstance(owner, AnyArray)
        return replace(self.array(owner), buffer=None, shown=None)


def cast_element(value: Scalar, dtype: DType, span: Span | None) -> Scalar:
    """An element as NumPy's astype converts it."""
    return Scalar(store_value(value, dtype, span), ScalarType(dtype))


def _is_short(expr: Expr) -> bool:
    return sum(1 for _ in islice(walk(expr), _SHORT + 1)) <= _SHORT
