"""Random bounds of loops: the arguments of a range, and what is known of its variable."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tests.programs import types as ty
from tests.programs.int_exprs import SMALL
from tests.programs.intervals import clamp
from tests.programs.maker import Maker
from tests.programs.scope import Name, Value

Form = Callable[[Maker, Value], "Bounds | None"]

ZERO = Value("0", "int", 0, 0)
# About how large run-time sizes are: so often a loop over one may run.
_TYPICAL = {"n": 5, "m": 33}


@dataclass(frozen=True, slots=True)
class Bounds:
    """The arguments of a range, its first value, the interval of its variable, how often it runs.

    `runs` if it does so at least once.
    """

    text: str
    first: str
    variable: Value
    most: int
    runs: bool

    def name(self, *, locked: bool) -> Name:
        value = self.variable
        return Name("int", value.low, value.high, locked, value.size)


def make_bounds(make: Maker, kind: str | None = None, size: str | None = None) -> Bounds:
    """Arguments of a range, seldom more rounds in the whole nest than the style has.

    Of this kind, and up to this run-time size, if they are given.
    """
    kind = kind or make.choices.weighted(make.style.bounds)
    stop = _stop(make) if size is None else _size_value(make, size)
    made = BOUNDS[kind](make, stop) or _whole(make, stop)
    if made.most * make.scope.trips <= make.style.max_trips:
        return made
    return constant_bounds(0, make.choices.between(0, 2))


def constant_bounds(low: int, high: int) -> Bounds:
    """The numbers from `low` up to `high`."""
    text = str(high) if low == 0 else f"{low}, {high}"
    variable = Value("", "int", low, high - 1)
    return Bounds(text, str(low), variable, max(0, high - low), high > low)


def _stop(make: Maker) -> Value:
    """Where a loop ends: a number or a size as the style has it, or what the program knows."""
    style = make.style
    if style.run_time:
        return _size_value(make, _any_size(make))
    if style.extents:
        number = make.choices.pick(style.extents)
        return Value(str(number), "int", number, number)
    return known_number(make)


def _any_size(make: Maker) -> str:
    """One of the sizes: inner loops are mostly over the last one."""
    sizes = make.style.run_time
    is_last = make.choices.chance(80 if make.scope.loops else 40)
    return sizes[-1] if is_last else sizes[0]


def _size_value(make: Maker, size: str) -> Value:
    return Value(make.size_names[size], "int", 0, 0, size)


def known_number(make: Maker) -> Value:
    """A size, a literal, or what an outer loop or variable says."""
    if make.choices.chance(60):
        axes = [(a, k) for a in make.scope.arrays.values() for k in range(len(a.shape))]
        if axes:
            return make.extent_value(*make.choices.pick(axes))
    if make.choices.chance(60):
        return clamp(make.int_expr(1), -2, 5)
    number = make.choices.between(0, 4)
    return Value(str(number), "int", number, number)


def _rising(start: Value, stop: Value, step: int = 1, text: str | None = None) -> Bounds:
    variable = Value("", "int", start.low, stop.high - 1, stop.size)
    last = _TYPICAL[stop.size] if stop.size else stop.high
    most = max(0, -(-(last - start.low) // step))
    runs = not stop.size and start.high < stop.low
    given = stop.text if start == ZERO else f"{start.text}, {stop.text}"
    return Bounds(text or given, start.text, variable, most, runs)


# -- what programs of any kind know ----------------------------------------------------------------


def _whole(make: Maker, stop: Value) -> Bounds:
    return _rising(ZERO, stop)


def _between(make: Maker, stop: Value) -> Bounds:
    return _rising(_stop(make), stop)


def _stepped(make: Maker, stop: Value) -> Bounds:
    start, step = _stop(make), make.choices.pick(SMALL[1:])
    return _rising(start, stop, step, f"{start.text}, {stop.text}, {step}")


def _falling(make: Maker, stop: Value) -> Bounds:
    start, step = _stop(make), make.choices.pick((1, 1, 2, 3))
    first = Value(f"{start.text} - 1", "int", start.low - 1, start.high - 1)
    last = make.choices.pick((Value("-1", "int", -1, -1), stop))
    most = max(0, -(-(first.high - last.low) // step))
    variable = Value("", "int", last.low + 1, first.high)
    text = f"{first.text}, {last.text}, -{step}"
    return Bounds(text, first.text, variable, most, first.low > last.high)


# -- what people write -----------------------------------------------------------------------------


def _form(text: str, first: str, low: int, high: int) -> Form:
    """A range up to a size: its arguments, its first value, and the interval of its variable."""

    def make_form(make: Maker, stop: Value) -> Bounds:
        most = _rising(ZERO, stop).most + 1
        variable = Value("", "int", low, stop.high + high, stop.size)
        runs = not stop.size and stop.low + high >= low
        return Bounds(text.format(stop.text), first.format(stop.text), variable, most, runs)

    return make_form


def _window(make: Maker, stop: Value) -> Bounds | None:
    """A few numbers, as an inner loop."""
    if not make.scope.loops:
        return None
    count = make.choices.pick((2, 3, 3, 4, 5))
    return constant_bounds(-1, count - 1) if make.choices.chance(20) else constant_bounds(0, count)


def _few(make: Maker, stop: Value) -> Bounds | None:
    """As many as an argument of the program says."""
    counts = [
        value
        for value in make.int_names()
        if value.fits(0, 9) and make.scope.names[value.text].locked
    ]
    counts = [value for value in counts if value.text not in make.scope.loops]
    return _rising(ZERO, make.choices.pick(counts)) if counts else None


def _triangle(make: Maker, stop: Value) -> Bounds | None:
    """From or up to the variable of a loop around."""
    loops = [v for v in make.loop_values() if v.low >= 0]
    if make.style.run_time:
        loops = [v for v in loops if v.size]
    if not loops:
        return None
    outer = make.choices.pick(loops)
    size = _size_value(make, outer.size) if outer.size else stop
    after = outer.moved(f"{outer.text} + 1", 1)
    return make.choices.pick(
        (
            _rising(ZERO, after),
            _rising(ZERO, outer),
            _rising(outer, size),
            _rising(after, size),
        )
    )


def _stored(make: Maker, stop: Value) -> Bounds | None:
    """As many as an element says, which the loop may change: a range is made once."""
    arrays = [
        array
        for array in make.scope.arrays.values()
        if array.writable and ty.is_int(array.type) and not any(e.size for e in array.shape)
    ]
    if not arrays:
        return None
    array, most = make.choices.pick(arrays), stop.high if stop.high > 0 else 4
    place = ", ".join(str(make.choices.below(2)) for _ in array.shape)
    return _rising(ZERO, Value(f"{array.name}[{place}] % {most + 1}", "int", 0, most))


BOUNDS: dict[str, Form] = {
    "whole": _whole,
    "between": _between,
    "stepped": _stepped,
    "falling": _falling,
    "from 1": _form("1, {}", "1", 1, -1),
    "but last": _form("{} - 1", "0", 0, -2),
    "inner": _form("1, {} - 1", "1", 1, -2),
    "past end": _form("2, {} + 1", "2", 2, 0),
    "later": _form("1, {} + 1", "1", 1, 0),
    "down": _form("{} - 1, -1, -1", "{} - 1", 0, -1),
    "by 2": _form("0, {}, 2", "0", 0, -1),
    "down by 3": _form("{} - 1, 0, -3", "{} - 1", 1, -1),
    "window": _window,
    "few": _few,
    "triangle": _triangle,
    "stored": _stored,
}
