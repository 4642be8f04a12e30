"""Random indices: where a program reads and writes.

A place is an integer of which the interval is known. If it may lie outside of its axis, it is
brought inside: by a condition around the statement, by the nearest index, or by a remainder. To add
a kind of place, write a function of the maker, the array and the axis, and list it in PLACES.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from tests.programs import types as ty
from tests.programs.scope import Array, Extent, Value

if TYPE_CHECKING:
    from tests.programs.exprs import ExprMaker

Place = Callable[["ExprMaker", Array, int], Value | None]

ZERO = Value("0", "int", 0, 0)
# Below every axis: a place of which nothing is known.
_ANYWHERE = -(1 << 20)


def make_index(make: ExprMaker, array: Array, axis: int, *, is_target: bool = False) -> str:
    """An index into one axis, in bounds unless this program is wild."""
    style, choices = make.style, make.choices
    if style.wild and choices.chance(12):
        return _wild_index(make)
    kind = choices.weighted(style.targets if is_target and style.targets else style.places)
    value = PLACES[kind](make, array, axis) or _any_int(make, array, axis) or ZERO
    return _in_bounds(make, value, array, axis)


def _in_bounds(make: ExprMaker, value: Value, array: Array, axis: int) -> str:
    extent = array.shape[axis]
    has_start, has_end = value.low >= 0 or value.is_empty, extent.ends_after(value)
    if has_start and has_end:
        return value.text
    if has_end and _wraps(value, extent) and make.choices.chance(make.style.from_end):
        return value.text
    fix = make.choices.weighted(make.style.fixes)
    text = make.extent(array, axis)
    if fix == "none":
        return value.text
    if fix == "guard" and make.guards is not None:
        make.guards += _guards(make, value.text, text, has_start, has_end)
        return value.text
    if not extent.size and extent.pad <= 0:
        return "0"  # NumPy and Python do not agree on what a remainder by 0 is
    if fix == "remainder":
        return f"{_closed(value.text)} % {_closed(text)}"
    return f"min(max({value.text}, 0), {text} - 1)"


def _wraps(value: Value, extent: Extent) -> bool:
    """True if what is negative counts from the end. A loop over a size that runs has one."""
    if extent.size:
        return value.low >= -1 and value.size == extent.size and extent.pad >= 0
    return value.low >= -extent.pad


def _guards(make: ExprMaker, index: str, extent: str, has_start: bool, has_end: bool) -> list[str]:
    """What keeps an index in bounds, and now and then what was no question."""
    start = [f"{index} >= 0"] if not has_start or make.choices.chance(30) else []
    end = [f"{index} < {extent}"] if not has_end or make.choices.chance(30) else []
    return [*start, *end]


def _closed(text: str) -> str:
    return f"({text})" if " " in text and not text.startswith("(") else text


def _wild_index(make: ExprMaker) -> str:
    # NumPy raises IndexError or OverflowError for an index past int64, as the moment has it.
    types = [name for name in make.palette if ty.is_int(name) and name != "uint64"]
    if types and make.choices.chance(40):
        return make.leaf(make.choices.pick(types)).text
    return f"{make.int_expr(1).text} + {make.choices.pick(('1', '0', '-1'))}"


# -- places: of any name ---------------------------------------------------------------------------


def _name(make: ExprMaker, array: Array, axis: int) -> Value | None:
    """A variable that is in bounds, perhaps from the end."""
    fitting = [value for value in make.int_names() if array.shape[axis].holds(value)]
    # What may be negative is left as it is.
    return replace(make.choices.pick(fitting), low=0) if fitting else None


def _any_int(make: ExprMaker, array: Array, axis: int) -> Value | None:
    return make.int_expr(1)


def _literal(make: ExprMaker, array: Array, axis: int) -> Value | None:
    extent = array.shape[axis]
    if extent.size:  # where a loop over it runs, it has a first element
        return Value("0", "int", 0, -1, extent.size)
    if extent.pad <= 0:
        return ZERO
    return Value(str(make.choices.between(-extent.pad, extent.pad - 1)), "int", 0, 0)


def _data(make: ExprMaker, array: Array, axis: int) -> Value | None:
    """What an array of integers says."""
    types = [name for name in make.palette if ty.is_int(name)]
    if not types:
        return None
    return Value(make.leaf(make.choices.pick(types)).text, "int", _ANYWHERE, -_ANYWHERE)


# -- places: of the variables of loops -------------------------------------------------------------


def _loop(make: ExprMaker, array: Array, axis: int) -> Value | None:
    """The loop that belongs to the axis: of one size with it, the innermost to the last axis."""
    loops, extent = make.loop_values(), array.shape[axis]
    fitting = [value for value in loops if value.size == extent.size]
    alike = [k for k, other in enumerate(array.shape) if other.size == extent.size]
    from_last = len(alike) - alike.index(axis)
    if make.choices.chance(make.style.stray):
        others = [value for value in loops if value.size] or loops
        fitting = fitting if fitting and make.choices.chance(80) else others
        return make.choices.pick(fitting) if fitting else None
    if not fitting:
        return next((value for value in reversed(loops) if value.size or not extent.size), None)
    return fitting[-min(from_last, len(fitting))]


def _changed(change: Callable[[ExprMaker, Value], Value]) -> Place:
    """A place that is another function of the loop's variable."""

    def place(make: ExprMaker, array: Array, axis: int) -> Value | None:
        value = _loop(make, array, axis)
        return None if value is None else change(make, value)

    return place


