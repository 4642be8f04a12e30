"""Detection networks: from scores and shifts of anchors to boxes, (x1, y1, x2, y2)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from hybridjit import hybrid
from hybridjit.errors import ArgumentError, ArgumentValueError
from hybridjit.stdlib.parts.accumulation import convert, meeting_float
from hybridjit.stdlib.parts.constants import constant_matrix
from hybridjit.stdlib.parts.elements import call, maximum, minimum
from hybridjit.stdlib.parts.images import check_images
from hybridjit.stdlib.parts.precision import working_type
from hybridjit.stdlib.parts.shapes import (
    are_equal,
    check_rank,
    fill,
    read_positive,
    read_reals,
    shown,
)
from hybridjit.stdlib.parts.types import T
from hybridjit.stdlib.parts.windows import read_sizes
from hybridjit.stdlib.running.operator import operator
from hybridjit.stdlib.searching import argsort
from hybridjit.te import const, if_then_else


@hybrid.script
def _gather_valid(x: Any, lowest: Any, class_place: int, score_place: int) -> Any:
    batch, count, size = x.shape[0], x.shape[1], x.shape[2]
    counts = np.zeros(batch, np.int64)
    boxes = np.full((batch, count, size), -1, x.dtype)
    places = np.full((batch, count), -1, np.int64)
    for n in range(batch):
        found = 0
        for i in range(count):
            is_valid = x[n, i, score_place] > lowest
            if class_place >= 0:
                is_valid = is_valid and x[n, i, class_place] >= 0
            if is_valid:
                for k in range(size):
                    boxes[n, found, k] = x[n, i, k]
                places[n, found] = i
                found += 1
        counts[n] = found
    return counts, boxes, places


@operator(differentiable=False)
def get_valid_counts(
    x: T, score_threshold: float = 0.0, id_index: int = 0, score_index: int = 1
) -> tuple[T, T, T]:
    """How many boxes of each of a batch count; these boxes, moved to the front; and their places.

    `x` has the shape (batch, boxes, numbers of a box). A box counts if its score is above the
    threshold, and its class is not negative, unless id_index is. What is left over is -1.

    >>> hs.get_valid_counts(np.array([[[0, 0.1, 7], [0, 0.9, 8]]]), 0.5)[:2]
    (array([1]), array([[[ 0. ,  0.9,  8. ],
            [-1. , -1. , -1. ]]]))
    """
    name = "get_valid_counts"
    check_rank(name, x, 3, "batch, boxes, numbers of a box")
    _check_numbers(x, score_index, id_index)
    return _gather_valid(x, score_threshold, id_index, score_index)


def _check_numbers(x: Any, score_place: int, class_place: int) -> None:
    name, size = "get_valid_counts", x.shape[2]
    if x.dtype.is_complex or not (x.dtype.is_float or x.dtype.name.startswith("int")):
        raise ArgumentError(f"{name}: '{x.name}' must hold signed numbers, got {x.dtype}")
    for place, least in ((score_place, 0), (class_place, -1)):
        if place < least or (isinstance(size, int) and place >= size):
            raise ArgumentValueError(f"{name}: a box of {shown(x)} has no number {place}")


# -- anchors of a single shot detector -------------------------------------------------------------


@hybrid.script
def _best_classes(scores: Any, threshold: Any) -> Any:
    """The class of each anchor, 0 for none, and the anchors that have one, in order."""
    batch, classes, anchors = scores.shape[0], scores.shape[1], scores.shape[2]
    counts = np.zeros(batch, np.int64)
    best = np.zeros((batch, anchors), np.int64)
    chosen = np.full((batch, anchors), -1, np.int64)
    for n in range(batch):
        found = 0
        for j in range(anchors):
            score = np.float64(-1.0)
            for k in range(1, classes):
                if scores[n, k, j] > score:
                    score = np.float64(scores[n, k, j])
                    best[n, j] = k
            # In the type of the scores: 0.2 of type float32 is not below 0.2.
            if scores[n, best[n, j], j] < threshold:
                best[n, j] = 0
            if best[n, j] > 0:
                chosen[n, found] = j
                found += 1
        counts[n] = found
    return counts, best, chosen


@operator(differentiable=False)
def multibox_transform_loc(
    cls_prob: T,
    loc_pred: T,
    anchor: T,
    clip: bool = True,
    threshold: float = 0.01,
    variances: Sequence[float] = (0.1, 0.1, 0.2, 0.2),
) -> tuple[T, T]:
    """Boxes of a single shot detector, (class, score, x1, y1, x2, y2), and how many there are.

    `cls_prob` has the shape (batch, classes, anchors), its class 0 the background; `loc_pred`
    (batch, anchors * 4); `anchor` (1, anchors, 4), as hs.multibox_prior makes them. Boxes whose
    best score is below the threshold are left out; what is left over at the end is -1.

    >>> hs.multibox_transform_loc(np.array([[[0.2], [0.8]]]), np.zeros((1, 4)),
    ...                           np.array([[[0.25, 0.25, 0.75, 0.75]]]))[0]
    array([[[0.  , 0.8 , 0.25, 0.25, 0.75, 0.75]]])
    """
    _check_anchors(cls_prob, loc_pred, anchor)
    shares = read_reals("multibox_transform_loc", "variances", variances)
    if len(shares) != 4:
        raise ArgumentValueError(f"multibox_transform_loc: got {len(shares)} variances, not 4")
    counts, best, picked = _best_classes(cls_prob, threshold)
    made = _placed_boxes((cls_prob, loc_pred, anchor), (best, picked), shares, clip=clip)
    return made, counts


def _placed_boxes(given: Any, found: Any, variances: Sequence[float], *, clip: bool) -> Any:
    """The class, the score and the corners of anchors that were picked, -1 after the last one."""
    scores, shifts, anchors = given
    best, picked = found
    dtype = meeting_float(scores[0, 0, 0], shifts[0, 0], anchors[0, 0, 0])
    working = working_type(dtype)

    def element(at: tuple[Any, ...]) -> Any:
        n, place, side = at
        is_box = picked[n, place] >= 0
        own = if_then_else(is_box, picked[n, place], 0)
        corners = _moved(
            [anchors[0, own, k].astype(working) for k in range(4)],
            [shifts[n, own * 4 + k].astype(working) for k in range(4)],
            variances,
        )
        score = scores[n, best[n, own], own].astype(working)
        value = if_then_else(side == 0, best[n, own].astype(working) - 1, score)
        for k, corner in enumerate(corners):
            inner = maximum(minimum(corner, 1), 0) if clip else corner
            value = if_then_else(side == k + 2, inner, value)
        return if_then_else(is_box, value, const(-1, working)).astype(dtype)

    shape = (scores.shape[0], scores.shape[2], 6)
    return fill("multibox_transform_loc", shape, element)


def _moved(box: list[Any], shift: list[Any], variances: Sequence[float]) -> list[Any]:
    """The corners of an anchor that is moved and stretched."""
    middles: list[Any] = []
    halves: list[Any] = []
    for axis in (0, 1):
        extent = box[axis + 2] - box[axis]
        middles.append(shift[axis] * variances[axis] * extent + (box[axis] + box[axis + 2]) / 2)
        halves.append(call("exp", shift[axis + 2] * variances[axis + 2]) * extent / 2)
    return [middles[axis % 2] + (halves[axis % 2] * (1 if axis > 1 else -1)) for axis in range(4)]


def _check_anchors(scores: Any, shifts: Any, anchors: Any) -> None:
    name = "multibox_transform_loc"
    check_rank(name, scores, 3, "batch, classes, anchors")
    check_rank(name, shifts, 2, "batch, anchors * 4")
    check_rank(name, anchors, 3, "1, anchors, 4")
    fits = [(shifts.shape[0], scores.shape[0]), (shifts.shape[1], scores.shape[2] * 4)]
    fits += [(anchors.shape[1], scores.shape[2]), (anchors.shape[2], 4), (anchors.shape[0], 1)]
    if not all(are_equal(*pair) for pair in fits):
        raise ArgumentValueError(
            f"{name}: {shown(scores)}, {shown(shifts)} and {shown(anchors)} do not match"
        )


# -- regions of a proposal network -----------------------------------------------------------------


def _sides(shifts: Any, first: Any, last: Any, edge: Any, at: Any, is_plain: bool) -> Any:
    """Where an anchor begins and ends along an axis, once it is moved and stretched; with
    `is_plain`, its corners are moved.
    """
    n, place, row, column = at
    kind = edge.dtype.type
    begin, end = kind(shifts[n, place, row, column]), kind(shifts[n, place + 2, row, column])
    if is_plain:
        low, high = first + begin, last + end
    else:
        extent = last - first + 1
        middle = begin * extent + (first + 0.5 * (extent - 1))
        half = 0.5 * (np.exp(end) * extent - 1)
        low, high = middle - half, middle + half
    return np.maximum(np.minimum(low, edge), 0), np.maximum(np.minimum(high, edge), 0)


@hybrid.script
def _boxes_of_anchors(
    scores: Any, shifts: Any, sizes: Any, anchors: Any, step: int, least: Any, is_plain: bool
) -> Any:
    """The boxes of the anchors at every place of images, one after the other, and their scores.

    Boxes that are too small are made wider, and come last.
    """
    batch, _, rows, columns = scores.shape
    count, kind = anchors.shape[0], anchors.dtype.type
    boxes = np.zeros((batch, rows * columns * count, 4), anchors.dtype)
    found = np.zeros((batch, rows * columns * count), anchors.dtype)
    for n in range(batch):
        height, width, smallest = kind(sizes[n, 0]), kind(sizes[n, 1]), kind(sizes[n, 2]) * least
        for place in range(rows * columns * count):
            cell, a = place // count, place % count
            row, column = cell // columns, cell % columns
            x, y = kind(column * step), kind(row * step)
            left, right = _sides(
                shifts,
                anchors[a, 0] + x,
                anchors[a, 2] + x,
                width - 1,
                (n, 4 * a, row, column),
                is_plain,
            )
            top, bottom = _sides(
                shifts,
                anchors[a, 1] + y,
                anchors[a, 3] + y,
                height - 1,
                (n, 4 * a + 1, row, column),
                is_plain,
            )
            is_small = right - left + 1 < smallest or bottom - top + 1 < smallest
            is_outside = row >= int(height / step) or column >= int(width / step)
            wider = smallest / 2 if is_small else 0 * smallest
            for k in range(4):
                across, down = (
                    (left - wider, top - wider) if k < 2 else (right + wider, bottom + wider)
                )
                boxes[n, place, k] = across if k % 2 == 0 else down
            found[n, place] = scores[n, count + a, row, column]
            if is_small or is_outside:
                found[n, place] = -1
    return boxes, found


@hybrid.script
def _propose(boxes: Any, order: Any, most: int, count: int, overlap: Any) -> Any:
    """The best boxes that do not overlap better ones, from the first again if they are too few.

    Both ends belong to a box.
    """
    batch = boxes.shape[0]
    limit = boxes.shape[1] if most <= 0 else min(most, boxes.shape[1])
    out = np.zeros((batch * count, 5), boxes.dtype)
    kept = np.zeros(count, np.int64)
    for n in range(batch):
        size = 0
        for place in range(limit):
            if size < count:
                i = order[n, place]
                left, top = boxes[n, i, 0], boxes[n, i, 1]
                right, bottom = boxes[n, i, 2] + 1, boxes[n, i, 3] + 1
                is_kept = True
                for other in range(size):
                    j = kept[other]
                    x, y = boxes[n, j, 0], boxes[n, j, 1]
                    x_end, y_end = boxes[n, j, 2] + 1, boxes[n, j, 3] + 1
                    width = max(min(right, x_end) - max(left, x), 0)
                    shared = width * max(min(bottom, y_end) - max(top, y), 0)
                    both = (right - left) * (bottom - top) + (x_end - x) * (y_end - y) - shared
                    if shared / both > overlap:
                        is_kept = False
                        break
                if is_kept:
                    kept[size] = i
                    size += 1
        if size > 0:
            for k in range(count):
                out[n * count + k, 0] = n
                for side in range(4):
                    out[n * count + k, side + 1] = boxes[n, kept[k % size], side]
    return out


@operator(differentiable=False)
def proposal(
    cls_prob: T,
    bbox_pred: T,
    im_info: T,
    scales: Sequence[float] = (4.0, 8.0, 16.0, 32.0),
    ratios: Sequence[float] = (0.5, 1.0, 2.0),
    feature_stride: int = 16,
    threshold: float = 0.7,
    rpn_pre_nms_top_n: int = 6000,
    rpn_post_nms_top_n: int = 300,
    rpn_min_size: float = 16,
    iou_loss: bool = False,
) -> T:
    """Regions that a proposal network finds, (image, x1, y1, x2, y2), so many of each image.

    There is an anchor for each ratio with each scale at every place. `cls_prob` has the shape
    (batch, 2 * anchors, rows, columns), scores last; `bbox_pred` (batch, 4 * anchors, rows,
    columns), which move and stretch anchors, or with iou_loss=True move their corners; `im_info`
    (batch, 3): rows, columns and scale of each image. Boxes that are small for that scale, or
    outside of the image, come last. Of the rpn_pre_nms_top_n best boxes, those are kept that
    overlap no better one by more than the threshold, and repeated if they are too few.

    >>> hs.proposal(np.ones((1, 2, 1, 1)), np.zeros((1, 4, 1, 1)), np.array([[16.0, 16, 1]]),
    ...             (1.0,), (1.0,), rpn_post_nms_top_n=1)
    array([[ 0.,  0.,  0., 15., 15.]])
    """
    (base,) = read_sizes("proposal", "feature_stride", feature_stride, 1)
    anchors = [
        _anchor(ratio, scale, base)
        for ratio in read_positive("proposal", "ratios", ratios)
        for scale in read_reals("proposal", "scales", scales)
    ]
    _check_proposal(cls_prob, bbox_pred, im_info, len(anchors))
    (count,) = read_sizes("proposal", "rpn_post_nms_top_n", rpn_post_nms_top_n, 1)
    dtype = meeting_float(cls_prob[0, 0, 0, 0], bbox_pred[0, 0, 0, 0], im_info[0, 0])
    working = working_type(dtype)
    places = constant_matrix("proposal_anchors", anchors, working)
    boxes, scores = _boxes_of_anchors(
        cls_prob, bbox_pred, im_info, places, base, float(rpn_min_size), iou_loss
    )
    order: Any = argsort(scores, 1, descending=True)
    kept: Any = _propose(boxes, order, rpn_pre_nms_top_n, count, threshold)
    return convert("proposal", kept, dtype)


def _anchor(ratio: float, scale: float, base: int) -> tuple[float, ...]:
    """A box around a cell of `base` elements, of its area, times a scale."""
    middle = 0.5 * (base - 1)
    width = math.floor(math.sqrt(math.floor(base * base / ratio)) + 0.5)
    height = math.floor(width * ratio + 0.5)
    halves = [0.5 * (width * scale - 1), 0.5 * (height * scale - 1)]
    return tuple([middle - half for half in halves] + [middle + half for half in halves])


def _check_proposal(scores: Any, shifts: Any, sizes: Any, count: int) -> None:
    for tensor in (scores, shifts):
        check_images("proposal", tensor, "NCHW")
    check_rank("proposal", sizes, 2, "batch, 3")
    fits = [(scores.shape[1], 2 * count), (shifts.shape[1], 4 * count), (sizes.shape[1], 3)]
    fits += [(scores.shape[axis], shifts.shape[axis]) for axis in (0, 2, 3)]
    fits.append((sizes.shape[0], scores.shape[0]))
    if not count or not all(are_equal(*pair) for pair in fits):
        raise ArgumentValueError(
            f"proposal: {shown(scores)}, {shown(shifts)} and {shown(sizes)} do not match {count} "
            "anchors"
        )
