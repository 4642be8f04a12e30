"""Calls: functions of the language, casts, numpy and math, C functions and Python callbacks."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from hybridjit.frontend.arrays import refuse_array_expression, refuse_array_method
from hybridjit.frontend.conversion import convert, truth
from hybridjit.frontend.expressions import ExpressionTranslator
from hybridjit.frontend.functions import (
    Style,
    apply,
    arity_of,
    intrinsic,
    minimum_of,
    nearest_integer,
)
from hybridjit.frontend.operators import binary, select, unary
from hybridjit.frontend.refusals import refusal
from hybridjit.frontend.suggest import did_you_mean
from hybridjit.frontend.values import (
    Array,
    Builtin,
    Callee,
    ElementType,
    ExternValue,
    Foreign,
    Items,
    Method,
    Nothing,
    NumpyFunction,
    PythonType,
    Scalar,
    Text,
    Value,
    describe,
    integer,
    type_name,
)
from hybridjit.ir.dtype import (
    BOOL,
    DTYPES,
    FLOAT64,
    INT64,
    UINT64,
    WEAK_BOOL,
    WEAK_COMPLEX,
    WEAK_FLOAT,
    WEAK_INT,
    DType,
    ScalarType,
)
from hybridjit.ir.expr import (
    Buffer,
    BufferRef,
    Call,
    Cast,
    Const,
    Expr,
    ExternCall,
    FloorDiv,
    Max,
    Min,
    Pow,
)
from hybridjit.ir.extern import Extern, Pointer
from hybridjit.ir.intrinsics import INTRINSICS
from hybridjit.ir.signature import ConstantArray
from hybridjit.ir.stmt import Allocate, Evaluate

LOOP_NAMES = ("range", "serial", "parallel", "vectorize", "unroll", "const_range", "scan", "bind")
SCOPES = ("global", "local", "shared")


class CallTranslator(ExpressionTranslator):
    """What a call in an expression stands for."""

    def evaluate_call(self, node: ast.Call) -> Value:
        callee = self.evaluate(node.func)
        match callee:
            case Builtin(name):
                return self._builtin(name, node)
            case ElementType(dtype):
                return self._cast(dtype, node)
            case PythonType(type):
                return self._python_cast(type, node)
            case NumpyFunction(name, module):
                return self._function(name, Style(module), node)
            case Callee(pyfunc):
                return self.inline(pyfunc, node)
            case ExternValue(extern):
                return self._extern(extern, node)
            case Method(owner, name):
                return self._method(owner, name, node)
            case Foreign(value):
                raise self._refuse_callee(value, node)
            case _:
                raise self.mismatch(f"{describe(callee)} cannot be called", node)

    def inline(self, pyfunc: Any, node: ast.Call) -> Value:
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

    # -- arguments -----------------------------------------------------------------------------

    def arguments(self, node: ast.Call, *names: str, required: int) -> dict[str, ast.expr]:
        """The arguments of a call by parameter name."""
        label = ast.unparse(node.func)
        found: dict[str, ast.expr] = {}
        for position, arg in enumerate(node.args):
            if isinstance(arg, ast.Starred):
                raise refusal(arg, self.span(arg))
            if position >= len(names):
                raise self.refuse(
                    f"{label} takes at most {len(names)} arguments, found {len(node.args)}", arg
                )
            found[names[position]] = arg
        for keyword in node.keywords:
            name = keyword.arg
            if name is None:
                raise self.refuse("'**' arguments are not supported", keyword.value)
            if name not in names:
                raise self.refuse(
                    f"{label} has no argument '{name}'",
                    keyword.value,
                    help=did_you_mean(name, names) or f"it takes {', '.join(names)}",
                )
            if name in found:
                raise self.refuse(f"{label} got '{name}' twice", keyword.value)
            found[name] = keyword.value
        missing = [name for name in names[:required] if name not in found]
        if missing:
            raise self.refuse(f"{label} needs an argument '{missing[0]}'", node)
        return found

    def numbers(self, node: ast.Call, count: int | None = None) -> list[Scalar]:
        """The positional arguments of a call, all of which must be numbers."""
        label = ast.unparse(node.func)
        if node.keywords:
            raise self.refuse(f"{label} takes no keyword arguments here", node.keywords[0].value)
        for arg in node.args:
            if isinstance(arg, ast.Starred):
                raise refusal(arg, self.span(arg))
        if count is not None and len(node.args) != count:
            plural = "" if count == 1 else "s"
            raise self.refuse(
                f"{label} takes {count} argument{plural}, found {len(node.args)}", node
            )
        return self.as_operands(self.evaluate_all(node.args), node.args, node)

    # -- functions of the language -------------------------------------------------------------

    def _builtin(self, name: str, node: ast.Call) -> Value:
        handler = _BUILTINS.get(name)
        if handler is not None:
            return handler(self, node)
        if name in INTRINSICS:
            return self._function(name, Style.LANGUAGE, node)
        if name in LOOP_NAMES or name == "grid":
            raise self.refuse(f"{name}(...) can only stand after `for ... in`", node)
        if name in ("block", "init"):
            raise self.refuse(f"{name}(...) can only stand after `with`", node)
        raise self.refuse(f"{name}(...) can only stand in block(...)", node)

    def _function(self, name: str, style: Style, node: ast.Call) -> Value:
        return apply(name, style, self.numbers(node, arity_of(name)), self.span(node))

    def _allocate(self, node: ast.Call) -> Value:
        args = self.arguments(node, "shape", "dtype", "scope", "zero", required=1)
        scope = self._text(args["scope"], "a scope") if "scope" in args else "global"
        if scope not in SCOPES:
            raise self.mismatch(
                f"unknown scope {scope!r}", args["scope"], help=f"use one of {', '.join(SCOPES)}"
            )
        zero = self.scalar(args["zero"]).constant if "zero" in args else True
        if not isinstance(zero, bool):
            raise self.mismatch("zero= must be True or False", args["zero"])
        return self._new_array(args, scope, zero, node)

    def _output_tensor(self, node: ast.Call) -> Value:
        args = self.arguments(node, "shape", "dtype", required=1)
        if not self.frame.is_root:
            return self._new_array(args, "global", True, node)
        if self.frame.loops or self.depth > 0:
            raise self.refuse(
                "output_tensor must stand at the top level of the script",
                node,
                help="make it before the loop or the if; use allocate(...) for scratch",
            )
        array = self._new_array(args, "global", True, node)
        self.unit.declared_outputs[array.buffer] = self.span(node)
        return array

    def _new_array(
        self, args: dict[str, ast.expr], scope: str, zero: bool, node: ast.Call
    ) -> Array:
        name = self.hint or "t"
        shape = self._shape(args["shape"])
        dtype = self._dtype(args["dtype"]) if "dtype" in args else DTYPES["float32"]
        buffer = Buffer(name, dtype, shape, scope)
        self.emit(Allocate(buffer, zero, span=self.span(node)))
        return Array(buffer)

    def _shape(self, node: ast.expr) -> tuple[Expr, ...]:
        value = self.evaluate(node)
        items = value.items if isinstance(value, Items) else (value,)
        entries = node.elts if isinstance(node, (ast.Tuple, ast.List)) else [node] * len(items)
        shape: list[Expr] = []
        for item, entry in zip(items, entries, strict=True):
            extent = self.as_index(self.as_scalar(item, entry, "a size"), entry, "a size")
            if isinstance(extent, Const) and extent.value.real < 0:
                raise self.mismatch(f"a size must not be negative, found {extent.value}", entry)
            shape.append(extent)
        return tuple(shape)

    def _dtype(self, node: ast.expr) -> DType:
        value = self.evaluate(node)
        match value:
            case ElementType(dtype):
                return dtype
            case PythonType(type):
                return type.dtype
            case Text(name) if name in DTYPES:
                return DTYPES[name]
            case Text(name):
                raise self.mismatch(
                    f"unknown dtype {name!r}", node, help=did_you_mean(name, DTYPES)
                )
            case _:
                raise self.mismatch(
                    f"expected a dtype, found {describe(value)}",
                    node,
                    help='write a name such as "float32", or a.dtype',
                )

    def _text(self, node: ast.expr, what: str) -> str:
        value = self.evaluate(node)
        if not isinstance(value, Text):
            raise self.mismatch(f"expected {what} as a string, found {describe(value)}", node)
        return value.text

    def _constant_array_call(self, node: ast.Call) -> Value:
        args = self.arguments(node, "values", "dtype", "shape", required=2)
        dtype = self._dtype(args["dtype"])
        data = np.array(self._constants(self.evaluate(args["values"]), node), dtype.numpy)
        if "shape" in args:
            data = data.reshape(self._constants(self.evaluate(args["shape"]), node))
        data.flags.writeable = False
        shape = tuple(Const(extent) for extent in data.shape)
        constant = ConstantArray(Buffer(self.hint or "t", dtype, shape), data)
        self.unit.constants[id(data)] = constant
        return Array(constant.buffer)

    def _constants(self, value: Value, node: ast.AST) -> Any:
        if isinstance(value, Items):
            return [self._constants(item, node) for item in value.items]
        if isinstance(value, Scalar) and value.constant is not None:
            return value.constant
        raise self.mismatch("constant_array takes numbers known now", node)

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
        return intrinsic(INTRINSICS["abs"], self.numbers(node, 1), self.span(node))

    def _round(self, node: ast.Call) -> Value:
        if len(node.args) == 2:
            raise self.refuse(
                "round with digits is not supported",
                node,
                help="scale it yourself: rint(x * 100) / 100",
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
                raise refuse_array_expression(value, node, self.span(node.args[0]))
        numbers = self.numbers(node)
        if not numbers:
            raise self.refuse(f"{op.__name__.lower()} needs at least one argument", node)
        return minimum_of(numbers, op, self.span(node))

    def _len(self, node: ast.Call) -> Value:
        (arg,) = self.arguments(node, "obj", required=1).values()
        value = self.evaluate(arg)
        match value:
            case Items(items):
                return integer(len(items))
            case Array() if value.shape:
                return Scalar(value.shape[0], WEAK_INT)
            case Text(text):
                return integer(len(text))
            case _:
                raise self.mismatch(f"{describe(value)} has no length", arg)

    def _print(self, node: ast.Call) -> Value:
        raise self.refuse("print(...) must be a statement of its own", node)

    # -- casts ---------------------------------------------------------------------------------

    def _cast(self, dtype: DType, node: ast.Call) -> Value:
        args = self.arguments(node, "value", "checked", required=1)
        (value,) = self.as_operands([self.evaluate(args["value"])], [args["value"]], node)
        span = self.span(node)
        if "checked" not in args or isinstance(value.expr, Const):
            return Scalar(self._converted(value, dtype, node), ScalarType(dtype))
        checked = self.scalar(args["checked"]).constant
        if not isinstance(checked, bool):
            raise self.mismatch("checked= must be True or False", args["checked"])
        if value.expr.dtype is dtype:
            return Scalar(value.expr, ScalarType(dtype))
        return Scalar(Cast(dtype, value.expr, checked=checked, span=span), ScalarType(dtype))

    def _converted(self, value: Scalar, dtype: DType, node: ast.Call) -> Expr:
        if value.type.dtype.is_complex and not (dtype.is_complex or dtype.is_bool):
            raise self.mismatch(
                f"{dtype}(...) of a complex value would lose its imaginary part",
                node,
                help="take the part you need: x.real, x.imag or abs(x)",
            )
        return convert(value, dtype, self.span(node))

    def _python_cast(self, type: ScalarType, node: ast.Call) -> Value:
        span = self.span(node)
        if type == WEAK_COMPLEX and len(node.args) == 2:
            return self._complex(node)
        (value,) = self.numbers(node, 1) if not self._is_text(node) else (self._parsed(node),)
        if type == WEAK_BOOL:
            return Scalar(truth(value, span), type)
        if type == WEAK_INT and value.type.dtype is UINT64 and value.constant is None:
            return Scalar(Cast(INT64, value.expr, checked=True, span=span), type)
        if type == WEAK_INT and isinstance(value.constant, int):
            return Scalar(Const(int(value.constant), INT64, span=span), type)
        return Scalar(self._converted(value, type.dtype, node), type)

    @staticmethod
    def _is_text(node: ast.Call) -> bool:
        match node.args:
            case [ast.Constant(value=str())]:
                return True
            case _:
                return False

    def _parsed(self, node: ast.Call) -> Scalar:
        """`float("inf")`: the only numbers that Python has no literal for."""
        match node.args:
            case [ast.Constant(value="inf" | "-inf" | "nan" | "infinity" as text)]:
                return Scalar(Const(float(text), FLOAT64, span=self.span(node)), WEAK_FLOAT)
            case _:
                raise self.refuse("numbers cannot be read from strings", node)

    def _complex(self, node: ast.Call) -> Value:
        span = self.span(node)
        parts = [convert(part, FLOAT64, span) for part in self.numbers(node, 2)]
        if isinstance(parts[0], Const) and isinstance(parts[1], Const):
            value = complex(float(parts[0].value.real), float(parts[1].value.real))
            return Scalar(Const(value, WEAK_COMPLEX.dtype, span=span), WEAK_COMPLEX)
        return Scalar(Call("complex", (parts[0], parts[1]), span=span), WEAK_COMPLEX)

    # -- methods and externs -------------------------------------------------------------------

    def _method(self, owner: Value, name: str, node: ast.Call) -> Value:
        match owner, name:
            case Array(), _:
                raise refuse_array_method(owner, name, self.span(node.func))
            case Scalar(), "conjugate" | "conj":
                self.numbers(node, 0)
                return apply("conj", Style.LANGUAGE, [owner], self.span(node))
            case Scalar(), "item":
                self.numbers(node, 0)
                return self._as_python(owner, node)
            case Scalar(), "astype":
                args = self.arguments(node, "dtype", required=1)
                dtype = self._dtype(args["dtype"])
                return Scalar(self._converted(owner, dtype, node), ScalarType(dtype))
            case _:
                raise self.refuse(f"{describe(owner)} has no method '{name}'", node.func)

    def _as_python(self, value: Scalar, node: ast.Call) -> Scalar:
        dtype = value.type.dtype
        if dtype is BOOL:
            return Scalar(value.expr, WEAK_BOOL)
        weak = WEAK_INT if dtype.is_integer else WEAK_FLOAT if dtype.is_float else WEAK_COMPLEX
        return Scalar(convert(value, weak.dtype, self.span(node)), weak)

    def _extern(self, extern: Extern, node: ast.Call) -> Value:
        if node.keywords:
            raise self.refuse(f"{extern.name} takes no keyword arguments", node.keywords[0].value)
        if extern.params is not None and len(node.args) != len(extern.params):
            raise self.refuse(
                f"{extern.name} takes {len(extern.params)} arguments, found {len(node.args)}", node
            )
        values = self.evaluate_all(node.args)
        params: Sequence[DType | Pointer | None] = extern.params or [None] * len(values)
        args = tuple(
            self._extern_argument(value, param, arg)
            for value, param, arg in zip(values, params, node.args, strict=True)
        )
        call = ExternCall(extern, args, span=self.span(node))
        if extern.result is None:
            self.emit(Evaluate(call, span=self.span(node)))
            return Nothing()
        return self.let(Scalar(call, ScalarType(extern.result)), extern.name, self.span(node))

    def _extern_argument(self, value: Value, param: DType | Pointer | None, node: ast.expr) -> Expr:
        match value, param:
            case Array(buffer, ()), None:
                return BufferRef(buffer, span=self.span(node))
            case Array(buffer, ()), Pointer(dtype) if buffer.dtype is dtype:
                return BufferRef(buffer, span=self.span(node))
            case Scalar(), None:
                return convert(value, value.type.dtype, self.span(node))
            case Scalar(), DType():
                return self._converted_argument(value, param, node)
            case _:
                needed = "an array or a number" if param is None else _parameter_text(param)
                raise self.mismatch(
                    f"this argument must be {needed}, found {describe(value)}", node
                )

    def _converted_argument(self, value: Scalar, dtype: DType, node: ast.expr) -> Expr:
        if value.type.dtype.is_complex and not dtype.is_complex:
            raise self.mismatch(f"this argument must be {dtype}, found {value.type}", node)
        return convert(value, dtype, self.span(node))


def _parameter_text(param: DType | Pointer) -> str:
    return f"an array of {param.dtype}" if isinstance(param, Pointer) else param.name


Handler = Callable[[CallTranslator, ast.Call], Value]

_BUILTINS: dict[str, Handler] = {
    "allocate": CallTranslator._allocate,
    "output_tensor": CallTranslator._output_tensor,
    "constant_array": CallTranslator._constant_array_call,
    "likely": CallTranslator._likely,
    "ceil_div": CallTranslator._ceil_div,
    "select": CallTranslator._select,
    "pow": CallTranslator._power,
    "power": CallTranslator._power,
    "abs": CallTranslator._abs,
    "round": CallTranslator._round,
    "min": CallTranslator._min,
    "max": CallTranslator._max,
    "len": CallTranslator._len,
    "print": CallTranslator._print,
}
