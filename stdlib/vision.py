"""Detection: boxes and their scores, and parts of images. Boxes are (x1, y1, x2, y2)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from hybridjit import hybrid
from hybridjit.errors import ArgumentValueError
from hybridjit.ir.dtype import FLOAT64
from hybridjit.stdlib.parts.accumulation import convert, float_type, meeting_float
from hybridjit.stdlib.parts.elements import call
from hybridjit.stdlib.parts.images import check_images, known_images
from hybridjit.stdlib.parts.precision import working_type
from hybridjit.stdlib.parts.requirements import both, multiple_of
from hybridjit.stdlib.parts.sampling import clamped, linear_taps, weighted
from hybridjit.stdlib.parts.shapes import (
    are_equal,
    check_choice,
    check_rank,
    fill,
    read_integers,
    read_positive,
    read_reals,
    shown,
)
from hybridjit.stdlib.parts.types import Pair, T
from hybridjit.stdlib.parts.windows import read_sizes
from hybridjit.stdlib.running.definition import on_arrays
from hybridjit.stdlib.running.operator import operator
from hybridjit.te import all as are_all
from hybridjit.te import const, if_then_else, reduce_axis
from hybridjit.te import sum as added


@hybrid.script
def _suppress(boxes: Any, scores: Any, order: Any, overlap: Any, lowest: Any) -> Any:
    count = boxes.shape[0]
    kept = np.empty(count, np.int64)
    size = 0
    for place in range(count):
        i = order[place]
        if scores[i] > lowest:
            is_kept = True
            for other in range(size):
                j = kept[other]
                width = min(boxes[i, 2], boxes[j, 2]) - max(boxes[i, 0], boxes[j, 0])
                height = min(boxes[i, 3], boxes[j, 3]) - max(boxes[i, 1], boxes[j, 1])
                shared = max(width, 0.0) * max(height, 0.0)
                own = (boxes[i, 2] - boxes[i, 0]) * (boxes[i, 3] - boxes[i, 1])
                theirs = (boxes[j, 2] - boxes[j, 0]) * (boxes[j, 3] - boxes[j, 1])
                if shared > overlap * (own + theirs - shared):
                    is_kept = False
                    break
            if is_kept:
                kept[size] = i
                size += 1
    return kept[:size]


@hybrid.script
def _descending(scores: Any) -> Any:
    return np.argsort(-scores, kind="stable")


@on_arrays
def non_max_suppression(
    boxes: T,
    scores: T,
    iou_threshold: float = 0.5,
    score_threshold: float = float("-inf"),
    max_output: int | None = None,
) -> T:
    """The boxes to keep, by their places, best first: none overlaps a better one by too much.

    Overlap is the area of what two boxes share, divided by the area of both. Boxes of shape
    (count, 4) whose score is not above score_threshold do not count. Any two opposite corners of
    a box may be given, as in ONNX.

    >>> hs.non_max_suppression(np.array([[0.0, 0, 2, 2], [0, 0, 2, 1.9], [5, 5, 6, 6]]),
    ...                        np.array([0.6, 0.9, 0.3]))
    array([1, 2])
    """
    _check_scores(boxes, scores)
    if max_output is not None and max_output < 0:
        raise ArgumentValueError(f"non_max_suppression: there are no {max_output} boxes to keep")
    wide, marks = _in_order(np.asarray(boxes, np.float64)), np.asarray(scores, np.float64)
    # Scores are held against the threshold in their own type: 0.2 of type float32 is not above 0.2.
    own: Any = np.asarray(scores)
    kept: Any = _suppress(wide, own, _descending(marks), iou_threshold, score_threshold)
    return kept if max_output is None else kept[:max_output]


def _in_order(boxes: Any) -> Any:
    """Boxes by their lowest and their highest corner."""
    first, second = boxes[:, :2], boxes[:, 2:]
    return np.concatenate([np.minimum(first, second), np.maximum(first, second)], axis=1)


def _check_scores(boxes: Any, scores: Any) -> None:
    if boxes.ndim != 2 or boxes.shape[1] != 4 or scores.shape != boxes.shape[:1]:
        raise ArgumentValueError(
            f"non_max_suppression: boxes have the shape (count, 4) and scores (count,), got "
            f"{boxes.shape} and {scores.shape}"
        )


@operator
def box_iou(x: T, y: T) -> T:
    """The overlap of every box of x with every box of y: what they share / the area of both.

    A float64 of integers.

    >>> hs.box_iou(np.array([[0.0, 0, 2, 2]]), np.array([[1.0, 0, 3, 2]]))
    array([[0.33333333]])
    """
    for boxes in (x, y):
        _check_boxes("box_iou", boxes, 4)
    dtype = meeting_float(x[0, 0], y[0, 0])
    working = working_type(dtype)

    def element(at: tuple[Any, ...]) -> Any:
        a: Any = [x[at[0], k].astype(working) for k in range(4)]
        b: Any = [y[at[1], k].astype(working) for k in range(4)]
        sides = [
            call("maximum", call("minimum", a[k + 2], b[k + 2]) - call("maximum", a[k], b[k]), 0)
            for k in (0, 1)
        ]
        shared = sides[0] * sides[1]
        areas = [(box[2] - box[0]) * (box[3] - box[1]) for box in (a, b)]
        return (shared / (areas[0] + areas[1] - shared)).astype(dtype)

    return fill("box_iou", (x.shape[0], y.shape[0]), element)


def _check_boxes(name: str, boxes: Any, size: int) -> None:
    check_rank(name, boxes, 2, f"count, {size}")
    if not are_equal(boxes.shape[1], size):
        raise ArgumentValueError(f"{name}: {shown(boxes)} must have the shape (count, {size})")


@operator
def multibox_prior(
    x: T, sizes: Sequence[float] = (1.0,), ratios: Sequence[float] = (1.0,), *, clip: bool = False
) -> T:
    """Boxes around every place of images, from 0 to 1: each size with the first ratio, then the
    first size with the other ratios.

    >>> hs.multibox_prior(np.ones((1, 3, 1, 1)), (0.5,))
    array([[[0.25, 0.25, 0.75, 0.75]]])
    """
    check_images("multibox_prior", x, "NCHW")
    rows, columns = x.shape[2:]
    scales = read_reals("multibox_prior", "sizes", sizes)
    first, *others = read_positive("multibox_prior", "ratios", ratios)
    shapes = [(scale, first) for scale in scales] + [(scales[0], ratio) for ratio in others]
    count = len(shapes)

    def element(at: tuple[Any, ...]) -> Any:
        box, side = at[1] % count, at[2]
        place = at[1] // count
        y, z = (place // columns).astype(FLOAT64), (place % columns).astype(FLOAT64)
        across, down = _real(columns), _real(rows)
        half_width: Any = const(0.0, FLOAT64)
        half_height: Any = const(0.0, FLOAT64)
        for k, (size, ratio) in enumerate(shapes):
            width = down / across * (size * ratio**0.5 / 2)
            half_width = if_then_else(box == k, width, half_width)
            half_height = if_then_else(box == k, const(size / ratio**0.5 / 2, FLOAT64), half_height)
        middle = if_then_else(side % 2 == 0, (z + 0.5) / across, (y + 0.5) / down)
        half = if_then_else(side % 2 == 0, half_width, half_height)
        found = if_then_else(side < 2, middle - half, middle + half)
        return call("minimum", call("maximum", found, 0.0), 1.0) if clip else found

    return fill("multibox_prior", (1, rows * columns * count, 4), element)


def _real(size: Any) -> Any:
    return const(float(size), FLOAT64) if isinstance(size, int) else size.astype(FLOAT64)


@operator
def roi_align(
    x: T,
    rois: T,
    size: Pair,
    spatial_scale: float = 1.0,
    sample_ratio: int = 2,
    *,
    aligned: bool = False,
    mode: Literal["avg", "max"] = "avg",
) -> T:
    """Means of points of parts of images: rois are (image, x1, y1, x2, y2), divided into cells.

    There are sample_ratio points along each side of a cell, each a mean of its neighbours; as many
    as the cell has elements, rounded up, if it is 0 or less. With mode="max" it is the largest
    point. With aligned=True the middle of an element is half a step from its place.

    >>> hs.roi_align(np.ones((1, 1, 4, 4)), np.array([[0.0, 0, 0, 3, 3]]), 2)[0, 0]
    array([[1., 1.],
           [1., 1.]])
    """
    check_images("roi_align", x, "NCHW")
    _check_boxes("roi_align", rois, 5)
    cells = read_sizes("roi_align", "size", size, 2)
    (ratio,) = read_integers("roi_align", "sample_ratio", sample_ratio, 1)
    check_choice("roi_align", "mode", mode, ("avg", "max"))
    extents, dtype = x.shape[2:], float_type(x.dtype)
    named = fill("roi_align_images", rois.shape[:1], lambda at: rois[at[0], 0])
    images: Any = known_images(named, x.shape[0])
    shift = 0.5 if aligned else 0.0
    if ratio < 1 or mode == "max":
        scaling = (float(spatial_scale), shift)
        found: Any = _align_regions(x, rois, images, cells, max(ratio, 0), scaling, mode == "max")
        return convert("roi_align", found, dtype)
    points = [reduce_axis((0, ratio), name) for name in "ij"]

    def element(at: tuple[Any, ...]) -> Any:
        roi, channel, *places = at
        sources = [
            _point(
                rois,
                roi,
                axis,
                (places[axis], cells[axis]),
                (points[axis], ratio),
                (spatial_scale, shift),
            )
            for axis in (0, 1)
        ]
        return added(_bilinear(x, images[roi], channel, sources, extents), axis=points)

    total = fill("roi_align_sum", (rois.shape[0], x.shape[1], *cells), element)
    return fill("roi_align", total.shape, lambda at: (total[at] / float(ratio**2)).astype(dtype))


def _point(
    rois: Any,
    roi: Any,
    axis: int,
    cell: tuple[Any, int],
    point: tuple[Any, int],
    scaling: tuple[float, float],
) -> Any:
    """Where a point of a cell of a region is, along rows (axis 0) or columns (axis 1)."""
    scale, shift = scaling
    start, stop = (
        rois[roi, place].astype(FLOAT64) * scale - shift for place in (2 - axis, 4 - axis)
    )
    length = stop - start if shift else call("maximum", stop - start, 1.0)
    step = length / float(cell[1])
    inner = (point[0].astype(FLOAT64) + 0.5) / float(point[1])
    return start + (cell[0].astype(FLOAT64) + inner) * step


def _bilinear(x: Any, image: Any, channel: Any, sources: list[Any], extents: Any) -> Any:
    """An image at a point: 0 more than one step beyond its edges, and the edge up to there."""
    near = [source >= -1.0 for source in sources]
    near += [source <= _real(extent) for source, extent in zip(sources, extents, strict=True)]
    inner = [
        call("minimum", call("maximum", source, 0.0), _real(extent) - 1.0)
        for source, extent in zip(sources, extents, strict=True)
    ]

    def read(places: list[Any]) -> Any:
        own = [clamped(place, extent) for place, extent in zip(places, extents, strict=True)]
        return x[(image, channel, *own)].astype(FLOAT64)

    value = weighted([linear_taps(source) for source in inner], read)
    return if_then_else(are_all(*near), value, const(0.0, FLOAT64))


def _value_at(x: Any, image: Any, channel: Any, y: Any, z: Any) -> Any:
    """An image at a point, as `_bilinear` has it, in a script."""
    rows, columns = x.shape[2], x.shape[3]
    if y < -1.0 or z < -1.0 or y > rows or z > columns:
        return 0.0
    down = min(max(y, 0.0), rows - 1.0)
    right = min(max(z, 0.0), columns - 1.0)
    top, left = int(down), int(right)
    bottom, end = min(top + 1, rows - 1), min(left + 1, columns - 1)
    below, beside = down - top, right - left
    upper = x[image, channel, top, left] * (1.0 - beside) + x[image, channel, top, end] * beside
    lower = (
        x[image, channel, bottom, left] * (1.0 - beside) + x[image, channel, bottom, end] * beside
    )
    return np.float64(upper * (1.0 - below) + lower * below)


@hybrid.script
def _align_regions(
    x: Any, rois: Any, images: Any, size: Any, ratio: int, scaling: Any, is_max: bool
) -> Any:
    """Means or the largest of points of cells, whose number may be another one in each region."""
    scale, shift = scaling
    out = np.zeros((rois.shape[0], x.shape[1], size[0], size[1]), np.float64)
    for r in range(rois.shape[0]):
        top, left = np.float64(rois[r, 2]) * scale - shift, np.float64(rois[r, 1]) * scale - shift
        bottom, end = np.float64(rois[r, 4]) * scale - shift, np.float64(rois[r, 3]) * scale - shift
        if not (abs(top) + abs(left) + abs(bottom) + abs(end) <= 1e9):  # nor is NaN
            raise ValueError(f"roi_align: a corner of box {r} is no place of an image")
        height = bottom - top if shift > 0.0 else max(bottom - top, 1.0)
        width = end - left if shift > 0.0 else max(end - left, 1.0)
        down, right = height / size[0], width / size[1]
        rows = ratio if ratio > 0 else int(np.ceil(down))
        columns = ratio if ratio > 0 else int(np.ceil(right))
        for c in range(x.shape[1]):
            for i in range(size[0]):
                for j in range(size[1]):
                    total = 0.0
                    largest = -np.inf
                    for u in range(rows):
                        y = top + (i + (u + 0.5) / rows) * down
                        for v in range(columns):
                            z = left + (j + (v + 0.5) / columns) * right
                            value = _value_at(x, images[r], c, y, z)
                            total += value
                            largest = np.maximum(largest, value)
                    if rows > 0 and columns > 0:
                        out[r, c, i, j] = largest if is_max else total / (rows * columns)
    return out


@hybrid.script
def _whole_corners(rois: Any, count: Any, scale: float) -> Any:
    """The images and corners of regions in whole numbers, halves rounded away from 0."""
    found = np.empty((rois.shape[0], 5), np.int64)
    for r in range(rois.shape[0]):
        if not 0 <= rois[r, 0] < count:
            raise IndexError(f"the image of box {r} is none of {count} images")
        for k in range(5):  # the image is the first of them
            corner = rois[r, k] * np.float64(scale)
            if k > 0 and not abs(corner) <= 1e9:
                raise ValueError(f"a corner of box {r} is no place of an image")
            nearest: Any = np.int64(np.floor(abs(corner) + 0.5))
            rounded = nearest if corner >= 0 else -nearest
            found[r, k] = rounded if k > 0 else np.int64(rois[r, 0])
    return found


@hybrid.script
def _pool_regions(x: Any, rois: Any, size: Any) -> Any:
    channels, rows, columns = x.shape[1], x.shape[2], x.shape[3]
    out = np.zeros((rois.shape[0], channels, size[0], size[1]), x.dtype)
    for r in range(rois.shape[0]):
        width = max(rois[r, 3] - rois[r, 1] + 1, 1)
        height = max(rois[r, 4] - rois[r, 2] + 1, 1)
        for i in range(size[0]):
            top = min(max(i * height // size[0] + rois[r, 2], 0), rows)
            bottom = min(max(-(-(i + 1) * height // size[0]) + rois[r, 2], 0), rows)
            for j in range(size[1]):
                left = min(max(j * width // size[1] + rois[r, 1], 0), columns)
                right = min(max(-(-(j + 1) * width // size[1]) + rois[r, 1], 0), columns)
                if top < bottom and left < right:
                    for c in range(channels):
                        largest = x[rois[r, 0], c, top, left]
                        for y in range(top, bottom):
                            for z in range(left, right):
                                largest = np.maximum(largest, x[rois[r, 0], c, y, z])
                        out[r, c, i, j] = largest
    return out


@operator(differentiable=False)
def roi_pool(x: T, rois: T, size: Pair, spatial_scale: float = 1.0) -> T:
    """The largest elements of parts of images: rois are (image, x1, y1, x2, y2), cut into cells.

    Corners are multiplied by the scale and rounded, halves away from 0, and belong to the region.
    A cell that sees nothing of the image is 0; one with a NaN is NaN.

    >>> hs.roi_pool(np.arange(16.0).reshape(1, 1, 4, 4), np.array([[0.0, 0, 0, 3, 3]]), 2)[0, 0]
    array([[ 5.,  7.],
           [13., 15.]])
    """
    check_images("roi_pool", x, "NCHW")
    _check_boxes("roi_pool", rois, 5)
    cells = read_sizes("roi_pool", "size", size, 2)
    corners: Any = _whole_corners(rois, x.shape[0], float(spatial_scale))
    return _pool_regions(x, corners, cells)


@operator
def yolo_reorg(x: T, stride: int = 2) -> T:
    """Blocks of rows and columns of images as channels, those of one block far apart.

    >>> hs.yolo_reorg(np.ones((1, 4, 4, 4)), 2).shape
    (1, 16, 2, 2)
    """
    check_images("yolo_reorg", x, "NCHW")
    (step,) = read_sizes("yolo_reorg", "stride", stride, 1)
    n, c, h, w = x.shape
    _check_blocks(x, step)
    message = f"rows and columns are not made of blocks of {step}"
    guard = both(*(multiple_of("yolo_reorg", size, step, message) for size in (h, w)))

    def element(at: tuple[Any, ...]) -> Any:
        offset, channel = at[1] // c, at[1] % c
        row, column = at[2] * step + offset // step, at[3] * step + offset % step
        return guard(x[at[0], channel, row, column])

    return fill("yolo_reorg", (n, c * step * step, h // step, w // step), element)


def _check_blocks(x: Any, step: int) -> None:
    if any(isinstance(size, int) and size % step for size in x.shape[2:]):
        raise ArgumentValueError(f"yolo_reorg: {shown(x)} is not made of blocks of {step}")
