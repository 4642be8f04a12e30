"""Elements around those of arrays, NumPy's pad, and between them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, cast

from hybridjit.errors import ArgumentValueError
from hybridjit.ir.dtype import COMPLEX128, FLOAT64
from hybridjit.stdlib.parts.accumulation import average
from hybridjit.stdlib.parts.elements import call, stored
from hybridjit.stdlib.parts.extrema import find_extremum, largest, smallest
from hybridjit.stdlib.parts.shapes import (
    are_equal,
    check_choice,
    fill,
    read_integers,
    replaced,
    shown,
)
from hybridjit.stdlib.parts.types import Number, T
from hybridjit.stdlib.running.operator import operator
from hybridjit.te import Expression, if_then_else
from hybridjit.te import all as are_all
from hybridjit.te import max as greatest
from hybridjit.te import min as least
from hybridjit.tensors.expression import as_scalar
from hybridjit.tensors.reduction import Reducer

Widths = int | Sequence[Any]
Mode = Literal[
    "constant",
    "edge",
    "reflect",
    "symmetric",
    "wrap",
    "maximum",
    "minimum",
    "mean",
    "linear_ramp",
]
_SEQUENCE: tuple[type[Any], ...] = (tuple, list)


@operator
def pad(x: T, pad_width: Widths, mode: Mode = "constant", constant_values: T | Number = 0) -> T:
    """x with a border: so many elements before and after it, for all axes or for each.

    What is there: constant_values; the "edge"; x in reverse, without the edge ("reflect") or with
    it ("symmetric"); x from its other end ("wrap"); the "maximum", "minimum" or "mean" along the
    axis; or what leads from the edge to constant_values in equal steps ("linear_ramp").

    >>> hs.pad(np.array([1, 2, 3]), (2, 1), "reflect")
    array([3, 2, 1, 2, 3, 2])
    """
    check_choice("pad", "mode", mode, ("constant", *_PLACES, *_STATISTICS, "linear_ramp"))
    widths = read_widths("pad", x, pad_width)
    if mode in ("constant", *_PLACES):
        return extend_by("pad", x, widths, mode, constant_values)
    return _extend_in_turn("pad", x, widths, mode, constant_values)


@operator
def mirror_pad(x: T, pad_width: Widths, mode: Literal["symmetric", "reflect"] = "symmetric") -> T:
    """x with a border of itself in reverse: with the edge, or without it ("reflect").

    >>> hs.mirror_pad(np.array([1, 2, 3]), 1)
    array([1, 1, 2, 3, 3])
    """
    word = mode.lower()
    check_choice("mirror_pad", "mode", word, ("symmetric", "reflect"))
    return extend_by("mirror_pad", x, read_widths("mirror_pad", x, pad_width), word, 0)


@operator
def dilate(x: T, strides: int | Sequence[int], value: T | Number = 0) -> T:
    """x with other elements between its own, which are `strides` apart, on all axes or on each.

    >>> hs.dilate(np.array([1, 2, 3]), 2)
    array([1, 0, 2, 0, 3])
    """
    steps = read_integers("dilate", "strides", strides, x.ndim)
    if min(steps, default=1) < 1:
        raise ArgumentValueError(f"dilate: strides are 1 or more, got {strides!r}")

    def element(at: tuple[Any, ...]) -> Any:
        own = x[tuple(place // step for place, step in zip(at, steps, strict=True))]
        is_own = [place % step == 0 for place, step in zip(at, steps, strict=True) if step > 1]
        other = stored(value, x.dtype)
        return if_then_else(are_all(*is_own), own, other) if is_own else own

    sizes = [_spread(size, step) for size, step in zip(x.shape, steps, strict=True)]
    return fill("dilate", sizes, element)


def _spread(size: Any, step: int) -> Any:
    """How long an axis is whose elements are `step` apart; one without any stays so."""
    if isinstance(size, int):
        return max((size - 1) * step + 1, 0)
    return greatest((size - 1) * step + 1, 0)


def read_widths(name: str, x: Any, widths: Any) -> list[tuple[int, int]]:
    """Before and after each axis: one number, one pair, or one for each axis, as in NumPy."""
    rows = cast("Sequence[Any]", widths) if isinstance(widths, _SEQUENCE) else [widths]
    if not any(isinstance(entry, _SEQUENCE) for entry in rows):
        pairs = [read_integers(name, "pad_width", list(rows))]
    else:
        pairs = [read_integers(name, "pad_width", entry) for entry in rows]
    pairs = pairs * x.ndim if len(pairs) == 1 else pairs
    found = [(pair[0], pair[-1]) for pair in pairs if len(pair) in (1, 2)]
    if any(width < 0 for pair in found for width in pair):
        raise ArgumentValueError(f"{name}: pad_width must be at least 0, got {widths!r}")
    if len(found) != x.ndim:
        raise ArgumentValueError(
            f"{name}: {shown(x)} has {x.ndim} axes, got the widths {widths!r}",
            help="give one number, (before, after), or a pair for each axis",
        )
    return found


def extend_by(name: str, x: Any, widths: Sequence[tuple[Any, Any]], mode: str, value: Any) -> Any:
    """`x` with `widths` before and after each axis, filled as the mode says."""
    padded = [axis for axis, pair in enumerate(widths) if not all(map(_is_none, pair))]
    if mode != "constant":
        _check_not_empty(name, x, padded)

    def element(at: tuple[Any, ...]) -> Any:
        inner = [index - before for index, (before, _) in zip(at, widths, strict=True)]
        if mode == "constant":
            return _or_constant(x, inner, [(axis, widths[axis]) for axis in padded], value)
        own = [
            _PLACES[mode](place, x.shape[axis]) if axis in padded else place
            for axis, place in enumerate(inner)
        ]
        return x[tuple(own)]

    sizes = [before + size + after for size, (before, after) in zip(x.shape, widths, strict=True)]
    return fill(name, sizes, element)


def _extend_in_turn(name: str, x: Any, widths: Sequence[Any], mode: str, value: Any) -> Any:
    """`x` extended along one axis after the other: what is beyond two edges is of what is beyond
    the first."""
    padded = [axis for axis, pair in enumerate(widths) if not all(map(_is_none, pair))]
    _check_not_empty(name, x, padded)
    for axis in padded:
        x = _extend_axis(name, x, axis, widths[axis], (mode, value))
    return x if padded else fill(name, x.shape, lambda at: x[at])


def _extend_axis(
    name: str, x: Any, axis: int, widths: tuple[int, int], how: tuple[str, Any]
) -> Any:
    (before, after), (mode, value), size = widths, how, x.shape[axis]
    statistic = _STATISTICS[mode](name, x, axis) if mode in _STATISTICS else None

    def element(at: tuple[Any, ...]) -> Any:
        place = at[axis] - before
        if statistic is None:
            return _on_ramp(x, at, (axis, place), widths, value)
        own = x[replaced(at, axis, _at_edge(place, size))]
        found = statistic[replaced(at, axis, 0)]
        if x.dtype.is_integer and found.dtype is not x.dtype:
            found = call("rint", found)
        return if_then_else(are_all(place >= 0, place < size), own, found.astype(x.dtype))

    return fill(name, replaced(x.shape, axis, before + size + after), element)


def _on_ramp(
    x: Any, at: tuple[Any, ...], along: tuple[int, Any], widths: tuple[int, int], value: Any
) -> Any:
    """An element of `x`, or one between its edge and a value, by NumPy's linspace."""
    (axis, place), (before, after) = along, widths
    size = x.shape[axis]
    working = COMPLEX128 if x.dtype.is_complex else FLOAT64
    end = Expression(as_scalar(value)).astype(working)
    own = x[replaced(at, axis, _at_edge(place, size))]

    def ramp(number: Any, width: int) -> Any:
        step = (own.astype(working) - end) / float(max(width, 1))
        found = end + number.astype(FLOAT64) * step
        return (call("floor", found) if x.dtype.is_integer else found).astype(x.dtype)

    after_edge = ramp(size + after - 1 - place, after)
    found = if_then_else(place < 0, ramp(place + before, before), after_edge)
    return if_then_else(are_all(place >= 0, place < size), own, found)


