"""Pooling of images: the largest element, or the average, of windows."""

from __future__ import annotations

from typing import Any

from hybridjit.stdlib.parts.accumulation import average
from hybridjit.stdlib.parts.extrema import find_extremum, largest
from hybridjit.stdlib.parts.images import Layout, Layout1, Layout3, check_images, spatial_axes
from hybridjit.stdlib.parts.sliding import read_pool
from hybridjit.stdlib.parts.types import Padding, Pair, T
from hybridjit.stdlib.parts.windows import Movement
from hybridjit.stdlib.running.compiled import scheduled_by
from hybridjit.stdlib.running.operator import operator
from hybridjit.stdlib.running.schedules import along_rows, as_written
from hybridjit.te import Expression, min_value

# Windows are small: LLVM writes their loops out, and makes vectors of neighbouring results.
WINDOWS = scheduled_by(as_written)
WHOLE_IMAGES = scheduled_by(along_rows, fastmath=("reassoc",))


@operator(recipe=WINDOWS)
def max_pool2d(
    x: T,
    size: Pair,
    *,
    stride: Pair | None = None,
    padding: Padding = 0,
    dilation: Pair = 1,
    ceil_mode: bool = False,
    layout: Layout = "NCHW",
) -> T:
    """The largest element of each window of images; NaN, if there is one. Padding never counts.

    Windows move by their size unless a stride is given. With ceil_mode, elements that are left
    over at the end get a window, too.

    >>> hs.max_pool2d(np.arange(16.0).reshape(1, 1, 4, 4), 2)
    array([[[[ 5.,  7.],
             [13., 15.]]]])
    """
    how = Movement(size if stride is None else stride, padding, dilation, ceil_mode)
    pool = read_pool("max_pool2d", x, size, how, layout)
    return pool.reduce("max_pool2d", largest, _lowest(x))


@operator(recipe=WINDOWS)
def avg_pool2d(
    x: T,
    size: Pair,
    *,
    stride: Pair | None = None,
    padding: Padding = 0,
    dilation: Pair = 1,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    layout: Layout = "NCHW",
) -> T:
    """The average of each window of images; a float64 of integers.

    Windows move by their size unless a stride is given. With ceil_mode, elements that are left
    over at the end get a window, too. Padding counts as zeros, or not at all.

    >>> hs.avg_pool2d(np.arange(16.0).reshape(1, 1, 4, 4), 2)
    array([[[[ 2.5,  4.5],
             [10.5, 12.5]]]])
    """
    how = Movement(size if stride is None else stride, padding, dilation, ceil_mode)
    pool = read_pool("avg_pool2d", x, size, how, layout)
    return pool.average(counts_padding=count_include_pad)


@operator(recipe=WHOLE_IMAGES)
def global_max_pool2d(x: T, *, layout: Layout = "NCHW") -> T:
    """The largest element of each channel of images.

    >>> hs.global_max_pool2d(np.arange(8.0).reshape(1, 2, 2, 2))[0, :, 0, 0]
    array([3., 7.])
    """
    check_images("global_max_pool2d", x, layout)
    axes = layout.index("H"), layout.index("W")
    return find_extremum("global_max_pool2d", largest, x, axes, keepdims=True)


@operator(recipe=WHOLE_IMAGES)
def global_avg_pool2d(x: T, *, layout: Layout = "NCHW") -> T:
    """The average of each channel of images; a float64 of integers.

    >>> hs.global_avg_pool2d(np.arange(8.0).reshape(1, 2, 2, 2))[0, :, 0, 0]
    array([1.5, 5.5])
    """
    check_images("global_avg_pool2d", x, layout)
    axes = layout.index("H"), layout.index("W")
    return average("global_avg_pool2d", x, axes, keepdims=True)


@operator(recipe=WINDOWS)
def max_pool1d(
    x: T,
    size: int,
    *,
    stride: int | None = None,
    padding: Padding = 0,
    dilation: int = 1,
    ceil_mode: bool = False,
    layout: Layout1 = "NCW",
) -> T:
    """The largest element of each window of signals; NaN, if there is one. As max_pool2d.

    >>> hs.max_pool1d(np.arange(4.0).reshape(1, 1, 4), 2)
    array([[[1., 3.]]])
    """
    how = Movement(size if stride is None else stride, padding, dilation, ceil_mode)
    pool = read_pool("max_pool1d", x, size, how, layout, 1)
    return pool.reduce("max_pool1d", largest, _lowest(x))


