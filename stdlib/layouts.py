"""Elements in other places: layouts of axes, and blocks of space as channels or as batches."""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from typing import Any, Literal, cast

from hybridjit import hybrid
from hybridjit.errors import ArgumentError, ArgumentValueError
from hybridjit.ir.dtype import DType
from hybridjit.stdlib.padding import extend_by
from hybridjit.stdlib.parts.requirements import Guard, as_it_is, both, multiple_of, not_empty
from hybridjit.stdlib.parts.shapes import (
    are_equal,
    check_choice,
    check_rank,
    fill,
    normalize_axis,
    read_dtype,
    read_integers,
    replaced,
    shown,
)
from hybridjit.stdlib.parts.types import Number, T
from hybridjit.stdlib.running.operator import operator
from hybridjit.te import extern, if_then_else

_SEQUENCE: tuple[type[Any], ...] = (tuple, list)

Mode = Literal["DCR", "CRD"]


@operator
def layout_transform(x: T, source: str, destination: str) -> T:
    """x in another layout, as from "NCHW" to "NHWC", or to "NCHW8c": channels in blocks of 8.

    A small letter with a number is the part of its axis that runs inside of a block.

    >>> hs.layout_transform(np.arange(4).reshape(1, 4), "NC", "CN2c")
    array([[[0, 1]],
    <BLANKLINE>
           [[2, 3]]])
    """
    old, new = _read_layout(source), _read_layout(destination)
    _check_layouts(x, source, old, destination, new)
    whole = {name: size for (name, _), size in zip(old, x.shape, strict=True) if name.isupper()}
    for name, size in old:
        if name.islower():
            whole[name.upper()] = whole[name.upper()] * size

    guards = [_whole_blocks(axis, whole, new) for axis in new]
    guards += [_of_size(axis, size) for axis, size in zip(old, x.shape, strict=True)]
    guard = functools.reduce(both, guards)

    def element(at: tuple[Any, ...]) -> Any:
        places = _whole_places(new, at)
        return guard(x[tuple(_part_of(places, axis, old) for axis in old)])

    return fill("layout_transform", [_size_of(axis, whole, new) for axis in new], element)


Axis = tuple[str, int]
"""The letter of an axis, and the size of its block if the letter is small."""


def _read_layout(layout: str) -> list[Axis]:
    parts = re.findall(r"([A-Z])|(\d+)([a-z])", layout)
    if "".join(map("".join, parts)) != layout or not parts:
        raise ArgumentValueError(
            f"layout_transform: there is no layout {layout!r}", help="as 'NCHW' or 'NCHW16c'"
        )
    return [(big, 1) if big else (small, int(size)) for big, size, small in parts]


def _check_layouts(x: Any, source: str, old: list[Axis], destination: str, new: list[Axis]) -> None:
    names = [sorted(name for name, _ in axes) for axes in (old, new)]
    is_once = all(len(set(found)) == len(found) for found in names)
    has_outer = all(
        name.upper() in found and (name.isupper() or size > 0)
        for found, axes in zip(names, (old, new), strict=True)
        for name, size in axes
    )
    outer = [[name for name in found if name.isupper()] for found in names]
    if not is_once or not has_outer or outer[0] != outer[1]:
        raise ArgumentValueError(
            f"layout_transform: {source!r} and {destination!r} do not have the same axes, each once"
        )
    check_rank("layout_transform", x, len(old), source)
    for (name, size), extent in zip(old, x.shape, strict=True):
        if name.islower() and isinstance(extent, int) and extent != size:
            raise ArgumentValueError(
                f"layout_transform: axis {name!r} of {source!r} has the size {size}, that of "
                f"{shown(x)} {extent}"
            )


def _block(name: str, axes: list[Axis]) -> int:
    """How many elements of an axis are inside of its block."""
    return next((size for inner, size in axes if inner == name.lower()), 1)


