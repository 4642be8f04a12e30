"""Detection networks against plain loops: boxes that count, anchors that are moved, proposals."""

from __future__ import annotations

import math
from typing import Any

import numpy
import pytest

from hybridjit import stdlib as hs
from tests.support.operator_rows import Row, compare, row

np: Any = numpy  # whose types say nothing of arrays that may be any
RNG = np.random.default_rng(7)
X: Any = RNG.normal(size=(2, 3, 7, 6))
ROIS: Any = np.array(
    [
        [0, 0, 0, 5, 6],
        [1, 1.4, 0.5, 4.5, 2.5],
        [1, -3, 2, 9, 30],
        [0, 4, 4, 1, 1],
        [0, 20, 20, 30, 30],
        [1, 2.0, 2.0, 2.0, 2.0],
    ]
)


def nearest(value: float) -> int:
    return int(math.copysign(math.floor(abs(value) + 0.5), value))


def pooled(x: Any, rois: Any, sizes: Any, scale: float) -> Any:
    """Each cell of a region, from where it begins up to where it ends in exact fractions."""
    found = np.zeros((len(rois), x.shape[1], *sizes), x.dtype)
    for r, i, j in np.ndindex(len(rois), *sizes):
        left, top, right, bottom = (nearest(corner * scale) for corner in rois[r, 1:])
        spans: list[Any] = []
        for first, last, place, size, extent in (
            (top, bottom, i, sizes[0], x.shape[2]),
            (left, right, j, sizes[1], x.shape[3]),
        ):
            length = max(last - first + 1, 1)
            start, stop = place * length // size, -(-(place + 1) * length // size)
            spans.append(slice(*np.clip([first + start, first + stop], 0, extent)))
        part = x[int(rois[r, 0]), :, spans[0], spans[1]]
        if part.size:
            found[r, :, i, j] = part.max((1, 2))
    return found


def valid(x: Any, lowest: float, class_place: int, score_place: int) -> Any:
    counts, boxes, places = np.zeros(len(x), int), np.full_like(x, -1), np.full(x.shape[:2], -1)
    for n, rows in enumerate(x):
        kept = [
            i
            for i, box in enumerate(rows)
            if box[score_place] > lowest and (class_place < 0 or box[class_place] >= 0)
        ]
        counts[n] = len(kept)
        boxes[n, : len(kept)], places[n, : len(kept)] = rows[kept], kept
    return counts, boxes, places


def transformed(scores: Any, shifts: Any, anchors: Any, clip: bool, lowest: float, by: Any) -> Any:
    batch, _, count = scores.shape
    found = np.full((batch, count, 6), -1, scores.dtype)
    counts = np.zeros(batch, int)
    for n, i in np.ndindex(batch, count):
        best = 1 + int(np.argmax(scores[n, 1:, i])) if scores.shape[1] > 1 else 0
        if best == 0 or scores[n, best, i] < lowest:
            continue
        start, stop = anchors[0, i, :2], anchors[0, i, 2:]
        move, stretch = shifts[n].reshape(-1, 2, 2)[i]
        middle = (start + stop) / 2 + move * by[:2] * (stop - start)
        half = np.exp(stretch * by[2:]) * (stop - start) / 2
        corners = np.concatenate([middle - half, middle + half])
        corners = np.clip(corners, 0, 1) if clip else corners
        found[n, counts[n]] = [best - 1, scores[n, best, i], *corners]
        counts[n] += 1
    return found, counts


