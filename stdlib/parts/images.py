"""Batches of images: where their rows, columns and channels are, and what lies beyond the edges."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from hybridjit import hybrid
from hybridjit.errors import ArgumentValueError
from hybridjit.stdlib.parts.shapes import are_equal, show
from hybridjit.stdlib.parts.windows import Window
from hybridjit.te import all as are_all
from hybridjit.te import compute, if_then_else

Layout = Literal["NCHW", "NHWC"]
"""Batch, channels, rows, columns, or the channels last."""
Layout1 = Literal["NCW", "NWC"]
Layout3 = Literal["NCDHW", "NDHWC"]
LAYOUTS = {1: ("NCW", "NWC"), 2: ("NCHW", "NHWC"), 3: ("NCDHW", "NDHWC")}


def check_images(name: str, x: Any, layout: str, spatial: int = 2) -> None:
    """Refuse a layout that is not known, and a tensor that has not its axes."""
    first, last = LAYOUTS[spatial]
    if layout not in (first, last):
        raise ArgumentValueError(
            f"{name}: there is no layout {layout!r}", help=f"choose from {first!r} and {last!r}"
        )
    if x.ndim != spatial + 2:
        raise ArgumentValueError(
            f"{name}: '{x.name}' of shape {show(x.shape)} must have {spatial + 2} axes, "
            f"{', '.join(layout)}",
            help="x.reshape(1, *x.shape) makes a batch of a single image",
        )


def spatial_axes(layout: str) -> str:
    """The axes that windows move along."""
    return layout.replace("N", "").replace("C", "")


def logical(values: Sequence[Any], layout: str) -> tuple[Any, ...]:
    """Sizes or indices of an image in the order N, C, and then those that windows move along."""
    return tuple(values[layout.index(axis)] for axis in f"NC{spatial_axes(layout)}")


def physical(values: Sequence[Any], layout: str) -> tuple[Any, ...]:
    """Sizes or indices in the order N, C and the others as they are in an image."""
    order = f"NC{spatial_axes(layout)}"
    return tuple(values[order.index(axis)] for axis in layout)


def extend(name: str, x: Any, windows: Sequence[Window], value: Any, layout: str) -> Any:
    """`x` with a border of `value`, as far as windows reach beyond its edges."""
    batch, channels, *extents = logical(x.shape, layout)
    befores = [window.before for window in windows]
    sizes = [window.reached(extent) for window, extent in zip(windows, extents, strict=True)]
    if all(map(_is_zero, befores)) and all(map(are_equal, sizes, extents)):
        return x

    def element(*indices: Any) -> Any:
        n, c, *places = logical(indices, layout)
        inside = [place - before for place, before in zip(places, befores, strict=True)]
        conditions = [
            condition
            for place, window, extent in zip(inside, windows, extents, strict=True)
            for condition in _inside(place, window, extent)
        ]
        return if_then_else(are_all(*conditions), x[physical((n, c, *inside), layout)], value)

    return compute(physical((batch, channels, *sizes), layout), element, f"{name}_padded")


def _inside(place: Any, window: Window, extent: Any) -> list[Any]:
    """The conditions for a place to be inside of the image, without those that always hold."""
    found: list[Any] = [] if _is_zero(window.before) else [place >= 0]
    beyond = window.reached(extent) - extent
    return found if are_equal(beyond, window.before) else [*found, place < extent]


def _is_zero(size: Any) -> bool:
    return are_equal(size, 0)


@hybrid.script
def known_images(indices: Any, count: Any) -> Any:
    """Which image each index is of; a negative one would count from the last image."""
    known = np.empty(indices.shape[0], np.int64)
    for i in range(indices.shape[0]):
        if not 0 <= indices[i] < count:
            raise IndexError(f"the image of box {i} is none of {count} images")
        known[i] = np.int64(indices[i])
    return known
