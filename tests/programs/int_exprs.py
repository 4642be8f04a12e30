"""Random Python ints, of which the interval is known. To add a kind, list it in INT_EXPRS."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from tests.programs import types as ty
from tests.programs.conditions import compare_ints
from tests.programs.intervals import clamp, combine, hull
from tests.programs.scope import Value

if TYPE_CHECKING:
    from tests.programs.exprs import ExprMaker

SMALL = (1, 2, 3, 5, 7)


def _binary(make: ExprMaker, depth: int) -> Value | None:
    symbol = make.choices.pick(("+", "-", "*", "//", "%", "&", "|", "^", "<<", ">>"))
    left = make.int_expr(depth)
    if symbol in ("//", "%"):
        number = make.choices.pick((*SMALL, -3))
        return combine(symbol, left, Value(str(number), "int", number, number))
    if symbol in ("<<", ">>"):
        return combine(symbol, left, clamp(make.int_expr(depth), 0, 3))
    if make.choices.chance(10):
        return combine(symbol, left, Value(compare_ints(make, depth).text, "int", 0, 1))
    return combine(symbol, left, make.int_expr(depth))


def _division(make: ExprMaker, depth: int) -> Value | None:
    """A quotient or a remainder, where that can be told."""
    left, right = (clamp(make.int_expr(depth), -99, 99) for _ in range(2))
    symbol, largest = make.choices.pick(("//", "%")), 99
    test = f"{right.text} != 0"
    if make.choices.chance(40):
        test += f" and {left.text} > 1"
    text = f"({left.text} {symbol} {right.text} if {test} else {make.choices.pick(SMALL)})"
    return Value(text, "int", -largest, largest)


def _conditional(make: ExprMaker, depth: int) -> Value | None:
    a, b = make.int_expr(depth), make.int_expr(depth)
    form = make.choices.below(2 if make.style.wild else 3)
    if form == 0:
        return hull(f"({a.text} if {make.condition(depth)} else {b.text})", a, b)
    if form == 1:
        return hull(f"({a.text} {make.choices.pick(('and', 'or'))} {b.text})", a, b)
    return hull(f"select({make.condition(depth)}, {a.text}, {b.text})", a, b)


def _extremum(make: ExprMaker, depth: int) -> Value | None:
    values = [make.int_expr(depth) for _ in range(make.choices.between(2, 3))]
    word = make.choices.pick(("min", "max"))
    return hull(f"{word}({', '.join(v.text for v in values)})", *values)


def _from_data(make: ExprMaker, depth: int) -> Value | None:
    types = [name for name in make.palette if ty.is_int(name)]
    if not types:
        return None
    data = make.expr(make.choices.pick(types), depth)
    form = make.choices.pick(("int({} & 31)", "({} & 31).item()", "int({} % 32)"))
    return Value(form.format(data.text), "int", 0, 31)


def _from_float(make: ExprMaker, depth: int) -> Value | None:
    """int, round and math.floor of floats that are neither huge nor NaN: those raise."""
    types = ["float", *(name for name in make.palette if name in ty.FLOATS)]
    named = [name for name, n in make.scope.names.items() if n.type in types]
    if not named:
        return None
    name = make.choices.pick(named)
    words = ["int", "math.floor", "math.ceil"]
    if make.scope.names[name].type in ("float", "float64"):  # the others have no __trunc__
        words += ["round", "math.trunc"]
    word = make.choices.pick(words)
    return Value(f"({word}({name}) if -99.0 < {name} < 99.0 else 5)", "int", -99, 99)


def _call(make: ExprMaker, depth: int) -> Value | None:
    form = make.choices.below(5)
    if form == 0:
        return make.helper_call("int", depth)
    inner = make.int_expr(depth)
    if inner.size:
        inner = clamp(inner, 0, 99)
    largest = max(abs(inner.low), abs(inner.high))
    if form == 1:
        return Value(f"abs({inner.text})", "int", 0, largest)
    if form == 2:
        number = make.choices.pick(SMALL)
        return Value(f"ceil_div({inner.text}, {number})", "int", -largest, largest)
    if form == 3:
        return Value(f"popcount({inner.text})", "int", 0, 64)
    return Value(f"(~{inner.text})", "int", -largest - 1, largest)


INT_EXPRS: dict[str, Callable[[ExprMaker, int], Value | None]] = {
    "binary": _binary,
    "division": _division,
    "conditional": _conditional,
    "extremum": _extremum,
    "data": _from_data,
    "float": _from_float,
    "call": _call,
}