def _size_of(axis: Axis, whole: dict[str, Any], axes: list[Axis]) -> Any:
    name, size = axis
    if name.islower():
        return size
    block = _block(name, axes)
    if isinstance(whole[name], int) and whole[name] % block:
        raise ArgumentValueError(
            f"layout_transform: the {whole[name]} elements along {name!r} are no blocks of {block}",
            help="pad them first, with hs.pad",
        )
    return whole[name] // block if block > 1 else whole[name]


def _whole_blocks(axis: Axis, whole: dict[str, Any], axes: list[Axis]) -> Guard:
    name, _ = axis
    if name.islower():
        return as_it_is
    block = _block(name, axes)
    message = f"the elements along {name!r} are no blocks of {block}"
    return multiple_of("layout_transform", whole[name], block, message)


def _of_size(axis: Axis, size: Any) -> Guard:
    """Refuse an axis of the run that is not as long as its block."""
    name, wanted = axis
    if name.isupper() or are_equal(size, wanted):
        return as_it_is
    message = f"axis {name!r} has not the size {wanted}"
    return not_empty("layout_transform", 1 - (size - wanted) * (size - wanted), message)


def _whole_places(axes: list[Axis], at: Sequence[Any]) -> dict[str, Any]:
    """Places along whole axes of an element of a layout."""
    given = {name: index for (name, _), index in zip(axes, at, strict=True)}
    found: dict[str, Any] = {}
    for name, index in given.items():
        if name.isupper():
            block = _block(name, axes)
            found[name] = index * block + given[name.lower()] if name.lower() in given else index
    return found


def _part_of(places: dict[str, Any], axis: Axis, axes: list[Axis]) -> Any:
    name, size = axis
    if name.islower():
        return places[name.upper()] % size
    block = _block(name, axes)
    return places[name] // block if block > 1 else places[name]


# -- bits ------------------------------------------------------------------------------------------


@hybrid.packed
def _copy_bits(x: Any, out: Any) -> None:
    out.view(x.dtype)[...] = x


@operator(differentiable=False)
def reinterpret(x: T, dtype: Any) -> T:
    """The bits of x as numbers of another type of the same width.

    >>> hs.reinterpret(np.array([1.0], np.float32), "int32")
    array([1065353216], dtype=int32)
    """
    return _reinterpreted(x, read_dtype("reinterpret", dtype))


def _reinterpreted(x: Any, dtype: DType) -> Any:
    if dtype.bits != x.dtype.bits:
        raise ArgumentError(
            f"reinterpret: '{x.name}' is of type {x.dtype}, whose bits are none of {dtype}"
        )
    return extern(x.shape, [x], _copy_bits, dtype=dtype.name, name="reinterpret")


# -- queues ----------------------------------------------------------------------------------------


@operator
def fifo_buffer(x: T, buffer: T, axis: int = 0) -> T:
    """The buffer with x at its end along an axis, and as much less at its beginning.

    >>> hs.fifo_buffer(np.array([8.0, 9.0]), np.array([1.0, 2.0, 3.0, 4.0, 5.0]))
    array([3., 4., 5., 8., 9.])
    """
    place = normalize_axis("fifo_buffer", buffer, axis)
    _check_queue(x, buffer, place)
    new, size = x.shape[place], buffer.shape[place]

    guard = not_empty("fifo_buffer", size - new + 1, "x does not fit into the buffer")

    def element(at: tuple[Any, ...]) -> Any:
        is_old = at[place] < size - new
        old = buffer[replaced(at, place, at[place] + new)]
        return guard(if_then_else(is_old, old, x[replaced(at, place, at[place] - (size - new))]))

    return fill("fifo_buffer", buffer.shape, element)


