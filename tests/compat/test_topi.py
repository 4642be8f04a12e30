"""TOPI's names: each is here, with TOPI's arguments, or the documentation says why not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy
import pytest

import hybridjit as hj
from hybridjit import te
from hybridjit.compat.tvm import topi as names
from tests.support.operator_rows import compare

np: Any = numpy  # whose types say nothing of arrays that may be any
topi: Any = names
ROOT = Path(__file__).parents[2]
X: Any = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
IMAGES: Any = np.arange(2 * 4 * 4 * 6, dtype=np.float32).reshape(2, 4, 4, 6)
I: Any = np.array([[0, 1], [2, 0]])  # noqa: E741


def test_the_table_has_each_name_once() -> None:
    rows = [line.split("`")[1] for line in names.table().splitlines()[2:]]
    assert len(rows) == len(set(rows))


def test_documentation_has_the_table() -> None:
    page = (ROOT / "docs/tvm.md").read_text(encoding="utf-8")
    assert page.endswith(names.table() + "\n"), "write names.table() to the end of docs/tvm.md"


@pytest.mark.parametrize("name", [*names.SAME, *names.RENAMED, *names.ADAPTED])
def test_name_is_here(name: str) -> None:
    found = topi
    for part in name.split("."):
        found = getattr(found, part)
    assert callable(found)
    assert name not in names.ABSENT


@pytest.mark.parametrize("name", names.ABSENT)
def test_absent_name_says_what_to_do(name: str) -> None:
    with pytest.raises(AttributeError, match="topi has no"):
        names.look_up(name)


CALLS: dict[str, Any] = {
    "expand_dims": (lambda: topi.expand_dims(X, 1, 2), X[:, None, None]),
    "flip": (lambda: topi.flip(X), X[::-1]),
    "strided_slice": (lambda: topi.strided_slice(X, [0, 1], [1, 2], slice_mode="size"), X[:1, 1:3]),
    "take": (lambda: topi.take(X, np.array([9, -9]), 1), X[:, [2, 0]]),
    "gather": (lambda: topi.gather(X[0], 0, I), np.array([[0, 5], [8, 1]], np.float32)),
    "gather_nd": (lambda: topi.gather_nd(X[0], I.T), X[0][I[:, 0], I[:, 1]]),
    "one_hot": (lambda: topi.one_hot(np.array([1]), 7, 2, 3, -1, "int32"),
                np.array([[2, 7, 2]], "int32")),
    "trilu": (lambda: topi.trilu(X, 0, True), np.triu(X)),
    "einsum": (lambda: topi.einsum("ijk->kj", X), X.sum(0).T),
    "matmul": (lambda: topi.matmul(X, X, transp_b=True), X @ X.swapaxes(1, 2)),
    "elemwise_sum": (lambda: topi.elemwise_sum([X, X, X]), 3 * X),
    "sort": (lambda: topi.sort(X, 2, False), X[:, :, ::-1]),
    "argsort": (lambda: topi.argsort(X[0, 0], is_ascend=False), np.array([3, 2, 1, 0], np.float32)),
    "topk": (lambda: topi.topk(X[0, 0], 2, ret_type="values"), np.array([3, 2], np.float32)),
    "searchsorted": (lambda: topi.searchsorted(X[0, 0], X[0, 0], True), np.arange(1, 5)),
    "unravel_index": (lambda: topi.unravel_index(np.array([5]), (2, 3)), np.array([[1], [2]])),
    "batch_matmul": (lambda: topi.nn.batch_matmul(X, X), X @ X.swapaxes(1, 2)),
    "conv2d": (lambda: topi.nn.conv2d(IMAGES, IMAGES[:, :, :1, :1], 1, "VALID", 1),
               np.einsum("nchw,oc->nohw", IMAGES, IMAGES[:, :, 0, 0])),
    "pool2d": (lambda: topi.nn.pool2d(IMAGES, (2, 2), (2, 2), (1, 1), (0, 0, 0, 0), "max"),
               IMAGES[:, :, 1::2, 1::2]),
    "pool2d of elements apart": (
        lambda: topi.nn.pool2d(IMAGES, (2, 2), (1, 1), (2, 2), (0, 0, 0, 0), "avg"),
        sum(IMAGES[:, :, r : r + 2, c : c + 4] for r in (0, 2) for c in (0, 2)) / 4),
    "adaptive_pool": (lambda: topi.nn.adaptive_pool(IMAGES, (1, 1), "max"), IMAGES[:, :, -1:, -1:]),
    "global_pool": (lambda: topi.nn.global_pool(IMAGES, "max"), IMAGES[:, :, -1:, -1:]),
    "flatten": (lambda: topi.nn.flatten(X), X.reshape(2, 12)),
    "pad": (lambda: topi.nn.pad(X[0], [0, 1], [1, 0], 5.0),
            np.pad(X[0], ((0, 1), (1, 0)), constant_values=5)),
    "mirror_pad": (lambda: topi.nn.mirror_pad(X[0], [1, 1], [0, 2], "REFLECT"),
                   np.pad(X[0], ((1, 0), (1, 2)), "reflect")),
    "upsampling": (lambda: topi.nn.upsampling(IMAGES, 1, 2), IMAGES.repeat(2, 3)),
    "scale_shift": (lambda: topi.nn.scale_shift_nchw(IMAGES, X[0, 0], X[0, 0]),
                    IMAGES * X[0, 0][:, None, None] + X[0, 0][:, None, None]),
    "batch_norm": (lambda: topi.nn.batch_norm(X, *X[:2, 0, :3], *X[:2, 0, :3])[1], X[0, 0, :3]),
    "batch_norm in training": (
        lambda: topi.nn.batch_norm(X, *X[:2, 0, :3], *X[:2, 0, :3], training=True, momentum=1)[1],
        X.mean((0, 2))),
    "conv2d_NCHWc": (
        lambda: topi.nn.conv2d_NCHWc(IMAGES[..., None], IMAGES[:, :, :1, :1, None, None], 1, 0, 1,
                                     "NCHW1c", "NCHW1c"),
        np.einsum("nchw,oc->nohw", IMAGES, IMAGES[:, :, 0, 0])[..., None]),
    "conv2d_winograd": (
        lambda: topi.nn.conv2d_winograd_nchw(IMAGES / 99, IMAGES[:, :, :3, :3] * 0 + 1, 1, 0, 1),
        np.repeat(np.lib.stride_tricks.sliding_window_view(IMAGES / 99, (3, 3), (2, 3))
                  .sum((1, 4, 5))[:, None], 2, 1)),
    "correlation": (lambda: topi.nn.correlation_nchw(IMAGES, IMAGES, 1, 0, 1, 1, 0, True),
                    (IMAGES ** 2).mean(1, keepdims=True)),
    "fifo_buffer": (lambda: topi.nn.fifo_buffer(X[:1], -X, 0), np.stack([-X[1], X[0]])),
    "pool_grad": (
        lambda: topi.nn.pool_grad(X[None, :, ::2, ::2] * 0 + 1, X[None], (2, 2), (2, 2),
                                  (0, 0, 1, 0), "max"),
        np.where(np.isin(X, [5, 7, 9, 11, 17, 19, 21, 23]), np.float32(1), np.float32(0))[None]),
    "simulated_quantize": (lambda: topi.nn.simulated_quantize(X * 20, 1), np.minimum(X * 20, 127)),
    "lstm": (lambda: topi.nn.lstm(Xs=X, Wi=X[0, :1].repeat(4, 0) * 0, Wh=X[0, :1, :1].repeat(4, 0),
                                  Bi=X[0, 0], h_init=X[0, :, :1] * 0, c_init=X[0, :, :1])[1].shape,
             (2, 3, 1)),
    "stft": (lambda: topi.stft(X[0], 2, 2, 2, X[0, 0, :2] + 1, False, True),
             np.stack([X[0].reshape(3, 2, 2) @ np.array([[1, 1], [2, -2]], np.float32)] * 2, -1)
             .swapaxes(1, 2) * np.array([1, 0], np.float32)),
    "ceil_log2": (lambda: topi.ceil_log2(I + 4), np.array([[2, 3], [3, 2]])),
    "collapse_sum": (lambda: topi.collapse_sum(X.astype("int16"), (3, 1)),
                     X.sum((0, 2)).reshape(3, 1).astype("int16")),
    "dynamic_strided_slice": (
        lambda: topi.dynamic_strided_slice(X[0], [2, 0], [0, 4], [-1, 2], (2, 2)),
        X[0, :0:-1, ::2]),
    "ndarray_size": (lambda: topi.ndarray_size(X), np.array(24, "int32")),
    "shape": (lambda: topi.shape(X), np.array([2, 3, 4], "int32")),
    "reinterpret": (lambda: topi.reinterpret(X, "int32"), X.view("int32")),
    "binarize_pack": (lambda: topi.nn.binarize_pack(np.ones((2, 32))),
                      np.full((2, 1), 2**32 - 1, "u4")),
    "binary_dense": (lambda: topi.nn.binary_dense(I.astype("u4"), I.astype("u4")),
                     np.array([[64, 60], [60, 64]], "f4")),
    "bitserial_dense": (lambda: topi.nn.bitserial_dense(I, I, 2, 2, "uint8", "int32", False),
                        (I @ I.T).astype("int32")),
    "roi_pool": (lambda: topi.vision.rcnn.roi_pool_nchw(
                     data=IMAGES, rois=np.array([[1.0, 0, 0, 5, 3]]), pooled_size=1,
                     spatial_scale=1.0), IMAGES[1:, :, -1:, -1:]),
    "get_valid_counts": (lambda: topi.vision.get_valid_counts(X, 10)[0], np.array([0, 3], "int32")),
    "multibox_transform_loc": (
        lambda: topi.vision.ssd.multibox_transform_loc(
            X[:1, :, :1] + 1, X[0, :1] * 0, X[:1, :1] / 3, threshold=7)[0],
        np.array([[[1, 9, 0, 1 / 3, 2 / 3, 1]]], np.float32)),
}  # fmt: skip


@pytest.mark.sampled(8)
@pytest.mark.parametrize("name", CALLS)
def test_arguments_are_those_of_topi(name: str) -> None:
    call, wanted = CALLS[name]
    found = call()
    if isinstance(wanted, tuple):
        assert found == wanted
    else:
        compare(found, wanted, 1e-4)


def test_sizes_and_constants_of_tensors() -> None:
    x = te.placeholder((te.var("n"), 3), "float32", "x")
    vector = topi.const_vector(np.array([5, 7], "int32"))
    part = topi.dynamic_strided_slice(x, [1, 0], [3, 3], [2, 1], (2, 3))
    made = [vector, topi.shape(x), topi.ndarray_size(x), part]
    array = np.arange(12, dtype="float32").reshape(4, 3)
    wanted = [
        np.array([5, 7], "int32"),
        np.array([4, 3], "int32"),
        np.array(12, "int32"),
        array[1::2],
    ]
    results = [np.zeros_like(part) for part in wanted]
    hj.build([x, *made])(array, *results)
    for found, expected in zip(results, wanted, strict=True):
        compare(found, expected)


@pytest.mark.parametrize("number", [1, 2, 3, 8, 9, 2**40, 2**40 + 1])
def test_logarithm_of_a_number_and_of_an_expression(number: int) -> None:
    wanted = (number - 1).bit_length()
    n = te.var("n", "int64")
    result = np.zeros(1, np.int64)
    y = te.compute((1,), lambda i: topi.ceil_log2(n) + i * 0)
    hj.build([n, y])(number, result)
    assert (topi.ceil_log2(number), result[0]) == (wanted, wanted)


def test_what_is_not_here_of_a_layer() -> None:
    with pytest.raises(ValueError, match="transformed before"):
        topi.nn.conv2d_winograd_nchw(IMAGES, IMAGES[:, :, :3, :3], 2, 0, 1)
    with pytest.raises(ValueError, match="a window of 3 elements"):
        topi.stft(X[0], 4, 2, 3, X[0, 0, :3], False, True)
