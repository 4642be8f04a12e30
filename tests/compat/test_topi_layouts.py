"""TOPI's convolutions and images of any layout, and operators on elements, as TVM computes them."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

from hybridjit import stdlib as hs
from hybridjit import te
from hybridjit.compat.tvm import topi as names
from hybridjit.errors import ArgumentValueError
from tests.support.operator_rows import compare

np: Any = numpy  # whose types say nothing of arrays that may be any
topi: Any = names
nn: Any = names.nn
G: Any = np.random.default_rng(0)


def draw(*shape: int) -> Any:
    return G.standard_normal(shape).astype("float32")


X, Y = draw(3, 4), draw(3, 4)
I: Any = np.array([[-7, 7], [9, -9]], "int32")  # noqa: E741
J: Any = np.array([[2, -2], [4, 4]], "int32")
IMAGES, FILTERS = draw(2, 4, 6, 5), draw(6, 4, 3, 2)
GROUPED = draw(6, 2, 3, 3)
DEEP, DEEP_FILTERS = draw(1, 2, 4, 4, 4), draw(3, 2, 2, 3, 3)
LINES, LINE_FILTERS = draw(2, 4, 9), draw(6, 4, 3)


def last(x: Any) -> Any:
    """Channels last."""
    return np.moveaxis(x, 1, -1).copy()


def filters_last(w: Any) -> Any:
    return np.moveaxis(w, (0, 1), (-1, -2)).copy()


def convolved(x: Any, w: Any, before: Any, after: Any, stride: int = 1, groups: int = 1) -> Any:
    """A convolution by its definition, over any number of axes."""
    rank = x.ndim - 2
    padded = np.pad(x, [(0, 0), (0, 0), *zip(before, after, strict=True)])
    axes = tuple(range(2, x.ndim))
    windows = np.lib.stride_tricks.sliding_window_view(padded, w.shape[2:], axes)
    windows = windows[(slice(None), slice(None), *[slice(None, None, stride)] * rank)]
    parts = [
        np.tensordot(xs, ws, [[1, *range(2 + rank, 2 + 2 * rank)], [1, *range(2, 2 + rank)]])
        for xs, ws in zip(np.split(windows, groups, 1), np.split(w, groups), strict=True)
    ]
    return np.moveaxis(np.concatenate(parts, -1), -1, 1)


SAME = convolved(IMAGES, FILTERS, (1, 1), (1, 0), 2)  # the odd one before, whatever the stride
WIDE = np.full((1, 64), 100, "int8")

BOX: Any = np.array([[1, 0, 0, 4, 4]], np.float32)
CALLS: dict[str, Any] = {
    "conv2d of channels last": (
        lambda: nn.conv2d(last(IMAGES), filters_last(FILTERS), 1, 1, 1, data_layout="NHWC"),
        last(convolved(IMAGES, FILTERS, (1, 1), (1, 1)))),
    "conv2d, layout by place": (
        lambda: nn.conv2d(last(IMAGES), filters_last(FILTERS), 1, 0, 1, "NHWC", "HWIO"),
        last(convolved(IMAGES, FILTERS, (0, 0), (0, 0)))),
    "conv2d_nhwc": (
        lambda: nn.conv2d_nhwc(last(IMAGES), filters_last(FILTERS), 2, "SAME", 1), last(SAME)),
    "conv2d_nchw": (lambda: nn.conv2d_nchw(IMAGES, FILTERS, (2, 2), "SAME", (1, 1)), SAME),
    "conv2d_hwcn": (
        lambda: nn.conv2d_hwcn(IMAGES.transpose(2, 3, 1, 0).copy(), filters_last(FILTERS), 1, 1, 1),
        convolved(IMAGES, FILTERS, (1, 1), (1, 1)).transpose(2, 3, 1, 0)),
    "group_conv2d_nhwc": (
        lambda: nn.group_conv2d_nhwc(last(IMAGES), filters_last(GROUPED), 1, 1, 1, 2),
        last(convolved(IMAGES, GROUPED, (1, 1), (1, 1), groups=2))),
    "group_conv2d_nchw": (lambda: nn.group_conv2d_nchw(IMAGES, GROUPED, 1, 1, 1, 2),
                          convolved(IMAGES, GROUPED, (1, 1), (1, 1), groups=2)),
    "depthwise_conv2d_nhwc": (
        lambda: nn.depthwise_conv2d_nhwc(last(IMAGES), np.moveaxis(FILTERS[:4, :1], (0, 1), (2, 3))
                                         .copy(), 1, "VALID", 1),
        last(convolved(IMAGES, FILTERS[:4, :1], (0, 0), (0, 0), groups=4))),
    "conv1d_nwc": (lambda: nn.conv1d_nwc(last(LINES), filters_last(LINE_FILTERS), 2, "SAME", 1),
                   last(convolved(LINES, LINE_FILTERS, (1,), (1,), 2))),
    "group_conv1d_ncw": (
        lambda: nn.group_conv1d_ncw(LINES, LINE_FILTERS[:, :2].copy(), 1, 1, 1, 2),
        convolved(LINES, LINE_FILTERS[:, :2], (1,), (1,), groups=2)),
    "conv3d_ndhwc": (
        lambda: nn.conv3d_ndhwc(last(DEEP), filters_last(DEEP_FILTERS), 1, 0, 1, 1),
        last(convolved(DEEP, DEEP_FILTERS, (0, 0, 0), (0, 0, 0)))),
    "small integers in a wider type": (
        lambda: nn.dense(WIDE, WIDE, out_dtype="int32"), np.array([[640000]], "int32")),
    "small integers of images": (
        lambda: nn.conv2d(WIDE.reshape(1, 64, 1, 1), WIDE.reshape(1, 64, 1, 1), 1, 0, 1,
                          out_dtype="int32"), np.full((1, 1, 1, 1), 640000, "int32")),
    "matmul": (lambda: nn.matmul(X, Y, transpose_b=True), X @ Y.T),
    "resize2d of a part": (
        lambda: topi.image.resize2d(IMAGES, [0.0, 0.0, 1.0, 2.0], (6, 3), "NCHW", "linear",
                                    "tf_crop_and_resize", extrapolation_value=-1.0),
        np.stack([IMAGES[..., 0], IMAGES[..., -1], 0 * IMAGES[..., 0] - 1], -1)),
    "resize2d of what is inside": (
        lambda: topi.image.resize2d(IMAGES, [0.0] * 4, (5, 7), "NCHW", "cubic", bicubic_exclude=1),
        hs.resize2d(IMAGES, (5, 7), "cubic", exclude_outside=True)),
    "resize2d": (lambda: topi.image.resize2d(IMAGES, [0.0] * 4, (12, 5), "NCHW", "nearest_neighbor",
                                             "asymmetric"), IMAGES.repeat(2, 2)),
    "upsampling": (lambda: nn.upsampling(last(IMAGES), 1, 2, "NHWC"), last(IMAGES.repeat(2, 3))),
    "upsampling_to_a_shape": (
        lambda: nn.upsampling(IMAGES, 1.2, 2, output_shape=IMAGES.repeat(2, 3).shape),
        IMAGES.repeat(2, 3),
    ),
    "upsampling3d": (
        lambda: nn.upsampling3d(DEEP, 2, 1, 1, coordinate_transformation_mode="asymmetric"),
        DEEP.repeat(2, 2)),
    "dilation2d_nhwc": (
        lambda: topi.image.dilation2d_nhwc(last(IMAGES), np.zeros((3, 1, 4), "f"), 1, [1, 0], 1),
        last(np.lib.stride_tricks.sliding_window_view(
            np.pad(IMAGES, [(0, 0), (0, 0), (1, 1), (0, 0)]), 3, 2).max(-1))),
    "grid_sample": (lambda: topi.image.grid_sample(IMAGES, np.ones((2, 2, 1, 1), "f")),
                    IMAGES[:, :, -1:, -1:]),
    "grid_sample of volumes, in reverse": (
        lambda: topi.image.grid_sample(IMAGES[:, :, None], np.full((2, 3, 1, 1, 1), 3.0, "f"),
                                       "bicubic", "NCDHW", "reflection"),
        IMAGES[:, :, :1, :1][..., None]),
    "affine_grid": (
        lambda: topi.image.affine_grid(np.eye(3, dtype="f")[None, :2], (2, 3)),
        np.stack(np.meshgrid(np.linspace(-1, 1, 3), np.linspace(-1, 1, 2)))[None].astype("f")),
    "divide integers": (lambda: topi.divide(I, J), np.array([[-3, -3], [2, -2]], "int32")),
    "mod": (lambda: topi.mod(I, J), np.fmod(I, J)),
    "bitwise_not": (lambda: topi.bitwise_not(I), ~I),
    "identity": (lambda: topi.identity(X), X),
    "log_add_exp": (lambda: topi.log_add_exp(X * 90, Y * 90), np.logaddexp(X * 90, Y * 90)),
    "softplus": (lambda: nn.softplus(X, 2.0), np.log1p(np.exp(2 * X)) / 2),
    "argmax": (lambda: topi.argmax(X, 1), X.argmax(1).astype("int32")),
    "argmin": (lambda: topi.argmin(X, 0, True), X.argmin(0)[None].astype("int32")),
    "expand_like": (lambda: topi.expand_like(X, X[None].repeat(2, 0), 0), X[None].repeat(2, 0)),
    "fixed_point_multiply": (lambda: topi.fixed_point_multiply(I * 10, 2**30, -1),
                             np.array([[-17, 18], [23, -22]], "int32")),
    "fixed_point_multiply, left": (lambda: topi.fixed_point_multiply(I, 2**30, 3), I * 4),
    "scale_shift_nhwc": (lambda: nn.scale_shift_nhwc(last(IMAGES), X[0], X[1]),
                         last(IMAGES) * X[0] + X[1]),
    "scale_shift_nchwc": (lambda: nn.scale_shift_nchwc(IMAGES[..., None], X[0][:, None],
                                                       X[1][:, None]),
                          (IMAGES * X[0][:, None, None] + X[1][:, None, None])[..., None]),
    "reflect_pad": (lambda: nn.reflect_pad(X, (1, 1), (0, 2)),
                    np.pad(X, ((1, 0), (1, 2)), "reflect")),
    "replicate_pad": (lambda: nn.replicate_pad(X, (1, 1)), np.pad(X, 1, "edge")),
    "circular_pad": (lambda: nn.circular_pad(X, (1, 1)), np.pad(X, 1, "wrap")),
    "pixel_shuffle": (lambda: nn.pixel_shuffle(IMAGES, 2),
                      hs.depth_to_space(IMAGES, 2, mode="CRD")),
    "instance_norm": (lambda: nn.instance_norm(IMAGES, X[0], X[1], 1, [2, 3]),
                      hs.instance_norm(IMAGES, X[0], X[1])),
    "roi_align, without rcnn": (
        lambda: topi.vision.roi_align_nchw(IMAGES, np.array([[1, 0, 0, 4, 4]], "f"), 2, 1.0, "avg",
                                           2),
        hs.roi_align(IMAGES, np.array([[1, 0, 0, 4, 4]], "f"), 2)),
    "roi_align, as many points as a box is large": (
        lambda: topi.vision.rcnn.roi_align_nchw(IMAGES, BOX, 2, 1.0),
        hs.roi_align(IMAGES, BOX, 2, sample_ratio=-1)),
    "roi_align, the largest": (
        lambda: topi.vision.rcnn.roi_align_nchw(IMAGES, BOX, 2, 1.0, b"max", 2),
        hs.roi_align(IMAGES, BOX, 2, mode="max")),
}  # fmt: skip


@pytest.mark.sampled(12)
@pytest.mark.parametrize("name", CALLS)
def test_arguments_and_values_are_those_of_topi(name: str) -> None:
    call, wanted = CALLS[name]
    compare(call(), wanted, 1e-4)


def test_the_table_is_whole() -> None:
    rows = names.table().splitlines()[2:]
    assert len(rows) >= 246
    assert len(names.ABSENT) <= 15


def test_layouts_that_are_not_here() -> None:
    with pytest.raises(ValueError, match="the layout HWCN is not here"):
        nn.conv2d(IMAGES, FILTERS, 1, 0, 1, "HWCN")
    with pytest.raises(ValueError, match="filters of the layout HWIO are not here"):
        nn.conv2d(IMAGES, FILTERS, 1, 0, 1, "NCHW", "HWIO")
    with pytest.raises(ValueError, match="padding is 'VALID', 'SAME' or numbers"):
        nn.conv2d_nchw(IMAGES, FILTERS, 1, "FULL", 1)


def test_sizes_of_the_run_are_not_scaled() -> None:
    n = te.var("n")
    images = te.placeholder((1, 2, n, n), name="X")
    with pytest.raises(ArgumentValueError, match="known when the function runs, cannot be scaled"):
        nn.upsampling(images, 2, 3)
    assert nn.upsampling(images, 2, 3, output_shape=(1, 2, 8, 12)).shape[2:] == (8, 12)
