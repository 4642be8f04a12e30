"""Windows that slide over images: what all convolutions and poolings share."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from hybridjit.errors import ArgumentValueError
from hybridjit.ir.dtype import DType
from hybridjit.record import record
from hybridjit.stdlib.parts.accumulation import convert, float_type
from hybridjit.stdlib.parts.elements import call
from hybridjit.stdlib.parts.images import check_images, extend, logical, physical
from hybridjit.stdlib.parts.precision import working_type
from hybridjit.stdlib.parts.shapes import show
from hybridjit.stdlib.parts.types import Pair
from hybridjit.stdlib.parts.windows import Movement, Window, read_pair, read_windows
from hybridjit.te import compute, reduce_axis
from hybridjit.te import sum as added
from hybridjit.tensors.reduction import Reducer

Reading = tuple[Any, Sequence[Any]]
"""The channel that is read for an output, and the first two indices of the filter."""


@record
class Convolution:
    """Images `x`, filters `w`, how both lie in memory, and the windows over rows and columns."""

    name: str
    x: Any
    w: Any
    layout: str
    filter_layout: str
    windows: tuple[Window, Window]

    @property
    def images(self) -> tuple[Any, Any, Any, Any]:
        """The sizes of the images: batch, channels, rows, columns."""
        return logical(self.x.shape, self.layout)

    @property
    def filters(self) -> tuple[Any, Any, Any, Any]:
        """The sizes of the filters, their rows and columns last."""
        return logical(self.w.shape, self.filter_layout)

    def describe(self) -> str:
        """The operator and the shapes, for errors."""
        return (
            f"{self.name} of '{self.x.name}' {show(self.x.shape)} and '{self.w.name}' "
            f"{show(self.w.shape)}"
        )

    def compute(self, outputs: Any, loops: list[Any], read: Callable[[Any], Reading]) -> Any:
        """The products of windows and filters, added up over `loops`, rows and columns."""
        return convert(self.name, self._products((outputs,), loops, read), self._dtype)

    def compute_groups(
        self, groups: int, outputs: int, loops: list[Any], read: Callable[[Any, Any], Reading]
    ) -> Any:
        """The same for outputs in groups, each of which `read`s other channels.

        The groups are an axis of their own at first: what they read is a product then.
        """
        channel = self.layout.index("C")
        products = self._products((groups, outputs), loops, read)

        def element(*indices: Any) -> Any:
            output = indices[channel]
            places = (output // outputs, output % outputs)
            return products[(*indices[:channel], *places, *indices[channel + 1 :])]

        sizes = list(products.shape)
        sizes[channel : channel + 2] = [groups * outputs]
        return convert(self.name, compute(tuple(sizes), element, self.name), self._dtype)

    @property
    def _dtype(self) -> Any:
        return call("*", self.x[0, 0, 0, 0], self.w[0, 0, 0, 0]).dtype

    def _products(self, outputs: tuple[Any, ...], loops: list[Any], read: Any) -> Any:
        """With an axis for each of `outputs` in the place of the channels."""
        padded = extend(self.name, self.x, self.windows, 0, self.layout)
        working = working_type(self._dtype)
        layout = self.layout.replace("C", "GC") if len(outputs) > 1 else self.layout
        offsets = [
            reduce_axis((0, size), axis) for size, axis in zip(self.filters[2:], "ij", strict=True)
        ]

        def element(*indices: Any) -> Any:
            named = dict(zip(layout, indices, strict=True))
            channel, filter_indices = read(*(named[axis] for axis in "GC" if axis in named))
            places = (named["H"], named["W"])
            seen = map(Window.place, self.windows, places, offsets)
            value = padded[physical((named["N"], channel, *seen), self.layout)].astype(working)
            weight = self.w[physical((*filter_indices, *offsets), self.filter_layout)]
            return added(value * weight.astype(working), axis=[*loops, *offsets])

        rows, columns = map(Window.count, self.windows, self.images[2:])
        sizes = {"N": self.images[0], "H": rows, "W": columns}
        sizes |= dict(zip("GC"[-len(outputs) :], outputs, strict=True))
        return compute(tuple(sizes[axis] for axis in layout), element, self.name)


def read_convolution(
    name: str, x: Any, w: Any, layouts: tuple[str, Mapping[str, str]], movement: Movement
) -> Convolution:
    """A convolution, its shapes checked; the layouts are those of images, and of filters by it."""
    layout, filter_layouts = layouts
    check_images(name, x, layout)
    if w.ndim != 4:
        raise ArgumentValueError(
            f"{name}: the filters '{w.name}' of shape {show(w.shape)} must have 4 axes"
        )
    sizes, extents = logical(w.shape, filter_layouts[layout])[2:], logical(x.shape, layout)[2:]
    windows = read_windows(name, sizes, extents, movement)
    return Convolution(name, x, w, layout, filter_layouts[layout], windows)


@record
class Pool:
    """Images `x`, how they lie in memory, and the windows over rows and columns."""

    name: str
    x: Any
    layout: str
    windows: tuple[Window, Window]

    def reduce(self, name: str, reducer: Reducer, border: Any) -> Any:
        """Each window reduced to one element; beyond the edges there is `border`."""
        padded = extend(self.name, self.x, self.windows, border, self.layout)
        batch, channels, *extents = logical(self.x.shape, self.layout)
        offsets = [
            reduce_axis((0, window.size), axis)
            for window, axis in zip(self.windows, "ij", strict=True)
        ]

        def element(*indices: Any) -> Any:
            n, channel, *places = logical(indices, self.layout)
            seen = map(Window.place, self.windows, places, offsets)
            return reducer(padded[physical((n, channel, *seen), self.layout)], axis=offsets)

        sizes = map(Window.count, self.windows, extents)
        return compute(physical((batch, channels, *sizes), self.layout), element, name)

    def average(self, *, counts_padding: bool) -> Any:
        """The average of each window, in which padding counts as zeros or not at all."""
        dtype = float_type(self.x.dtype)
        total = self._in(working_type(dtype)).reduce(f"{self.name}_sum", added, 0)
        extents = logical(self.x.shape, self.layout)[2:]

        def element(*indices: Any) -> Any:
            places = logical(indices, self.layout)[2:]
            counts = [
                window.count_elements(place, extent, counts_padding=counts_padding)
                for window, place, extent in zip(self.windows, places, extents, strict=True)
            ]
            return (total[indices] / (counts[0] * counts[1])).astype(dtype)

        return compute(total.shape, element, self.name)

    def _in(self, dtype: DType) -> Pool:
        """The same on images of another type."""
        return replace(self, x=convert(f"{self.name}_converted", self.x, dtype))


def read_pool(name: str, x: Any, size: Pair, movement: Movement, layout: str) -> Pool:
    """A pooling, its shapes checked."""
    check_images(name, x, layout)
    extents = logical(x.shape, layout)[2:]
    windows = read_windows(name, read_pair(name, "size", size), extents, movement)
    return Pool(name, x, layout, windows)
