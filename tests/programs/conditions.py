"""Random conditions. To add a kind, write a function and list it in CONDITIONS."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from tests.programs import types as ty
from tests.programs.scope import Value

if TYPE_CHECKING:
    from tests.programs.exprs import ExprMaker


def compare_ints(make: ExprMaker, depth: int) -> Value:
    """A comparison of Python numbers: a Python bool."""
    return Value(_ints(make, depth), "bool")


def compare(make: ExprMaker, a: str, b: str, depth: int) -> str:
    symbols = ty.COMPARISONS
    if ty.is_complex(a) or ty.is_complex(b):
        symbols = ("==", "!=")
    left, right = make.expr(a, depth), make.expr(b, depth)
    return f"({left.text} {make.choices.pick(symbols)} {right.text})"


def _comparison(make: ExprMaker, depth: int) -> str:
    a = make.choices.pick(make.types_here())
    others = [t for t in make.types_here() if ty.joined(t, a) is not None]
    return compare(make, a, make.choices.pick(others), depth)


def _ints(make: ExprMaker, depth: int) -> str:
    return compare(make, "int", "int", depth)


def _loops(make: ExprMaker, depth: int) -> str:
    """Of the variables of loops: which iterations these are."""
    loops = make.loop_values()
    if not loops:
        return _comparison(make, depth)
    x = make.choices.pick(loops)
    others = [v.text for v in loops] + [f"{name} - 1" for name in make.size_names.values()]
    counts = [v.text for v in make.int_names() if make.scope.names[v.text].locked]
    y = make.choices.pick([*others, *counts, "2", "3"])
    forms = (f"{x.text} < {y}", f"{x.text} != {y}", f"{x.text} > 0", f"{x.text} % 3 != 1")
    more = (f"({x.text} + {y}) % 2 == 0", f"{x.text} >= 1 and {x.text} <= {y}")
    return make.choices.pick((*forms, *more, f"{x.text} >= {y}"))


def _chain(make: ExprMaker, depth: int) -> str:
    types = [t for t in make.types_here() if not ty.is_complex(t)]
    first = make.choices.pick(types)
    others = [t for t in types if ty.joined(t, first) is not None]
    values = [make.expr(t, depth).text for t in (make.choices.pick(others), first, first)]
    symbols = [make.choices.pick(ty.COMPARISONS) for _ in range(2)]
    return f"({values[0]} {symbols[0]} {values[1]} {symbols[1]} {values[2]})"


def _junction(make: ExprMaker, depth: int) -> str:
    word = f" {make.choices.pick(('and', 'or'))} "
    return f"({word.join(make.condition(depth) for _ in range(make.choices.between(2, 3)))})"


def _negation(make: ExprMaker, depth: int) -> str:
    return f"(not {make.condition(depth)})"


def _truth(make: ExprMaker, depth: int) -> str:
    return make.expr(make.choices.pick(make.types_here()), depth).text


CONDITIONS: dict[str, Callable[[ExprMaker, int], str]] = {
    "comparison": _comparison,
    "ints": _ints,
    "loops": _loops,
    "chain": _chain,
    "junction": _junction,
    "negation": _negation,
    "truth": _truth,
}
# These hold no other conditions.
LEAVES = ("comparison", "ints", "loops")