def _shifted(make: ExprMaker, value: Value) -> Value:
    shift = make.choices.pick((0, 1, -1, 0, 2, -3))
    return value.moved(_moved_text(value.text, shift), shift)


def _moved_text(text: str, shift: int) -> str:
    return text if not shift else f"{text} {'+-'[shift < 0]} {abs(shift)}"


def _windowed(make: ExprMaker, value: Value) -> Value:
    """The sum with, or the difference to, a loop over few numbers."""
    windows = [v for v in make.loop_values() if not v.size and v.text != value.text]
    if not windows:
        return _shifted(make, value)
    window = make.choices.pick(windows)
    if make.choices.chance(50):
        return value.moved(f"{value.text} - {window.text}", -window.high, -window.low)
    return value.moved(f"{value.text} + {window.text}", window.low, window.high)


def _doubled(make: ExprMaker, array: Array, axis: int) -> Value | None:
    """A multiple: the one that the axis has room for, if it has."""
    value, extent = _loop(make, array, axis), array.shape[axis]
    if value is None or value.factor > 1:
        return value
    factor = extent.factor if extent.factor > 1 else make.choices.pick((2, 2, 3))
    shift = make.choices.pick((0, 0, 1))
    low, high = factor * value.low + shift, factor * value.high + shift
    text = _moved_text(f"{factor} * {value.text}", shift)
    return replace(value, text=text, low=low, high=high, factor=factor if value.size else 1)


def _halved(make: ExprMaker, value: Value) -> Value:
    high = max(value.high, -1) if value.size else value.high // 2
    return replace(value, text=f"{value.text} // 2", low=value.low // 2, high=high)


def _negated(make: ExprMaker, value: Value) -> Value:
    """A quotient by a negative number, which is exact, or rounded up when it is negated."""
    if make.choices.chance(50):
        return replace(value, text=f"-2 * {value.text} // -2")
    high = max(value.high, 0) if value.size else -(value.high // -2)
    return replace(value, text=f"-({value.text} // -2)", low=-(value.low // -2), high=high)


def _folded(make: ExprMaker, value: Value) -> Value:
    number = make.choices.pick((3, 2, 4))
    return Value(f"{value.text} % {number}", "int", 0, number - 1)


def _mirrored(make: ExprMaker, array: Array, axis: int) -> Value | None:
    """From the end: `n - 1 - i`."""
    value, extent = _loop(make, array, axis), array.shape[axis]
    if value is None or value.size not in ("", extent.size) or value.factor > 1:
        return None
    low, high = extent.pad - 1 - value.high, extent.pad - 1 - value.low
    text = f"{make.extent(array, axis)} - 1 - {value.text}"
    return Value(text, "int", low, high, extent.size, extent.factor)


def _around(make: ExprMaker, array: Array, axis: int) -> Value | None:
    """The neighbour of an index, where the last one is a neighbour of the first."""
    value, extent = _loop(make, array, axis), array.shape[axis]
    if value is None:
        return None
    shift = make.choices.pick((1, -1, 2, -3, 5))
    text = f"({_moved_text(value.text, shift)}) % {_closed(make.extent(array, axis))}"
    return Value(text, "int", 0, extent.pad - 1, extent.size, extent.factor)


def _table(make: ExprMaker, array: Array, axis: int) -> Value | None:
    """What a table of indices says: `p[i]`."""
    value = _loop(make, array, axis)
    if value is None or value.size not in make.tables:
        return None
    name, extent = make.tables[value.size]
    if value.low < 0 or not extent.ends_after(value):
        value = replace(value, text=f"{value.text} % {extent.text(make.size_names)}")
    return Value(f"{name}[{value.text}]", "int", 0, -1 if value.size else 8, value.size)


PLACES: dict[str, Place] = {
    "name": _name,
    "any": _any_int,
    "literal": _literal,
    "data": _data,
    "loop": _loop,
    "shifted": _changed(_shifted),
    "windowed": _changed(_windowed),
    "halved": _changed(_halved),
    "negated": _changed(_negated),
    "folded": _changed(_folded),
    "doubled": _doubled,
    "mirrored": _mirrored,
    "around": _around,
    "table": _table,
}
