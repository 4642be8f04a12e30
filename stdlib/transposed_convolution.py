"""Transposed convolutions: each element spreads a filter over its neighbourhood."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from hybridjit.errors import ArgumentValueError
from hybridjit.ir.dtype import DType
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
    """How an axis is spread: elements `stride` apart, a window of `size` around each.

    Results that are `stride` apart see the same places of a window, its taps: they have a phase in
    common. Where a window is dilated all results see all places, with zeros between elements.
    """

    extent: Any
    size: Any
    stride: int
    dilation: int
    before: Any
    after: Any

    @property
    def count(self) -> Any:
        """How many results there are."""
        reach = (self.size - 1) * self.dilation + 1
        return (self.extent - 1) * self.stride + reach - self.before - self.after

    @property
    def phases(self) -> int:
        return self.stride if self.dilation == 1 else 1

    @property
    def gap(self) -> int:
        """How far apart elements are for the results of a phase."""
        return self.stride // self.phases

    @property
    def taps(self) -> Any:
        return (self.size + self.phases - 1) // self.phases

    @property
    def start(self) -> Any:
        """Where the first element is, of all that the results of a phase see."""
        return (self.taps - 1) * self.dilation - self.before // self.phases

    @property
    def steps(self) -> Any:
        """How many results a phase has."""
        return (self.count + self.before % self.phases + self.phases - 1) // self.phases

    def find(self, place: Any) -> tuple[Any, Any]:
        """The phase of a result, and its number there."""
        moved = place + self.before % self.phases
        return moved % self.phases, moved // self.phases


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
    """The products of filters, from their ends, with what lies around the place of a result.

    All phases together are a convolution that has so many times the outputs: without the zeros
    that lie between elements. Its results are then put in turns.
    """
    layout, filters = options.layout, FILTERS[spatial]
    check_images(name, x, layout, spatial)
    check_rank(name, w, spatial + 2, "channels, outputs / groups, and those of windows")
    batch, channels, *_ = logical(x.shape, layout)
    inputs, outputs, *sizes = logical(w.shape, filters[layout])
    _check_channels(name, x, w, (channels, inputs), options.groups)
    spreads = _read_spreads(name, x, sizes, options)
    first = (0,) * x.ndim
    dtype = call("*", x[first], w[first]).dtype
    layer = _Layer(name, x, w, options, filters[layout], spreads)
    found = layer.by_phase(working_type(dtype))
    if layer.phases == 1:
        return convert(name, found, dtype)

    def element(at: tuple[Any, ...]) -> Any:
        n, output, *places = logical(at, layout)
        number, own = output, list[Any]()
        for part, place in zip(spreads, places, strict=True):
            phase, step = part.find(place)
            number = number * part.phases + phase
            own.append(step)
        return found[physical((n, number, *own), layout)]

    shape = (batch, outputs * options.groups, *(part.count for part in spreads))
    return convert(name, fill(name, physical(shape, layout), element), dtype)


@record
class _Layer:
    """The sums of a transposed convolution."""

    name: str
    x: Any
    w: Any
    options: Options
    filters: str
    spreads: Sequence[_Spread]

    @property
    def phases(self) -> int:
        """How many phases there are, along all axes."""
        return math.prod(part.phases for part in self.spreads)

    def by_phase(self, working: DType) -> Any:
        """The results of each phase, as if every output had so many."""
        layout, groups = self.options.layout, self.options.groups
        batch, channels, *_ = logical(self.x.shape, layout)
        around, weight = self._spread_out(), self._weights()
        outputs = logical(self.w.shape, self.filters)[1] * self.phases
        each = channels // groups if groups > 1 else channels
        channel = reduce_axis((0, each), "c")
        offsets = offsets_of([part.taps for part in self.spreads])

        def element(at: tuple[Any, ...]) -> Any:
            n, output, *places = logical(at, layout)
            source = output // outputs * each + channel if groups > 1 else channel
            seen = [
                place + offset * part.dilation
                for place, offset, part in zip(places, offsets, self.spreads, strict=True)
            ]
            value = around[physical((n, source, *seen), layout)].astype(working)
            own = weight(source, output % outputs if groups > 1 else output, offsets)
            return added(value * own.astype(working), axis=[channel, *offsets])

        name = self.name if self.phases == 1 else f"{self.name}_phases"
        shape = (batch, outputs * groups, *(part.steps for part in self.spreads))
        return fill(name, physical(shape, layout), element)

    def _weights(self) -> Callable[..., Any]:
        """The weight of a channel, an output and taps, of which the last come first."""
        inputs, outputs, *sizes = logical(self.w.shape, self.filters)

        def of_window(channel: Any, output: Any, taps: Sequence[Any]) -> Any:
            last = [size - 1 - tap for size, tap in zip(sizes, taps, strict=True)]
            return self.w[physical((channel, output, *last), self.filters)]

        def of_phase(at: tuple[Any, ...]) -> Any:
            number, channel, *taps = at
            places: list[Any] = []
            for part, tap in zip(self.spreads[::-1], taps[::-1], strict=True):
                places.insert(0, number % part.phases + part.phases * (part.taps - 1 - tap))
                number //= part.phases
            value = self.w[physical((channel, number, *places), self.filters)]
            inside = [place < size for place, size in zip(places, sizes, strict=True)]
            return if_then_else(are_all(*inside), value, const(0, self.w.dtype))

        if self.phases == 1:
            return of_window
        shape = (outputs * self.phases, inputs, *(part.taps for part in self.spreads))
        made = fill(f"{self.name}_weights", shape, of_phase)

        def weight(channel: Any, output: Any, taps: Sequence[Any]) -> Any:
            return made[(output, channel, *taps)]

        return weight

    def _spread_out(self) -> Any:
        """`x` with zeros between its elements, if need be, and beyond its edges."""
        layout, spreads = self.options.layout, self.spreads
        batch, channels, *_ = logical(self.x.shape, layout)

        def element(at: tuple[Any, ...]) -> Any:
            n, channel, *places = logical(at, layout)
            moved = [place - part.start for place, part in zip(places, spreads, strict=True)]
            own = [place // part.gap for place, part in zip(moved, spreads, strict=True)]
            conditions = [place >= 0 for place in moved]
            conditions += [i < part.extent for i, part in zip(own, spreads, strict=True)]
            conditions += [
                place % part.gap == 0
                for place, part in zip(moved, spreads, strict=True)
                if part.gap > 1
            ]
            value = self.x[physical((n, channel, *own), layout)]
            return if_then_else(are_all(*conditions), value, const(0, self.x.dtype))

        sizes = [part.steps + (part.taps - 1) * part.dilation for part in spreads]
        return fill(f"{self.name}_spread", physical((batch, channels, *sizes), layout), element)


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
