"""Slices with steps along some axes, as NumPy's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from hybridjit.errors import ArgumentError, ArgumentValueError
from hybridjit.record import record
from hybridjit.stdlib.parts.shapes import normalize_axis, read_integers
from hybridjit.te import Expression
from hybridjit.te import max as greatest
from hybridjit.te import min as least

_SEQUENCE: tuple[type[Any], ...] = (tuple, list)


@record
class Slice:
    """Every `step`-th of the elements from `start` on, `count` of them."""

    start: Any
    step: int
    count: Any


def read_slices(
    name: str,
    x: Any,
    begin: Sequence[Any],
    end: Sequence[Any],
    strides: Sequence[int] | None,
    axes: Sequence[int] | None,
) -> dict[int, Slice]:
    """The slices along axes, by axis; the first axes, if none are given."""
    for what, bounds in (("begin", begin), ("end", end)):
        _check_bounds(name, what, bounds)
    places = range(len(begin)) if axes is None else read_integers(name, "axes", axes)
    steps = [1] * len(begin) if strides is None else read_integers(name, "strides", strides)
    if not len(begin) == len(end) == len(steps) == len(places):
        raise ArgumentValueError(
            f"{name}: each axis has a begin, an end and a stride, got {len(begin)}, {len(end)} and "
            f"{len(steps)} for {len(places)}"
        )
    found: dict[int, Slice] = {}
    for axis, *bounds, step in zip(places, begin, end, steps, strict=True):
        place = normalize_axis(name, x, axis)
        if step == 0:
            raise ArgumentValueError(f"{name}: a stride is not 0")
        if place in found:
            raise ArgumentValueError(f"{name}: an axis is given twice: {tuple(places)}")
        found[place] = read_slice(bounds[0], bounds[1], step, x.shape[place])
    return found


def _check_bounds(name: str, what: str, bounds: Any) -> None:
    if isinstance(bounds, _SEQUENCE):
        given = cast("Sequence[Any]", bounds)
        places = [place for place in given if not (place is None or isinstance(place, Expression))]
        read_integers(name, what, places)
    else:
        raise ArgumentError(
            f"{name}: {what} must be a place for each axis, got {bounds!r}", help="as in (0, 2)"
        )


def read_slice(start: Any, stop: Any, step: int, size: Any) -> Slice:
    """One slice of an axis of this size. Bounds that te computes are those of the run."""
    if not any(isinstance(value, Expression) for value in (start, stop, size)):
        first, last, _ = slice(start, stop, step).indices(size)
        return Slice(first, step, len(range(first, last, step)))
    low, high = (0, size) if step > 0 else (-1, size - 1)
    first = _bound(start, low if step > 0 else high, size, (low, high))
    last = _bound(stop, high if step > 0 else low, size, (low, high))
    room = last - first if step > 0 else first - last
    size_of_step = abs(step)
    return Slice(first, step, greatest(0, (room + size_of_step - 1) // size_of_step))


def _bound(value: Any, default: Any, size: Any, limits: tuple[Any, Any]) -> Any:
    """A bound as Python reads it: counted from the end if it is negative, and never beyond."""
    if value is None:
        return default
    if isinstance(value, int):
        value = value + size if value < 0 else value
    return least(greatest(value, limits[0]), limits[1])
