"""The names a script takes from around it: its closure, its globals, and the language's own."""

from __future__ import annotations

import builtins
import math
from collections.abc import Iterator, Mapping
from dataclasses import is_dataclass
from enum import Enum
from operator import attrgetter
from types import CellType, FunctionType, ModuleType, SimpleNamespace
from typing import Any

import numpy as np

from hybridjit.frontend.library.elements import as_float, clipped, inverse, lowered, raised
from hybridjit.frontend.library.names import LIBRARY_NAMES
from hybridjit.ir.raisable import ERRORS
from hybridjit.record import record
from hybridjit.scalars.builtins import BUILTINS, PYTHON_NAMES
from hybridjit.scalars.kinds import is_array, is_sequence
from hybridjit.scalars.style import Style

MISSING = object()
_FLOATING: tuple[type, ...] = (float, complex, np.inexact)


@record(eq=False)
class NameSource:
    """Where a captured name is looked up. Call it for the value that it has now."""

    environment: Environment
    name: str

    def __call__(self) -> object:
        return self.environment.find(self.name)


@record(eq=False)
class AttributeSource:
    """Where a captured attribute is looked up. Call it for the value that it has now."""

    owner: object
    name: str

    def __call__(self) -> object:
        return getattr(self.owner, self.name, MISSING)


@record(eq=False)
class Capture:
    """A value taken from around the script, and how to look whether it is still the same."""

    name: str
    read: NameSource | AttributeSource
    value: object
    state: tuple[object, ...]  # of the functions in it, which can be given other code

    @classmethod
    def take(cls, name: str, read: NameSource | AttributeSource, value: object) -> Capture:
        """What `read` gives: `value`, as it is now."""
        return cls(name, read, snapshot(value), function_state(value))

    def is_current(self) -> bool:
        """True if the value is what it was when the script was translated."""
        now = self.read()
        return same_value(now, self.value) and _are_same(function_state(now), self.state)


def functions_in(value: object) -> Iterator[FunctionType]:
    """The functions that a captured value is or holds, which are inlined."""
    if is_sequence(value):
        for item in value:
            yield from functions_in(item)
    if isinstance(value, ModuleType):
        return
    function = getattr(value, "__hybrid_function__", value)
    if isinstance(function, FunctionType) and language_name(function) is None:
        yield function


def function_state(value: object) -> tuple[object, ...]:
    """What Python lets one replace in a function that stays the same object."""
    return tuple(
        part
        for function in functions_in(value)
        for part in (
            function.__code__,
            *(function.__defaults__ or ()),
            *(item for pair in (function.__kwdefaults__ or {}).items() for item in pair),
        )
    )