def _is_none(width: Any) -> bool:
    """Whether nothing is added; a width of the run may be anything."""
    return are_equal(width, 0)


def _check_not_empty(name: str, x: Any, axes: Sequence[int]) -> None:
    for axis in axes:
        if isinstance(x.shape[axis], int) and x.shape[axis] == 0:
            raise ArgumentValueError(
                f"{name}: {shown(x)} has nothing along axis {axis} to extend it with",
                help='use mode="constant"',
            )


def _or_constant(x: Any, inner: list[Any], padded: Sequence[Any], value: Any) -> Any:
    number = stored(value, x.dtype)
    conditions: list[Any] = []
    for axis, (before, after) in padded:
        conditions += [] if _is_none(before) else [inner[axis] >= 0]
        conditions += [] if _is_none(after) else [inner[axis] < x.shape[axis]]
    own = x[tuple(inner)]
    return if_then_else(are_all(*conditions), own, number) if conditions else own


def _at_edge(place: Any, size: Any) -> Any:
    return least(greatest(place, 0), size - 1)


def reflected(place: Any, size: Any) -> Any:
    """A place in reverse around the first and the last element of an axis."""
    period = max(2 * size - 2, 1) if isinstance(size, int) else greatest(2 * size - 2, 1)
    rest = place % period
    return least(rest, period - rest) if not (isinstance(size, int) and size == 1) else rest * 0


def mirrored(place: Any, size: Any) -> Any:
    """A place in reverse around both edges of an axis."""
    rest = place % (2 * size)
    return least(rest, 2 * size - 1 - rest)


def _wrapped(place: Any, size: Any) -> Any:
    return place % size


_PLACES: dict[str, Callable[[Any, Any], Any]] = {
    "edge": _at_edge,
    "reflect": reflected,
    "symmetric": mirrored,
    "wrap": _wrapped,
}


def _extremum(reducer: Reducer) -> Callable[[str, Any, int], Any]:
    return lambda name, x, axis: find_extremum(name, reducer, x, axis, keepdims=True)


_STATISTICS: dict[str, Callable[[str, Any, int], Any]] = {
    "maximum": _extremum(largest),
    "minimum": _extremum(smallest),
    "mean": lambda name, x, axis: average(name, x, axis, keepdims=True),
}