def _check_queue(x: Any, buffer: Any, axis: int) -> None:
    fits = x.ndim == buffer.ndim and x.dtype is buffer.dtype
    if not fits or not all(
        map(are_equal, replaced(x.shape, axis, 1), replaced(buffer.shape, axis, 1))
    ):
        raise ArgumentValueError(
            f"fifo_buffer: {shown(x)}, {x.dtype}, is no part of {shown(buffer)}, {buffer.dtype}"
        )
    sizes = x.shape[axis], buffer.shape[axis]
    if all(isinstance(size, int) for size in sizes) and sizes[0] > sizes[1]:
        raise ArgumentValueError(f"fifo_buffer: {sizes[0]} elements do not fit into {sizes[1]}")


# -- blocks of space -------------------------------------------------------------------------------


@operator
def depth_to_space(x: T, block: int, *, mode: Mode = "DCR", layout: str = "NCHW") -> T:
    """Channels of images as blocks of rows and columns.

    With mode="DCR" the channels of a result are next to each other, with "CRD" those of a block.

    >>> hs.depth_to_space(np.arange(4).reshape(1, 4, 1, 1), 2)[0, 0]
    array([[0, 1],
           [2, 3]])
    """
    check_choice("depth_to_space", "mode", mode, ("DCR", "CRD"))
    n, c, h, w = _image_sizes("depth_to_space", x, layout)
    (size,) = read_integers("depth_to_space", "block", block, 1)
    channels, guard = _divided("depth_to_space", x, c, size * size)

    def element(at: tuple[Any, ...]) -> Any:
        batch, channel, row, column = (at[layout.index(axis)] for axis in "NCHW")
        offset = (row % size) * size + column % size
        is_deep = mode == "DCR"
        depth = offset * channels + channel if is_deep else channel * size * size + offset
        return guard(x[_placed((batch, depth, row // size, column // size), layout)])

    return fill("depth_to_space", _placed((n, channels, h * size, w * size), layout), element)


@operator
def space_to_depth(x: T, block: int, *, layout: str = "NCHW") -> T:
    """Blocks of rows and columns of images as channels: the inverse of depth_to_space.

    >>> hs.space_to_depth(np.arange(4).reshape(1, 1, 2, 2), 2).shape
    (1, 4, 1, 1)
    """
    n, c, h, w = _image_sizes("space_to_depth", x, layout)
    (size,) = read_integers("space_to_depth", "block", block, 1)
    found = [_divided("space_to_depth", x, extent, size) for extent in (h, w)]
    (rows, has_rows), (columns, has_columns) = found
    guard = both(has_rows, has_columns)

    def element(at: tuple[Any, ...]) -> Any:
        batch, depth, row, column = (at[layout.index(axis)] for axis in "NCHW")
        offset, channel = depth // c, depth % c
        places = (batch, channel, row * size + offset // size, column * size + offset % size)
        return guard(x[_placed(places, layout)])

    return fill("space_to_depth", _placed((n, c * size * size, rows, columns), layout), element)


def _image_sizes(name: str, x: Any, layout: str) -> tuple[Any, ...]:
    check_choice(name, "layout", layout, ("NCHW", "NHWC"))
    check_rank(name, x, 4, ", ".join(layout))
    return tuple(x.shape[layout.index(axis)] for axis in "NCHW")


def _placed(values: Sequence[Any], layout: str) -> tuple[Any, ...]:
    return tuple(values["NCHW".index(axis)] for axis in layout)


def _divided(name: str, x: Any, size: Any, by: int) -> tuple[Any, Guard]:
    if by < 1 or (isinstance(size, int) and size % by):
        raise ArgumentValueError(f"{name}: {shown(x)} is not made of blocks: {size} by {by}")
    return size // by, multiple_of(name, size, by, f"'{x.name}' is not made of blocks of {by}")


@operator
def batch_to_space_nd(
    x: T, block_shape: Sequence[int], crops: Sequence[Sequence[int]] | None = None
) -> T:
    """Batches as blocks of the axes after the first, of which `crops` are left out at both ends.

    >>> hs.batch_to_space_nd(np.arange(4).reshape(4, 1, 1), [2, 2])
    array([[[0, 1],
            [2, 3]]])
    """
    name = "batch_to_space_nd"
    blocks = _read_blocks(name, x, block_shape)
    sides = _read_sides(name, "crops", crops, len(blocks))
    count = 1
    for block in blocks:
        count *= block
    batch, guard = _divided(name, x, x.shape[0], count)
    inner = x.shape[1 : 1 + len(blocks)]
    sizes = [
        size * block - before - after
        for size, block, (before, after) in zip(inner, blocks, sides, strict=True)
    ]
    if any(isinstance(size, int) and size < 0 for size in sizes):
        raise ArgumentValueError(
            f"{name}: crops {sides} leave out more than there is of {shown(x)} in blocks of "
            f"{tuple(blocks)}"
        )

    def element(at: tuple[Any, ...]) -> Any:
        places = [
            index + before
            for index, (before, _) in zip(at[1 : 1 + len(blocks)], sides, strict=True)
        ]
        offset: Any = 0
        for place, block in zip(places, blocks, strict=True):
            offset = offset * block + place % block
        outer = [place // block for place, block in zip(places, blocks, strict=True)]
        return guard(x[(offset * batch + at[0], *outer, *at[1 + len(blocks) :])])

    return fill(name, (batch, *sizes, *x.shape[1 + len(blocks) :]), element)


@operator
def space_to_batch_nd(
    x: T,
    block_shape: Sequence[int],
    paddings: Sequence[Sequence[int]] | None = None,
    value: T | Number = 0,
) -> T:
    """Blocks of the axes after the first as batches, with a border of `value` at both ends.

    >>> hs.space_to_batch_nd(np.arange(4).reshape(1, 2, 2), [2, 2]).shape
    (4, 1, 1)
    """
    name = "space_to_batch_nd"
    blocks = _read_blocks(name, x, block_shape)
    sides = _read_sides(name, "paddings", paddings, len(blocks))
    rest = [(0, 0)] * (x.ndim - 1 - len(blocks))
    padded = extend_by(name, x, [(0, 0), *sides, *rest], "constant", value)
    batch, inner = x.shape[0], padded.shape[1 : 1 + len(blocks)]
    parts = [_divided(name, x, size, block) for size, block in zip(inner, blocks, strict=True)]
    sizes = [size for size, _ in parts]
    guard = functools.reduce(both, (of_axis for _, of_axis in parts))
    count = 1
    for block in blocks:
        count *= block

    def element(at: tuple[Any, ...]) -> Any:
        offset, own = at[0] // batch, at[0] % batch
        places: list[Any] = []
        for index, block in zip(at[len(blocks) : 0 : -1], blocks[::-1], strict=True):
            places.insert(0, index * block + offset % block)
            offset = offset // block
        return guard(padded[(own, *places, *at[1 + len(blocks) :])])

    return fill(name, (batch * count, *sizes, *x.shape[1 + len(blocks) :]), element)


def _read_blocks(name: str, x: Any, block_shape: Any) -> list[int]:
    blocks = read_integers(name, "block_shape", block_shape)
    if not blocks or min(blocks) < 1 or len(blocks) >= x.ndim:
        raise ArgumentValueError(f"{name}: {shown(x)} has no blocks of shape {block_shape!r}")
    return blocks


def _read_sides(name: str, what: str, sides: Any, count: int) -> list[tuple[int, int]]:
    if sides is None:
        return [(0, 0)] * count
    given = cast("Sequence[Any]", sides) if isinstance(sides, _SEQUENCE) else ()
    pairs = [read_integers(name, what, pair, 2) for pair in given]
    if len(pairs) != count or any(width < 0 for pair in pairs for width in pair):
        raise ArgumentValueError(f"{name}: {what} must be {count} pairs of widths, got {sides!r}")
    return [(before, after) for before, after in pairs]
