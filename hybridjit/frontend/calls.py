"""Calls: functions of the language, casts, numpy and math, C functions and Python callbacks."""

from __future__ import annotations

import ast
from typing import Any, cast
from weakref import WeakKeyDictionary

import numpy as np

from hybridjit.arith.ranges import ZERO, constant
from hybridjit.frontend.arrays.refusals import FUNCTION_METHODS
from hybridjit.frontend.builtin_calls import BuiltinTranslator
from hybridjit.frontend.captures import is_language_name
from hybridjit.frontend.functions import apply
from hybridjit.frontend.library.table import WITH_WHERE
from hybridjit.frontend.lift import lift
from hybridjit.frontend.refusals import function_help
from hybridjit.frontend.style import Style
from hybridjit.frontend.values import (
    Array,
    ArrayExpr,
    ArrayFunction,
    Builtin,
    Callee,
    ElementType,
    ExternValue,
    Foreign,
    Method,
    Nothing,
    NumpyFunction,
    PythonType,
    Scalar,
    Value,
    View,
    describe,
    type_name,
)
from hybridjit.ir.dtype import BFLOAT16, ScalarType


class CallTranslator(BuiltinTranslator):
    """What a call in an expression stands for."""

    def evaluate_call(self, node: ast.Call) -> Value:
        return self._call(self.evaluate(node.func), node)

    def _call(self, callee: Value, node: ast.Call) -> Value:
        match callee:
            case Builtin(name):
                return self.call_builtin(name, node)
            case ElementType(dtype):
                return self.cast(dtype, node)
            case PythonType(type):
                return self.python_cast(type, node)
            case NumpyFunction(name, module):
                return self.call_function(name, Style(module), node)
            case ArrayFunction(name) if name in WITH_WHERE and _has_keyword(node, "where"):
                return self.inline(Callee(WITH_WHERE[name]), node)
            case ArrayFunction(name):
                return self.call_array_function(name, node)
            case Method(owner, name):
                return self._method(owner, name, node)
            case _:
                return self._call_other(callee, node)

    def _call_other(self, callee: Value, node: ast.Call) -> Value:
        match callee:
            case Callee():
                return self.inline(callee, node)
            case ExternValue(extern):
                return self.call_extern(extern, node)
            case Foreign(value) if value is np.iinfo or value is np.finfo:
                return self._limits(value, node)
            case Foreign(value):
                raise self._refuse_callee(value, node)
            case _:
                raise self._refuse_value(callee, node)

    def inline(self, callee: Callee, node: ast.Call) -> Value:
        """The value of a call whose body is put in place; provided by the layer above."""
        raise NotImplementedError

    def _limits(self, limits: type[np.iinfo[Any]] | type[np.finfo[Any]], node: ast.Call) -> Value:
        """`np.iinfo(dtype)` and `np.finfo(dtype)`: their attributes are constants."""
        argument = self.arguments(node, "dtype", required=1)["dtype"]
        dtype = self.dtype_argument(argument)
        try:
            return Foreign(limits(cast("Any", dtype.numpy)))
        except ValueError:
            other = "use np.iinfo" if dtype.is_integer else "use np.finfo"
            raise self.mismatch(
                f"{ast.unparse(node.func)} does not know {dtype}",
                argument,
                help=other if dtype is not BFLOAT16 else "pass the number in",
            ) from None

    def _refuse_callee(self, value: object, node: ast.Call) -> Exception:
        label, name = ast.unparse(node.func), getattr(value, "__name__", "")
        module = _module_of(value)
        first = ast.unparse(node.args[0]) if node.args and _is_place(node.args[0]) else None
        help = function_help(name, module, first)
        if module.partition(".")[0] in ("builtins", "numpy", "math"):
            return self.refuse(
                f"'{label}' is not supported inside a script",
                node.func,
                help=help or "write it as a loop over elements, or call it outside the script",
            )
        if isinstance(value, type):
            return self.refuse(
                f"cannot make a '{label}' inside a script",
                node.func,
                help="make it outside, and pass its numbers and arrays as arguments",
            )
        return self.refuse(
            f"cannot call '{label}', a Python {type_name(value)}",
            node.func,
            help=help
            or "call it outside the script, or back into Python with "
            f'hybrid.packed({label}, "float64")',
        )

    def _refuse_value(self, value: Value, node: ast.Call) -> Exception:
        message, help = f"{describe(value)} cannot be called", None
        if isinstance(node.func, ast.Name) and node.func.id in ("inf", "nan"):
            help = f"it is a number: write {node.func.id}"
            help += ", or for an integer type np.iinfo(dtype).max" * (node.func.id == "inf")
        elif isinstance(node.func, ast.Name) and is_language_name(node.func.id):
            name = node.func.id
            help = f"'{name}' is a variable here and hides the function {name}: rename the variable"
        elif isinstance(node.func, ast.Attribute):
            help = f"leave out the parentheses: {ast.unparse(node.func)}"
        elif isinstance(value, Array):
            help = f"index it with brackets: {ast.unparse(node.func)}[...]"
        return self.mismatch(message, node, help=help)

    def _method(self, owner: Value, name: str, node: ast.Call) -> Value:
        match owner, name:
            case Scalar(), "conjugate" | "conj":
                self.numbers(node, 0)
                return apply("conj", Style.LANGUAGE, [owner], self.span(node))
            case Scalar(), "item":
                self.numbers(node, 0)
                return self.as_python(owner, node)
            case ((Array() | View() | ArrayExpr()), _) if name in FUNCTION_METHODS or (
                name in WITH_WHERE and _has_keyword(node, "where")
            ):
                return self._call(lift(getattr(np, name)), self._as_function(owner, node))
            case ((Array() | View()), "sort" | "partition"):
                return self._in_place(owner, name, node)
            case ((Array() | View() | ArrayExpr()), "item"):
                return self._only_item(owner, node)
            case ((Array() | View() | ArrayExpr()), _):
                return self.array_method(owner, name, node)
            case NumpyFunction(), _:
                return self.call_ufunc_method(owner, name, node)
            case Scalar(), "astype":
                args = self.arguments(node, "dtype", required=1)
                dtype = self.dtype_argument(args["dtype"])
                return Scalar(self.converted(owner, dtype, node), ScalarType(dtype))
            case Scalar(), _:
                alone = ArrayExpr((), owner.type.dtype, lambda _: owner)
                return self.array_method(alone, name, node)
            case _:
                raise self.refuse(f"{describe(owner)} has no method '{name}'", node.func)

    def _in_place(self, owner: Array | View, name: str, node: ast.Call) -> Value:
        """`a.sort()`: the array gets what the function of that name gives."""
        self.check_writable(owner.buffer, node)
        result = self._call(lift(getattr(np, name)), self._as_function(owner, node))
        assert isinstance(result, (Array, View, ArrayExpr))
        self.store_array(self.view(owner), self.array(result), self.span(node))
        return Nothing()

    def _only_item(self, owner: Array | View | ArrayExpr, node: ast.Call) -> Value:
        """`a.item(i)`: an element as a number of Python."""
        array = self.array(owner)
        places = [self.index(arg, "an index") for arg in node.args]
        if not places and all(constant(size) == 1 for size in array.shape):
            places = [ZERO] * len(array.shape)
        if len(places) != len(array.shape):
            raise self.refuse(
                "item takes an index for every dimension", node, help="index it, as in a[i, j]"
            )
        return self.as_python(array.element(places), node)

    def _as_function(self, owner: Value, node: ast.Call) -> ast.Call:
        """`a.repeat(2)` as a call of np.repeat: the array is its first argument."""
        assert isinstance(node.func, ast.Attribute)
        call = _FUNCTION_CALLS.get(node)
        if call is None:
            first = ast.Name(ast.unparse(node.func.value), ast.Load())
            call = ast.Call(node.func, [first, *node.args], node.keywords)
            _FUNCTION_CALLS[node] = ast.copy_location(call, node)
            ast.copy_location(first, node.func.value)
        self.frame.fixed[call.args[0]] = owner
        return call


# The calls of methods, as calls of functions. A node names variables, so each is made once.
_FUNCTION_CALLS: WeakKeyDictionary[ast.Call, ast.Call] = WeakKeyDictionary()


def _module_of(value: object) -> str:
    """The module of a function; a ufunc does not name its own."""
    if isinstance(value, np.ufunc):
        return "numpy"
    module: object = getattr(value, "__module__", None)
    owner: object = getattr(value, "__self__", None)  # of a method: np.random's generator
    return str(module or type(owner).__module__)


def _has_keyword(node: ast.Call, name: str) -> bool:
    return any(keyword.arg == name for keyword in node.keywords)


def _is_place(node: ast.expr) -> bool:
    return isinstance(node, (ast.Name, ast.Attribute))