def _are_same(now: tuple[object, ...], then: tuple[object, ...]) -> bool:
    return len(now) == len(then) and all(a is b for a, b in zip(now, then, strict=True))


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

    def __init__(
        self,
        closure: Mapping[str, Any],
        module: Mapping[str, Any],
        function: FunctionType | None = None,
    ) -> None:
        self.closure = closure
        self.module = module
        self.function = function

    @classmethod
    def of(cls, pyfunc: FunctionType) -> Environment:
        """What `pyfunc` sees, read afresh at every look."""
        return cls(_Cells(pyfunc), pyfunc.__globals__, pyfunc)

    def find(self, name: str) -> object:
        """The object called `name`, or MISSING."""
        for names in (self.closure, self.module, BUILTINS):
            if name in names:
                return names[name]
        # A program that is read back may raise errors of NumPy's.
        return getattr(builtins, name, ERRORS.get(name, MISSING))

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
    **{"absolute": "abs", "fabs": "fabs", "fix": "trunc", "invert": "invert"},
    **{"bitwise_count": "bitwise_count", "power": "pow", "where": "select"},
    **{"real": "real", "imag": "imag", "conjugate": "conj"},
    **{"square": "square", "logical_not": "logical_not"},
    **{name: name for name in ("logical_and", "logical_or", "logical_xor")},
    **{name: name for name in ("negative", "positive")},
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
    "fma": "fma",  # from Python 3.13 on
    **{name: name for name in ("floor", "ceil", "trunc", "isnan", "isinf", "isfinite")},
    "fabs": "abs",
}
# Functions on whole arrays. `np.min` and `np.amin` are two objects with one meaning.
ARRAY_NAMES = {
    **{name: name for name in ("sum", "prod", "min", "max", "any", "all", "mean", "var", "std")},
    **{name: name for name in ("argmin", "argmax", "dot", "matmul", "outer", "copy", "transpose")},
    **{name: name for name in ("zeros", "ones", "empty", "full", "arange", "linspace", "eye")},
    **{name: name for name in ("zeros_like", "ones_like", "empty_like", "full_like", "identity")},
    **{"amin": "min", "amax": "max", "reshape": "reshape", "flip": "flip", "ravel": "ravel"},
    **{name: name for name in ("swapaxes", "moveaxis", "expand_dims", "squeeze", "diagonal")},
    **{name: name for name in ("repeat", "tile", "roll", "take", "broadcast_to", "indices")},
    **{name: name for name in ("concatenate", "stack", "hstack", "vstack", "dstack")},
    **{name: name for name in ("column_stack", "result_type", "meshgrid", "cumsum", "cumprod")},
    **{name: name for name in ("block", "split", "array_split", "hsplit", "vsplit", "dsplit")},
    **{name: name for name in ("einsum", "tensordot", "pad")},
    "lib.stride_tricks.sliding_window_view": "sliding_window_view",
    **{"array": "array", "asarray": "asarray"},
    **{"asanyarray": "asarray", "ascontiguousarray": "ascontiguousarray", "ndarray": "empty"},
}
ARRAY_FUNCTIONS: dict[int, str] = {
    id(attrgetter(key)(np)): name for key, name in ARRAY_NAMES.items()
}
# By identity: the module and our name of each of its functions, and the names of the language.
MODULE_FUNCTIONS: dict[int, tuple[str, str]] = {
    id(getattr(module, attribute)): (module.__name__, name)
    for module, names in ((np, NUMPY_NAMES), (math, MATH_NAMES))
    for attribute, name in names.items()
    if hasattr(module, attribute)
} | {
    id(as_float): (Style.LANGUAGE.value, "as_float"),
    id(clipped): (Style.NUMPY.value, "clip"),
    id(raised): (Style.NUMPY.value, "clip_low"),
    id(lowered): (Style.NUMPY.value, "clip_high"),
    id(inverse): (Style.NUMPY.value, "complex_inverse"),
}
LANGUAGE_NAMES: dict[int, str] = {
    id(value): name for name, value in BUILTINS.items() if callable(value)
} | {id(getattr(builtins, name)): name for name in PYTHON_NAMES}

# The functions of each module that a script may call, for suggestions.
SUPPORTED = {
    "numpy": (*NUMPY_NAMES, *ARRAY_NAMES, *LIBRARY_NAMES),
    "math": tuple(MATH_NAMES),
}
# Objects whose attributes are plain data: reading one runs no code of the user's.
_PLAIN_OWNERS = (type, Enum, SimpleNamespace)


def is_language_name(name: str) -> bool:
    """True if `name` is a function of the language unless the user gives it another meaning."""
    return name in BUILTINS or name in PYTHON_NAMES


def language_name(value: object) -> str | None:
    """The name of the function of the language that `value` is.

    A function outside of this layer says so itself: `hybrid.vectorize` is more than a loop.
    """
    found = LANGUAGE_NAMES.get(id(value))
    if found is None and isinstance(value, FunctionType):
        return getattr(value, "__hybrid_builtin__", None)
    if found is None and _is_of_numba(value):
        return "prange"
    return found


def _is_of_numba(value: object) -> bool:
    """True for `numba.prange`, which scripts may go on to import."""
    is_prange = isinstance(value, type) and value.__name__ == "prange"
    return is_prange and value.__module__.partition(".")[0] == "numba"


def has_plain_attributes(owner: object) -> bool:
    """True if reading an attribute of `owner` gives data and runs no code."""
    return isinstance(owner, _PLAIN_OWNERS) or is_dataclass(owner)
