"""Sparse matrices against dense ones, and boxes against plain loops."""

from __future__ import annotations

import math
from typing import Any

import numpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hybridjit import stdlib as hs
from tests.support.operator_rows import Row, compare, row

np: Any = numpy  # whose types say nothing of arrays that may be any
RNG = np.random.default_rng(0)
FEW = settings(max_examples=max(settings().max_examples // 4, 1))
DENSE: Any = np.round(RNG.random((5, 4)) * 9) * (RNG.random((5, 4)) > 0.6)
Y: Any = np.round(RNG.random((4, 3)) * 9)


def csr(x: Any) -> Any:
    """The elements, columns and beginnings of rows."""
    rows, columns = np.nonzero(x)
    starts = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=len(x)))])
    return x[rows, columns], columns, starts


def bsr(x: Any, height: int, width: int) -> Any:
    blocks = np.swapaxes(x.reshape(-1, height, x.shape[1] // width, width), 1, 2)
    values, columns, starts = csr(np.abs(blocks).sum((2, 3)))
    del values
    rows = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    return blocks[rows, columns], columns, starts


SINGLE: Any = Y.astype(np.float32)
LABELS: Any = np.array([0, 1, 2, 2])
SPARSE: Any = csr(DENSE)
BLOCKS: Any = bsr(DENSE[:4], 2, 2)
X: Any = RNG.normal(size=(2, 3, 6, 4))
ROIS: Any = np.array([[0, 0.0, 0.0, 3.0, 5.0], [1, 1.2, 0.7, 2.9, 4.1], [1, -2.0, 3.0, 9.0, 8.0]])
BOXES: Any = np.sort(RNG.random((6, 2, 2)) * 5, 1).reshape(6, 4)


def overlap(a: Any, b: Any) -> float:
    sides = [max(min(a[k + 2], b[k + 2]) - max(a[k], b[k]), 0) for k in (0, 1)]
    areas = [(v[2] - v[0]) * (v[3] - v[1]) for v in (a, b)]
    return sides[0] * sides[1] / (sum(areas) - sides[0] * sides[1])


def suppressed(boxes: Any, scores: Any, most: float, lowest: float) -> list[int]:
    kept: list[int] = []
    for i in np.argsort(-scores, kind="stable"):
        if scores[i] > lowest and all(overlap(boxes[i], boxes[j]) <= most for j in kept):
            kept.append(int(i))
    return kept


def bilinear(image: Any, y: float, x: float) -> Any:
    h, w = image.shape[1:]
    if y < -1 or y > h or x < -1 or x > w:
        return image[:, 0, 0] * 0
    y, x = min(max(y, 0), h - 1), min(max(x, 0), w - 1)
    i, j = math.floor(y), math.floor(x)
    k, m = min(i + 1, h - 1), min(j + 1, w - 1)
    top = image[:, i, j] * (1 - x + j) + image[:, i, m] * (x - j)
    return top * (1 - y + i) + (image[:, k, j] * (1 - x + j) + image[:, k, m] * (x - j)) * (y - i)


def aligned(x: Any, rois: Any, sizes: Any, scale: float, ratio: int, shift: float) -> Any:
    found = np.zeros((len(rois), x.shape[1], *sizes))
    for r, i, j in np.ndindex(len(rois), *sizes):
        start = [rois[r, 2] * scale - shift, rois[r, 1] * scale - shift]
        stop = [rois[r, 4] * scale - shift, rois[r, 3] * scale - shift]
        steps = [(b - a if shift else max(b - a, 1.0)) / n
                 for a, b, n in zip(start, stop, sizes, strict=True)]  # fmt: skip
        for u, v in np.ndindex(ratio, ratio):
            y = start[0] + (i + (u + 0.5) / ratio) * steps[0]
            z = start[1] + (j + (v + 0.5) / ratio) * steps[1]
            found[r, :, i, j] += bilinear(x[int(rois[r, 0])], y, z) / ratio**2
    return found


def aligned_by_size(x: Any, rois: Any, sizes: Any, *, largest: bool, shift: float) -> Any:
    """Regions one by one, each with as many points as its cells have elements."""
    found = np.zeros((len(rois), x.shape[1], *sizes))
    for r, (image, *corners) in enumerate(rois):
        lengths = [corners[axis + 2] - corners[axis] for axis in (1, 0)]
        lengths = lengths if shift else [max(length, 1.0) for length in lengths]
        counts = [math.ceil(length / n) for length, n in zip(lengths, sizes, strict=True)]
        for c, i, j in np.ndindex(x.shape[1], *sizes):
            points = [
                bilinear(
                    x[int(image), c : c + 1],
                    corners[1] - shift + (i + (u + 0.5) / counts[0]) * lengths[0] / sizes[0],
                    corners[0] - shift + (j + (v + 0.5) / counts[1]) * lengths[1] / sizes[1],
                )[0]
                for u, v in np.ndindex(*counts)
            ]
            found[r, c, i, j] = max(points) if largest else sum(points) / len(points)
    return found


def priors(rows: int, columns: int, sizes: Any, ratios: Any) -> Any:
    found: list[Any] = []
    shapes = [(s, ratios[0]) for s in sizes] + [(sizes[0], r) for r in ratios[1:]]
    for y, x in np.ndindex(rows, columns):
        for size, ratio in shapes:
            w, h = size * rows / columns * ratio**0.5 / 2, size / ratio**0.5 / 2
            a, b = (x + 0.5) / columns, (y + 0.5) / rows
            found.append([a - w, b - h, a + w, b + h])
    return np.array([found])


def reorganized(x: Any, step: int) -> Any:
    n, c, h, w = x.shape
    parts = x.reshape(n, c, h // step, step, w // step, step).transpose(0, 3, 5, 1, 2, 4)
    return parts.reshape(n, c * step**2, h // step, w // step)


def deformed(
    x: Any, offset: Any, w: Any, stride: int, pad: int, dilation: int, groups: int, parts: int
) -> Any:
    """A deformable convolution, point by point."""
    (n, c, *_), (outputs, each, rows, columns) = x.shape, w.shape
    found = np.zeros((n, outputs, *offset.shape[2:]))
    for b, o, y, z in np.ndindex(found.shape):
        for k, i, j in np.ndindex(each, rows, columns):
            channel = o // (outputs // groups) * each + k
            at = ((channel // (c // parts) * rows + i) * columns + j) * 2
            down = y * stride - pad + i * dilation + offset[b, at, y, z]
            right = z * stride - pad + j * dilation + offset[b, at + 1, y, z]
            found[b, o, y, z] += zero_outside(x[b, channel], down, right) * w[o, k, i, j]
    return found


def zero_outside(image: Any, y: float, x: float) -> float:
    padded = np.pad(image, 20)
    top, left = int(np.floor(y)), int(np.floor(x))
    (a, b), (c, d) = padded[top + 20 : top + 22, left + 20 : left + 22]
    down, right = y - top, x - left
    upper, lower = a + (b - a) * right, c + (d - c) * right
    return float(upper + (lower - upper) * down)


def deformable(stride: int, pad: int, dilation: int, groups: int, parts: int) -> Row:
    generator = np.random.default_rng(stride + 7 * pad + groups)
    x, w = generator.random((2, 4, 6, 5)), generator.random((2, 4 // groups, 3, 2))
    reach = [2 * dilation + 1, dilation + 1]
    sizes = [(e + 2 * pad - r) // stride + 1 for e, r in zip((6, 5), reach, strict=True)]
    offset = generator.normal(size=(2, parts * 12, *sizes)) * 2
    options: dict[str, Any] = {"stride": stride, "padding": pad, "dilation": dilation}
    wanted = deformed(x, offset, w, stride, pad, dilation, groups, parts)
    name = "deformable_conv2d"
    return row(name, x, offset, w, **options, groups=groups, offset_groups=parts, rtol=1e-9,
               wanted=wanted, dynamic=False)  # fmt: skip


ROWS = (
    *(deformable(*options) for options in ((1, 0, 1, 1, 1), (2, 1, 1, 2, 2), (1, 2, 2, 1, 4))),
    row("csr_matmul", *SPARSE, Y, wanted=DENSE @ Y, dynamic=False),
    row("csr_matmul", *csr(DENSE * 0), Y, wanted=DENSE @ Y * 0, dynamic=False),
    row("bsr_matmul", *BLOCKS, Y, wanted=DENSE[:4] @ Y, dynamic=False),
    row("sparse_dense", Y.T, *SPARSE, wanted=Y.T @ DENSE.T, dynamic=False),
    row("sparse_dense", Y.T, *BLOCKS, wanted=Y.T @ DENSE[:4].T, dynamic=False),
    row("sparse_add", DENSE + 1, *SPARSE, wanted=2 * DENSE + 1, dynamic=False),
    row("csr_to_dense", *SPARSE, 4, wanted=DENSE, dynamic=False),
    row("csr_to_dense", *SPARSE, 6, wanted=np.pad(DENSE, ((0, 0), (0, 2))), dynamic=False),
    row("box_iou", BOXES, BOXES[:2], rtol=1e-12, dynamic=False,
        wanted=np.array([[overlap(a, b) for b in BOXES[:2]] for a in BOXES])),
    *(row("roi_align", X, ROIS, (2, 3), s, r, aligned=a, rtol=1e-9, dynamic=False,
          wanted=aligned(X, ROIS, (2, 3), s, r, 0.5 * a))
      for s in (1.0, 0.5) for r in (1, 2) for a in (False, True)),
    *(row("roi_align", X, ROIS, (2, 3), 1.0, 0, aligned=a, mode=m, rtol=1e-9, dynamic=False,
          wanted=aligned_by_size(X, ROIS, (2, 3), largest=m == "max", shift=0.5 * a))
      for m in ("avg", "max") for a in (False, True)),
    row("roi_align", X.astype("f4"), ROIS, 1, 1.0, -1, rtol=1e-5, dynamic=False,
        wanted=aligned_by_size(X, ROIS, (1, 1), largest=False, shift=0).astype("f4")),
    row("roi_align", X, ROIS, 1, 0.0, 2, mode="max", rtol=1e-9, dynamic=False,
        wanted=np.stack([np.max([bilinear(X[int(r[0])], y, z) for y in (0.25, 0.75)
                                 for z in (0.25, 0.75)], 0) for r in ROIS])[..., None, None]),
    row("multibox_prior", X, (0.4, 0.2), (1.0, 2.0), rtol=1e-12,
        wanted=priors(6, 4, (0.4, 0.2), (1.0, 2.0))),
    row("multibox_prior", X, (0.9,), clip=True, rtol=1e-12,
        wanted=np.clip(priors(6, 4, (0.9,), (1.0,)), 0, 1)),
    row("yolo_reorg", X, 2, wanted=reorganized(X, 2)),
)  # fmt: skip


@pytest.mark.parametrize("dtype", ["uint8", "int16", "uint64", "float16", "float32"])
def test_overlaps_of_boxes_of_every_type(dtype: str) -> None:
    boxes = np.array([[0, 0, 200, 200], [100, 100, 150, 250], [210, 0, 255, 20]]).astype(dtype)
    wanted = [[overlap(a, b) for b in boxes.astype(float)] for a in boxes.astype(float)]
    is_float = boxes.dtype.kind == "f"
    found = hs.box_iou(boxes, boxes)
    compare(found, np.array(wanted, boxes.dtype if is_float else float), 1e-3 if is_float else 0)


@pytest.mark.parametrize("image", [-1.0, X.shape[0], math.nan])
def test_a_region_of_no_image(image: float) -> None:
    rois = np.array([[0, 0, 0, 1, 1], [image, 0, 0, 1, 1]])
    with pytest.raises(IndexError, match="the image of box 1 is none of"):
        hs.roi_align(X, rois, 1)


@pytest.mark.parametrize("corner", [math.nan, math.inf, 1e300])
def test_a_region_of_no_size(corner: float) -> None:
    with pytest.raises(ValueError, match="roi_align: a corner of box 0 is no place of an image"):
        hs.roi_align(X, np.array([[0, 0, 0, corner, 1]]), 1, 1.0, 0)


@pytest.mark.sampled(10)
@pytest.mark.parametrize("row", ROWS, ids=str)
def test_on_arrays(row: Row) -> None:
    row.check_on_arrays()


@pytest.mark.sampled(2)
@pytest.mark.parametrize("row", ROWS, ids=str)
def test_on_tensors(row: Row) -> None:
    row.check_on_tensors()


def test_csr_transposed() -> None:
    for found, wanted in zip(
        hs.csr_transpose(SPARSE[0], SPARSE[1], SPARSE[2], 4), csr(DENSE.T), strict=True
    ):
        compare(found, wanted)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "uint64"])
def test_columns_of_small_types(dtype: str) -> None:
    wide = np.zeros((2, 128))
    wide[[0, 0, 1], [127, 3, 126]] = [1.0, 2.0, 3.0]
    values, columns, starts = csr(wide)
    parts = (values, columns.astype(dtype), starts.astype(dtype))
    compare(hs.csr_to_dense(*parts, 128), wide)
    for found, wanted in zip(hs.csr_transpose(*parts, 128), csr(wide.T), strict=True):
        compare(found, wanted)
    wide = np.repeat(wide, 4, 1)
    y = RNG.integers(0, 9, (512, 3)).astype(float)
    values, columns, starts = bsr(wide, 2, 4)
    compare(hs.bsr_matmul(values, columns.astype(dtype), starts.astype(dtype), y), wide @ y)


NO_MATRICES: dict[str, Any] = {
    "there is no column -1 among 3": ([0, -1], [0, 1, 2]),
    "there is no column 3 among 3": ([0, 3], [0, 1, 2]),
    "a row begins before the end": ([0, 1], [0, 2, 1, 2]),
    "rows begin at 0": ([0, 1], [0, 1, 1]),
    "are no sparse matrix": ([0], [0, 1, 2]),
}


# Each on a matrix with three columns, or three columns of blocks.
OF_MATRICES: dict[str, Any] = {
    "csr_transpose": lambda v, c, s: hs.csr_transpose(v, c, s, 3),
    "csr_to_dense": lambda v, c, s: hs.csr_to_dense(v, c, s, 3),
    "csr_matmul": lambda v, c, s: hs.csr_matmul(v, c, s, np.eye(3)),
    "sparse_add": lambda v, c, s: hs.sparse_add(np.ones((len(s) - 1, 3)), v, c, s),
    "sparse_dense": lambda v, c, s: hs.sparse_dense(np.eye(3), v, c, s),
    "sparse_dense of blocks": lambda v, c, s: hs.sparse_dense(np.eye(6), blocks_of(v), c, s),
    "bsr_matmul": lambda v, c, s: hs.bsr_matmul(blocks_of(v), c, s, np.eye(6)),
}


def blocks_of(values: Any) -> Any:
    return values[:, None, None] * np.ones((1, 2, 2))


@pytest.mark.sampled(6)
@pytest.mark.parametrize("name", OF_MATRICES)
@pytest.mark.parametrize("message", NO_MATRICES)
def test_what_is_no_matrix(message: str, name: str) -> None:
    columns, starts = map(np.array, NO_MATRICES[message])
    wanted = f"^{name.split()[0]}: .*({message}|do not match)"
    with pytest.raises((ValueError, IndexError), match=wanted):
        OF_MATRICES[name](np.ones(2), columns, starts)


@FEW
@given(st.integers(0, 1000), st.sampled_from([0.0, 0.3, 0.7]), st.sampled_from([-1.0, 0.4]))
def test_suppression(seed: int, most: float, lowest: float) -> None:
    rng = np.random.default_rng(seed)
    boxes = np.sort(rng.random((12, 2, 2)) * 4, 1).reshape(12, 4)
    scores = np.round(rng.random(12), 1)
    found = hs.non_max_suppression(boxes, scores, most, lowest)
    assert found.tolist() == suppressed(boxes, scores, most, lowest)
    assert hs.non_max_suppression(boxes, scores, most, lowest, 2).tolist() == found.tolist()[:2]


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int32"])
@pytest.mark.parametrize("lowest", [0.2, np.float64(0.2), 0])
def test_scores_are_held_against_a_threshold_in_their_type(dtype: str, lowest: Any) -> None:
    scores = np.array([0.2, 0.7, 1]).astype(dtype)
    boxes = np.arange(3.0)[:, None] * [2, 2, 2, 2] + [0, 0, 1, 1]
    kept = hs.non_max_suppression(boxes, scores, score_threshold=lowest)
    assert sorted(kept) == list(np.flatnonzero(scores > lowest))


def test_suppression_of_boxes_by_any_two_opposite_corners() -> None:
    scores = RNG.random(6)
    wanted = hs.non_max_suppression(BOXES, scores, 0.1).tolist()
    for order in ([2, 3, 0, 1], [2, 1, 0, 3], [0, 3, 2, 1]):
        assert hs.non_max_suppression(BOXES[:, order], scores, 0.1).tolist() == wanted


MISTAKES: dict[str, Any] = {
    "multibox_prior: ratios must be larger": lambda: hs.multibox_prior(X, (1.0,), (1.0, -1.0)),
    "multibox_prior: ratios must be larger than 0, got .0.0": lambda: hs.multibox_prior(
        X, (1.0,), (0.0,)
    ),
    "multibox_prior: ratios must be real": lambda: hs.multibox_prior(X, (1.0,), ()),
    "multibox_prior: sizes must be real": lambda: hs.multibox_prior(X, ("a",)),  # pyright: ignore
    "'values' of shape .* and 'columns'": lambda: hs.csr_matmul(Y[0], LABELS, LABELS, Y),
    "both matrices must be of one type": lambda: hs.csr_matmul(Y[0], LABELS[:3], LABELS, SINGLE),
    "has no end of the last row": lambda: hs.csr_matmul(Y[0], LABELS[:3], LABELS[:0], Y),
    "has not the beginnings of the rows": lambda: hs.sparse_add(Y, *SPARSE),
    "must have 3 axes": lambda: hs.bsr_matmul(Y[0], LABELS, LABELS, Y),
    r"must have the shape \(count, 5\)": lambda: hs.roi_align(X, BOXES, 2),
    r"boxes have the shape \(count, 4\)": lambda: hs.non_max_suppression(BOXES, Y),
    "there are no -1 boxes to keep": lambda: hs.non_max_suppression(BOXES, BOXES[:, 0], 0, 0, -1),
    "is not made of blocks of 4": lambda: hs.yolo_reorg(X, 4),
}  # fmt: skip


@pytest.mark.parametrize("message", MISTAKES)
def test_mistakes(message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=message):
        MISTAKES[message]()
