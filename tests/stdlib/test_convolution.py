"""Convolutions against windows of NumPy: padding, stride, dilation, groups, layouts, fusion."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from hybridjit import stdlib as hs
from tests.support import operator_references as reference

Array = Any
RNG = np.random.default_rng(0)
# Each of them is compiled.
FEW = settings(max_examples=max(settings().max_examples * 2 // 5, 1))
PAIRS = st.one_of(st.integers(1, 3), st.tuples(st.integers(1, 3), st.integers(1, 2)))
PADDINGS = st.one_of(
    st.integers(0, 3),
    st.tuples(st.integers(0, 3), st.integers(0, 2)),
    st.tuples(*[st.integers(0, 2)] * 4),
    st.sampled_from(["same", "valid"]),
)


def check(found: Array, wanted: Array) -> None:
    assert found.dtype == wanted.dtype
    assert found.shape == wanted.shape
    tolerance = 1e-4 if wanted.dtype == np.float32 else 1e-12
    np.testing.assert_allclose(found, wanted, rtol=tolerance, atol=tolerance)


def ones(shape: tuple[int, ...]) -> Array:
    return np.ones(shape)


@st.composite
def convolutions(draw: st.DrawFn) -> tuple[Array, Array, dict[str, Any]]:
    """Images, filters for groups of their channels, and options that fit."""
    groups = draw(st.sampled_from([1, 1, 2]))
    channels, outputs = groups * draw(st.integers(1, 3)), groups * draw(st.integers(1, 5))
    rows, columns = draw(st.integers(1, 9)), draw(st.integers(1, 19))
    size = draw(st.tuples(st.integers(1, 3), st.integers(1, 4)))
    options = {
        "stride": draw(PAIRS),
        "padding": draw(PADDINGS),
        "dilation": draw(PAIRS),
        "groups": groups,
    }
    x = np.random.default_rng(0).normal(size=(draw(st.integers(1, 2)), channels, rows, columns))
    w = np.random.default_rng(1).normal(size=(outputs, channels // groups, *size))
    assume(fits(x, size, options))
    return x, w, options


def fits(x: Array, size: tuple[int, int], options: dict[str, Any]) -> bool:
    strides, dilations = (reference.as_pair(options[name]) for name in ("stride", "dilation"))
    reach = [(k - 1) * d + 1 for k, d in zip(size, dilations, strict=True)]
    sides = reference.read_padding(options["padding"], reach, strides, x.shape[2:])
    return all(n + sum(s) >= r for n, s, r in zip(x.shape[2:], sides, reach, strict=True))


@FEW
@given(convolutions(), st.booleans())
def test_conv2d(case: tuple[Array, Array, dict[str, Any]], is_last: bool) -> None:
    x, w, options = case
    wanted = reference.conv2d(x, w, **options)
    if not is_last:
        check(hs.conv2d(x, w, **options), wanted)
        return
    found: Array = hs.conv2d(
        x.transpose(0, 2, 3, 1).copy(), w.transpose(2, 3, 1, 0).copy(), layout="NHWC", **options
    )
    check(found.transpose(0, 3, 1, 2), wanted)


@FEW
@given(convolutions(), st.integers(1, 2), st.booleans())
def test_depthwise(
    case: tuple[Array, Array, dict[str, Any]], multiplier: int, is_last: bool
) -> None:
    x, filters, options = case
    del options["groups"]
    w: Array = np.random.default_rng(2).normal(size=(x.shape[1], multiplier, *filters.shape[2:]))
    wanted = reference.depthwise_conv2d(x, w, **options)
    if not is_last:
        check(hs.depthwise_conv2d(x, w, **options), wanted)
        return
    found: Array = hs.depthwise_conv2d(
        x.transpose(0, 2, 3, 1).copy(), w.transpose(2, 3, 0, 1).copy(), layout="NHWC", **options
    )
    check(found.transpose(0, 3, 1, 2), wanted)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("shape", [(1, 16, 28, 28), (2, 3, 33, 47), (1, 8, 14, 14)])
@pytest.mark.parametrize("stride", [1, 2])
def test_larger_images(shape: tuple[int, ...], stride: int) -> None:
    x = RNG.normal(size=shape).astype("float32")
    w = RNG.normal(size=(20, shape[1], 3, 3)).astype("float32")
    options: dict[str, Any] = {"stride": stride, "padding": 1}
    check(hs.conv2d(x, w, **options), reference.conv2d(x, w, **options))
    check(
        hs.depthwise_conv2d(x, w[: shape[1], :1], **options),
        reference.depthwise_conv2d(x, w[: shape[1], :1], **options),
    )


@pytest.mark.parametrize("name", ["conv2d", "depthwise_conv2d"])
@pytest.mark.parametrize("layout", ["NCHW", "NHWC"])
def test_bias_and_activation(name: str, layout: Any) -> None:
    x: Array = RNG.normal(size=(2, 4, 7, 9)).astype("float32")
    w: Array = RNG.normal(size=(4, 4 if name == "conv2d" else 1, 3, 3)).astype("float32")
    bias = RNG.normal(size=4).astype("float32")
    wanted = np.maximum(getattr(reference, name)(x, w) + bias[:, None, None], 0)
    if layout == "NHWC":
        x = x.transpose(0, 2, 3, 1)
        w = w.transpose(2, 3, 1, 0) if name == "conv2d" else w.transpose(2, 3, 0, 1)
    found = getattr(hs, name)(x, w, bias, activation="relu", layout=layout)
    check(found if layout == "NCHW" else found.transpose(0, 3, 1, 2), wanted)


@pytest.mark.parametrize("types", [("int8", "int8"), ("uint8", "int32"), ("float32", "float64")])
def test_types(types: tuple[str, str]) -> None:
    x = RNG.integers(0, 3, size=(1, 2, 5, 5)).astype(types[0])
    w = RNG.integers(0, 3, size=(3, 2, 2, 2)).astype(types[1])
    check(hs.conv2d(x, w), reference.conv2d(x, w).astype(np.result_type(*types)))


@pytest.mark.parametrize(
    ("shapes", "options", "message"),
    [
        (((2, 3), (1, 3, 2, 2)), {}, r"conv2d: 'x' of shape \(2, 3\) must have 4 axes, N, C, H, W"),
        (((1, 3, 5, 5), (3, 2)), {}, r"the filters 'w' of shape \(3, 2\) must have 4 axes"),
        (
            ((1, 3, 5, 5), (4, 2, 3, 3)),
            {},
            r"'x' \(1, 3, 5, 5\) and 'w' \(4, 2, 3, 3\): 3 channels in 1 groups do not fit filters",
        ),
        (((1, 4, 5, 5), (3, 2, 3, 3)), {"groups": 2}, "4 channels in 2 groups .* for 3 outputs"),
        (((1, 1, 2, 5), (1, 1, 3, 3)), {}, "a window over 3 elements does not fit on an axis of 2"),
        (((1, 1, 5, 5), (1, 1, 3, 3)), {"padding": "SAME"}, "there is no padding 'SAME'"),
        (((1, 1, 5, 5), (1, 1, 3, 3)), {"padding": (1, 2, 3)}, r"there is no padding \(1, 2, 3\)"),
        (((1, 1, 5, 5), (1, 1, 3, 3)), {"padding": -1}, "padding must be .* at least 0, got -1"),
        (((1, 1, 5, 5), (1, 1, 3, 3)), {"stride": 0}, "stride must be .* at least 1, got 0"),
        (
            ((1, 1, 5, 5), (1, 1, 3, 3)),
            {"stride": 1.5},
            r"stride must be an integer or two, got 1.5",
        ),
        (((1, 1, 5, 5), (1, 1, 3, 3)), {"dilation": (1, 2, 3)}, "dilation must be one or two"),
        (((1, 1, 5, 5), (1, 1, 3, 3)), {"layout": "CHWN"}, "there is no layout 'CHWN'"),
    ],
)
def test_mistakes_are_refused(shapes: Any, options: Any, message: str) -> None:
    with pytest.raises((ValueError, TypeError), match=message):
        hs.conv2d(ones(shapes[0]), ones(shapes[1]), **options)


def test_filters_for_other_channels_are_refused() -> None:
    with pytest.raises(ValueError, match="there are 3 channels, and filters for 2"):
        hs.depthwise_conv2d(np.ones((1, 3, 5, 5)), np.ones((2, 1, 3, 3)))
