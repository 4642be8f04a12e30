"""Random expressions of a wanted type. To add a kind, write a function and list it in EXPRS."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from hybridjit import hybrid
from tests.programs import types as ty
from tests.programs.conditions import compare, compare_ints
from tests.programs.scope import Value

if TYPE_CHECKING:
    from tests.programs.exprs import ExprMaker

# What must not be given 0, but for floats.
DIVISIONS = ("//", "%", "fmod", "np.fmod")
_LANGUAGE_UNARY = (
    *("exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sqrt", "rsqrt", "cbrt", "sin"),
    *("cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh"),
    *("sigmoid", "erf", "erfc", "gamma", "lgamma", "floor", "ceil", "trunc", "rint", "sign"),
    *("isnan", "isinf", "isfinite", "popcount", "clz"),
)
_NUMPY_UNARY = (
    *("sqrt", "exp", "log", "sin", "cos", "tanh", "arctan", "floor", "ceil", "trunc", "rint"),
    *("sign", "absolute", "square", "isnan", "isfinite", "expm1", "log2", "cbrt"),
)
_LANGUAGE_BINARY = ("minimum", "maximum", "hypot", "atan2", "copysign", "fmod", "dot_bytes")
_NUMPY_BINARY = (
    *("minimum", "maximum", "hypot", "arctan2", "copysign", "fmod", "add", "multiply"),
    *("subtract", "less", "equal"),
)
_FUNCTIONS = {
    1: (_LANGUAGE_UNARY, _NUMPY_UNARY),
    2: (_LANGUAGE_BINARY, _NUMPY_BINARY),
    3: (("fma",), ()),
}


@cache
def calls_by_result(arity: int) -> dict[str, list[tuple[str, tuple[str, ...]]]]:
    """The calls of the language and of NumPy that give each result type."""
    language, numpy = _FUNCTIONS[arity]
    functions: list[tuple[str, Callable[..., Any]]] = [
        *((name, getattr(hybrid, name)) for name in language),
        *((f"np.{name}", getattr(np, name)) for name in numpy),
    ]
    return ty.function_results(functions, arity)


def _binary(make: ExprMaker, type: str, depth: int) -> Value | None:
    symbol = make.choices.weighted(make.style.operators)
    pairs = [
        pair
        for pair in ty.operator_results(symbol).get(type, ())
        if make.allowed(pair) and not _may_fail(symbol, type, pair)
    ]
    if not pairs:
        return None
    own = (type, type)
    is_plain = own in pairs and not make.choices.chance(make.style.mixes)
    a, b = own if is_plain else make.choices.pick(pairs)
    left = make.operand(a, depth, b)
    right = make.right_operand(symbol, type, b, depth, a)
    return Value(f"({left.text} {symbol} {right.text})", type)


def _unary(make: ExprMaker, type: str, depth: int) -> Value | None:
    symbols = [s for s in ty.UNARY if ty.unary_result(s, type) == type and type != "bool"]
    if not symbols:
        return _not(make, type, depth)
    symbol, value = make.choices.pick(symbols), make.expr(type, depth)
    return Value(f"abs({value.text})" if symbol == "abs" else f"({symbol}{value.text})", type)


def _not(make: ExprMaker, type: str, depth: int) -> Value | None:
    return Value(f"(not {make.condition(depth)})", type) if type == "bool" else None


def _conditional(make: ExprMaker, type: str, depth: int) -> Value:
    a, b = _pair(make, type, depth)
    text = f"({a.text} if {make.condition(depth)} else {b.text})"
    return _as(make, type, text, a, b)


def _select(make: ExprMaker, type: str, depth: int) -> Value:
    if make.style.wild:  # a script looks only at the value that is chosen: the other may fail
        return _conditional(make, type, depth)
    a, b = _pair(make, type, depth)
    return _as(make, type, f"select({make.condition(depth)}, {a.text}, {b.text})", a, b)


def _extremum(make: ExprMaker, type: str, depth: int) -> Value:
    a, b = _pair(make, type, depth)
    return _as(make, type, f"{make.choices.pick(('min', 'max'))}({a.text}, {b.text})", a, b)


def _and_or(make: ExprMaker, type: str, depth: int) -> Value:
    a, b = _pair(make, type, depth)
    return _as(make, type, f"({a.text} {make.choices.pick(('and', 'or'))} {b.text})", a, b)


def _pair(make: ExprMaker, type: str, depth: int) -> tuple[Value, Value]:
    """Two values that meet in `type`, at least one of which has it."""
    sources = [name for name in make.types_here() if _meets(make, name, type)]
    first = make.expr(type, depth)
    if not sources or not make.choices.chance(30):
        return first, make.expr(type, depth)
    other = make.operand(make.choices.pick(sources), depth, type)
    return (first, other) if make.choices.chance(50) else (other, first)


def _meets(make: ExprMaker, source: str, type: str) -> bool:
    if source == type or ty.is_weak(type) or type == ty.BOOL or "bfloat16" in (source, type):
        return False
    return ty.joined(source, type) == type


def _as(make: ExprMaker, type: str, text: str, a: Value, b: Value) -> Value:
    """Plain Python gives one of the two in its own type, a script in the type of both."""
    return Value(text if a.type == b.type else f"{type}({text})", type)


def _cast(make: ExprMaker, type: str, depth: int) -> Value | None:
    sources = [
        s
        for s in make.types_here()
        if s != type and (ty.is_complex(type) or ty.is_bool(type) or not ty.is_complex(s))
    ]
    source = make.choices.pick(sources)
    value = make.operand(source, depth, type)
    if type == "complex":
        return _complex(make, depth)
    if type == "float" and not ty.is_weak(source) and make.choices.chance(30):
        return Value(f"{value.text}.item()", type) if ty.is_float(source) else None
    by_numpy = type in (*ty.FLOATS[:3], *ty.COMPLEX) and make.choices.chance(30)
    return Value(f"{'np.' * by_numpy}{type}({value.text})", type)


def _complex(make: ExprMaker, depth: int) -> Value:
    real, imag = make.expr("float", depth), make.expr("float", depth)
    return Value(f"complex({real.text}, {imag.text})", "complex")


def _function(make: ExprMaker, type: str, depth: int) -> Value | None:
    arity = make.choices.pick((1, 1, 1, 1, 2, 2, 2, 2, 3))
    known = make.style.functions
    found = [
        call
        for call in calls_by_result(arity).get(type, ())
        if make.allowed(call[1]) and (known is None or call[0] in known)
    ]
    if not found:
        return None
    label, types = make.choices.pick(found)
    values = [make.operand(t, depth, *types[:i], *types[i + 1 :]) for i, t in enumerate(types)]
    if label in DIVISIONS and not ty.is_float(type):
        values[1] = make.nonzero(types[1], depth)
    if label in DIVISIONS and ty.is_bool(types[1]):
        return None
    return Value(f"{label}({', '.join(v.text for v in values)})", type)


def _comparison_value(make: ExprMaker, type: str, depth: int) -> Value:
    if type == "bool":
        return compare_ints(make, depth)
    typed = make.choices.pick(make.palette)
    other = make.choices.pick([t for t in make.types_here() if ty.joined(t, typed) is not None])
    return Value(compare(make, typed, other, depth), ty.BOOL)


def _may_fail(symbol: str, result: str, pair: tuple[str, str]) -> bool:
    """Operators with values for which plain Python raises where scripts do not, or the reverse."""
    if symbol == "**" and not ty.is_int(result):
        # NumPy has a second, differently rounded pow for operands of two types.
        return ty.is_weak(result) or any(not ty.is_weak(t) and t != result for t in pair)
    if symbol == "**":
        return ty.is_bool(pair[1])
    if symbol in ("/", "//", "%") and all(map(ty.is_weak, pair)):
        return ty.is_complex(result) or ty.is_bool(pair[1])
    if symbol in ("//", "%") and not ty.is_float(result):
        return ty.is_bool(pair[1])
    return symbol in ("<<", ">>") and ty.is_weak(result)


def _helper_call(make: ExprMaker, type: str, depth: int) -> Value | None:
    return make.helper_call(type, depth)


EXPRS: dict[str, Callable[[ExprMaker, str, int], Value | None]] = {
    "binary": _binary,
    "cast": _cast,
    "conditional": _conditional,
    "unary": _unary,
    "function": _function,
    "helper call": _helper_call,
    "and or": _and_or,
    "select": _select,
    "extremum": _extremum,
    "comparison": _comparison_value,
}
