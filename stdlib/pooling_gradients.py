"""Gradients of poolings: what each window gave, back to the elements that it saw."""

from __future__ import annotations

from typing import Any

import numpy as np

from hybridjit import hybrid
from hybridjit.errors import ArgumentError, ArgumentValueError
from hybridjit.stdlib.parts.accumulation import convert
from hybridjit.stdlib.parts.images import Layout, logical, physical
from hybridjit.stdlib.parts.precision import working_type
from hybridjit.stdlib.parts.shapes import are_equal, count_elements, fill, shown
from hybridjit.stdlib.parts.sliding import Pool, read_pool
from hybridjit.stdlib.parts.types import Padding, Pair, T
from hybridjit.stdlib.parts.windows import Movement, Window
from hybridjit.stdlib.running.operator import operator


def _is_larger(value: Any, best: Any) -> Any:
    return value > best or (value != value and best == best)


def _find_largest(x: Any, n: Any, c: Any, start: Any, how: Any, best: Any, place: Any) -> None:
    """For each window of a row the number of its largest place, or -1, and what is there.

    The windows side by side, place by place, where it is inside the image.
    """
    size, step, apart, before = how
    for i in range(size[0]):
        row = start + i * apart[0]
        if 0 <= row < x.shape[2]:
            for j in range(size[1]):
                left = j * apart[1] - before[1]
                first = max(0, -(left // step[1]))
                last = min(len(place), (x.shape[3] - left + step[1] - 1) // step[1])
                for z in range(first, last):
                    value = x[n, c, row, z * step[1] + left]
                    if place[z] < 0 or _is_larger(value, best[z]):
                        best[z] = value
                        place[z] = i * size[1] + j


@hybrid.script
def _give_to_largest(grads: Any, x: Any, size: Any, step: Any, apart: Any, before: Any) -> Any:
    """Each gradient to the largest element of its window, the first one or the first NaN."""
    out = np.zeros(x.shape, grads.dtype)
    best = np.empty(grads.shape[3], x.dtype)
    place = np.empty(grads.shape[3], np.int64)
    for n in range(x.shape[0]):
        for c in range(x.shape[1]):
            for y in range(grads.shape[2]):
                top = y * step[0] - before[0]
                for z in range(grads.shape[3]):
                    place[z] = -1
                _find_largest(x, n, c, top, (size, step, apart, before), best, place)
                for z in range(grads.shape[3]):
                    if place[z] >= 0:
                        row = top + place[z] // size[1] * apart[0]
                        column = z * step[1] - before[1] + place[z] % size[1] * apart[1]
                        out[n, c, row, column] += grads[n, c, y, z]
    return out


@hybrid.script
def _give_to_all(grads: Any, rows: Any, columns: Any, size: Any, step: Any, before: Any) -> Any:
    """Each gradient to every element of its window."""
    batch, channels = grads.shape[0], grads.shape[1]
    out = np.zeros((batch, channels, rows, columns), grads.dtype)
    for n in range(batch):
        for c in range(channels):
            for y in range(grads.shape[2]):
                top = max(y * step[0] - before[0], 0)
                bottom = min(y * step[0] - before[0] + size[0], rows)
                for z in range(grads.shape[3]):
                    left = max(z * step[1] - before[1], 0)
                    right = min(z * step[1] - before[1] + size[1], columns)
                    for i in range(top, bottom):
                        for j in range(left, right):
                            out[n, c, i, j] += grads[n, c, y, z]
    return out


@operator(differentiable=False)
def max_pool2d_grad(
    grads: T,
    x: T,
    size: Pair,
    *,
    stride: Pair | None = None,
    padding: Padding = 0,
    dilation: Pair = 1,
    ceil_mode: bool = False,
    layout: Layout = "NCHW",
) -> T:
    """The gradient of max_pool2d by x, of gradients by its results.

    Of equal elements of a window the first one has it all; a NaN is larger than numbers.

    >>> hs.max_pool2d_grad(np.ones((1, 1, 1, 2)), np.array([[[[1.0, 3.0, 2.0]]]]), (1, 2), stride=1)
    array([[[[0., 2., 0.]]]])
    """
    how = Movement(size if stride is None else stride, padding, dilation, ceil_mode)
    pool = read_pool("max_pool2d_grad", x, size, how, layout)
    given = _read_gradients(pool, grads)
    windows = _sizes_of(pool)
    made: Any = _give_to_largest(given, _in_order(pool.name, x, layout), *windows)
    return _put_back(pool, made, grads)


@operator(differentiable=False)
def avg_pool2d_grad(
    grads: T,
    x: T,
    size: Pair,
    *,
    stride: Pair | None = None,
    padding: Padding = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    layout: Layout = "NCHW",
) -> T:
    """The gradient of avg_pool2d by x, of gradients by its results; of x only the shape counts.

    >>> hs.avg_pool2d_grad(np.ones((1, 1, 1, 2)), np.zeros((1, 1, 1, 3)), (1, 2), stride=1)
    array([[[[0.5, 1. , 0.5]]]])
    """
    how = Movement(size if stride is None else stride, padding, 1, ceil_mode)
    pool = read_pool("avg_pool2d_grad", x, size, how, layout)
    given = _read_gradients(pool, grads)
    extents = logical(x.shape, layout)[2:]

    def share(at: tuple[Any, ...]) -> Any:
        counts = [
            window.count_elements(place, extent, counts_padding=count_include_pad)
            for window, place, extent in zip(pool.windows, at[2:], extents, strict=True)
        ]
        return given[at] / count_elements(tuple(counts), range(2))

    shares = fill(f"{pool.name}_shares", given.shape, share)
    sizes, steps, _, before = _sizes_of(pool)
    made: Any = _give_to_all(shares, extents[0], extents[1], sizes, steps, before)
    return _put_back(pool, made, grads)


def _read_gradients(pool: Pool, grads: Any) -> Any:
    """Gradients in the order N, C, H, W, in the type to compute in, one for each window."""
    if not grads.dtype.is_float:
        raise ArgumentError(f"{pool.name}: '{grads.name}' must hold floats, got {grads.dtype}")
    batch, channels, *extents = logical(pool.x.shape, pool.layout)
    counts = map(Window.count, pool.windows, extents)
    wanted = physical((batch, channels, *counts), pool.layout)
    if grads.ndim != 4 or not all(map(are_equal, grads.shape, wanted)):
        raise ArgumentValueError(
            f"{pool.name}: {shown(grads)} has not one for each window of {shown(pool.x)}"
        )
    working = working_type(grads.dtype)
    return _in_order(pool.name, convert(f"{pool.name}_wide", grads, working), pool.layout)


def _in_order(name: str, x: Any, layout: str) -> Any:
    if layout == "NCHW":
        return x
    return fill(f"{name}_ordered", logical(x.shape, layout), lambda at: x[physical(at, layout)])


def _put_back(pool: Pool, made: Any, grads: Any) -> Any:
    """What was made in the order N, C, H, W in the layout and type of the gradients."""
    return fill(
        pool.name, pool.x.shape, lambda at: made[logical(at, pool.layout)].astype(grads.dtype)
    )


def _sizes_of(pool: Pool) -> tuple[Any, ...]:
    """Sizes, strides, dilations and padding of windows over rows and columns."""
    return tuple(
        tuple(getattr(window, what) for window in pool.windows)
        for what in ("size", "stride", "dilation", "before")
    )
