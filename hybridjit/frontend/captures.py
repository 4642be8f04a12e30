"""The names a script takes from around it: its closure, its globals, and the language's own."""

from __future__ import annotations

import builtins
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, is_dataclass
from enum import Enum
from types import FunctionType, ModuleType, SimpleNamespace
from typing import Any

import numpy as np

from hybridjit.frontend.builtins import BUILTINS, PYTHON_NAMES, ElementTypeObject
from hybridjit.frontend.values import (
    Builtin,
    Callee,
    ElementType,
    ExternValue,
    Foreign,
    Items,
    Module,
    Nothing,
    NumpyFunction,
    PythonType,
    Scalar,
    Text,
    Value,
)
from hybridjit.ir.dtype import (
    WEAK_BOOL,
    WEAK_COMPLEX,
    WEAK_FLOAT,
    WEAK_INT,
    DType,
    ScalarType,
    find_dtype,
)
from hybridjit.ir.expr import Const, const
from hybridjit.ir.extern import Extern

MISSING = object()


@dataclass(frozen=True, slots=True)
class Capture:
    """A value taken from around the script, and how to look whether it is still the same."""

    name: str
    read: Callable[[], object]
    value: object

    def is_current(self) -> bool:
        return same_value(self.read(), self.value)


def same_value(now: object, then: object) -> bool:
    """True if a captured value would still be the same constant."""
    if now is then:
        return not isinstance(then, (list, np.ndarray))
    if type(now) is not type(then):
        return False
    if isinstance(then, np.ndarray) and isinstance(now, np.ndarray):
        return (
            now.dtype == then.dtype and now.shape == then.shape and now.tobytes() == then.tobytes()
        )
    if isinstance(then, (tuple, list)) and isinstance(now, (tuple, list)):
        return len(now) == len(then) and all(map(same_value, now, then))
    if isinstance(then, (float, complex, np.inexact)):
        return np.asarray(now).tobytes() == np.asarray(then).tobytes()
    return isinstance(then, (bool, int, str, np.generic, np.dtype)) and now == then


def snapshot(value: object) -> object:
    """`value` as it is now: what can change in place is copied."""
    if isinstance(value, np.ndarray):
        return value.copy()
    if isinstance(value, list):
        return [snapshot(item) for item in value]
    if isinstance(value, tuple):
        return tuple(snapshot(item) for item in value)
    return value


class Environment:
    """Names around a function: closure first, then globals, then the language, then Python."""

    def __init__(self, closure: Mapping[str, Any], module: Mapping[str, Any]) -> None:
        self.closure = closure
        self.module = module

    @classmethod
    def of(cls, pyfunc: FunctionType) -> Environment:
        return cls(_Cells(pyfunc), pyfunc.__globals__)

    def find(self, name: str) -> object:
        """The object called `name`, or MISSING."""
        for names in (self.closure, self.module, BUILTINS):
            if name in names:
                return names[name]
        return getattr(builtins, name, MISSING)

    def names(self) -> list[str]:
        """Every name in reach, for suggestions."""
        return [*self.closure, *self.module, *BUILTINS, *PYTHON_NAMES]


class _Cells(Mapping[str, Any]):
    """The closure of a function, read afresh each time: a cell may be filled after decoration."""

    def __init__(self, pyfunc: FunctionType) -> None:
        names = pyfunc.__code__.co_freevars
        self.cells = dict(zip(names, pyfunc.__closure__ or (), strict=True))

    def __getitem__(self, name: str) -> Any:
        try:
            return self.cells[name].cell_contents
        except ValueError:
            raise KeyError(name) from None

    def __contains__(self, name: object) -> bool:
        try:
            self[str(name)]
        except KeyError:
            return False
        return True

    def __iter__(self) -> Any:
        return iter(self.cells)

    def __len__(self) -> int:
        return len(self.cells)


