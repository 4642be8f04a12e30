"""The names a script takes from around it: its closure, its globals, and the language's own."""

from __future__ import annotations

import builtins
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, is_dataclass
from enum import Enum
from types import CellType, FunctionType, ModuleType, SimpleNamespace
from typing import Any, cast

import numpy as np

from hybridjit.frontend.builtins import BUILTINS, PYTHON_NAMES, ElementTypeObject
from hybridjit.frontend.kinds import (
    find_weak_type,
    is_array,
    is_numpy_scalar,
    is_python_number,
    is_sequence,
    weak_type,
)
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
from hybridjit.ir.dtype import DType, ScalarType, find_dtype
from hybridjit.ir.expr import Const, const
from hybridjit.ir.extern import Extern

MISSING = object()
_FLOATING: tuple[type, ...] = (float, complex, np.inexact)


@dataclass(frozen=True, slots=True)
class NameSource:
    """Where a captured name is looked up. Call it for the value that it has now."""

    environment: Environment
    name: str

    def __call__(self) -> object:
        return self.environment.find(self.name)


@dataclass(frozen=True, slots=True)
class AttributeSource:
    """Where a captured attribute is looked up. Call it for the value that it has now."""

    owner: object
    name: str

    def __call__(self) -> object:
        return getattr(self.owner, self.name, None)


@dataclass(frozen=True, slots=True)
class Capture:
    """A value taken from around the script, and how to look whether it is still the same."""

    name: str
    read: NameSource | AttributeSource
    value: object

    def is_current(self) -> bool:
        """True if the value is what it was when the script was translated."""
        return same_value(self.read(), self.value)


def same_value(now: object, then: object) -> bool:
    """True if a captured value would still be the same constant."""
    if now is then:
        return not isinstance(then, (list, np.ndarray))
    if type(now) is not type(then):
        return False
    if is_array(then) and is_array(now):
        return now.dtype == then.dtype and now.shape == then.shape and _same_bytes(now, then)
    if is_sequence(then) and is_sequence(now):
        return len(now) == len(then) and all(map(same_value, now, then))
    if isinstance(then, _FLOATING):
        return _same_bytes(now, then)
    return isinstance(then, (bool, int, str, np.generic, np.dtype)) and now == then


def _same_bytes(now: object, then: object) -> bool:
    """Bit for bit: nan equals itself, and 0.0 is not -0.0."""
    return np.asarray(now).tobytes() == np.asarray(then).tobytes()


def snapshot(value: object) -> object:
    """`value` as it is now: what can change in place is copied."""
    if is_array(value):
        return np.array(value, subok=True)
    if is_sequence(value):
        items = [snapshot(item) for item in value]
        return tuple(items) if isinstance(value, tuple) else items
    return value


class Environment:
    """Names around a function: closure first, then globals, then the language, then Python."""

    def __init__(self, closure: Mapping[str, Any], module: Mapping[str, Any]) -> None:
        self.closure = closure
        self.module = module

    @classmethod
    def of(cls, pyfunc: FunctionType) -> Environment:
        """What `pyfunc` sees, read afresh at every look."""
        return cls(_Cells(pyfunc), pyfunc.__globals__)

    def find(self, name: str) -> object:
        """The object called `name`, or MISSING."""
        for names in (self.closure, self.module, BUILTINS):
            if name in names:
                return names[name]
        return getattr(builtins, name, MISSING)

    @property
    def cells(self) -> Mapping[str, CellType]:
        """The closure cells of the function, by name; some may be empty."""
        return self.closure.cells if isinstance(self.closure, _Cells) else {}

    def names(self) -> list[str]:
        """Every name in reach, for suggestions."""
        constants = ("True", "False", "None")
        return [*self.closure, *self.module, *BUILTINS, *PYTHON_NAMES, *constants]

    def find_alias(self, name: str) -> str | None:
        """A sentence with the name under which the module called `name` was imported."""
        for alias, value in self.module.items():
            if isinstance(value, ModuleType) and value.__name__ == name:
                return f"did you mean '{alias}'?"
        return None


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

    def __iter__(self) -> Iterator[str]:
        return iter(self.cells)

    def __len__(self) -> int:
        return len(self.cells)


