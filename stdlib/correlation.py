"""Correlation of images: how well parts of one match parts of another, moved a little."""

from __future__ import annotations

from typing import Any

from hybridjit.errors import ArgumentValueError
from hybridjit.stdlib.padding import extend_by
from hybridjit.stdlib.parts.accumulation import meeting_float
from hybridjit.stdlib.parts.elements import call
from hybridjit.stdlib.parts.images import check_images
from hybridjit.stdlib.parts.precision import working_type
from hybridjit.stdlib.parts.shapes import are_equal, fill, shown
from hybridjit.stdlib.parts.types import Padding, T
from hybridjit.stdlib.parts.windows import read_padding, read_sizes
from hybridjit.stdlib.running.compiled import scheduled_by
from hybridjit.stdlib.running.operator import operator
from hybridjit.stdlib.running.schedules import along_rows
from hybridjit.te import reduce_axis
from hybridjit.te import sum as added

RECIPE = scheduled_by(along_rows, fastmath=("contract", "reassoc"))


@operator(recipe=RECIPE)
def correlation(
    x: T,
    y: T,
    kernel_size: int = 1,
    max_displacement: int = 1,
    stride1: int = 1,
    stride2: int = 1,
    padding: Padding = 0,
    is_multiply: bool = True,
) -> T:
    """Means of products of parts of x with parts of y that are moved, a channel for each movement.

    Both have the shape (batch, channels, rows, columns). Parts are squares of kernel_size, which is
    odd, around every stride1-th place; those of y are moved by up to max_displacement, stride2 at a
    time, down first. With is_multiply=False means of distances instead. A float64 of integers.

    >>> hs.correlation(np.ones((1, 2, 5, 4)), np.ones((1, 2, 5, 4))).shape
    (1, 9, 3, 2)
    """
    name = "correlation"
    _check_pair(x, y)
    (size,) = read_sizes(name, "kernel_size", kernel_size, 1)
    (reach,) = read_sizes(name, "max_displacement", max_displacement, 1, least=0)
    steps = [read_sizes(name, "strides", step, 1)[0] for step in (stride1, stride2)]
    if size % 2 == 0:
        raise ArgumentValueError(f"{name}: kernel_size must be odd, got {size}")
    sides = read_padding(name, padding, [size] * 2, [1, 1], x.shape[2:])
    widths = [(0, 0), (0, 0), *sides]
    is_padded = not all(are_equal(width, 0) for side in sides for width in side)
    parts: list[Any] = [x, y]
    if is_padded:
        parts = [extend_by(f"{name}_padded", part, widths, "constant", 0) for part in parts]
    first, second = parts
    border = reach + (size - 1) // 2
    counts = [(extent - 2 * border + steps[0] - 1) // steps[0] for extent in first.shape[2:]]
    if any(isinstance(count, int) and count < 1 for count in counts):
        raise ArgumentValueError(f"{name}: {shown(first)} has no place that is {border} from edges")
    farthest = reach // steps[1]
    moves = 2 * farthest + 1
    dtype = meeting_float(x[0, 0, 0, 0], y[0, 0, 0, 0])
    working = working_type(dtype)
    loops = [reduce_axis((0, n), k) for n, k in ((x.shape[1], "c"), (size, "i"), (size, "j"))]

    def element(at: tuple[Any, ...]) -> Any:
        n, down, right, *places = at
        c, *offsets = loops
        own = [place * steps[0] + reach + k for place, k in zip(places, offsets, strict=True)]
        moved = [
            place + (move - farthest) * steps[1]
            for place, move in zip(own, (down, right), strict=True)
        ]
        a, b = (first[(n, c, *own)].astype(working), second[(n, c, *moved)].astype(working))
        return added(a * b if is_multiply else call("abs", a - b), axis=loops)

    # Movements are two axes at first: what is read is plain then.
    total = fill(f"{name}_sum", (x.shape[0], moves, moves, *counts), element)
    count = x.shape[1] * (size * size)
    return fill(
        name,
        (x.shape[0], moves * moves, *counts),
        lambda at: (total[(at[0], at[1] // moves, at[1] % moves, *at[2:])] / count).astype(dtype),
    )


def _check_pair(x: Any, y: Any) -> None:
    for images in (x, y):
        check_images("correlation", images, "NCHW")
    if not all(map(are_equal, x.shape, y.shape)):
        raise ArgumentValueError(f"correlation: {shown(x)} and {shown(y)} must have the same shape")
