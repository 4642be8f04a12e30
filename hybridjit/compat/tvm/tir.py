"""`tvm.tir`: the IR, and the functions of numbers that TVM keeps there."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from hybridjit import te as _te
from hybridjit import tir as _tir
from hybridjit.compat.tvm import ir_builder
from hybridjit.compat.tvm.functions import find_packed
from hybridjit.compat.tvm.schedule import Schedule

__all__ = ["Schedule", "call_extern", "ir_builder"]

_python: Any = operator
call_extern = _tir.call_extern


def call_packed(function: Any, *args: Any) -> Any:
    """The call of a function, or of the one that is registered under a name."""
    found = find_packed(function) if isinstance(function, str) else function
    return _tir.call_packed(found, *args)


def call_pure_extern(dtype: Any, function: Any, *args: Any) -> Any:
    """The call of a C function."""
    return _tir.call_extern(dtype, function, *args)


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


def likely(condition: Any) -> Any:
    """The condition itself."""
    return condition


def IntImm(dtype: Any, value: Any) -> Any:
    """A number of a type."""
    return _te.const(value, dtype)


def Var(name: str, dtype: Any = "int32") -> Any:
    """A number that is known when the program runs."""
    return _te.var(name, dtype)


# Nodes of TVM that are written as calls: expressions of te here.
_WRITTEN: dict[str, Callable[..., Any]] = {
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
    "FloatImm": IntImm,
    "SizeVar": Var,
}


def __getattr__(name: str) -> Any:
    if name in _WRITTEN:
        return _WRITTEN[name]
    for module in (_te, _tir):
        if hasattr(module, name):
            return getattr(module, name)
    raise AttributeError(f"tir has no {name!r}")


def __dir__() -> list[str]:
    return sorted({*__all__, *_WRITTEN, *dir(_tir), *dir(_te)})
