"""TOPI's types, where they are not NumPy's, and its arguments by place or by any name they had."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
import pytest

import hybridjit.compat.tvm as package
from hybridjit.errors import ArgumentError
from tests.support.operator_rows import compare

np: Any = numpy  # whose types say nothing of arrays that may be any
tvm: Any = package
te: Any = tvm.te
topi: Any = tvm.topi
nn: Any = tvm.topi.nn
Element = Callable[[Any], Any]
KINDS = ["int8", "uint8", "int32", "uint32"]
X: Any = np.arange(24).reshape(2, 3, 4)


def run(made: Any, *arrays: Any) -> Any:
    """The value of a tensor, given those of its placeholders as it reads them."""
    out = tvm.nd.empty(made.shape, str(made.dtype))
    tensors = made.op.input_tensors
    tvm.build(topi.generic.schedule_injective(made), [*tensors, made])(*arrays, out)
    return out.numpy()


KEPT: dict[str, tuple[Element, Element]] = {
    "sum": (lambda x: topi.sum(x, 1), lambda x: x.sum(1)),
    "sum of all": (topi.sum, lambda x: x.sum()),
    "sum, axes kept": (lambda x: topi.sum(x, 1, True), lambda x: x.sum(1, keepdims=True)),
    "prod": (lambda x: topi.prod(x, [0, 2]), lambda x: x.prod((0, 2))),
    "prod, axes kept": (lambda x: topi.prod(x, 0, True), lambda x: x.prod(0, keepdims=True)),
    "max": (lambda x: topi.max(x, 1, True), lambda x: x.max(1, keepdims=True)),
    "min": (lambda x: topi.min(x, 1, True), lambda x: x.min(1, keepdims=True)),
    "cumsum": (lambda x: topi.cumsum(x, 1), lambda x: x.cumsum(1)),
    "cumsum of all": (topi.cumsum, lambda x: x.ravel().cumsum()),
    "cumsum before": (lambda x: topi.cumsum(x, 2, None, True), lambda x: x.cumsum(2) - x),
    "cumprod": (lambda x: topi.cumprod(x, 1), lambda x: x.cumprod(1)),
    "clip": (lambda x: topi.clip(x, 2.0, 9.0), lambda x: x.clip(2, 9)),
    "bitwise_not": (topi.bitwise_not, lambda x: ~x),
}


@pytest.mark.sampled(12)
@pytest.mark.parametrize("dtype", KINDS)
@pytest.mark.parametrize("name", KEPT)
def test_integers_keep_their_type(name: str, dtype: str) -> None:
    call, wanted = KEPT[name]
    x = X.astype(dtype)
    compare(call(x), wanted(x).astype(dtype))
    assert call(te.placeholder(X.shape, dtype, "X")).dtype == dtype


def test_a_sum_of_bytes_is_a_byte() -> None:
    made = topi.sum(te.placeholder((2, 3, 4), "int8", "X"), axis=2)
    np.testing.assert_array_equal(run(made, X.astype("int8")), X.sum(2).astype("int8"))
    assert topi.cumsum(te.placeholder((4,), "int8"), 0, "int32").dtype == "int32"


MIXED: dict[str, Any] = {
    "add": np.add,
    "subtract": np.subtract,
    "multiply": np.multiply,
    "divide": np.divide,
    "maximum": np.maximum,
    "minimum": np.minimum,
    "power": np.power,
    "floor_divide": np.floor_divide,
    "floor_mod": np.mod,
    "mod": np.fmod,
}


@pytest.mark.sampled(12)
@pytest.mark.parametrize("dtype", KINDS)
@pytest.mark.parametrize("name", MIXED)
def test_integers_become_the_float_that_they_meet(name: str, dtype: str) -> None:
    call, x = getattr(topi, name), X.astype(dtype)
    half, floats = np.float32(1.5), (X + 1).astype("float32")
    compare(call(x, 1.5), MIXED[name](x.astype("f"), half), 1e-5)
    compare(call(1.5, x + 1), MIXED[name](half, (x + 1).astype("f")), 1e-5)
    compare(call(x, floats), MIXED[name](x.astype("f"), floats), 1e-5)
    placed = te.placeholder(X.shape, dtype, "X")
    assert call(placed, 1.5).dtype == "float32"
    assert call(placed, te.placeholder(X.shape, "float16", "Y")).dtype == "float16"
    assert call(placed, 2).dtype == dtype


def test_conditions_of_axes_that_are_kept() -> None:
    compare(topi.all(X > 3, 1, True), (X > 3).all(1, keepdims=True))
    compare(topi.any(X > 3, 1, True), (X > 3).any(1, keepdims=True))


def test_an_axis_by_its_place() -> None:
    x, lengths = X.astype("float32"), np.array([1, 0, 2], "int32")
    is_inside = np.arange(2)[:, None] < lengths
    compare(topi.sequence_mask(x, lengths, -1.0, 0), np.where(is_inside[..., None], x, -1.0))
    x, lengths = X.astype("float32"), np.array([1, 3], "int32")
    is_inside = np.arange(3) < lengths[:, None]
    compare(topi.sequence_mask(x, lengths, -1.0, 1), np.where(is_inside[..., None], x, -1.0))


IMAGES: Any = np.random.default_rng(0).random((1, 3, 6, 6), np.float32)
FILTERS: Any = np.random.default_rng(1).random((4, 3, 3, 3), np.float32)
WINDOWS = np.lib.stride_tricks.sliding_window_view(IMAGES, (3, 3), (2, 3))
CONVOLVED = np.einsum("nchwij,ocij->nohw", WINDOWS, FILTERS)
NAMED: dict[str, tuple[Any, Any]] = {
    "layout": (lambda: nn.conv2d(IMAGES, FILTERS, 1, 0, 1, layout="NCHW"), CONVOLVED),
    "data_layout": (lambda: nn.conv2d(IMAGES, FILTERS, 1, 0, 1, data_layout="NCHW"), CONVOLVED),
    "all names": (
        lambda: nn.conv2d(input=IMAGES, filter=FILTERS, strides=2, padding=0, dilation=1),
        CONVOLVED[..., ::2, ::2],
    ),
    "stride": (
        lambda: nn.conv2d_nchw(Input=IMAGES, Filter=FILTERS, stride=2, padding=0, dilation=1),
        CONVOLVED[..., ::2, ::2],
    ),
    "groups": (
        lambda: nn.group_conv2d_nchw(IMAGES, FILTERS, stride=2, padding=0, dilation=1, groups=1),
        CONVOLVED[..., ::2, ::2],
    ),
    "hints": (
        lambda: nn.conv2d_nchw(
            IMAGES, FILTERS, 1, 0, 1, auto_scheduler_rewritten_layout="", out_dtype="float32"
        ),
        CONVOLVED,
    ),
    "a name of the padding": (
        lambda: nn.pad(X[0], [0, 1], [1, 0], name="pad_temp"),
        np.pad(X[0], ((0, 1), (1, 0))),
    ),
}


@pytest.mark.parametrize("name", NAMED)
def test_arguments_by_any_name(name: str) -> None:
    call, wanted = NAMED[name]
    compare(call(), wanted, 1e-5)


def test_other_names_are_refused() -> None:
    with pytest.raises(ArgumentError, match=r"topi\.nn\.conv2d_nchw takes no 'strade'"):
        nn.conv2d_nchw(IMAGES, FILTERS, strade=2)
    with pytest.raises(ArgumentError, match=r"topi\.nn\.group_conv2d_nchw takes no 'layout'"):
        nn.group_conv2d_nchw(IMAGES, FILTERS, layout="NHWC")