@operator(recipe=WINDOWS)
def avg_pool1d(
    x: T,
    size: int,
    *,
    stride: int | None = None,
    padding: Padding = 0,
    dilation: int = 1,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    layout: Layout1 = "NCW",
) -> T:
    """The average of each window of signals; a float64 of integers. As avg_pool2d.

    >>> hs.avg_pool1d(np.arange(4.0).reshape(1, 1, 4), 2)
    array([[[0.5, 2.5]]])
    """
    how = Movement(size if stride is None else stride, padding, dilation, ceil_mode)
    pool = read_pool("avg_pool1d", x, size, how, layout, 1)
    return pool.average(counts_padding=count_include_pad)


@operator(recipe=WINDOWS)
def max_pool3d(
    x: T,
    size: Pair,
    *,
    stride: Pair | None = None,
    padding: Padding = 0,
    dilation: Pair = 1,
    ceil_mode: bool = False,
    layout: Layout3 = "NCDHW",
) -> T:
    """The largest element of each window of volumes; NaN, if there is one. As max_pool2d.

    >>> hs.max_pool3d(np.arange(8.0).reshape(1, 1, 2, 2, 2), 2)
    array([[[[[7.]]]]])
    """
    how = Movement(size if stride is None else stride, padding, dilation, ceil_mode)
    pool = read_pool("max_pool3d", x, size, how, layout, 3)
    return pool.reduce("max_pool3d", largest, _lowest(x))


@operator(recipe=WINDOWS)
def avg_pool3d(
    x: T,
    size: Pair,
    *,
    stride: Pair | None = None,
    padding: Padding = 0,
    dilation: Pair = 1,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    layout: Layout3 = "NCDHW",
) -> T:
    """The average of each window of volumes; a float64 of integers. As avg_pool2d.

    >>> hs.avg_pool3d(np.arange(8.0).reshape(1, 1, 2, 2, 2), 2)
    array([[[[[3.5]]]]])
    """
    how = Movement(size if stride is None else stride, padding, dilation, ceil_mode)
    pool = read_pool("avg_pool3d", x, size, how, layout, 3)
    return pool.average(counts_padding=count_include_pad)


@operator(recipe=WHOLE_IMAGES)
def global_max_pool1d(x: T, *, layout: Layout1 = "NCW") -> T:
    """The largest element of each channel of signals.

    >>> hs.global_max_pool1d(np.ones((1, 2, 5))).shape
    (1, 2, 1)
    """
    check_images("global_max_pool1d", x, layout, 1)
    axes = [layout.index(axis) for axis in spatial_axes(layout)]
    return find_extremum("global_max_pool1d", largest, x, axes, keepdims=True)


@operator(recipe=WHOLE_IMAGES)
def global_avg_pool1d(x: T, *, layout: Layout1 = "NCW") -> T:
    """The average of each channel of signals; a float64 of integers.

    >>> hs.global_avg_pool1d(np.ones((1, 2, 5))).shape
    (1, 2, 1)
    """
    check_images("global_avg_pool1d", x, layout, 1)
    axes = [layout.index(axis) for axis in spatial_axes(layout)]
    return average("global_avg_pool1d", x, axes, keepdims=True)


@operator(recipe=WHOLE_IMAGES)
def global_max_pool3d(x: T, *, layout: Layout3 = "NCDHW") -> T:
    """The largest element of each channel of volumes.

    >>> hs.global_max_pool3d(np.ones((1, 2, 3, 3, 3))).shape
    (1, 2, 1, 1, 1)
    """
    check_images("global_max_pool3d", x, layout, 3)
    axes = [layout.index(axis) for axis in spatial_axes(layout)]
    return find_extremum("global_max_pool3d", largest, x, axes, keepdims=True)


@operator(recipe=WHOLE_IMAGES)
def global_avg_pool3d(x: T, *, layout: Layout3 = "NCDHW") -> T:
    """The average of each channel of volumes; a float64 of integers.

    >>> hs.global_avg_pool3d(np.ones((1, 2, 3, 3, 3))).shape
    (1, 2, 1, 1, 1)
    """
    check_images("global_avg_pool3d", x, layout, 3)
    axes = [layout.index(axis) for axis in spatial_axes(layout)]
    return average("global_avg_pool3d", x, axes, keepdims=True)


def _lowest(x: Any) -> Expression:
    return min_value(x.dtype.name)