NUMPY_NAMES = {
    **{name: name for name in ("exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sqrt")},
    **{name: name for name in ("cbrt", "sin", "cos", "tan", "sinh", "cosh", "tanh", "hypot")},
    **{f"arc{name}": f"a{name}" for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh", "tan2")},
    **{name: name for name in ("floor", "ceil", "trunc", "rint", "sign", "copysign", "fmod")},
    **{name: name for name in ("minimum", "maximum", "isnan", "isinf", "isfinite")},
    **{"absolute": "abs", "fabs": "fabs", "round": "round"},
    **{"bitwise_count": "bitwise_count", "power": "pow", "where": "select"},
    **{"real": "real", "imag": "imag", "conjugate": "conj"},
    **{"square": "square", "clip": "clip", "logical_not": "logical_not"},
    **{"add": "+", "subtract": "-", "multiply": "*", "divide": "/", "floor_divide": "//"},
    **{"remainder": "%", "bitwise_and": "&", "bitwise_or": "|", "bitwise_xor": "^"},
    **{"left_shift": "<<", "right_shift": ">>"},
    **{"equal": "==", "not_equal": "!=", "less": "<", "less_equal": "<="},
    **{"greater": ">", "greater_equal": ">="},
}
MATH_NAMES = {
    **{name: name for name in ("exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sqrt")},
    **{name: name for name in ("cbrt", "sin", "cos", "tan", "asin", "acos", "atan", "atan2")},
    **{name: name for name in ("sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "hypot")},
    **{name: name for name in ("erf", "erfc", "gamma", "lgamma", "copysign", "fmod", "pow")},
    **{name: name for name in ("floor", "ceil", "trunc", "isnan", "isinf", "isfinite")},
    "fabs": "abs",
}
_FUNCTIONS: dict[int, NumpyFunction] = {
    id(getattr(module, attribute)): NumpyFunction(name, module.__name__)
    for module, names in ((np, NUMPY_NAMES), (math, MATH_NAMES))
    for attribute, name in names.items()
    if hasattr(module, attribute)
}
_BUILTIN_NAMES: dict[int, str] = {
    id(value): name for name, value in BUILTINS.items() if callable(value)
} | {id(getattr(builtins, name)): name for name in PYTHON_NAMES}
# The functions of each module that a script may call, for suggestions.
SUPPORTED = {"numpy": tuple(NUMPY_NAMES), "math": tuple(MATH_NAMES)}
# Objects whose attributes are plain data: reading one runs no code of the user's.
_PLAIN_OWNERS = (type, Enum, SimpleNamespace)


def is_language_name(name: str) -> bool:
    """True if `name` is a function of the language unless the user gives it another meaning."""
    return name in BUILTINS or name in PYTHON_NAMES


def lift(value: object) -> Value:
    """What a Python object from around the script stands for inside it. Arrays stay `Foreign`."""
    number = _lift_number(value)
    if number is not None:
        return number
    match value:
        case None:
            return Nothing()
        case str():
            return Text(value)
        case Extern():
            return ExternValue(value)
        case ModuleType():
            return Module(value)
        case _ if is_sequence(value):
            return Items(tuple(lift(item) for item in value))
        case _:
            return _lift_type(value) or _lift_function(value) or Foreign(value)


def _lift_number(value: object) -> Scalar | None:
    if is_python_number(value):
        type = weak_type(value)
        return Scalar(Const(value, type.dtype), type)
    dtype = find_dtype(value.dtype) if is_numpy_scalar(value) else None
    return None if dtype is None else Scalar(const(value, dtype), ScalarType(dtype))


def _lift_type(value: object) -> PythonType | ElementType | None:
    weak = find_weak_type(value)
    if weak is not None:
        return PythonType(weak)
    dtype = value.dtype if isinstance(value, ElementTypeObject) else _find_numpy_type(value)
    return None if dtype is None else ElementType(dtype)


def _find_numpy_type(value: object) -> DType | None:
    is_scalar_type = isinstance(value, type) and issubclass(value, np.generic)
    if not is_scalar_type and not isinstance(value, np.dtype):
        return None
    try:
        return find_dtype(np.dtype(cast("type[np.generic[Any]] | np.dtype[Any]", value)))
    except TypeError:  # an abstract type such as np.generic
        return None


def _lift_function(value: object) -> NumpyFunction | Builtin | Callee | None:
    if id(value) in _FUNCTIONS:
        return _FUNCTIONS[id(value)]
    if id(value) in _BUILTIN_NAMES:
        return Builtin(_BUILTIN_NAMES[id(value)])
    # A script is inlined as its function.
    pyfunc = getattr(value, "__hybrid_function__", value)
    return Callee(pyfunc) if isinstance(pyfunc, FunctionType) else None


def has_plain_attributes(owner: object) -> bool:
    """True if reading an attribute of `owner` gives data and runs no code."""
    return isinstance(owner, _PLAIN_OWNERS) or is_dataclass(owner)
