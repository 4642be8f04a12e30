"""Convolutions whose windows are not rectangles: each point of a window is moved by an offset."""

from __future__ import annotations

from typing import Any

from hybridjit.errors import ArgumentValueError
from hybridjit.ir.dtype import FLOAT64
from hybridjit.stdlib.parts.accumulation import convert
from hybridjit.stdlib.parts.elements import call
from hybridjit.stdlib.parts.fusion import Activation, finish
from hybridjit.stdlib.parts.images import check_images
from hybridjit.stdlib.parts.precision import working_type
from hybridjit.stdlib.parts.sampling import linear_taps, or_zero, weighted
from hybridjit.stdlib.parts.shapes import are_equal, check_rank, fill, shown
from hybridjit.stdlib.parts.sliding import offsets_of
from hybridjit.stdlib.parts.types import Padding, Pair, T
from hybridjit.stdlib.parts.windows import read_padding, read_sizes
from hybridjit.stdlib.running.compiled import scheduled_by
from hybridjit.stdlib.running.operator import operator
from hybridjit.stdlib.running.schedules import in_tiles
from hybridjit.te import reduce_axis
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
    layer = _added(x, points, w, groups)
    return finish(_NAME, layer, bias, activation, axis=1)


def _points(
    x: Any, offset: Any, w: Any, strides: Any, dilations: Any, pads: Any, offset_groups: int
) -> Any:
    """What is read for each point of each window: (batch, channels, window, rows, columns)."""
    (_, channels, *extents), (rows, columns) = x.shape, w.shape[2:]
    each = channels // offset_groups if offset_groups > 1 else channels

    def element(at: tuple[Any, ...]) -> Any:
        n, channel, *window, row, column = at
        group = channel // each if offset_groups > 1 else 0
        first = ((group * rows + window[0]) * columns + window[1]) * 2
        sources = [
            (place * strides[axis] - pads[axis][0] + window[axis] * dilations[axis]).astype(FLOAT64)
            + offset[n, first + axis, row, column].astype(FLOAT64)
            for axis, place in enumerate((row, column))
        ]
        read = or_zero(lambda at: x[(n, channel, *at)].astype(FLOAT64), extents, FLOAT64)
        return weighted([linear_taps(source) for source in sources], read)

    shape = (x.shape[0], channels, rows, columns, *offset.shape[2:])
    return fill(f"{_NAME}_points", shape, element)


def _added(x: Any, points: Any, w: Any, groups: int) -> Any:
    outputs, each, *sizes = w.shape
    channel, offsets = reduce_axis((0, each), "c"), offsets_of(sizes)
    first = (0,) * 4
    dtype = call("*", x[first], w[first]).dtype
    working = working_type(dtype)

    def element(at: tuple[Any, ...]) -> Any:
        n, output, *places = at
        source = output // (outputs // groups) * each + channel if groups > 1 else channel
        value = points[(n, source, *offsets, *places)].astype(working)
        return added(value * w[(output, channel, *offsets)].astype(working), [channel, *offsets])

    shape = (points.shape[0], outputs, *points.shape[4:])
    return convert(_NAME, fill(_NAME, shape, element), dtype)


def _check(x: Any, offset: Any, w: Any, groups: int, offset_groups: int, counts: Any) -> None:
    (_, channels, *_), (outputs, each, rows, columns) = x.shape, w.shape
    is_divided = all(
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
