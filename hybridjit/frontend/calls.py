"""Calls: functions of the language, casts, numpy and math, C functions and Python callbacks."""

from __future__ import annotations

import ast
from types import FunctionType

import numpy as np

from hybridjit.frontend.arrays import refuse_array_method
from hybridjit.frontend.builtin_calls import BuiltinTranslator
from hybridjit.frontend.functions import Style, apply
from hybridjit.frontend.values import (
    Array,
    Builtin,
    Callee,
    ElementType,
    ExternValue,
    Foreign,
    Method,
    NumpyFunction,
    PythonType,
    Scalar,
    Value,
    describe,
    type_name,
)
from hybridjit.ir.dtype import ScalarType


class CallTranslator(BuiltinTranslator):
    """What a call in an expression stands for."""

    def evaluate_call(self, node: ast.Call) -> Value:
        callee = self.evaluate(node.func)
        match callee:
            case Builtin(name):
                return self.call_builtin(name, node)
            case ElementType(dtype):
                return self.cast(dtype, node)
            case PythonType(type):
                return self.python_cast(type, node)
            case NumpyFunction(name, module):
                return self.call_function(name, Style(module), node)
            case Callee():
                return self.inline(callee.pyfunc, node)
            case ExternValue(extern):
                return self.call_extern(extern, node)
            case Method(owner, name):
                return self._method(owner, name, node)
            case Foreign(value):
                raise self._refuse_callee(value, node)
            case _:
                raise self.mismatch(f"{describe(callee)} cannot be called", node)

    def inline(self, pyfunc: FunctionType, node: ast.Call) -> Value:
        """The value of a call whose body is put in place; provided by the layer above."""
        raise NotImplementedError

    def _refuse_callee(self, value: object, node: ast.Call) -> Exception:
        label = ast.unparse(node.func)
        module = getattr(value, "__module__", None) or ""
        if isinstance(value, np.ufunc) or str(module).startswith("numpy"):
            return self.refuse(
                f"'{label}' is not supported inside a script",
                node.func,
                help="write it as loops over elements, or call it outside the script",
            )
        return self.refuse(
            f"cannot call '{label}', a Python {type_name(value)}",
            node.func,
            help="call back into Python with hybrid.packed(f), or write it as a function",
        )

    def _method(self, owner: Value, name: str, node: ast.Call) -> Value:
        match owner, name:
            case Array(), _:
                raise refuse_array_method(owner, name, self.span(node.func))
            case Scalar(), "conjugate" | "conj":
                self.numbers(node, 0)
                return apply("conj", Style.LANGUAGE, [owner], self.span(node))
            case Scalar(), "item":
                self.numbers(node, 0)
                return self.as_python(owner, node)
            case Scalar(), "astype":
                args = self.arguments(node, "dtype", required=1)
                dtype = self.dtype_argument(args["dtype"])
                return Scalar(self.converted(owner, dtype, node), ScalarType(dtype))
            case _:
                raise self.refuse(f"{describe(owner)} has no method '{name}'", node.func)
