"""Arithmetic on Python ints of which only an interval is known."""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from tests.programs.scope import MAX_INT, Value

_python: Any = operator  # typeshed leaves the types of half of these functions unknown
_EXACT: dict[str, Callable[[int, int], int]] = {
    **{"+": _python.add, "-": _python.sub, "*": _python.mul, "//": _python.floordiv},
    **{"<<": _python.lshift, ">>": _python.rshift},
}


def combine(symbol: str, a: Value, b: Value) -> Value | None:
    """`a symbol b` on Python ints; None if it might fail or leave the range of MAX_INT."""
    text = f"({a.text} {symbol} {b.text})"
    low, high = min(b.low, b.high), max(b.low, b.high)
    if b.size and not (symbol == "+" and not a.size):
        return None
    if symbol in ("//", "%") and low <= 0 <= high:
        return None
    if symbol in ("<<", ">>") and not 0 <= low <= high <= 16:
        return None
    if symbol == "%":
        return Value(text, "int", *((0, high - 1) if low > 0 else (low + 1, 0)))
    if a.size or b.size:
        return _with_size(symbol, text, a, b)
    if symbol in "&|^":
        return _bits(text, a, b)
    ends = [_EXACT[symbol](x, y) for x in (a.low, a.high) for y in (low, high)]
    found = Value(text, "int", min(ends), max(ends))
    return found if found.fits(-MAX_INT, MAX_INT) else None


def _with_size(symbol: str, text: str, a: Value, b: Value) -> Value | None:
    """A sum or a quotient of which one side goes up to a size."""
    if symbol == "+":
        sized, other = (a, b) if a.size else (b, a)
        return sized.moved(text, other.low, other.high)
    if symbol == "-":
        return a.moved(text, -b.high, -b.low)
    if symbol == "//" and b.low > 0:
        # (size + high) // b is at most size + high where that is -1 or more.
        return replace(a, text=text, low=min(a.low, a.low // b.low), high=max(a.high, -1))
    return None


def _bits(text: str, a: Value, b: Value) -> Value:
    largest = max(abs(end) for end in (a.low, a.high, b.low, b.high))
    mask = (1 << largest.bit_length()) - 1
    negative = min(a.low, a.high, b.low, b.high) < 0
    return Value(text, "int", -mask - 1 if negative else 0, mask)


def hull(text: str, *values: Value) -> Value | None:
    """An expression whose value is one of several; None if no one size is above them all."""
    sized = [value for value in values if value.size]
    if len({(value.size, value.factor) for value in sized}) > 1:
        return None
    low, high = min(v.low for v in values), max(v.high for v in values)
    if not sized:
        return Value(text, values[0].type, low, high)
    return replace(sized[0], text=text, low=low, high=high)


def clamp(value: Value, low: int, high: int) -> Value:
    """`value` brought into an interval, unchanged if it is there already."""
    if value.fits(low, high):
        return value
    wrapped = f"({value.text} % {high - low + 1})"
    text = wrapped if low == 0 else f"({wrapped} + {low})"
    return Value(text, "int", low, high)
