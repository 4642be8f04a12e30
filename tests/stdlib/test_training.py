"""What training needs: batch normalization with moving averages, and gradients of poolings."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy
import pytest

from hybridjit import stdlib as hs
from tests.support.operator_rows import Row, compare, row

np: Any = numpy  # whose types say nothing of arrays that may be any
RNG = np.random.default_rng(13)
X: Any = RNG.normal(size=(4, 3, 5, 6))
MEAN, SPREAD, GAMMA, BETA = RNG.random((4, 3))


def normalized(x: Any, mean: Any, spread: Any, gamma: Any, beta: Any, options: Any) -> Any:
    axis, epsilon, momentum = options
    others = tuple(k for k in range(x.ndim) if k != axis % x.ndim)
    shape = [1] * x.ndim
    shape[axis] = -1
    own, around = x.mean(others), x.var(others)
    found = (x - own.reshape(shape)) / np.sqrt(around.reshape(shape) + epsilon)
    found = found * np.reshape(gamma, shape) + np.reshape(beta, shape)
    mixed = [(1 - momentum) * old + momentum * new for old, new in ((mean, own), (spread, around))]
    return (found, *mixed)


def norm_row(
    x: Any, *parts: Any, axis: int = 1, epsilon: float = 1e-5, momentum: float = 0.1
) -> Row:
    mean, spread, gamma, beta = (*parts, *((np.ones(3), np.zeros(3))[len(parts) - 2 :]))
    wanted = normalized(x, mean, spread, gamma, beta, (axis, epsilon, momentum))
    options: dict[str, Any] = {"axis": axis, "epsilon": epsilon, "momentum": momentum}
    return row("batch_norm_train", x, *parts, **options, wanted=wanted, rtol=1e-9)


def windows(shape: Any, counts: Any, how: Any) -> Any:
    """Of each window: where its result is, and the places of the image that it sees."""
    size, step, apart, before = how
    for at in np.ndindex(*counts):
        axes = [
            [
                n
                for k in range(size[d])
                if 0 <= (n := at[d] * step[d] + k * apart[d] - before[d]) < shape[d]
            ]
            for d in (0, 1)
        ]
        yield at, list(itertools.product(*axes))


def max_gradient(grads: Any, x: Any, how: Any) -> Any:
    found = np.zeros(x.shape)
    for n, c in np.ndindex(x.shape[:2]):
        for at, places in windows(x.shape[2:], grads.shape[2:], how):
            values = [x[n, c][place] for place in places]
            if places:
                found[n, c][places[int(np.argmax(values))]] += grads[n, c][at]
    return found


def avg_gradient(grads: Any, x: Any, how: Any, count: int | None) -> Any:
    found = np.zeros(x.shape)
    for n, c in np.ndindex(x.shape[:2]):
        for at, places in windows(x.shape[2:], grads.shape[2:], how):
            for place in places:
                found[n, c][place] += grads[n, c][at] / (count or len(places))
    return found


def max_row(shape: Any, size: Any, step: Any, pad: Any, apart: Any, *, ceil: bool = False) -> Row:
    x = RNG.integers(0, 9, shape).astype(float)  # so that there are equal ones
    counts = hs.max_pool2d(x, size, stride=step, padding=pad, dilation=apart, ceil_mode=ceil).shape
    grads = RNG.normal(size=counts)
    return row("max_pool2d_grad", grads, x, size, stride=step, padding=pad, dilation=apart,
               ceil_mode=ceil, wanted=max_gradient(grads, x, (size, step, apart, pad)), rtol=1e-12,
               dynamic=False)  # fmt: skip


def avg_row(shape: Any, size: Any, step: Any, pad: Any, *, counts_padding: bool) -> Row:
    x = RNG.normal(size=shape)
    options: dict[str, Any] = {"stride": step, "padding": pad, "count_include_pad": counts_padding}
    grads = RNG.normal(size=hs.avg_pool2d(x, size, **options).shape)
    count = math.prod(size) if counts_padding else None
    return row("avg_pool2d_grad", grads, x, size, **options, rtol=1e-12, dynamic=False,
               wanted=avg_gradient(grads, x, (size, step, (1, 1), pad), count))  # fmt: skip


ROWS = (
    norm_row(X, MEAN, SPREAD, GAMMA, BETA),
    norm_row(X, MEAN, SPREAD, momentum=1.0),
    norm_row(X.transpose(0, 2, 3, 1), MEAN, SPREAD, GAMMA, axis=-1, epsilon=0.1, momentum=0.0),
    norm_row(X[:, :, 0, 0], MEAN, SPREAD, GAMMA, BETA, momentum=0.7),
    norm_row(X[0], MEAN, SPREAD, axis=0),
    row("batch_norm_train", X[:, :0], MEAN[:0], SPREAD[:0], dynamic=False,
        wanted=(X[:, :0], MEAN[:0], SPREAD[:0])),
    max_row((2, 3, 6, 5), (2, 2), (2, 2), (0, 0), (1, 1)),
    max_row((1, 2, 7, 8), (3, 2), (1, 2), (1, 1), (1, 1)),
    max_row((1, 2, 9, 8), (2, 3), (2, 1), (0, 1), (2, 3)),
    max_row((1, 2, 7, 6), (2, 3), (2, 2), (0, 1), (1, 1), ceil=True),
    max_row((1, 1, 1, 70), (1, 1), (1, 3), (0, 0), (1, 1)),
    avg_row((2, 3, 6, 5), (2, 2), (2, 2), (0, 0), counts_padding=True),
    avg_row((1, 2, 7, 8), (3, 2), (1, 2), (1, 1), counts_padding=True),
    avg_row((1, 2, 7, 8), (3, 3), (2, 1), (1, 1), counts_padding=False),
)  # fmt: skip


@pytest.mark.sampled(6)
@pytest.mark.parametrize("row", ROWS, ids=str)
def test_on_arrays(row: Row) -> None:
    row.check_on_arrays()


@pytest.mark.sampled(2)
@pytest.mark.parametrize("row", ROWS, ids=str)
def test_on_tensors(row: Row) -> None:
    row.check_on_tensors()


@pytest.mark.parametrize("name", ["max_pool2d_grad", "avg_pool2d_grad"])
def test_channels_last_are_the_same(name: str) -> None:
    x, grads = RNG.normal(size=(2, 3, 6, 5)), RNG.normal(size=(2, 3, 3, 2))
    found = getattr(hs, name)(
        grads.transpose(0, 2, 3, 1), x.transpose(0, 2, 3, 1), 2, layout="NHWC"
    )
    compare(found.transpose(0, 3, 1, 2), getattr(hs, name)(grads, x, 2))


def test_average_of_windows_that_end_beyond_the_padding() -> None:
    x = np.ones((1, 1, 1, 5))
    found = hs.avg_pool2d_grad(np.ones((1, 1, 1, 3)), x, (1, 2), ceil_mode=True)
    compare(found, np.array([[[[0.5, 0.5, 0.5, 0.5, 1.0]]]]))


def test_a_nan_is_the_largest() -> None:
    x = np.array([[[[1.0, math.nan, 3.0, math.nan]]]])
    found = hs.max_pool2d_grad(np.ones((1, 1, 1, 1)), x, (1, 4))
    compare(found, np.array([[[[0.0, 1.0, 0.0, 0.0]]]]))


@pytest.mark.sampled(3)
@pytest.mark.parametrize("dtype", ["float16", "float32", "int16"])
def test_normalization_of_other_types(dtype: str) -> None:
    x = (X * 9).astype(dtype)
    wanted = normalized(x.astype(float), MEAN, SPREAD, 1, 0, (1, 1e-5, 0.1))
    found, *moving = hs.batch_norm_train(x, MEAN, SPREAD)
    compare(found, wanted[0].astype(dtype if dtype != "int16" else "float64"),
            {"float16": 2e-3, "float32": 1e-5}.get(dtype, 1e-9))  # fmt: skip
    for one, other in zip(moving, wanted[1:], strict=True):
        compare(one, other, 1e-6)


MISTAKES: dict[str, Any] = {
    "the momentum is from 0 to 1": lambda: hs.batch_norm_train(X, MEAN, SPREAD, momentum=1.5),
    "it must have shape": lambda: hs.batch_norm_train(X, MEAN[:2], SPREAD),
    "has not one for each window": lambda: hs.max_pool2d_grad(X, X, 2),
    "must hold floats": lambda: hs.avg_pool2d_grad(X.astype(int), X, 1),
}


@pytest.mark.parametrize("message", MISTAKES)
def test_mistakes(message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=message):
        MISTAKES[message]()
