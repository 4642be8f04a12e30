"""Pooling against NumPy, window by window."""

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


def check(found: Array, wanted: Array) -> None:
    assert found.dtype == wanted.dtype
    assert found.shape == wanted.shape
    np.testing.assert_allclose(found, wanted, rtol=1e-6, atol=1e-12)


@st.composite
def pools(draw: st.DrawFn) -> tuple[Array, Any, dict[str, Any]]:
    """Images, the size of windows, and options that fit."""
    size = draw(st.one_of(st.integers(1, 3), st.tuples(st.integers(1, 3), st.integers(1, 4))))
    shape = (1, 2, draw(st.integers(1, 9)), draw(st.integers(1, 19)))
    x = np.random.default_rng(0).normal(size=shape)
    strides = st.one_of(st.none(), st.integers(1, 3), st.tuples(*[st.integers(1, 3)] * 2))
    sizes = reference.as_pair(size)
    padding = draw(
        st.one_of(
            st.tuples(*(st.integers(0, k // 2) for k in sizes)),
            st.tuples(*(st.integers(0, k // 2) for k in (*sizes, *sizes))),
            st.sampled_from(["same", "valid"]),
        )
    )
    options = {"stride": draw(strides), "padding": padding, "ceil_mode": draw(st.booleans())}
    options["dilation"] = draw(st.one_of(st.just(1), st.tuples(*[st.integers(1, 3)] * 2)))
    stride = reference.as_pair(size if options["stride"] is None else options["stride"])
    steps = reference.as_pair(options["dilation"])
    reaches = [(k - 1) * step + 1 for k, step in zip(sizes, steps, strict=True)]
    sides = reference.read_padding(padding, reaches, stride, x.shape[2:])
    assume(all(n + sum(s) >= k for n, s, k in zip(x.shape[2:], sides, reaches, strict=True)))
    return x, size, options


@FEW
@given(pools(), st.booleans())
def test_max_pool2d(case: tuple[Array, Any, dict[str, Any]], is_last: bool) -> None:
    x, size, options = case
    wanted = reference.pool2d("max", x, size, **options)
    if not is_last:
        check(hs.max_pool2d(x, size, **options), wanted)
        return
    found = hs.max_pool2d(x.transpose(0, 2, 3, 1), size, layout="NHWC", **options)
    check(found.transpose(0, 3, 1, 2), wanted)


@FEW
@given(pools(), st.booleans(), st.booleans())
def test_avg_pool2d(case: tuple[Array, Any, dict[str, Any]], counts: bool, is_last: bool) -> None:
    x, size, options = case
    wanted = reference.pool2d("avg", x, size, count_include_pad=counts, **options)
    options["count_include_pad"] = counts
    if not is_last:
        check(hs.avg_pool2d(x, size, **options), wanted)
        return
    found = hs.avg_pool2d(x.transpose(0, 2, 3, 1), size, layout="NHWC", **options)
    check(found.transpose(0, 3, 1, 2), wanted)


def test_dilated_windows() -> None:
    x = RNG.normal(size=(1, 2, 9, 10))
    cases: list[dict[str, Any]] = [{"dilation": 2}, {"dilation": (1, 3), "stride": 1, "padding": 1}]
    for options in cases:
        check(hs.max_pool2d(x, 3, **options), reference.pool2d("max", x, 3, **options))


def test_nan_wins_and_padding_never_does() -> None:
    x = -RNG.random((1, 1, 6, 6))
    x[0, 0, 2, 3] = np.nan
    check(
        hs.max_pool2d(x, 3, stride=1, padding=1), reference.pool2d("max", x, 3, stride=1, padding=1)
    )


@pytest.mark.sampled(2)
@pytest.mark.parametrize("dtype", ["int8", "uint8", "float16", "float32"])
def test_types(dtype: str) -> None:
    x = RNG.integers(0, 9, size=(2, 3, 8, 8)).astype(dtype)
    check(hs.max_pool2d(x, 2, padding=1), reference.pool2d("max", x, 2, padding=1))
    wanted = reference.pool2d("avg", x, 2).astype(dtype if dtype.startswith("f") else "float64")
    check(hs.avg_pool2d(x, 2), wanted)


@pytest.mark.parametrize("layout", ["NCHW", "NHWC"])
def test_global_pooling(layout: Any) -> None:
    x = RNG.normal(size=(2, 3, 5, 7))
    axes = (2, 3) if layout == "NCHW" else (1, 2)
    check(hs.global_max_pool2d(x, layout=layout), x.max(axes, keepdims=True))
    check(hs.global_avg_pool2d(x, layout=layout), x.mean(axes, keepdims=True))


def test_mistakes_are_refused() -> None:
    with pytest.raises(ValueError, match="max_pool2d: a window over 5 elements does not fit"):
        hs.max_pool2d(np.ones((1, 1, 4, 4)), 5)
    with pytest.raises(ValueError, match="size must be one or two numbers of at least 1, got 0"):
        hs.avg_pool2d(np.ones((1, 1, 4, 4)), 0)
    with pytest.raises(ValueError, match=r"'x' of shape \(4, 4\) must have 4 axes, N, H, W, C"):
        hs.global_max_pool2d(np.ones((4, 4)), layout="NHWC")
