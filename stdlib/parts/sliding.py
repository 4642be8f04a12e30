"""Windows that slide over images: what all convolutions and poolings share."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from hybridjit.errors import ArgumentValueError
from hybridjit.ir.dtype import DType
from hybridjit.record import record
from hybridjit.stdlib.parts.accumulation import convert, float_type
from hybridjit.stdlib.parts.elements import call
from hybridjit.stdlib.parts.images import check_images, extend, logical, physical, spatial_axes
from hybridjit.stdlib.parts.precision import working_type
from hybridjit.stdlib.parts.shapes import count_elements, show
from hybridjit.stdlib.parts.types import Pair
from hybridjit.stdlib.parts.windows import Movement, Window, read_sizes, read_windows
from hybridjit.te import compute, reduce_axis
from hybridjit.te import sum as added
from hybridjit.tensors.reduction import Reducer

Reading = tuple[Any, Sequence[Any]]
"""The channel that is read for an output, and the first two indices of the filter."""


@record
class Convolution:
    """Images `x`, filters `w`, how both lie in memory, and the windows over each spatial axis."""

    name: str
    x: Any
    w: Any
    layout: str
    filter_layout: str
    windows: tuple[Window, ...]
    # What is beyond the edges, and what is added up of an element and its weight.
    border: Any = 0
    multiply: Callable[[Any, Any], Any] = operator.mul

    @property
    def images(self) -> tuple[Any, ...]:
        """The sizes of the images: batch, channels, and those that windows move along."""
        return logical(self.x.shape, self.layout)

    @property
    def filters(self) -> tuple[Any, ...]:
        """The sizes of the filters, those of windows last."""
        return logical(self.w.shape, self.filter_layout)

    def describe(self) -> str:
        """The operator and the shapes, for errors."""
        return (
            f"{self.name} of '{self.x.name}' {show(self.x.shape)} and '{self.w.name}' "
            f"{show(self.w.shape)}"
        )

    def compute(self, outputs: Any, loops: list[Any], read: Callable[[Any], Reading]) -> Any:
        """The products of windows and filters, added up over `loops` and the windows."""
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
        first = (0,) * self.x.ndim
        return call("*", self.x[first], self.w[first]).dtype

    def _products(self, outputs: tuple[Any, ...], loops: list[Any], read: Any) -> Any:
        """With an axis for each of `outputs` in the place of the channels."""
        padded = extend(self.name, self.x, self.windows, self.border, self.layout)
        working = working_type(self._dtype)
        layout = self.layout.replace("C", "GC") if len(outputs) > 1 else self.layout
        spatial = spatial_axes(self.layout)
        offsets = offsets_of(self.filters[2:])

        def element(*indices: Any) -> Any:
            named = dict(zip(layout, indices, strict=True))
            channel, filter_indices = read(*(named[axis] for axis in "GC" if axis in named))
            places = [named[axis] for axis in spatial]
            seen = map(Window.place, self.windows, places, offsets)
            value = padded[physical((named["N"], channel, *seen), self.layout)].astype(working)
            weight = self.w[physical((*filter_indices, *offsets), self.filter_layout)]
            term = self.multiply(value, weight.astype(working))
            return added(term, axis=[*loops, *offsets])

        counts = map(Window.count, self.windows, self.images[2:])
        sizes = {"N": self.images[0], **dict(zip(spatial, counts, strict=True))}
        sizes |= dict(zip("GC"[-len(outputs) :], outputs, strict=True))
        return compute(tuple(sizes[axis] for axis in layout), element, self.name)


def read_convolution(
    name: str, x: Any, w: Any, layouts: tuple[str, Mapping[str, str]], movement: Movement
) -> Convolution:
    """A convolution, its shapes checked; the layouts are those of images, and of filters by it."""
    layout, filter_layouts = layouts
    spatial = len(next(iter(filter_layouts))) - 2
    check_images(name, x, layout, spatial)
    if w.ndim != spatial + 2:
        raise ArgumentValueError(
            f"{name}: the filters '{w.name}' of shape {show(w.shape)} must have {spatial + 2} axes"
        )
    sizes, extents = logical(w.shape, filter_layouts[layout])[2:], logical(x.shape, layout)[2:]
    windows = read_windows(name, sizes, extents, movement)
    return Convolution(name, x, w, layout, filter_layouts[layout], windows)


def offsets_of(sizes: Sequence[Any]) -> list[Any]:
    """Loops over the elements of a window."""
    return [reduce_axis((0, size), axis) for size, axis in zip(sizes, "ijk", strict=False)]


@record
class Pool:
    """Images `x`, how they lie in memory, and the windows over each spatial axis."""

    name: str
    x: Any
    layout: str
    windows: tuple[Window, ...]

    def reduce(self, name: str, reducer: Reducer, border: Any) -> Any:
        """Each window reduced to one element; beyond the edges there is `border`."""
        padded = extend(self.name, self.x, self.windows, border, self.layout)
        batch, channels, *extents = logical(self.x.shape, self.layout)
        offsets = offsets_of([window.size for window in self.windows])

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
            counts = tuple(
                window.count_elements(place, extent, counts_padding=counts_padding)
                for window, place, extent in zip(self.windows, places, extents, strict=True)
            )
            return (total[indices] / count_elements(counts, range(len(counts)))).astype(dtype)

        return compute(total.shape, element, self.name)

    def _in(self, dtype: DType) -> Pool:
        """The same on images of another type."""
        return replace(self, x=convert(f"{self.name}_converted", self.x, dtype))


def read_pool(
    name: str, x: Any, size: Pair, movement: Movement, layout: str, spatial: int = 2
) -> Pool:
    """A pooling, its shapes checked."""
    check_images(name, x, layout, spatial)
    extents = logical(x.shape, layout)[2:]
    windows = read_windows(name, read_sizes(name, "size", size, spatial), extents, movement)
    return Pool(name, x, layout, windows)