def anchor(ratio: float, scale: float, base: int) -> Any:
    width = math.floor(math.sqrt(base * base // ratio) + 0.5)
    sides = np.array([width, math.floor(width * ratio + 0.5)]) * scale
    middle = (base - 1) / 2
    return np.concatenate([middle - (sides - 1) / 2, middle + (sides - 1) / 2])


def overlap(a: Any, b: Any) -> float:
    sides = np.maximum(np.minimum(a[2:4], b[2:4]) - np.maximum(a[:2], b[:2]) + 1, 0)
    areas = [float(np.prod(box[2:4] - box[:2] + 1)) for box in (a, b)]
    return float(np.prod(sides)) / (sum(areas) - float(np.prod(sides)))


def regions(scores: Any, shifts: Any, sizes: Any, options: Any) -> Any:
    scales, ratios, step, most, before, count, least, is_plain = options
    anchors = [anchor(ratio, scale, step) for ratio in ratios for scale in scales]
    found: list[Any] = []
    for n in range(len(scores)):
        boxes: list[Any] = []
        for y, x in np.ndindex(scores.shape[2:]):
            for k, box in enumerate(anchors):
                boxes.append(
                    moved(
                        scores[n, len(anchors) + k, y, x],
                        shifts[n, 4 * k : 4 * k + 4, y, x],
                        box + np.array([x, y, x, y]) * step,
                        sizes[n],
                        (y, x, step, least, is_plain),
                    )
                )
        ranked = sorted(boxes, key=lambda box: -box[4])
        kept: list[Any] = []
        for box in ranked[:before] if before > 0 else ranked:
            if all(overlap(box, other) <= most for other in kept):
                kept.append(box)
        found += [[n, *kept[k % len(kept)][:4]] for k in range(count)]
    return np.array(found, scores.dtype)


def moved(score: Any, shift: Any, box: Any, size: Any, how: Any) -> Any:
    y, x, step, least, is_plain = how
    extent = box[2:] - box[:2] + 1
    middle = shift[:2] * extent + box[:2] + (extent - 1) / 2
    half = (np.exp(shift[2:]) * extent - 1) / 2
    corners = box + shift if is_plain else np.concatenate([middle - half, middle + half])
    corners = np.clip(corners, 0, np.array([size[1], size[0]] * 2) - 1)
    smallest = size[2] * least
    if (corners[2:] - corners[:2] + 1 < smallest).any():
        return np.array([*(corners[:2] - smallest / 2), *(corners[2:] + smallest / 2), -1])
    is_outside = y >= int(size[0] / step) or x >= int(size[1] / step)
    return np.array([*corners, -1 if is_outside else score])


def proposals(seed: int, options: Any, batch: int = 2, rows: int = 4, columns: int = 3) -> Row:
    rng = np.random.default_rng(seed)
    count = len(options[0]) * len(options[1])
    scores = rng.permutation(batch * 2 * count * rows * columns).reshape(
        batch, 2 * count, rows, columns
    )
    shifts = rng.normal(size=(batch, 4 * count, rows, columns)) * 0.3
    sizes = np.array(
        [[rows * 16 - 9.0, columns * 16.0, 1.0], [rows * 16.0, columns * 16.0 - 20, 2.0]]
    )
    given = (scores / scores.size, shifts, sizes[:batch])
    return row(
        "proposal",
        *given,
        *options,
        rtol=1e-9,
        wanted=regions(*given, options),
        fixed=(3, 2 * count, 4 * count),
    )


BOXES: Any = np.round(RNG.normal(size=(3, 9, 6)), 1)
SCORES, SHIFTS = RNG.random((2, 4, 5)), RNG.normal(size=(2, 20))
ANCHORS = np.sort(RNG.random((1, 5, 2, 2)), 2).reshape(1, 5, 4)
VARIANCES = np.array([0.1, 0.3, 0.2, 0.5])
ROWS = (
    *(row("roi_pool", X, ROIS, sizes, scale, wanted=pooled(X, ROIS, sizes, scale), fixed=(5,))
      for sizes in ((1, 1), (2, 3), (7, 9)) for scale in (1.0, 0.5)),
    row("roi_pool", X[:, :0], ROIS, 2, wanted=np.zeros((6, 0, 2, 2)), dynamic=False),
    row("roi_pool", X, ROIS[:0], 2, wanted=np.zeros((0, 3, 2, 2)), dynamic=False),
    *(row("get_valid_counts", BOXES, *options, wanted=valid(BOXES, *options))
      for options in ((0.0, 0, 1), (0.5, -1, 5), (9.0, 2, 3), (-9.0, 5, 0))),
    row("get_valid_counts", BOXES[:, :0], wanted=valid(BOXES[:, :0], 0, 0, 1), dynamic=False),
    *(row("multibox_transform_loc", SCORES, SHIFTS, ANCHORS, clip, lowest, tuple(VARIANCES),
          rtol=1e-12, wanted=transformed(SCORES, SHIFTS, ANCHORS, clip, lowest, VARIANCES),
          fixed=(4, 5, 20))
      for clip in (False, True) for lowest in (0.0, 0.6, 2.0)),
    row("multibox_transform_loc", SCORES[:, :1], SHIFTS, ANCHORS, dynamic=False,
        wanted=transformed(SCORES[:, :1], SHIFTS, ANCHORS, True, 0.01, VARIANCES)),
    proposals(0, ((2.0, 4.0), (0.5, 1.0, 2.0), 16, 0.5, 20, 5, 8, False)),
    proposals(1, ((1.0,), (1.0, 3.0), 16, 0.1, -1, 40, 4, True), 1),
    proposals(2, ((1.0,), (1.0,), 8, 0.9, 1, 3, 0, False)),
)  # fmt: skip


@pytest.mark.sampled(20)
@pytest.mark.parametrize("row", ROWS, ids=str)
def test_on_arrays(row: Row) -> None:
    row.check_on_arrays()


@pytest.mark.sampled(2)
@pytest.mark.parametrize("row", ROWS, ids=str)
def test_on_tensors(row: Row) -> None:
    row.check_on_tensors()


@pytest.mark.sampled(2)
@pytest.mark.parametrize("dtype", ["uint8", "int16", "float16", "float32"])
def test_regions_of_every_type(dtype: str) -> None:
    x = (X * 20 + 100).astype(dtype)
    compare(hs.roi_pool(x, ROIS.astype(np.float32), 2), pooled(x, ROIS, (2, 2), 1.0))
    strided = np.asfortranarray(x)[:, :, ::-1]
    compare(hs.roi_pool(strided, ROIS, 2), pooled(strided, ROIS, (2, 2), 1.0))


@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_boxes_of_narrow_types(dtype: str) -> None:
    given = [array.astype(dtype) for array in (SCORES, SHIFTS, ANCHORS)]
    boxes, counts = hs.multibox_transform_loc(*given)
    scores, shifts, anchors = (array.astype(float) for array in given)
    wanted = transformed(scores, shifts, anchors, True, 0.01, np.array([0.1, 0.1, 0.2, 0.2]))
    compare(boxes, wanted[0].astype(dtype), 2e-3 if dtype == "float16" else 1e-6)
    compare(counts, wanted[1])


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("threshold", [0.01, 0.2, 0.7])
def test_a_score_that_is_the_threshold_is_enough(dtype: str, threshold: float) -> None:
    scores = np.zeros((1, 2, 2), dtype)
    scores[0, 1] = threshold, threshold / 2
    anchors = np.full((1, 2, 4), 0.5, dtype)
    _, counts = hs.multibox_transform_loc(
        scores, np.zeros((1, 8), dtype), anchors, threshold=threshold
    )
    assert counts == [1]


def test_scores_that_are_no_numbers_are_not_chosen() -> None:
    scores = SCORES.copy()
    scores[0, 2, 3] = math.nan
    without = np.where(np.isnan(scores), 0, scores)
    for found, wanted in zip(
        hs.multibox_transform_loc(scores, SHIFTS, ANCHORS),
        hs.multibox_transform_loc(without, SHIFTS, ANCHORS),
        strict=True,
    ):
        compare(found, wanted)


def test_a_region_with_a_nan() -> None:
    x = X.copy()
    x[0, 1, 0, 0] = math.nan
    found = hs.roi_pool(x, ROIS[:1], 2)
    assert np.isnan(found).nonzero() == (np.array([0]), np.array([1]), np.array([0]), np.array([0]))


def no_image(value: float, place: int) -> Any:
    rois = ROIS.copy()
    rois[1, place] = value
    return hs.roi_pool(X, rois, 2)


MISTAKES: dict[str, Any] = {
    "the image of box 1 is none of 2 images": lambda: no_image(2, 0),
    "a corner of box 1 is no place": lambda: no_image(math.nan, 3),
    r"must have the shape \(count, 5\)": lambda: hs.roi_pool(X, BOXES[0], 2),
    "size must be one or two numbers of at least 1": lambda: hs.roi_pool(X, ROIS, 0),
    "must hold signed numbers, got uint8": lambda: hs.get_valid_counts(BOXES.astype("uint8")),
    "has no number 6": lambda: hs.get_valid_counts(BOXES, 0, 0, 6),
    "has no number -2": lambda: hs.get_valid_counts(BOXES, 0, -2),
    "batch, boxes, numbers of a box": lambda: hs.get_valid_counts(X),
    "got 3 variances": lambda: hs.multibox_transform_loc(
        SCORES, SHIFTS, ANCHORS, variances=(1, 2, 3)),
    "and 'anchor' .* do not match": lambda: hs.multibox_transform_loc(
        SCORES, SHIFTS, ANCHORS[:, :4]),
    "do not match 12 anchors": lambda: hs.proposal(X, X, BOXES[0]),
}  # fmt: skip


@pytest.mark.parametrize("message", MISTAKES)
def test_mistakes(message: str) -> None:
    with pytest.raises((TypeError, ValueError, IndexError), match=message):
        MISTAKES[message]()
