"""Resized images, grids and crops, against plain loops by ONNX's formulas."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy
import pytest

from hybridjit import stdlib as hs
from tests.support.operator_rows import Row, row

np: Any = numpy  # whose types say nothing of arrays that may be any
RNG = np.random.default_rng(0)
X: Any = RNG.normal(size=(2, 2, 4, 5))
V: Any = RNG.normal(size=(1, 2, 3, 4, 2))
ROUND: dict[str, Callable[[float], int]] = {
    "floor": math.floor,
    "ceil": math.ceil,
    "round_prefer_floor": lambda v: math.ceil(v - 0.5),
    "round_prefer_ceil": lambda v: math.floor(v + 0.5),
}


PART = (-0.25, 0.75)


def source(place: int, extent: int, size: int, transform: str) -> float:
    """Where a place is, by fractions: 1 / (2 / 49) is not quite 24.5."""
    if transform == "tf_crop_and_resize":
        share = Fraction(place, size - 1) if size > 1 else Fraction(1, 2)
        return float((Fraction(PART[0]) + share * Fraction(PART[1] - PART[0])) * (extent - 1))
    middle = Fraction(2 * place + 1, 2) * Fraction(extent, size) - Fraction(1, 2)
    found = {
        "half_pixel": middle,
        "half_pixel_symmetric": middle,
        "pytorch_half_pixel": middle if size > 1 else 0,
        "asymmetric": Fraction(place * extent, size),
        "align_corners": Fraction(place * (extent - 1), size - 1) if size > 1 else 0,
    }
    return float(found[transform])


def kernel(distance: float, alpha: float) -> float:
    d = abs(distance)
    if d <= 1:
        return (alpha + 2) * d**3 - (alpha + 3) * d**2 + 1
    return alpha * d**3 - 5 * alpha * d**2 + 8 * alpha * d - 4 * alpha if d < 2 else 0.0


def matrix(
    extent: int, size: int, mode: str, transform: str, rounding: str, *, whole: bool = True
) -> Any:
    """The weights of all elements of an axis for each place of the resized one."""
    found = np.zeros((size, extent))
    for place in range(size):
        at = source(place, extent, size, transform)
        if mode == "nearest":
            found[place, min(max(ROUND[rounding](at), 0), extent - 1)] = 1
            continue
        for k in range(math.floor(at) - 1, math.floor(at) + 3):
            weight = max(1 - abs(at - k), 0) if mode == "linear" else kernel(at - k, -0.75)
            if whole or 0 <= k < extent:
                found[place, min(max(k, 0), extent - 1)] += weight
    return found / found.sum(axis=1, keepdims=True)


def resized(x: Any, sizes: Any, mode: str, transform: str = "half_pixel",
            rounding: str = "round_prefer_floor", *, whole: bool = True) -> Any:  # fmt: skip
    for axis, size in enumerate(sizes):
        weights = matrix(x.shape[2 + axis], size, mode, transform, rounding, whole=whole)
        x = np.moveaxis(np.tensordot(weights, x, ([1], [2 + axis])), 0, 2 + axis)
    return x


def resized_part(x: Any, sizes: Any, mode: str, value: Any) -> Any:
    """From PART[0] to PART[1] along each axis."""
    found = resized(x, sizes, mode, "tf_crop_and_resize")
    for axis, size in enumerate(sizes):
        extent = x.shape[2 + axis]
        beyond = [not 0 <= source(k, extent, size, "tf_crop_and_resize") < extent - 1 + 1e-9
                  for k in range(size)]  # fmt: skip
        np.moveaxis(found, 2 + axis, 0)[np.array(beyond)] = value
    return found


def last(x: Any) -> Any:
    return np.moveaxis(x, 1, -1)


def inside(place: int, size: int, border: str, *, corners: bool) -> int | None:
    """The place that is read for one that may be beyond the edges."""
    if border == "border":
        return min(max(place, 0), size - 1)
    while border == "reflection" and not 0 <= place < size:
        edge = 0 if place < 0 else size - 1
        place = 2 * edge - place + (0 if corners else -1 if place < 0 else 1)
        place = place if size > 1 else 0
    return place if 0 <= place < size else None


def taps(at: float, mode: str) -> dict[int, float]:
    """The places around a point, with their weights."""
    if mode == "nearest":
        return {int(np.rint(at)): 1.0}
    near = range(math.floor(at) - 1, math.floor(at) + 3)
    if mode == "bicubic":
        return {k: kernel(at - k, -0.75) for k in near}
    return {k: max(1 - abs(at - k), 0.0) for k in near}


def sampled(x: Any, at: list[float], mode: str, border: str, *, corners: bool = False) -> Any:
    """An image at a point between its elements, for each channel."""
    total = x[(slice(None), *[0] * len(at))] * 0
    for parts in itertools.product(*(taps(v, mode).items() for v in at)):
        places = [inside(k, n, border, corners=corners)
                  for (k, _), n in zip(parts, x.shape[1:], strict=True)]  # fmt: skip
        if None not in places:
            total = total + x[(slice(None), *places)] * math.prod(w for _, w in parts)
    return total


def sampled_grid(x: Any, grid: Any, mode: str, border: str, *, corners: bool) -> Any:
    found = np.zeros((*x.shape[:2], *grid.shape[1:-1]))
    for n, *place in np.ndindex(*grid.shape[:-1]):
        point = grid[(n, *place)][::-1]
        at = [((g + 1) * s - 1) / 2 if not corners else (g + 1) / 2 * (s - 1)
              for g, s in zip(point, x.shape[2:], strict=True)]  # fmt: skip
        found[(n, slice(None), *place)] = sampled(x[n], at, mode, border, corners=corners)
    return found


def cropped(x: Any, boxes: Any, indices: Any, sizes: Any, mode: str, value: float) -> Any:
    found = np.zeros((len(boxes), x.shape[1], *sizes))
    for b, r, c in np.ndindex(len(boxes), *sizes):
        at: list[float] = []
        for k, place in ((0, r), (1, c)):
            n, size = x.shape[2 + k], sizes[k]
            low, high = boxes[b, k], boxes[b, k + 2]
            step = (high - low) * (n - 1) / (size - 1) if size > 1 else 0.0
            at.append(low * (n - 1) + place * step if size > 1 else (low + high) / 2 * (n - 1))
        is_inside = all(0 <= v <= n - 1 for v, n in zip(at, x.shape[2:], strict=True))
        image = x[indices[b]]
        found[b, :, r, c] = sampled(image, at, mode, "border") if is_inside else value
    return found


def points(theta: Any, rows: int, columns: int, *, corners: bool) -> Any:
    found = np.zeros((len(theta), rows, columns, 2))
    for r, c in np.ndindex(rows, columns):
        at = [k * 2 / (n - 1) - 1 if corners else (2 * k + 1) / n - 1
              for k, n in ((c, columns), (r, rows))]  # fmt: skip
        found[:, r, c] = theta @ np.array([*at, 1.0])
    return found


def dilated(x: Any, w: Any) -> Any:
    views = np.lib.stride_tricks.sliding_window_view(x, w.shape[1:], axis=(2, 3))
    return (views + w[:, None, None]).max((-1, -2))


GRID: Any = RNG.uniform(-1.3, 1.3, (2, 3, 4, 2))
FAR: Any = RNG.uniform(-4, 4, (2, 3, 4, 2))
GRID3: Any = RNG.uniform(-2, 2, (1, 2, 3, 2, 3))
BORDERS = ("zeros", "border", "reflection")
BOXES: Any = np.array([[0.1, 0.2, 0.9, 0.8], [0.0, 0.0, 1.0, 1.0], [-0.5, 0.3, 0.7, 1.4]])
IMAGES: Any = np.array([1, 0, 1])
THETA: Any = RNG.normal(size=(2, 2, 3))
TRANSFORMS = ("half_pixel", "pytorch_half_pixel", "asymmetric", "align_corners")
ROWS = (
    *(row("resize2d", X, s, m, coordinates=t, wanted=resized(X, s, m, t), rtol=1e-9)
      for s in ((7, 3), (1, 5), (8, 10)) for m in ("nearest", "linear", "cubic")
      for t in TRANSFORMS),
    *(row("resize2d", X, (6, 7), "nearest", coordinates="asymmetric", rounding=r,
          wanted=resized(X, (6, 7), "nearest", "asymmetric", r)) for r in ROUND),
    row("resize2d", X, (6, 7), "cubic", coordinates="half_pixel_symmetric", exclude_outside=True,
        wanted=resized(X, (6, 7), "cubic", whole=False), rtol=1e-9),
    *(row("resize2d", x, s, m, coordinates="tf_crop_and_resize", extrapolation_value=v,
          roi=(*[PART[0]] * 2, *[PART[1]] * 2), wanted=resized_part(x, s, m, v), rtol=1e-9)
      for s in ((7, 3), (4, 5), (1, 8)) for m, v in (("nearest", 2.5), ("linear", -1))
      for x in (X, X[:, :, :1])),
    row("resize1d", X[0].astype("float32"), 9, "linear", coordinates="tf_crop_and_resize",
        roi=PART, wanted=resized_part(X[0], (9,), "linear", 0).astype("float32"), rtol=1e-5),
    row("resize3d", last(V), (2, 5, 3), coordinates="tf_crop_and_resize", layout="NDHWC",
        roi=(*[PART[0]] * 3, *[PART[1]] * 3), rtol=1e-9,
        wanted=last(resized_part(V, (2, 5, 3), "linear", 0))),
    row("resize2d", last(X), (3, 9), layout="NHWC", wanted=last(resized(X, (3, 9), "linear")),
        rtol=1e-9),
    *(row("resize2d", np.arange(20).reshape(1, 1, 4, 5).astype(d), s, m, rtol=1e-9,
          wanted=resized(np.arange(20.0).reshape(1, 1, 4, 5), s, m))
      for d in ("uint8", "int64") for s in ((4, 5), (4, 3)) for m in ("linear", "cubic")),
    row("resize2d", X.astype(np.float32), 6, wanted=resized(X, (6, 6), "linear").astype(np.float32),
        rtol=1e-5),
    *(row("resize1d", X[0], 7, m, wanted=resized(X[0], (7,), m), rtol=1e-9)
      for m in ("nearest", "linear", "cubic")),
    *(row("resize3d", V, (2, 5, 3), m, wanted=resized(V, (2, 5, 3), m), rtol=1e-9)
      for m in ("nearest", "linear", "cubic")),
    row("upsampling", X, 2, wanted=X.repeat(2, 2).repeat(2, 3), dynamic=False),
    row("upsampling", X, (3, 2), "linear", wanted=resized(X, (12, 10), "linear"), rtol=1e-9,
        dynamic=False),
    *(row("affine_grid", THETA, (3, 4), align_corners=c, wanted=points(THETA, 3, 4, corners=c),
          rtol=1e-9, dynamic=False) for c in (False, True)),
    *(row("grid_sample", X, g, m, b, align_corners=c, rtol=1e-9, dynamic=False,
          wanted=sampled_grid(X, g, m, b, corners=c)) for g in (GRID, FAR)
      for m in ("bilinear", "nearest", "bicubic") for b in BORDERS for c in (False, True)),
    *(row("grid_sample", V, GRID3, m, b, rtol=1e-9, dynamic=False,
          wanted=sampled_grid(V, GRID3, m, b, corners=False))
      for m in ("bilinear", "nearest", "bicubic") for b in BORDERS),
    row("grid_sample", X[:, :, :1], FAR, "bilinear", "reflection", align_corners=True, rtol=1e-9,
        wanted=sampled_grid(X[:, :, :1], FAR, "bilinear", "reflection", corners=True),
        dynamic=False),
    *(row("crop_and_resize", last(X), BOXES, IMAGES, s, m, 0.5, rtol=1e-9, dynamic=False,
          wanted=last(cropped(X, BOXES, IMAGES, s, m, 0.5)))
      for s in ((3, 4), (1, 2)) for m in ("bilinear", "nearest")),
    row("crop_and_resize", X, BOXES, IMAGES, (2, 2), layout="NCHW", rtol=1e-9, dynamic=False,
        wanted=cropped(X, BOXES, IMAGES, (2, 2), "bilinear", 0.0)),
    row("dilation2d", X, THETA, wanted=dilated(X, THETA)),
    row("dilation2d", X, THETA, stride=(1, 2), wanted=dilated(X, THETA)[:, :, :, ::2]),
)  # fmt: skip


@pytest.mark.sampled(14)
@pytest.mark.parametrize("row", ROWS, ids=str)
def test_on_arrays(row: Row) -> None:
    row.check_on_arrays()


@pytest.mark.sampled(10)
@pytest.mark.parametrize("row", ROWS, ids=str)
def test_on_tensors(row: Row) -> None:
    row.check_on_tensors()


@pytest.mark.sampled(4)
@pytest.mark.parametrize("transform", TRANSFORMS)
@pytest.mark.parametrize("rounding", ROUND)
def test_nearest_at_halves_and_ends(transform: str, rounding: str) -> None:
    for extent, size in ((49, 2), (98, 4), (49, 7), (5, 15), (3, 7), (103, 51), (11, 10)):
        x = np.arange(extent).reshape(1, 1, extent)
        found = hs.resize1d(x, size, "nearest", coordinates=transform, rounding=rounding)  # pyright: ignore
        wanted = resized(x.astype(float), (size,), "nearest", transform, rounding)
        np.testing.assert_array_equal(found, wanted)


def test_the_only_place_of_an_axis_is_its_middle() -> None:
    for corners in (False, True):
        found = hs.affine_grid(THETA, (1, 1), align_corners=corners)
        np.testing.assert_array_equal(found[:, 0, 0], THETA[:, :, 2])


def test_the_nearest_place_of_a_crop_at_halves() -> None:
    x, whole = np.arange(6.0).reshape(1, 1, 6, 1), np.array([[0.0, 0, 1, 1]])
    found = hs.crop_and_resize(x, whole, np.array([0]), (3, 1), "nearest", layout="NCHW")
    np.testing.assert_array_equal(found.ravel(), [0, 3, 5])


@pytest.mark.parametrize(
    "options",
    [{"roi": (0, 0, 1, 1)}, {"coordinates": "tf_crop_and_resize"},
     {"coordinates": "tf_crop_and_resize", "roi": (0, 1)}],
)  # fmt: skip
def test_a_part_of_images_that_does_not_go_with_coordinates(options: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="'tf_crop_and_resize' and a part of images go together"):
        hs.resize2d(X, 3, **options)


@pytest.mark.parametrize("image", [-1, 2])
def test_a_box_of_no_image(image: int) -> None:
    with pytest.raises(IndexError, match="the image of box 1 is none of 2 images"):
        hs.crop_and_resize(X, BOXES[:2], np.array([1, image]), (2, 2), layout="NCHW")


MISTAKES: dict[str, Any] = {
    "there is no mode": lambda: hs.resize2d(X, 3, "area"),  # pyright: ignore
    "there is no coordinate": lambda: hs.resize2d(X, 3, coordinates="none"),  # pyright: ignore
    "size must be one or two numbers": lambda: hs.resize2d(X, (1, 2, 3)),
    "has no elements along axis 2": lambda: hs.resize2d(X[:, :, :0], 3),
    "must be matrices": lambda: hs.affine_grid(X[0], (2, 2)),
    "must hold points": lambda: hs.grid_sample(X, GRID[:1]),
    "must be boxes": lambda: hs.crop_and_resize(X, BOXES, IMAGES[:2], (2, 2)),
    "the channels of both": lambda: hs.dilation2d(X, THETA[:1]),
}


@pytest.mark.parametrize("message", MISTAKES)
def test_mistakes(message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=message):
        MISTAKES[message]()
