"""Convolutions and poolings over one, two and three axes, also transposed and adaptive."""

from __future__ import annotations

from typing import Any

import numpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hybridjit import stdlib as hs
from hybridjit import te
from tests.support import window_references as reference
from tests.support.operator_rows import Row, compare, row

np: Any = numpy  # whose types say nothing of arrays that may be any
RNG = np.random.default_rng(0)
FEW = settings(max_examples=max(settings().max_examples // 4, 1))
LAYOUTS = {1: ("NCW", "NWC"), 2: ("NCHW", "NHWC"), 3: ("NCDHW", "NDHWC")}
EXTENTS = (5, 7, 4)


def images(count: int, channels: int = 4) -> Any:
    return RNG.normal(size=(2, channels, *EXTENTS[:count]))


def last(x: Any) -> Any:
    """With the channels last."""
    return np.moveaxis(x, 1, -1)


def filters_last(w: Any) -> Any:
    """(outputs, channels, ...) to (..., channels, outputs)."""
    return np.moveaxis(w, (0, 1), (-1, -2))


def convolutions(count: int) -> list[Row]:
    x, w = images(count), RNG.normal(size=(6, 4, 3, 2, 2)[: 2 + count])
    v = RNG.normal(size=(6, 2, 3, 2, 2)[: 2 + count])
    ones, twos, none = [1] * count, [2] * count, [(0, 0)] * count
    name, bias = f"conv{count}d", RNG.normal(size=6)
    sides = [(1, 2), (0, 1), (2, 0)][:count]
    flat = (*(a for a, _ in sides), *(b for _, b in sides))
    plain = reference.convolve(x, w, ones, none, ones)
    return [
        row(name, x, w, wanted=plain, rtol=1e-9),
        row(name, x, w, bias, activation="relu", rtol=1e-9, dynamic=False,
            wanted=np.maximum(plain + np.reshape(bias, (6, *ones)), 0)),
        row(name, x, w, stride=2, padding=flat, rtol=1e-9, dynamic=False,
            wanted=reference.convolve(x, w, twos, sides, ones)),
        row(name, x, v, groups=2, padding=1, dilation=2, rtol=1e-9, dynamic=False,
            wanted=reference.convolve(x, v, ones, [(1, 1)] * count, twos, 2)),
        row(name, last(x), filters_last(w), layout=LAYOUTS[count][1], rtol=1e-9,
            wanted=last(plain)),
        row(name, x.astype(np.float32), w.astype(np.float32), wanted=plain.astype(np.float32),
            rtol=1e-4),
    ]  # fmt: skip


def transposed(count: int) -> list[Row]:
    x, w = images(count), RNG.normal(size=(4, 3, 3, 2, 2)[: 2 + count])
    ones, twos, none = [1] * count, [2] * count, [(0, 0)] * count
    name, bias = f"conv{count}d_transpose", RNG.normal(size=3)
    plain = reference.spread(x, w, ones, none, ones, [0] * count)
    return [
        row(name, x, w, wanted=plain, rtol=1e-9),
        row(name, x, w, bias, rtol=1e-9, dynamic=False,
            wanted=plain + np.reshape(bias, (3, *ones))),
        row(name, x, w, stride=2, padding=1, output_padding=1, rtol=1e-9, dynamic=False,
            wanted=reference.spread(x, w, twos, [(1, 1)] * count, ones, ones)),
        row(name, x, w, stride=3, dilation=2, groups=2, rtol=1e-9, dynamic=False,
            wanted=reference.spread(x, w, [3] * count, none, twos, [0] * count, 2)),
        row(name, last(x), filters_last(w), layout=LAYOUTS[count][1], rtol=1e-9,
            wanted=last(plain)),
        row(name, np.ones(x.shape, int), np.ones(w.shape, int),
            wanted=reference.spread(np.ones(x.shape, int), np.ones(w.shape, int), ones, none, ones,
                                    [0] * count)),
    ]  # fmt: skip


def pools(count: int, kind: str) -> list[Row]:
    x = images(count)
    ones, twos, none = [1] * count, [2] * count, [(0, 0)] * count
    name, size, steps = f"{kind}_pool{count}d", (3, 2, 2)[:count], (2, 1, 3)[:count]
    given_size: Any = size[0] if count == 1 else size
    given_steps: Any = steps[0] if count == 1 else steps
    plain = reference.pooled(kind, x, twos, twos, none, True)
    axes = tuple(range(2, 2 + count))
    whole = x.max(axes, keepdims=True) if kind == "max" else x.mean(axes, keepdims=True)
    padded = reference.pooled(kind, x, size, steps, [(1, 1)] * count, True)
    shared = [((4, 3, 4)[:count]), (1, 2, 3)[:count], (5, 9, 2)[:count]]
    return [
        row(name, x, 2, wanted=plain, rtol=1e-12),
        row(name, x, given_size, stride=given_steps, padding=1, rtol=1e-12, wanted=padded,
            dynamic=False),
        row(name, last(x), 1, stride=1, layout=LAYOUTS[count][1], rtol=1e-12,
            wanted=last(reference.pooled(kind, x, ones, ones, none, True))),
        row(f"global_{kind}_pool{count}d", x, wanted=whole, rtol=1e-12),
        row(f"global_{kind}_pool{count}d", last(x), layout=LAYOUTS[count][1], wanted=last(whole),
            rtol=1e-12),
        *(row(f"adaptive_{kind}_pool{count}d", x, s if count > 1 else s[0], rtol=1e-12,
              wanted=reference.shared(kind, x, s)) for s in shared),
        row(f"adaptive_{kind}_pool{count}d", last(x), 2, layout=LAYOUTS[count][1], rtol=1e-12,
            wanted=last(reference.shared(kind, x, twos))),
    ]  # fmt: skip


X1: Any = images(1)
ROWS = (
    *(r for count in (1, 3) for r in convolutions(count)),
    *(r for count in (1, 2, 3) for r in transposed(count)),
    *(r for count in (1, 2, 3) for kind in ("max", "avg") for r in pools(count, kind)),
    row("avg_pool1d", X1, 3, stride=2, padding=(1, 0), count_include_pad=False, rtol=1e-12,
        wanted=reference.pooled("avg", X1, [3], [2], [(1, 0)], False)),
    row("avg_pool1d", np.arange(6).reshape(1, 1, 6), 2, wanted=np.array([[[0.5, 2.5, 4.5]]])),
    row("max_pool1d", X1, 2, ceil_mode=True, dynamic=False,
        wanted=np.stack([X1[:, :, :2].max(2), X1[:, :, 2:4].max(2), X1[:, :, 4]], 2)),
)  # fmt: skip


@pytest.mark.sampled(24)
@pytest.mark.parametrize("row", ROWS, ids=str)
def test_on_arrays(row: Row) -> None:
    row.check_on_arrays()


@pytest.mark.sampled(12)
@pytest.mark.parametrize("row", ROWS, ids=str)
def test_on_tensors(row: Row) -> None:
    row.check_on_tensors()


@FEW
@given(st.data())
def test_random_transposed_convolutions(data: st.DataObject) -> None:
    count = data.draw(st.integers(1, 2))
    groups = data.draw(st.integers(1, 2))
    numbers = st.lists(st.integers(1, 3), min_size=count, max_size=count)
    sizes, strides, dilations, extents = (data.draw(numbers) for _ in range(4))
    sides = [(data.draw(st.integers(0, 2)), data.draw(st.integers(0, 2))) for _ in sizes]
    more = [data.draw(st.integers(0, step - 1)) for step in strides]
    x = RNG.random((1, 2 * groups, *extents))
    w = RNG.random((2 * groups, 3, *sizes))
    wanted = reference.spread(x, w, strides, sides, dilations, more, groups)
    flat = (*(a for a, _ in sides), *(b for _, b in sides))
    options: dict[str, Any] = {"stride": strides, "dilation": dilations, "output_padding": more}
    call = getattr(hs, f"conv{count}d_transpose")
    if wanted.size == 0 or min(wanted.shape) < 1:
        return
    compare(call(x, w, padding=flat, groups=groups, **options), wanted, 1e-9)


SIZED = te.placeholder((1, 1, te.var("n")), "float64", "x")


def test_averages_of_windows_that_are_all_padding() -> None:
    x = np.ones((1, 1, 3, 3))
    for size, before in ((1, 2), (2, 4), (3, 3)):
        options: Any = {"stride": 1, "padding": before, "count_include_pad": False}
        found = hs.avg_pool2d(x, size, **options)
        is_seen = hs.max_pool2d(x, size, stride=1, padding=before) == 1
        np.testing.assert_array_equal(found, np.where(is_seen, 1.0, 0.0))
        assert not np.signbit(found).any()


MISTAKES: dict[str, Any] = {
    "there is no layout 'NCHW'": lambda: hs.conv1d(X1, X1, layout="NCHW"),  # pyright: ignore
    "must have 5 axes": lambda: hs.conv3d(X1, X1),
    r"the filters 'w' of shape": lambda: hs.conv1d(X1, X1[0]),
    "stride must be one number of at least 1": lambda: hs.conv1d(X1, X1, stride=0),
    "groups, do not match": lambda: hs.conv1d_transpose(X1, X1[0, :3, None]),
    "has no results": lambda: hs.conv1d_transpose(X1, X1[0, :, None], padding=9),
    "ceil_mode needs sizes that are known": lambda: hs.max_pool1d(SIZED, 2, ceil_mode=True),
    "has no elements to share": lambda: hs.adaptive_avg_pool1d(X1[:, :, :0], 2),
    "size must be one number of at least 1, got 0": lambda: hs.adaptive_max_pool1d(X1, 0),
}  # fmt: skip


@pytest.mark.parametrize("message", MISTAKES)
def test_mistakes(message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=message):
        MISTAKES[message]()
