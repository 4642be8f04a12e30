"""Convolutions of images: the products of windows with filters, added up."""

from __future__ import annotations

from typing import Any

from hybridjit.errors import ArgumentValueError
from hybridjit.stdlib.parts.fusion import Activation, finish
from hybridjit.stdlib.parts.images import Layout, Layout1, Layout3
from hybridjit.stdlib.parts.shapes import are_equal, show_size
from hybridjit.stdlib.parts.sliding import Convolution, Reading, read_convolution
from hybridjit.stdlib.parts.types import Padding, Pair, T
from hybridjit.stdlib.parts.windows import Movement
from hybridjit.stdlib.running.compiled import scheduled_by
from hybridjit.stdlib.running.operator import operator
from hybridjit.stdlib.running.schedules import in_tiles
from hybridjit.te import reduce_axis

RECIPE = scheduled_by(in_tiles, fastmath=("contract", "reassoc"))
# Where the axes of filters are, by the layout of the images. N stands for what there is one
# filter of each for, C for what it adds up, or makes, H and W for its rows and columns.
FILTERS = {"NCHW": "NCHW", "NHWC": "HWCN"}
FILTERS_1 = {"NCW": "NCW", "NWC": "WCN"}
FILTERS_3 = {"NCDHW": "NCDHW", "NDHWC": "DHWCN"}
DEPTHWISE_FILTERS = {"NCHW": "NCHW", "NHWC": "HWNC"}


@operator(recipe=RECIPE)
def conv2d(
    x: T,
    w: T,
    bias: T | None = None,
    *,
    stride: Pair = 1,
    padding: Padding = 0,
    dilation: Pair = 1,
    groups: int = 1,
    activation: Activation = None,
    layout: Layout = "NCHW",
) -> T:
    """Convolve images with filters, each of which sees all channels, or those of its group.

    `x` has the shape (batch, channels, rows, columns), `w` the shape (outputs, channels / groups,
    rows, columns). With layout="NHWC" these are (batch, rows, columns, channels) and (rows,
    columns, channels / groups, outputs). A bias, one for each output, and an activation may
    follow: "relu", "sigmoid" or "tanh".

    >>> hs.conv2d(np.ones((1, 1, 3, 3)), np.ones((1, 1, 3, 3)), padding="same")
    array([[[[4., 6., 4.],
             [6., 9., 6.],
             [4., 6., 4.]]]])
    """
    how = Movement(stride, padding, dilation)
    found = read_convolution("conv2d", x, w, (layout, FILTERS), how)
    return _convolve(found, groups, bias, activation)


@operator(recipe=RECIPE)
def conv1d(
    x: T,
    w: T,
    bias: T | None = None,
    *,
    stride: int = 1,
    padding: Padding = 0,
    dilation: int = 1,
    groups: int = 1,
    activation: Activation = None,
    layout: Layout1 = "NCW",
) -> T:
    """Convolve signals with filters: conv2d with one axis for windows to move along.

    `x` has the shape (batch, channels, places), `w` the shape (outputs, channels / groups, places);
    with layout="NWC" (batch, places, channels) and (places, channels / groups, outputs). The
    padding is a number or (before, after).

    >>> hs.conv1d(np.arange(4.0).reshape(1, 1, 4), np.array([[[1.0, -1.0]]]))
    array([[[-1., -1., -1.]]])
    """
    how = Movement(stride, padding, dilation)
    found = read_convolution("conv1d", x, w, (layout, FILTERS_1), how)
    return _convolve(found, groups, bias, activation)


@operator(recipe=RECIPE)
def conv3d(
    x: T,
    w: T,
    bias: T | None = None,
    *,
    stride: Pair = 1,
    padding: Padding = 0,
    dilation: Pair = 1,
    groups: int = 1,
    activation: Activation = None,
    layout: Layout3 = "NCDHW",
) -> T:
    """Convolve volumes with filters: conv2d with three axes for windows to move along.

    `x` has the shape (batch, channels, depth, rows, columns), `w` the shape (outputs, channels /
    groups, depth, rows, columns); with layout="NDHWC" the channels of `x` are last, and `w` has
    the shape (depth, rows, columns, channels / groups, outputs).

    >>> hs.conv3d(np.ones((1, 1, 2, 2, 2)), np.ones((1, 1, 2, 2, 2)))[0, 0]
    array([[[8.]]])
    """
    how = Movement(stride, padding, dilation)
    found = read_convolution("conv3d", x, w, (layout, FILTERS_3), how)
    return _convolve(found, groups, bias, activation)


def _convolve(found: Convolution, groups: int, bias: Any, activation: Activation) -> Any:
    outputs, inputs, *_ = found.filters
    _check_groups(found, groups)
    channel = reduce_axis((0, inputs), "c")

    if groups == 1:
        made = found.compute(outputs, [channel], lambda output: (channel, (output, channel)))
    else:
        each = outputs // groups

        def read(group: Any, output: Any) -> Reading:
            return group * inputs + channel, (group * each + output, channel)

        made = found.compute_groups(groups, each, [channel], read)
    return finish(found.name, made, bias, activation, axis=found.layout.index("C"))


@operator(recipe=RECIPE)
def depthwise_conv2d(
    x: T,
    w: T,
    bias: T | None = None,
    *,
    stride: Pair = 1,
    padding: Padding = 0,
    dilation: Pair = 1,
    activation: Activation = None,
    layout: Layout = "NCHW",
) -> T:
    """Convolve every channel of images with filters of its own.

    `x` has the shape (batch, channels, rows, columns), `w` the shape (channels, multiplier, rows,
    columns), the result channels * multiplier channels. With layout="NHWC" these are (batch, rows,
    columns, channels) and (rows, columns, channels, multiplier).

    >>> hs.depthwise_conv2d(np.ones((1, 2, 2, 2)), np.ones((2, 1, 2, 2)))[0, :, 0, 0]
    array([4., 4.])
    """
    how = Movement(stride, padding, dilation)
    found = read_convolution("depthwise_conv2d", x, w, (layout, DEPTHWISE_FILTERS), how)
    channels, multiplier, *_ = found.filters
    _check_channels(found)

    def read(output: Any) -> Reading:
        if are_equal(multiplier, 1):
            return output, (output, 0)
        return output // multiplier, (output // multiplier, output % multiplier)

    made = found.compute(channels * multiplier, [], read)
    return finish("depthwise_conv2d", made, bias, activation, axis=layout.index("C"))


def _check_groups(found: Convolution, groups: int) -> None:
    channels, (outputs, inputs, *_) = found.images[1], found.filters
    if groups < 1 or not are_equal(inputs * groups, channels) or not _divides(groups, outputs):
        raise ArgumentValueError(
            f"{found.describe()}: {show_size(channels)} channels in {groups} groups do not fit "
            f"filters over {show_size(inputs)} channels for {show_size(outputs)} outputs",
            help="channels = groups * channels of a filter, and groups must divide the outputs",
        )


def _divides(groups: int, outputs: Any) -> bool:
    return groups == 1 or (isinstance(outputs, int) and outputs % groups == 0)


def _check_channels(found: Convolution) -> None:
    channels, filters = found.images[1], found.filters[0]
    if not are_equal(channels, filters):
        raise ArgumentValueError(
            f"{found.describe()}: there are {show_size(channels)} channels, and filters for "
            f"{show_size(filters)}",
            help="each channel needs filters of its own",
        )
