"""Axes that are arguments of a script: each value has code of its own, and other numbers do not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from hybridjit import hybrid
from hybridjit.errors import ParseError, ShapeMismatch
from tests.lowering.ways import assert_all_ways_agree


@hybrid.script
def by_keyword(x: Any, axis: Any) -> Any:
    return x.sum(axis=axis)


@hybrid.script
def by_place(x: Any, axis: int) -> Any:
    return np.mean(x * axis, axis), x.argmax(axis), np.flip(x, axis), np.cumsum(x, axis)


@hybrid.script
def joined(x: Any, axis: int) -> Any:
    return np.concatenate((x, x), axis), np.stack((x, x), axis=axis), np.expand_dims(x, axis)


@hybrid.script
def exchanged(x: Any, i: int, j: int) -> Any:
    return x.swapaxes(i, j), np.moveaxis(x, i, j), np.linalg.norm(x, axis=j)


@hybrid.script
def reordered(x: Any, axes: tuple[int, ...]) -> Any:
    return np.transpose(x, axes)


def largest(values: Any, along: int) -> Any:
    return values.max(along)


@hybrid.script
def by_a_helper(x: Any, k: int) -> Any:
    return largest(x, along=k - 1)


@hybrid.script
def chosen(x: Any, k: int) -> Any:
    axis = -1 if k > 2 else 0
    return np.sort(x, axis)


@hybrid.script
def scaled(x: Any, k: int) -> Any:
    return np.sum(x * k), x.max(0) + k


@hybrid.script
def along_each(x: Any) -> Any:
    total = 0.0
    for axis in range(x.ndim):
        total += x.max(axis=axis).sum()
    return total


GRID = np.random.default_rng(0).random((3, 4))


@pytest.mark.parametrize("axis", [0, 1, -1, -2])
@pytest.mark.parametrize("kernel", [by_keyword, by_place, joined])
def test_an_axis_may_be_an_argument(kernel: Any, axis: int) -> None:
    assert_all_ways_agree(kernel, GRID, axis)


def test_no_axis_is_all_of_them() -> None:
    assert_all_ways_agree(by_keyword, GRID, None)


@pytest.mark.parametrize(("i", "j"), [(0, 1), (1, 0), (-1, 0)])
def test_two_axes_may_be_arguments(i: int, j: int) -> None:
    assert_all_ways_agree(exchanged, GRID, i, j)
    assert_all_ways_agree(reordered, GRID, (i % 2, j % 2))


@pytest.mark.parametrize("k", [1, 2, 3])
def test_an_axis_may_be_computed_of_arguments(k: int) -> None:
    assert_all_ways_agree(chosen, GRID, k)
    if k < 3:
        assert_all_ways_agree(by_a_helper, GRID, k)


def test_an_axis_that_is_not_there() -> None:
    with pytest.raises(ShapeMismatch, match="axis 2 is out of bounds for an array of 2 dimensions"):
        by_keyword(GRID, 2)


def test_other_numbers_share_code() -> None:
    for k in range(4):
        assert_all_ways_agree(scaled, GRID, k)
    assert len(scaled.cache_info()) == 1


def test_an_axis_of_the_run_has_a_way_out() -> None:
    with pytest.raises(ParseError, match="an axis must be a number known") as caught:
        along_each(GRID)
    assert "const_range" in str(caught.value)


@hybrid.script
def kept(x: Any, keepdims: Any) -> Any:
    return x.sum(axis=0, keepdims=keepdims), np.median(x, axis=1, keepdims=keepdims)


@hybrid.script
def grids(x: Any, is_full: bool, flags: tuple[bool, bool]) -> Any:
    size = len(x) if is_full else 2
    line = np.linspace(0, 1, size, endpoint=not is_full)
    return line, np.meshgrid(x[0], x[0], sparse=flags[1])[0], x.mean(0, keepdims=flags[0])


@pytest.mark.parametrize("flag", [True, False, 1, 0, np.int8(0)])
def test_flags_that_decide_about_shapes_may_be_arguments(flag: Any) -> None:
    assert_all_ways_agree(kept, GRID, flag)
    assert_all_ways_agree(grids, GRID, flag, (bool(flag), not flag))
    assert_all_ways_agree(grids, GRID, flag, (not flag, bool(flag)))


@hybrid.script
def kept_if_large(x: Any) -> Any:
    is_large = x[0, 0] > 0.0
    return x.sum(axis=0, keepdims=is_large)


@hybrid.script
def spread(x: Any, k: int) -> Any:
    return np.linspace(0, 1, 5, endpoint=x[0, k] > 0.0)


@hybrid.script
def grid_of(x: Any) -> Any:
    return np.meshgrid(x[0], x[1], sparse=x[0, 0] > 0.0)[0]


@hybrid.script
def copied(x: Any) -> Any:
    y = x.astype(np.float64, copy=x[0, 0] > 0.0)
    y[0] = 1.0
    return y


@pytest.mark.parametrize(
    ("kernel", "more", "flag"),
    [
        (kept_if_large, (), "keepdims"),
        (spread, (1,), "endpoint"),
        (grid_of, (), "sparse"),
        (copied, (), "copy"),
    ],
)
def test_flags_of_the_run_are_not_ignored(kernel: Any, more: tuple[int, ...], flag: str) -> None:
    with pytest.raises(ParseError, match=f"{flag} must be known when the script is compiled"):
        kernel(GRID, *more)


def kind_of(x: Any) -> Any:
    if x.dtype.kind in "iu":
        return x // 2
    return x * 2 if x.dtype.kind not in "fc" else x / 2


@pytest.mark.parametrize("dtype", [np.int8, np.uint16, np.float32, np.complex64, np.bool_])
def test_kinds_of_numbers_are_asked_with_in(dtype: Any) -> None:
    assert_all_ways_agree(hybrid.script(kind_of), np.arange(4).astype(dtype))