_NUMPY_NAMES = {
    **{name: name for name in ("exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sqrt")},
    **{name: name for name in ("cbrt", "sin", "cos", "tan", "sinh", "cosh", "tanh", "hypot")},
    **{f"arc{name}": f"a{name}" for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh", "tan2")},
    **{name: name for name in ("floor", "ceil", "trunc", "rint", "sign", "copysign", "fmod")},
    **{name: name for name in ("minimum", "maximum", "isnan", "isinf", "isfinite")},
    **{"absolute": "abs", "fabs": "abs", "round": "rint", "bitwise_count": "popcount"},
    **{"power": "pow", "real": "real", "imag": "imag", "conjugate": "conj", "where": "select"},
    **{"square": "square", "clip": "clip", "logical_not": "logical_not"},
    **{"add": "+", "subtract": "-", "multiply": "*", "divide": "/", "floor_divide": "//"},
    **{"remainder": "%", "bitwise_and": "&", "bitwise_or": "|", "bitwise_xor": "^"},
    **{"left_shift": "<<", "right_shift": ">>"},
    **{"equal": "==", "not_equal": "!=", "less": "<", "less_equal": "<="},
    **{"greater": ">", "greater_equal": ">="},
}
_MATH_NAMES = {
    **{name: name for name in ("exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sqrt")},
    **{name: name for name in ("cbrt", "sin", "cos", "tan", "asin", "acos", "atan", "atan2")},
    **{name: name for name in ("sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "hypot")},
    **{name: name for name in ("erf", "erfc", "gamma", "lgamma", "copysign", "fmod", "pow")},
    **{name: name for name in ("floor", "ceil", "trunc", "isnan", "isinf", "isfinite")},
    "fabs": "abs",
}
_FUNCTIONS: dict[int, NumpyFunction] = {
    id(getattr(module, attribute)): NumpyFunction(name, module.__name__)
    for module, names in ((np, _NUMPY_NAMES), (math, _MATH_NAMES))
    for attribute, name in names.items()
    if hasattr(module, attribute)
}
_BUILTIN_NAMES: dict[int, str] = {
    id(value): name for name, value in BUILTINS.items() if callable(value)
} | {id(getattr(builtins, name)): name for name in PYTHON_NAMES}
_WEAK: dict[type, ScalarType] = {
    bool: WEAK_BOOL,
    int: WEAK_INT,
    float: WEAK_FLOAT,
    complex: WEAK_COMPLEX,
}
# Objects whose attributes are plain data: reading one runs no code of the user's.
_PLAIN_OWNERS = (type, Enum, SimpleNamespace)


def lift(value: object) -> Value:
    """What a Python object from around the script stands for inside it. Arrays stay `Foreign`."""
    number = _WEAK.get(type(value))  # type: ignore[arg-type]
    if number is not None:
        return Scalar(Const(value, number.dtype), number)  # type: ignore[arg-type]
    if id(value) in _FUNCTIONS:
        return _FUNCTIONS[id(value)]
    match value:
        case np.generic() if (dtype := find_dtype(value.dtype)) is not None:
            return Scalar(const(value, dtype), ScalarType(dtype))
        case str():
            return Text(value)
        case None:
            return Nothing()
        case tuple() | list():
            return Items(tuple(lift(item) for item in value))  # type: ignore[arg-type]
        case ElementTypeObject():
            return ElementType(value.dtype)
        case Extern():
            return ExternValue(value)
        case ModuleType():
            return Module(value)
        case FunctionType() if id(value) not in _BUILTIN_NAMES:
            return Callee(value)
        case _:
            return _lift_object(value)


def _lift_object(value: object) -> Value:
    if isinstance(value, type) and value in _WEAK:
        return PythonType(_WEAK[value])
    if isinstance(value, (np.dtype, type)) and (dtype := _dtype_of(value)) is not None:
        return ElementType(dtype)
    if id(value) in _BUILTIN_NAMES:
        return Builtin(_BUILTIN_NAMES[id(value)])
    pyfunc = getattr(value, "__hybrid_function__", None)  # a script: inlined as its function
    if isinstance(pyfunc, FunctionType):
        return Callee(pyfunc)
    return Foreign(value)


def _dtype_of(value: np.dtype[Any] | type) -> DType | None:
    if isinstance(value, type) and not issubclass(value, np.generic):
        return None
    try:
        return find_dtype(np.dtype(value))
    except TypeError:
        return None


def has_plain_attributes(owner: object) -> bool:
    """True if reading an attribute of `owner` gives data and runs no code."""
    is_record = isinstance(owner, tuple) and hasattr(owner, "_fields")
    return isinstance(owner, _PLAIN_OWNERS) or is_dataclass(owner) or is_record
