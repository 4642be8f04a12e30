"""Convolutions whose windows are not rectangles: each point of a window is moved by an offset."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hybridjit.errors import ArgumentValueError
from hybridjit.ir.dtype import FLOAT64, INT32, INT64
from hybridjit.stdlib.parts.accumulation import convert
from hybridjit.stdlib.parts.elements import call
from hybridjit.stdlib.parts.fusion import Activation, finish
from hybridjit.stdlib.parts.images import check_images
from hybridjit.stdlib.parts.precision import working_type
from hybridjit.stdlib.parts.sampling import Taps, clamped, or_zero, weighted
from hybridjit.stdlib.parts.shapes import are_equal, check_rank, fill, shown
from hybridjit.stdlib.parts.sliding import offsets_of
from hybridjit.stdlib.parts.types import Padding, Pair, T
from hybridjit.stdlib.parts.windows import read_padding, read_sizes
from hybridjit.stdlib.running.compiled import scheduled_by
from hybridjit.stdlib.running.operator import operator
from hybridjit.stdlib.running.schedules import in_tiles
from hybridjit.te import if_then_else, reduce_axis
from hybridjit.te import max as greatest
from hybridjit.te import min as least
from hybridjit.te import sum as added

RECIPE = scheduled_by(in_tiles, fastmath=("contract", "reassoc"))
_NAME = "deformable_conv2d"


@operator(recipe=RECIPE)
def deformable_conv2d(
    x: T,
    offset: T,
    w: T,
    bias: T | None = None,
    *,
    stride: Pair = 1,
    padding: Padding = 0,
    dilation: Pair = 1,
    groups: int = 1,
    offset_groups: int = 1,
    activation: Activation = None,
) -> T:
    """A convolution that reads each point of a window where an offset (rows, columns) moves it to.

    `offset` is (batch, offset_groups * points * 2, rows, columns): for each point of a window and
    each place of the result. Between elements it is bilinear; beyond the edges there are zeros.

    >>> hs.deformable_conv2d(
    ...     np.ones((1, 1, 2, 2)), np.full((1, 2, 2, 2), 0.5), np.ones((1, 1, 1, 1))
    ... )[0, 0]
    array([[1.  , 0.5 ],
           [0.5 , 0.25]])
    """
    check_images(_NAME, x, "NCHW")
    check_rank(_NAME, w, 4, "outputs, channels / groups, rows, columns")
    check_rank(_NAME, offset, 4, "batch, numbers, rows, columns")
    strides = read_sizes(_NAME, "stride", stride, 2)
    dilations = read_sizes(_NAME, "dilation", dilation, 2)
    sizes, extents = w.shape[2:], x.shape[2:]
    reaches = [(size - 1) * step + 1 for size, step in zip(sizes, dilations, strict=True)]
    pads = read_padding(_NAME, padding, reaches, strides, extents)
    counts = [
        (extent + sum(pad) - reach) // step + 1
        for extent, pad, reach, step in zip(extents, pads, reaches, strides, strict=True)
    ]
    _check(x, offset, w, groups, offset_groups, counts)
    points = _points(x, offset, w, strides, dilations, pads, offset_groups)
    layer = _added(x, points, w, groups, offset.shape[2:])
    return finish(_NAME, layer, bias, activation, axis=1)


def _points(
    x: Any, offset: Any, w: Any, strides: Any, dilations: Any, pads: Any, offset_groups: int
) -> Any:
    """What is read for each point of each window: (batch, places of results, window, channels),
    these in groups that share offsets.

    The four elements around a point are found once for all channels, which lie side by side.
    Around the image there is a border of zeros: points beyond it are taken for points on it.
    """
    (_, channels, *extents), (rows, columns) = x.shape, w.shape[2:]
    working = working_type(call("*", x[(0,) * 4], w[(0,) * 4]).dtype)
    each = channels // offset_groups if offset_groups > 1 else channels

    def source(at: Sequence[Any], axis: int) -> Any:
        n, result, *window, group = at
        row, column = result // offset.shape[3], result % offset.shape[3]
        number = ((group * rows + window[0]) * columns + window[1]) * 2 + axis
        regular = (row, column)[axis] * strides[axis] - pads[axis][0]
        moved = offset[n, number, row, column].astype(FLOAT64)
        return (regular + window[axis] * dilations[axis]).astype(FLOAT64) + moved

    def place(at: tuple[Any, ...]) -> Any:
        first, axis = at[0] % 2, at[0] // 2
        below = [call("floor", source(at[1:], k)) for k in (0, 1)]
        extent = if_then_else(axis == 0, extents[0], extents[1])
        found = if_then_else(axis == 0, *below).astype(INT64) + first + 1
        return least(greatest(found, 0), extent + 1).astype(INT32)

    def share(at: tuple[Any, ...]) -> Any:
        sources = [source(at[1:], k) for k in (0, 1)]
        chosen = if_then_else(at[0] == 0, *sources)
        return (chosen - call("floor", chosen)).astype(working)

    def bordered(at: tuple[Any, ...]) -> Any:
        n, *places, channel = at
        read = or_zero(lambda at: x[(n, channel, *at)].astype(working), extents, working)
        return read([place - 1 for place in places])

    shape = (x.shape[0], offset.shape[2] * offset.shape[3], rows, columns, offset_groups)
    places = fill(f"{_NAME}_places", (4, *shape), place)
    shares = fill(f"{_NAME}_shares", (2, *shape), share)
    sizes = [extent + 2 for extent in extents]
    image = fill(f"{_NAME}_image", (x.shape[0], *sizes, channels), bordered)

    def element(at: tuple[Any, ...]) -> Any:
        *point, number = at
        taps: list[Taps] = []
        for axis, size in enumerate(sizes):
            share = shares[(axis, *point)]
            first, second = (places[(2 * axis + k, *point)].astype(INT64) for k in (0, 1))
            taps.append([(clamped(first, size), 1 - share), (clamped(second, size), share)])
        return weighted(taps, lambda read: image[(at[0], *read, at[4] * each + number)])

    return fill(f"{_NAME}_points", (*shape, each), element)


def _added(x: Any, points: Any, w: Any, groups: int, counts: Sequence[Any]) -> Any:
    (outputs, each, *sizes), (offset_groups, alike) = w.shape, points.shape[4:]
    channel, offsets = reduce_axis((0, each), "c"), offsets_of(sizes)
    first = (0,) * 4
    dtype = call("*", x[first], w[first]).dtype
    working = working_type(dtype)

    def element(at: tuple[Any, ...]) -> Any:
        n, place, output = at
        source = output // (outputs // groups) * each + channel if groups > 1 else channel
        own = (source // alike, source % alike) if offset_groups > 1 else (0, source)
        value = points[(n, place, *offsets, *own)].astype(working)
        return added(value * w[(output, channel, *offsets)].astype(working), [channel, *offsets])

    sums = fill(f"{_NAME}_sums", (*points.shape[:2], outputs), element)

    def in_rows(at: tuple[Any, ...]) -> Any:
        n, output, row, column = at
        return sums[n, row * columns + column, output]

    rows, columns = counts
    shape = (points.shape[0], outputs, rows, columns)
    return convert(_NAME, fill(_NAME, shape, in_rows), dtype)


def _check(x: Any, offset: Any, w: Any, groups: int, offset_groups: int, counts: Any) -> None:
    (_, channels, *_), (outputs, each, rows, columns) = x.shape, w.shape
    are_groups = groups >= 1 and offset_groups >= 1
    is_divided = are_groups and all(
        not isinstance(size, int) or size % parts == 0
        for size, parts in ((outputs, groups), (channels, groups), (channels, offset_groups))
    )
    if not is_divided or not are_equal(each * groups, channels):
        raise ArgumentValueError(
            f"{_NAME}: {shown(w)} does not fit {shown(x)} in {groups} groups, {offset_groups} of "
            "offsets"
        )
    wanted = (x.shape[0], offset_groups * rows * columns * 2, *counts)
    if not all(are_equal(a, b) for a, b in zip(offset.shape, wanted, strict=True)):
        raise ArgumentValueError(
            f"{_NAME}: {shown(offset)} must have two numbers for each point of a window and each "
            f"place of the result: ({', '.join(map(str, wanted))})"
        )
