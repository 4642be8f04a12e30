"""Calls of the functions of the language: arrays, extrema, rounding and mathematics."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from hybridjit.frontend.arrays.refusals import refuse_array_expression
from hybridjit.frontend.conversion import truth
from hybridjit.frontend.functions import (
    Style,
    apply,
    arity_of,
    intrinsic,
    minimum_of,
    nearest_integer,
)
from hybridjit.frontend.named_calls import NamedCallTranslator
from hybridjit.frontend.operators import binary, select, unary
from hybridjit.frontend.suggest import did_you_mean
from hybridjit.frontend.values import (
    AnyArray,
    Array,
    ArrayExpr,
    Items,
    Scalar,
    Text,
    Value,
    View,
    describe,
    index,
    integer,
)
from hybridjit.ir.dtype import DTYPES
from hybridjit.ir.expr import Buffer, Div, FloorDiv, Max, Min, Pow
from hybridjit.ir.intrinsics import INTRINSICS
from hybridjit.ir.stmt import Allocate

LOOP_NAMES = (
    *("range", "serial", "parallel", "vectorize", "unroll", "const_range", "scan", "bind"),
    "prange",  # Numba's name for `parallel`
)
SCOPES = ("global", "local", "shared")

Handler = Callable[[Any, ast.Call], Value]


class BuiltinTranslator(NamedCallTranslator):
    """What each function of the language makes of its arguments."""

    def call_builtin(self, name: str, node: ast.Call) -> Value:
        """The value of a call to a function of the language."""
        handler = self._HANDLERS.get(name)
        if handler is not None:
            return handler(self, node)
        if name in INTRINSICS:
            return self.call_function(name, Style.LANGUAGE, node)
        if name in LOOP_NAMES or name == "grid":
            raise self.refuse(
                f"{name}(...) can only stand after `for ... in`",
                node,
                help=f"write it in the loop, as in `for i in {ast.unparse(node)}:`"
                + (", or make an array with np.arange(...)" if name == "range" else ""),
            )
        if name in ("block", "init"):
            raise self.refuse(
                f"{name}(...) can only stand after `with`",
                node,
                help=f"write it as in `with {ast.unparse(node)}:`",
            )
        raise self.refuse(
            f"{name}(...) can only stand in block(...)",
            node,
            help=f'write it as in `with block("name", {ast.unparse(node)}):`',
        )

    def call_function(self, name: str, style: Style, node: ast.Call) -> Value:
        """The value of a function of numbers, as hybridjit, numpy or math define it."""
        if name == "log" and style is Style.MATH and len(node.args) == 2:
            logs = [apply(name, style, [x], self.span(node)) for x in self.numbers(node, 2)]
            return binary(Div, logs[0], logs[1], self.span(node))
        if style is Style.NUMPY:
            return self.call_ufunc(name, node)
        return self.apply_once(name, style, self.numbers(node, arity_of(name)), node)

    def _allocate(self, node: ast.Call) -> Value:
        args = self.arguments(node, "shape", "dtype", "scope", "zero", required=1)
        scope = self.text_argument(args["scope"], "a scope") if "scope" in args else "global"
        if scope not in SCOPES:
            raise self.mismatch(
                f"unknown scope {scope!r}",
                args["scope"],
                help=did_you_mean(scope, SCOPES) or f"use one of {', '.join(SCOPES)}",
            )
        zero = self.scalar(args["zero"]).constant if "zero" in args else True
        if not isinstance(zero, bool):
            raise self.mismatch(
                "zero= must be known when the script is compiled",
                args["zero"],
                help="write zero=True or zero=False",
            )
        return self._new_array(args, scope, zero, node)

    def _output_tensor(self, node: ast.Call) -> Value:
        args = self.arguments(node, "shape", "dtype", required=1)
        if not self.frame.is_root:
            return self._new_array(args, "global", True, node)
        if self.frame.loops or self.depth > 0:
            raise self.refuse(
                "output_tensor must stand at the top level of the script",
                node,
                help="make it before the loop or the if; for scratch use allocate(shape, dtype)",
            )
        array = self._new_array(args, "global", True, node)
        self.unit.declared_outputs[array.buffer] = self.span(node)
        return array

    def _new_array(
        self, args: dict[str, ast.expr], scope: str, zero: bool, node: ast.Call
    ) -> Array:
        name = self.hint or "t"
        shape = self.shape_argument(args["shape"])
        dtype = self.dtype_argument(args["dtype"]) if "dtype" in args else DTYPES["float32"]
        buffer = Buffer(name, dtype, shape, scope)
        self.emit(Allocate(buffer, zero, span=self.span(node)))
        return Array(buffer)

    def _constant_array_of(self, node: ast.Call) -> Value:
        args = self.arguments(node, "values", "dtype", "shape", required=2)
        dtype = self.dtype_argument(args["dtype"])
        data = np.array(self._constants(self.evaluate(args["values"]), node), dtype.numpy)
        if "shape" in args:
            data = np.reshape(data, self._constants(self.evaluate(args["shape"]), node))
        return Array(self.make_constant(self.hint or "t", dtype, data).buffer)

    def _constants(self, value: Value, node: ast.AST) -> Any:
        if isinstance(value, Items):
            return [self._constants(item, node) for item in value.items]
        if isinstance(value, Scalar) and value.constant is not None:
            return value.constant
        raise self.mismatch(
            f"constant_array takes numbers that are known when the script is compiled, "
            f"found {describe(value)}",
            node,
        )

    def _likely(self, node: ast.Call) -> Value:
        return self.numbers(node, 1)[0]

    def _ceil_div(self, node: ast.Call) -> Value:
        a, b = self.numbers(node, 2)
        span = self.span(node)
        return unary(ast.USub(), binary(FloorDiv, unary(ast.USub(), a, span), b, span), span)

    def _select(self, node: ast.Call) -> Value:
        cond, then, otherwise = self.numbers(node, 3)
        return select(truth(cond, self.span(node)), then, otherwise, self.span(node))

    def _power(self, node: ast.Call) -> Value:
        a, b = self.numbers(node, 2)
        return binary(Pow, a, b, self.span(node))

    def _abs(self, node: ast.Call) -> Value:
        if len(node.args) == 1 and not node.keywords:
            value, span = self.evaluate(node.args[0]), self.span(node)
            if isinstance(value, AnyArray):
                return self.elementwise(
                    [value], lambda parts: intrinsic(INTRINSICS["abs"], parts, span), node
                )
            values = self.as_operands([value], node.args, node)
            return intrinsic(INTRINSICS["abs"], values, span)
        return intrinsic(INTRINSICS["abs"], self.numbers(node, 1), self.span(node))

    def _round(self, node: ast.Call) -> Value:
        if len(node.args) == 2:
            raise self.refuse(
                "round with digits is not supported",
                node,
                help="round a multiple, as in rint(x * 100) / 100",
            )
        return nearest_integer(self.numbers(node, 1)[0], self.span(node))

    def _min(self, node: ast.Call) -> Value:
        return self._extremum(node, Min)

    def _max(self, node: ast.Call) -> Value:
        return self._extremum(node, Max)

    def _extremum(self, node: ast.Call, op: type[Min] | type[Max]) -> Value:
        if len(node.args) == 1 and not node.keywords:
            value = self.evaluate(node.args[0])
            if isinstance(value, Items) and value.items:
                scalars = [self.as_scalar(item, node.args[0]) for item in value.items]
                return minimum_of(scalars, op, self.span(node))
            if isinstance(value, Array):
                raise refuse_array_expression(value, node, self.span(node))
        numbers = self.numbers(node)
        if len(numbers) < 2:
            name = op.__name__.lower()
            raise self.refuse(f"{name} needs at least two numbers, as in {name}(x, y)", node)
        return minimum_of(numbers, op, self.span(node))

    def _len(self, node: ast.Call) -> Value:
        (arg,) = self.arguments(node, "obj", required=1).values()
        value = self.evaluate(arg)
        match value:
            case Items(items):
                return integer(len(items))
            case ArrayExpr() if value.mask is not None:
                if len(value.shape) > 1:
                    raise self.refuse_selected(node)
                return self.count_selected(value, node)
            case Array() | View() | ArrayExpr() if value.shape:
                return index(value.shape[0])
            case Text(text):
                return integer(len(text))
            case _:
                raise self.mismatch(f"{describe(value)} has no length", arg)

    def _print(self, node: ast.Call) -> Value:
        raise self.refuse("print(...) has no value", node, help="write it on a line of its own")

    _HANDLERS: ClassVar[dict[str, Handler]] = {
        "allocate": _allocate,
        "output_tensor": _output_tensor,
        "constant_array": _constant_array_of,
        "part": NamedCallTranslator.part_from,
        "call_intrin": NamedCallTranslator.call_intrinsic_by_name,
        "call_extern": lambda self, node: self.call_declared(node, 2),
        "call_packed": lambda self, node: self.call_declared(node, 1),
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
    }
