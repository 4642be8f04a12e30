"""`tvm.tir`: the IR, and the functions of numbers that TVM keeps there."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from hybridjit import tir as _tir
from hybridjit.compat.tvm import ir_builder
from hybridjit.compat.tvm import te as _te
from hybridjit.compat.tvm.c_code import find_function
from hybridjit.compat.tvm.constants import find_number
from hybridjit.compat.tvm.functions import find_packed
from hybridjit.compat.tvm.schedule import Schedule
from hybridjit.compat.tvm.statements import STATEMENTS
from hybridjit.errors import ArgumentError
from hybridjit.ir.expr import Const
from hybridjit.ir.expr import Var as _Variable
from hybridjit.tensors.expression import Expression, as_expression
from hybridjit.tensors.tensor import Axis as IterVar

__all__ = ["IntImm", "IterVar", "PrimExpr", "Schedule", "Var", "call_extern", "ir_builder"]

_python: Any = operator


def call_extern(dtype: Any, function: Any, *args: Any) -> Any:
    """The call of a C function: of one that clang.create_llvm compiled, or of the process."""
    compiled = find_function(function) if isinstance(function, str) else None
    return _tir.call_extern(dtype, function if compiled is None else compiled, *args)


def call_packed(function: Any, *args: Any) -> Any:
    """The call of a function, or of the one that is registered under a name."""
    found = find_packed(function) if isinstance(function, str) else function
    return _tir.call_packed(found, *args)


def call_pure_extern(dtype: Any, function: Any, *args: Any) -> Any:
    """The call of a C function."""
    return call_extern(dtype, function, *args)


def Select(condition: Any, true_value: Any, false_value: Any) -> Any:
    """One of two values."""
    return _te.if_then_else(condition, true_value, false_value)


def Cast(dtype: Any, value: Any) -> Any:
    """A value converted."""
    return _te.const(value).astype(dtype) if not hasattr(value, "astype") else value.astype(dtype)


def Not(value: Any) -> Any:
    """Whether a condition does not hold."""
    return _te.if_then_else(value, _te.const(False, "bool"), _te.const(True, "bool"))


def ceildiv(lhs: Any, rhs: Any) -> Any:
    """A quotient of integers, rounded up."""
    return -_te.floordiv(-lhs, rhs)


def q_multiply_shift(x: Any, y: Any, q: int, s: Any) -> Any:
    """x * y / 2**q * 2**s of integers, halves up, as an int32; `s` is known before the run."""
    left = find_number(s)
    if left is None:
        raise ArgumentError("q_multiply_shift shifts by a number that is known", help="give one")
    wide = as_expression(x).astype("int64") * as_expression(y) * 2 ** max(left, 0)
    right = q - min(left, 0)
    return ((wide + 2 ** (right - 1)) >> right).astype("int32")


def likely(condition: Any) -> Any:
    """The condition itself."""
    return condition


class _Node(type):
    """Classes of TVM's that expressions of te are instances of, as far as `holds` says."""

    def __instancecheck__(cls, instance: object) -> bool:
        return bool(getattr(cls, "holds")(instance))  # noqa: B009


class Var(metaclass=_Node):
    """A number that is known when the program runs."""

    def __new__(cls, name: str, dtype: Any = "int32") -> Any:
        return _te.var(name, dtype)

    @staticmethod
    def holds(value: object) -> bool:
        """Whether it is a variable."""
        return isinstance(value, Expression) and isinstance(value.expr, _Variable)


class IntImm(metaclass=_Node):
    """A number of a type."""

    def __new__(cls, dtype: Any, value: Any) -> Any:
        return _te.const(value, dtype)

    @staticmethod
    def holds(value: object) -> bool:
        """Whether it is an integer that is known."""
        if isinstance(value, Expression) and isinstance(value.expr, Const):
            return value.dtype.is_integer
        return isinstance(value, int) and not isinstance(value, bool)


def FloatImm(dtype: Any, value: Any) -> Any:
    """A number of a type."""
    return _te.const(value, dtype)


def infinity(dtype: Any) -> Any:
    """The infinity of a type of floats."""
    return _te.const(float("inf"), dtype)


class PrimExpr(metaclass=_Node):
    """What is computed for each element."""

    @staticmethod
    def holds(value: object) -> bool:
        """Whether it is an expression."""
        return isinstance(value, Expression)


# Nodes of TVM that are written as calls: expressions of te here, and statements.
_WRITTEN: dict[str, Callable[..., Any]] = {
    **STATEMENTS,
    "Add": _python.add,
    "Sub": _python.sub,
    "Mul": _python.mul,
    "Div": _te.truncdiv,
    "Mod": _te.truncmod,
    "FloorDiv": _python.floordiv,
    "FloorMod": _python.mod,
    "Max": _te.max,
    "Min": _te.min,
    "EQ": _python.eq,
    "NE": _python.ne,
    "LT": _python.lt,
    "LE": _python.le,
    "GT": _python.gt,
    "GE": _python.ge,
    "And": _te.all,
    "Or": _te.any,
    "FloatImm": FloatImm,
    "SizeVar": _te.size_var,
    "StringImm": str,
    "bitwise_and": _python.and_,
    "bitwise_or": _python.or_,
    "bitwise_xor": _python.xor,
    "bitwise_not": _python.invert,
    "shift_left": _python.lshift,
    "shift_right": _python.rshift,
    "pow": _te.power,
}


_LLVM = "tir.register_intrin(name, tir.llvm_intrinsic(...), arity=, python=), then tir.call_intrin"
# Names of TVM's that are not here, or that are nodes of the IR which take something else.
_OTHERWISE = {
    "Allocate": "tir.ir_builder makes memory: ib.allocate",
    "Block": "te.create_prim_func makes blocks of tensors",
    "Call": "tir.call_extern, tir.call_packed and tir.call_intrin make calls",
    "Load": "write tir.BufferLoad",
    "Store": "write tir.BufferStore",
    "call_llvm_intrin": _LLVM,
    "call_llvm_pure_intrin": _LLVM,
    "reinterpret": "topi.reinterpret reads the bits of a tensor",
    "ret": "an extern writes to its outputs",
    "stmt_functor": "hybridjit.tir.walk, rewrite and substitute are for passes of your own",
}


def __getattr__(name: str) -> Any:
    if name in _WRITTEN:
        return _WRITTEN[name]
    if name in _OTHERWISE:
        is_node = f"; hybridjit.tir.{name} is a node of the IR" if hasattr(_tir, name) else ""
        raise AttributeError(f"tir.{name} is not here: {_OTHERWISE[name]}{is_node}")
    for module in (_te, _tir):
        if hasattr(module, name):
            return getattr(module, name)
    raise AttributeError(f"tir has no {name!r}")


def __dir__() -> list[str]:
    return sorted({*__all__, *_WRITTEN, *dir(_tir), *dir(_te)} - _OTHERWISE.keys())
