"""Batches of images: where their rows, columns and channels are, and what lies beyond the edges."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, cast

from hybridjit.errors import ArgumentValueError
from hybridjit.stdlib.parts.shapes import are_equal, show
from hybridjit.stdlib.parts.windows import Window
from hybridjit.te import all as are_all
from hybridjit.te import compute, if_then_else

Layout = Literal["NCHW", "NHWC"]
"""Batch, channels, rows, columns, or the channels last."""
LOGICAL = "NCHW"


def check_images(name: str, x: Any, layout: str) -> None:
    """Refuse a layout that is not known, and a tensor that has not its axes."""
    if layout not in ("NCHW", "NHWC"):
        raise ArgumentValueError(
            f"{name}: there is no layout {layout!r}", help="choose from 'NCHW' and 'NHWC'"
        )
    if x.ndim != 4:
        raise ArgumentValueError(
            f"{name}: '{x.name}' of shape {show(x.shape)} must have 4 axes, {', '.join(layout)}",
            help="x.reshape(1, *x.shape) makes a batch of a single image",
        )


def logical(values: Sequence[Any], layout: str) -> tuple[Any, Any, Any, Any]:
    """Sizes or indices of an image in the order N, C, H, W."""
    return cast("Any", tuple(values[layout.index(axis)] for axis in LOGICAL))


def physical(values: Sequence[Any], layout: str) -> tuple[Any, ...]:
    """Sizes or indices in the order N, C, H, W as they are in an image."""
    return tuple(values[LOGICAL.index(axis)] for axis in layout)


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
