"""Images between their elements: coordinates, and the elements around a point with weights."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from hybridjit.ir.dtype import FLOAT64, INT64
from hybridjit.stdlib.parts.elements import call
from hybridjit.te import all as are_all
from hybridjit.te import const, if_then_else
from hybridjit.te import max as greatest
from hybridjit.te import min as least

Taps = list[tuple[Any, Any]]
"""Places along an axis, and the weight of each."""

TRANSFORMS = (
    *("half_pixel", "half_pixel_symmetric", "pytorch_half_pixel"),
    *("align_corners", "asymmetric", "tf_crop_and_resize"),
)
# Of the cubic kernel, in ONNX and in PyTorch.
CUBIC_ALPHA = -0.75
ROUNDINGS = ("round_prefer_floor", "round_prefer_ceil", "floor", "ceil")


def source_of(
    place: Any, extent: Any, size: int, transform: str, part: tuple[float, float] = (0.0, 1.0)
) -> Any:
    """Where a place of a resized axis is on the axis itself, or on a part of it, as ONNX counts.

    One quotient of whole numbers, rounded once: halves and ends are where they should be. With a
    size that is given, and no scale, half_pixel_symmetric is half_pixel.
    """
    at = place.astype(FLOAT64)
    if transform == "tf_crop_and_resize":
        start, stop = part
        step = at * (stop - start) / (size - 1) if size > 1 else (stop - start) * 0.5
        return (step + start) * _real(extent - 1)
    if transform == "align_corners":
        return at * _real(extent - 1) / (size - 1) if size > 1 else at * 0.0
    if transform == "pytorch_half_pixel" and size == 1:
        return at * 0.0
    if transform == "asymmetric":
        return at * _real(extent) / float(size)
    return ((at * 2.0 + 1.0) * _real(extent) - float(size)) / float(2 * size)


def _real(size: Any) -> Any:
    return float(size) if isinstance(size, int) else size.astype(FLOAT64)


def nearest(source: Any, rounding: str) -> Any:
    """The place nearest to a point."""
    if rounding == "round_prefer_floor":
        return call("ceil", source - 0.5).astype(INT64)
    if rounding == "round_prefer_ceil":
        return call("floor", source + 0.5).astype(INT64)
    return call(rounding, source).astype(INT64)


def linear_taps(source: Any) -> Taps:
    """The two places around a point."""
    floor = call("floor", source)
    share = source - floor
    first = floor.astype(INT64)
    return [(first, 1.0 - share), (first + 1, share)]


def cubic_taps(source: Any, alpha: float) -> Taps:
    """The four places around a point, weighted by a cubic convolution kernel."""
    floor = call("floor", source)
    share = source - floor
    first = floor.astype(INT64)
    distances = [1.0 + share, share, 1.0 - share, 2.0 - share]
    weights = [_outer(distances[0], alpha), _inner(distances[1], alpha)]
    weights += [_inner(distances[2], alpha), _outer(distances[3], alpha)]
    return [(first + offset, weight) for offset, weight in zip(range(-1, 3), weights, strict=True)]


def linear_tap(source: Any, number: Any) -> tuple[Any, Any]:
    """One of the two places around a point, by a number that may be a loop's, and its weight."""
    floor = call("floor", source)
    share = source - floor
    return floor.astype(INT64) + number, if_then_else(number == 0, 1.0 - share, share)


def cubic_tap(source: Any, number: Any) -> tuple[Any, Any]:
    """One of the four places around a point, by a number that may be a loop's, and its weight."""
    floor = call("floor", source)
    share = source - floor
    offset = number.astype(FLOAT64) - 1.0
    distance = if_then_else(number < 2, share - offset, offset - share)
    is_near = are_all(number > 0, number < 3)
    alpha = CUBIC_ALPHA
    weight = if_then_else(is_near, _inner(distance, alpha), _outer(distance, alpha))
    return floor.astype(INT64) + number - 1, weight


def _inner(distance: Any, alpha: float) -> Any:
    return ((alpha + 2.0) * distance - (alpha + 3.0)) * distance * distance + 1.0


def _outer(distance: Any, alpha: float) -> Any:
    return ((alpha * distance - 5.0 * alpha) * distance + 8.0 * alpha) * distance - 4.0 * alpha


def taps_inside(taps: Taps, extent: Any) -> Taps:
    """Places with weights, those beyond the edges without any."""
    nothing = const(0.0, FLOAT64)
    return [
        (place, if_then_else(are_all(place >= 0, place < extent), weight, nothing))
        for place, weight in taps
    ]


def clamped(place: Any, extent: Any) -> Any:
    """The nearest place that is on the axis."""
    return least(greatest(place, 0), extent - 1)


def weighted(
    taps: Sequence[Taps], read: Callable[[list[Any]], Any], chosen: tuple[Any, ...] = ()
) -> Any:
    """The sum of what is read at all combinations of taps, one for each axis, times weights."""
    if len(chosen) == len(taps):
        return read(list(chosen))
    total: Any = None
    for place, weight in taps[len(chosen)]:
        part = weighted(taps, read, (*chosen, place)) * weight
        total = part if total is None else total + part
    return total


def or_zero(
    read: Callable[[list[Any]], Any], extents: Sequence[Any], dtype: Any
) -> Callable[[list[Any]], Any]:
    """What is read at places of an image; 0 beyond its edges."""

    def element(places: list[Any]) -> Any:
        inside = [place >= 0 for place in places]
        inside += [place < extent for place, extent in zip(places, extents, strict=True)]
        return if_then_else(are_all(*inside), read(places), const(0, dtype))

    return element
