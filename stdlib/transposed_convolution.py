"""Transposed convolutions: each element spreads a filter over its neighbourhood."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hybridjit.errors import ArgumentValueError
from hybridjit.record import record
from hybridjit.stdlib.parts.accumulation import convert
from hybridjit.stdlib.parts.elements import call
from hybridjit.stdlib.parts.fusion import Activation, finish
from hybridjit.stdlib.parts.images import (
    Layout,
    Layout1,
    Layout3,
    check_images,
    logical,
    physical,
)
from hybridjit.stdlib.parts.precision import working_type
from hybridjit.stdlib.parts.shapes import are_equal, check_rank, fill, shown
from hybridjit.stdlib.parts.sliding import offsets_of
from hybridjit.stdlib.parts.types import Pair, T
from hybridjit.stdlib.parts.windows import read_padding, read_sizes
from hybridjit.stdlib.running.compiled import scheduled_by
from hybridjit.stdlib.running.operator import operator
from hybridjit.stdlib.running.schedules import in_tiles
from hybridjit.te import all as are_all
from hybridjit.te import const, if_then_else, reduce_axis
from hybridjit.te import sum as added

RECIPE = scheduled_by(in_tiles, fastmath=("contract", "reassoc"))
# Where the axes of filters are, by the layout of images: N are the channels that are read, C those
# that are made.
FILTERS = {
    1: {"NCW": "NCW", "NWC": "WCN"},
    2: {"NCHW": "NCHW", "NHWC": "HWCN"},
    3: {"NCDHW": "NCDHW", "NDHWC": "DHWCN"},
}


@record
class _Spread:
    """How an axis is spread: elements `stride` apart, a window of `reach` around each."""

    extent: Any
    size: Any
    stride: int
    dilation: int
    before: Any
    after: Any

    @property
    def reach(self) -> Any:
        return (self.size - 1) * self.dilation + 1

    @property
    def start(self) -> Any:
        """Where the first element is, of all that windows see."""
        return self.reach - 1 - self.before

    @property
    def count(self) -> Any:
        """How many results there are."""
        return (self.extent - 1) * self.stride + self.reach - self.before - self.after


@record
class Options:
    """What a transposed convolution may be told."""

    stride: Pair
    padding: Any
    output_padding: Pair
    dilation: Pair
    groups: int
    layout: str


def _convolve(name: str, x: Any, w: Any, options: Options, spatial: int) -> Any:
    """The products of filters, from their ends, with elements between which there are zeros."""
    layout, filters = options.layout, FILTERS[spatial]
    check_images(name, x, layout, spatial)
    check_rank(name, w, spatial + 2, "channels, outputs / groups, and those of windows")
    batch, channels, *_ = logical(x.shape, layout)
    inputs, outputs, *sizes = logical(w.shape, filters[layout])
    _check_channels(name, x, w, (channels, inputs), options.groups)
    spreads = _read_spreads(name, x, sizes, options)
    spread = _spread_out(name, x, spreads, layout)
    offsets = offsets_of(sizes)
    each = channels // options.groups if options.groups > 1 else channels
    channel = reduce_axis((0, each), "c")
    first = (0,) * x.ndim
    dtype = call("*", x[first], w[first]).dtype
    working = working_type(dtype)

    def element(at: tuple[Any, ...]) -> Any:
        n, output, *places = logical(at, layout)
        is_grouped = options.groups > 1
        source = output // outputs * each + channel if is_grouped else channel
        seen = [
            place + offset * part.dilation
            for place, offset, part in zip(places, offsets, spreads, strict=True)
        ]
        value = spread[physical((n, source, *seen), layout)].astype(working)
        last = [part.size - 1 - o for part, o in zip(spreads, offsets, strict=True)]
        own = (source, output % outputs if is_grouped else output, *last)
        weight = w[physical(own, filters[layout])].astype(working)
        return added(value * weight, axis=[channel, *offsets])

    shape = (batch, outputs * options.groups, *(part.count for part in spreads))
    return convert(name, fill(name, physical(shape, layout), element), dtype)


def _spread_out(name: str, x: Any, spreads: Sequence[_Spread], layout: str) -> Any:
    """`x` with zeros between its elements, and beyond its edges as far as windows see."""
    batch, channels, *_ = logical(x.shape, layout)

    def element(at: tuple[Any, ...]) -> Any:
        n, channel, *places = logical(at, layout)
        moved = [place - part.start for place, part in zip(places, spreads, strict=True)]
        own = [place // part.stride for place, part in zip(moved, spreads, strict=True)]
        conditions = [place >= 0 for place in moved]
        conditions += [i < part.extent for i, part in zip(own, spreads, strict=True)]
        conditions += [
            place % part.stride == 0
            for place, part in zip(moved, spreads, strict=True)
            if part.stride > 1
        ]
        value = x[physical((n, channel, *own), layout)]
        return if_then_else(are_all(*conditions), value, const(0, x.dtype))

    sizes = [part.count + part.reach - 1 for part in spreads]
    return fill(f"{name}_spread", physical((batch, channels, *sizes), layout), element)


def _read_spreads(name: str, x: Any, sizes: Sequence[Any], options: Options) -> list[_Spread]:
    extents = logical(x.shape, options.layout)[2:]
    count = len(sizes)
    strides = read_sizes(name, "stride", options.stride, count)
    dilations = read_sizes(name, "dilation", options.dilation, count)
    more = read_sizes(name, "output_padding", options.output_padding, count, least=0)
    reaches = [(size - 1) * step + 1 for size, step in zip(sizes, dilations, strict=True)]
    sides = read_padding(name, options.padding, reaches, [1] * count, extents)
    found = [
        _Spread(extent, size, stride, dilation, before, after - extra)
        for extent, size, stride, dilation, (before, after), extra in zip(
            extents, sizes, strides, dilations, sides, more, strict=True
        )
    ]
    for part in found:
        if isinstance(part.count, int) and part.count < 1:
            raise ArgumentValueError(
                f"{name}: {shown(x)} with padding {options.padding!r} has no results"
            )
    return found


def _check_channels(name: str, x: Any, w: Any, sizes: tuple[Any, Any], groups: int) -> None:
    channels, inputs = sizes
    is_whole = groups == 1 or (isinstance(channels, int) and groups > 0 and channels % groups == 0)
    if not are_equal(channels, inputs) or not is_whole:
        raise ArgumentValueError(
            f"{name}: the channels of {shown(x)} and of {shown(w)}, in {groups} groups, do not "
            "match"
        )


@operator(recipe=RECIPE)
def conv1d_transpose(
    x: T,
    w: T,
    bias: T | None = None,
    *,
    stride: int = 1,
    padding: int | Sequence[int] = 0,
    output_padding: int = 0,
    dilation: int = 1,
    groups: int = 1,
    activation: Activation = None,
    layout: Layout1 = "NCW",
) -> T:
    """What conv1d with these options does to gradients: signals are spread, `stride` apart.

    `w` has the shape (channels, outputs / groups, places), with layout="NWC" (places,
    outputs / groups, channels). The padding is cut off, the output padding is left at the ends.

    >>> hs.conv1d_transpose(np.array([[[1.0, 2.0]]]), np.array([[[1.0, 10.0, 100.0]]]), stride=2)
    array([[[  1.,  10., 102.,  20., 200.]]])
    """
    options = Options(stride, padding, output_padding, dilation, groups, layout)
    made = _convolve("conv1d_transpose", x, w, options, 1)
    return finish("conv1d_transpose", made, bias, activation, axis=layout.index("C"))


@operator(recipe=RECIPE)
def conv2d_transpose(
    x: T,
    w: T,
    bias: T | None = None,
    *,
    stride: Pair = 1,
    padding: int | Sequence[int] = 0,
    output_padding: Pair = 0,
    dilation: Pair = 1,
    groups: int = 1,
    activation: Activation = None,
    layout: Layout = "NCHW",
) -> T:
    """What conv2d with these options does to gradients: images are spread, `stride` apart.

    `w` has the shape (channels, outputs / groups, rows, columns), with layout="NHWC" (rows,
    columns, outputs / groups, channels). The padding is cut off, the output padding is left at
    the ends.

    >>> hs.conv2d_transpose(np.ones((1, 1, 1, 2)), np.ones((1, 1, 1, 3)), stride=2)
    array([[[[1., 1., 2., 1., 1.]]]])
    """
    options = Options(stride, padding, output_padding, dilation, groups, layout)
    made = _convolve("conv2d_transpose", x, w, options, 2)
    return finish("conv2d_transpose", made, bias, activation, axis=layout.index("C"))


@operator(recipe=RECIPE)
def conv3d_transpose(
    x: T,
    w: T,
    bias: T | None = None,
    *,
    stride: Pair = 1,
    padding: int | Sequence[int] = 0,
    output_padding: Pair = 0,
    dilation: Pair = 1,
    groups: int = 1,
    activation: Activation = None,
    layout: Layout3 = "NCDHW",
) -> T:
    """What conv3d with these options does to gradients: volumes are spread, `stride` apart.

    `w` has the shape (channels, outputs / groups, depth, rows, columns), with layout="NDHWC"
    (depth, rows, columns, outputs / groups, channels). The padding is cut off, the output padding
    is left at the ends.

    >>> hs.conv3d_transpose(np.ones((1, 1, 1, 1, 2)), np.ones((1, 1, 1, 1, 3)), stride=2)
    array([[[[[1., 1., 2., 1., 1.]]]]])
    """
    options = Options(stride, padding, output_padding, dilation, groups, layout)
    made = _convolve("conv3d_transpose", x, w, options, 3)
    return finish("conv3d_transpose", made, bias, activation, axis=layout.index("C"))
