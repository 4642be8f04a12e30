"""Convolutions by other ways: of channels in blocks, and of tiles by Winograd's transform."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hybridjit.errors import ArgumentError, ArgumentValueError
from hybridjit.stdlib.padding import extend_by
from hybridjit.stdlib.parts.accumulation import convert, meeting_type
from hybridjit.stdlib.parts.constants import constant_matrix
from hybridjit.stdlib.parts.images import check_images
from hybridjit.stdlib.parts.precision import working_type
from hybridjit.stdlib.parts.shapes import (
    are_equal,
    check_rank,
    count_elements,
    fill,
    flat_place,
    indices_at,
    shown,
)
from hybridjit.stdlib.parts.sliding import offsets_of
from hybridjit.stdlib.parts.types import Padding, Pair, T
from hybridjit.stdlib.parts.windows import Movement, Window, read_windows
from hybridjit.stdlib.running.compiled import scheduled_by
from hybridjit.stdlib.running.operator import operator
from hybridjit.stdlib.running.schedules import as_written, in_tiles
from hybridjit.te import reduce_axis
from hybridjit.te import sum as added

RECIPE = scheduled_by(in_tiles, fastmath=("contract", "reassoc"))
# Transforms are small products along long rows, for which tiles cost more than they save.
STAGES = scheduled_by(as_written, fastmath=("contract", "reassoc"))


@operator(recipe=RECIPE)
def conv2d_packed(x: T, w: T, *, stride: Pair = 1, padding: Padding = 0, dilation: Pair = 1) -> T:
    """conv2d of channels in blocks, as the layouts NCHWc and OIHWio have them.

    `x` has the shape (batch, channels / block, rows, columns, block), `w` the shape (outputs /
    outputs of a block, channels / block, rows, columns, block, outputs of a block), the result
    (batch, outputs / outputs of a block, rows, columns, outputs of a block).

    >>> hs.conv2d_packed(np.ones((1, 2, 3, 3, 4)), np.ones((5, 2, 3, 3, 4, 6)))[0, 0, 0, 0]
    array([72., 72., 72., 72., 72., 72.])
    """
    name = "conv2d_packed"
    check_rank(name, x, 5, "batch, blocks of channels, rows, columns, channels of a block")
    check_rank(
        name, w, 6, "blocks of outputs, blocks of channels, rows, columns, channels, outputs"
    )
    if not (are_equal(x.shape[1], w.shape[1]) and are_equal(x.shape[4], w.shape[4])):
        raise ArgumentValueError(f"{name}: the channels of {shown(x)} and {shown(w)} do not match")
    how = Movement(stride, padding, dilation)
    windows = read_windows(name, w.shape[2:4], x.shape[2:4], how)
    padded = _extended(name, x, windows, [(0, 0), (0, 0)], [(0, 0)])
    dtype = meeting_type(x[(0,) * 5], w[(0,) * 6])
    working = working_type(dtype)
    outer, inner = reduce_axis((0, x.shape[1]), "c"), reduce_axis((0, x.shape[4]), "b")
    offsets = offsets_of(w.shape[2:4])
    filters: Any = w

    def element(at: tuple[Any, ...]) -> Any:
        n, block, *places, output = at
        seen = map(Window.place, windows, places, offsets)
        value = padded[(n, outer, *seen, inner)].astype(working)
        weight = filters[(block, outer, *offsets, inner, output)].astype(working)
        return added(value * weight, axis=[outer, *offsets, inner])

    counts = map(Window.count, windows, x.shape[2:4])
    return convert(name, fill(name, (x.shape[0], w.shape[0], *counts, w.shape[5]), element), dtype)


def _extended(
    name: str, x: Any, windows: Sequence[Window], before: list[Any], after: list[Any]
) -> Any:
    """`x` with zeros where windows reach beyond its rows and columns."""
    sides = [(window.before, window.after) for window in windows]
    if all(are_equal(width, 0) for side in sides for width in side):
        return x
    return extend_by(f"{name}_padded", x, [*before, *sides, *after], "constant", 0)


# -- Winograd --------------------------------------------------------------------------------------

# For tiles of m results of 3 products each: what makes m + 2 numbers of the elements (rows of
# `DATA`) and of the filter (of `FILTER`), whose products `RESULT` adds up. From Lavin and Gray,
# "Fast algorithms for convolutional neural networks" (2015).
DATA = {
    2: ((1, 0, -1, 0), (0, 1, 1, 0), (0, -1, 1, 0), (0, 1, 0, -1)),
    4: (
        (4, 0, -5, 0, 1, 0),
        (0, -4, -4, 1, 1, 0),
        (0, 4, -4, -1, 1, 0),
        (0, -2, -1, 2, 1, 0),
        (0, 2, -1, -2, 1, 0),
        (0, 4, 0, -5, 0, 1),
    ),
}
FILTER = {
    2: ((1, 0, 0), (1 / 2, 1 / 2, 1 / 2), (1 / 2, -1 / 2, 1 / 2), (0, 0, 1)),
    4: (
        (1 / 4, 0, 0),
        (-1 / 6, -1 / 6, -1 / 6),
        (-1 / 6, 1 / 6, -1 / 6),
        (1 / 24, 1 / 12, 1 / 6),
        (1 / 24, -1 / 12, 1 / 6),
        (0, 0, 1),
    ),
}
RESULT = {
    2: ((1, 1, 1, 0), (0, 1, -1, -1)),
    4: ((1, 1, 1, 1, 1, 0), (0, 1, -1, 2, -2, 0), (0, 1, 1, 4, 4, 0), (0, 1, -1, 8, -8, 1)),
}


@operator(recipe=STAGES)
def conv2d_winograd(x: T, w: T, *, padding: Padding = 0, tile: int = 4) -> T:
    """conv2d with filters of 3 by 3 and a stride of 1, with fewer products, and less exact.

    Tiles of 4 by 4 results are made of 36 products for each channel, in the place of 144; tiles of
    2 by 2 of 16, in the place of 36. The error is at most (channels + 40) * channels * a * u *
    max|x| * max|w|, where u is half the distance from 1 to the next number of the type and `a` is
    81 for tiles of 2 and 36100 for those of 4; what is seen is a hundredth of it. conv2d, whose
    products run in registers, is as a rule faster on processors.

    >>> hs.conv2d_winograd(np.ones((1, 1, 3, 3)), np.ones((1, 1, 3, 3)), padding=1, tile=2)[0, 0]
    array([[4., 6., 4.],
           [6., 9., 6.],
           [4., 6., 4.]])
    """
    name = "conv2d_winograd"
    _check_winograd(x, w, tile)
    windows = read_windows(name, (3, 3), x.shape[2:], Movement(1, padding, 1))
    counts = [window.count(extent) for window, extent in zip(windows, x.shape[2:], strict=True)]
    tiles = [(count + tile - 1) // tile for count in counts]
    dtype = meeting_type(x[0, 0, 0, 0], w[0, 0, 0, 0])
    made = _Winograd(tile, (x.shape[0], *tiles), working_type(dtype))
    ends = [
        (window.before, count * tile + 2 - window.before - extent)
        for window, count, extent in zip(windows, tiles, x.shape[2:], strict=True)
    ]
    whole: Any = extend_by(f"{name}_padded", x, [(0, 0), (0, 0), *ends], "constant", 0)
    found = made.results(made.products(made.filters(w), made.elements(whole)), counts)
    return convert(name, found, dtype)


class _Winograd:
    """The stages of the transform, for tiles of one size in one type.

    Axes a and b are the rows and columns of transformed tiles. All tiles of a batch are the last
    axis, p, of all that is between the images and the result: transforms run along it in vectors.
    """

    def __init__(self, tile: int, tiles: tuple[Any, ...], working: Any) -> None:
        self._tile, self._tiles, self._working = tile, tiles, working
        self._data, self._filter, self._result = (
            constant_matrix(f"conv2d_winograd_{what}", rows[tile], working)
            for what, rows in (("data", DATA), ("filter", FILTER), ("result", RESULT))
        )

    def filters(self, w: Any) -> Any:
        """(a, b, outputs, channels)."""
        given = fill(
            "conv2d_winograd_filter",
            (3, 3, *w.shape[:2]),
            lambda at: w[(*at[2:], *at[:2])].astype(self._working),
        )
        return self._transformed("filters", self._filter, given)

    def elements(self, x: Any) -> Any:
        """(a, b, channels, p)."""
        size, step = self._tile + 2, self._tile

        def element(at: tuple[Any, ...]) -> Any:
            i, j, channel, place = at
            n, y, z = indices_at(self._tiles, place)
            return x[n, channel, y * step + i, z * step + j].astype(self._working)

        shape = (size, size, x.shape[1], count_elements(self._tiles, range(3)))
        return self._transformed(
            "elements", self._data, fill("conv2d_winograd_tiles", shape, element)
        )

    def products(self, filters: Any, elements: Any) -> Any:
        """(a, b, outputs, p): added up over channels."""
        c = reduce_axis((0, filters.shape[3]), "c")
        return fill(
            "conv2d_winograd_products",
            (*filters.shape[:3], elements.shape[3]),
            lambda at: added(filters[(*at[:3], c)] * elements[(*at[:2], c, at[3])], axis=c),
        )

    def results(self, products: Any, counts: Sequence[Any]) -> Any:
        """(batch, outputs, rows, columns)."""
        found, tile = self._transformed("results", self._result, products), self._tile

        def element(at: tuple[Any, ...]) -> Any:
            n, output, y, x = at
            place = flat_place(self._tiles, (n, y // tile, x // tile))
            return found[y % tile, x % tile, output, place]

        shape = (self._tiles[0], products.shape[2], *counts)
        return fill("conv2d_winograd", shape, element)

    def _transformed(self, what: str, matrix: Any, given: Any) -> Any:
        """The first two axes of tiles, each multiplied by a matrix."""
        size = given.shape[0]
        i, j = reduce_axis((0, size), "i"), reduce_axis((0, size), "j")
        new, rest = matrix.shape[0], given.shape[2:]
        rows = fill(
            f"conv2d_winograd_rows_of_{what}",
            (new, size, *rest),
            lambda at: added(matrix[at[0], i] * given[(i, *at[1:])], axis=i),
        )
        return fill(
            f"conv2d_winograd_{what}",
            (new, new, *rest),
            lambda at: added(matrix[at[1], j] * rows[(at[0], j, *at[2:])], axis=j),
        )


def _check_winograd(x: Any, w: Any, tile: int) -> None:
    name = "conv2d_winograd"
    check_images(name, x, "NCHW")
    check_rank(name, w, 4, "outputs, channels, 3, 3")
    if tile not in DATA:
        raise ArgumentValueError(f"{name}: tiles have 2 or 4 results along a side, got {tile!r}")
    if not (x.dtype.is_float and w.dtype.is_float):
        raise ArgumentError(
            f"{name}: it halves filters, which are floats, got {x.dtype}, {w.dtype}"
        )
    fits = [(w.shape[2], 3), (w.shape[3], 3), (w.shape[1], x.shape[1])]
    if not all(are_equal(*pair) for pair in fits):
        raise ArgumentValueError(f"{name}: {shown(w)} are no filters of 3 by 3 for {shown(x)}")
