"""The types of a random program, and what NumPy makes of operators between them.

The tables are found by trying every operator on samples of every type: they owe nothing to the
promotion rules of the package, which the programs are there to test.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable
from functools import cache
from itertools import product
from typing import Any

import ml_dtypes
import numpy as np

BOOL = "np.bool_"  # NumPy's; "bool", "int", "float" and "complex" are Python's
INTS = ("int64", "int32", "int8", "int16", "uint8", "uint16", "uint32", "uint64")
FLOATS = ("float64", "float32", "float16", "bfloat16")
COMPLEX = ("complex128", "complex64")
TYPED = (*INTS, *FLOATS, *COMPLEX, BOOL)
WEAK = ("int", "float", "bool", "complex")

_SCALARS: dict[str, Any] = {
    **{name: getattr(np, name) for name in (*INTS, *FLOATS[:3], *COMPLEX)},
    "bfloat16": ml_dtypes.bfloat16,
    BOOL: np.bool_,
    **{"bool": bool, "int": int, "float": float, "complex": complex},
}

_python: Any = operator  # typeshed leaves the types of half of these functions unknown
_GENERIC: type[Any] = np.generic
BINARY: dict[str, Callable[[Any, Any], Any]] = {
    **{"+": _python.add, "-": _python.sub, "*": _python.mul, "/": _python.truediv},
    **{"//": _python.floordiv, "%": _python.mod, "**": _python.pow},
    **{"&": _python.and_, "|": _python.or_, "^": _python.xor},
    **{"<<": _python.lshift, ">>": _python.rshift},
}
UNARY: dict[str, Callable[[Any], Any]] = {
    **{"-": _python.neg, "+": _python.pos, "~": _python.invert, "abs": _python.abs}
}
_COMPLEX_FUNCTIONS = ("sqrt", "exp", "log", "sin", "cos", "tanh", "absolute", "square", "isnan")
COMPARISONS = ("<", "<=", "==", "!=", ">", ">=")


def numpy_dtype(name: str) -> np.dtype[Any]:
    return np.dtype(_SCALARS[name])


def scalar_of(name: str, value: Any) -> Any:
    """`value` as a scalar of the type."""
    return _SCALARS[name](value)


def type_name(value: Any) -> str:
    """The name of a scalar's type."""
    if isinstance(value, _GENERIC):
        return BOOL if value.dtype == np.bool_ else value.dtype.name
    return type(value).__name__


def is_int(name: str) -> bool:
    return name in INTS


def is_float(name: str) -> bool:
    return name in FLOATS or name == "float"


def is_complex(name: str) -> bool:
    return name in COMPLEX or name == "complex"


def is_weak(name: str) -> bool:
    return name in WEAK


def is_bool(name: str) -> bool:
    return name in (BOOL, "bool")


def bounds(name: str) -> tuple[int, int]:
    """The smallest and largest value of an integer type."""
    info = np.iinfo(numpy_dtype(name))
    return int(info.min), int(info.max)


def _deviates(a: str, b: str) -> bool:
    """Pairs whose result type is documented to differ from plain Python.

    bfloat16 with a Python float stays bfloat16 and with wide integers is refused, where ml_dtypes
    gives float32 or float64; Python's complex + np.float64 is a Python complex.
    """
    if "bfloat16" in (a, b):
        other = b if a == "bfloat16" else a
        return other not in ("bfloat16", "int", "bool", BOOL, "int8", "uint8", "float32", "float64")
    return {a, b} == {"complex", "float64"}


@cache
def operator_results(symbol: str) -> dict[str, list[tuple[str, str]]]:
    """For each result type, the operand types that give it under a binary _python."""
    found: dict[str, list[tuple[str, str]]] = {}
    for a, b in product((*WEAK, *TYPED), repeat=2):
        result = None if _deviates(a, b) else result_type(symbol, a, b)
        if result is not None:
            found.setdefault(result, []).append((a, b))
    return found


@cache
def result_type(symbol: str, a: str, b: str) -> str | None:
    """The type of `a symbol b`, or None where NumPy has none."""
    if _deviates(a, b):
        return None
    return _try(BINARY[symbol], [scalar_of(a, 1), scalar_of(b, 1)])


@cache
def unary_result(symbol: str, name: str) -> str | None:
    return _try(UNARY[symbol], [scalar_of(name, 1)])


def function_results(
    functions: Iterable[tuple[str, Callable[..., Any]]], arity: int
) -> dict[str, list[tuple[str, tuple[str, ...]]]]:
    """For each result type, the calls (function, argument types) that give it."""
    found: dict[str, list[tuple[str, tuple[str, ...]]]] = {}
    for (label, function), types in product(functions, product((*WEAK, *TYPED), repeat=arity)):
        if arity == 2 and (_deviates(types[0], types[1]) or "complex" in types):
            continue
        if "bfloat16" in types and len(set(types)) > 1:
            continue  # NumPy's functions do not know bfloat16: what it meets decides
        if any(map(is_complex, types)) and label.removeprefix("np.") not in _COMPLEX_FUNCTIONS:
            continue
        result = _try(function, [scalar_of(name, 1) for name in types])
        if result is not None:
            found.setdefault(result, []).append((label, types))
    return found


def _try(function: Callable[..., Any], args: list[Any]) -> str | None:
    try:
        with np.errstate(all="ignore"):
            name = type_name(function(*args))
    except (TypeError, ValueError):
        return None
    return name if name in _SCALARS else None


@cache
def joined(a: str, b: str) -> str | None:
    """The type in which two values meet, as `a + b` has it; bools meet in bool."""
    if a == b:
        return a
    if is_bool(a) and is_bool(b):
        return BOOL
    return result_type("+", a, b)


def converts_exactly(source: str, to: str) -> bool:
    """True if plain Python, which keeps `source`, shows the same value as `to` would."""
    return joined(source, to) == to


@cache
def holds(to: str, source: str) -> bool:
    """False for a typed integer that may be out of the range of another integer type.

    NumPy raises OverflowError when such a value is stored in an element; scripts wrap.
    """
    if not (is_int(to) and is_int(source)):
        return True
    return bounds(to)[0] <= bounds(source)[0] and bounds(source)[1] <= bounds(to)[1]
