"""Convolutions as loops: in packed tiles where there is much to do, bit for bit what loops give."""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any

import numpy
import pytest

import hybridjit as hj
from hybridjit import hybrid, te
from hybridjit import stdlib as hs
from tests.support.small_machine import small_machine

np: Any = numpy
Array = Any
RNG: Any = np.random.default_rng(12)


@pytest.fixture(autouse=True, params=[False, True], ids=["", "by element"])
def on_a_small_machine(request: Any) -> Generator[None]:
    with small_machine(by_element=request.param):
        yield


def channels_first(x: Array, w: Array, y: Array) -> None:
    for c in range(y.shape[0]):
        for i in range(y.shape[1]):
            for j in range(y.shape[2]):
                y[c, i, j] = 0.0
                for d in range(x.shape[0]):
                    for k in range(3):
                        for m in range(3):
                            y[c, i, j] += x[d, i + k, j + m] * w[c, d, k, m]


def in_a_variable(x: Array, w: Array, y: Array) -> None:
    for c in range(y.shape[0]):
        for i in range(y.shape[1]):
            for j in range(y.shape[2]):
                total = 0.0
                for d in range(x.shape[0]):
                    for k in range(3):
                        for m in range(3):
                            total += w[c, d, k, m] * x[d, i + k, j + m]
                y[c, i, j] = total


def windows_first(x: Array, w: Array, y: Array) -> None:
    for c in range(y.shape[0]):
        for i in range(y.shape[1]):
            for j in range(y.shape[2]):
                y[c, i, j] = 0.0
                for k in range(3):
                    for m in range(3):
                        for d in range(x.shape[0]):
                            y[c, i, j] += x[d, i + k, j + m] * w[c, d, k, m]


def channels_last(x: Array, w: Array, y: Array) -> None:
    for i in range(y.shape[1]):
        for j in range(y.shape[2]):
            for c in range(y.shape[0]):
                y[c, i, j] = 0.0
                for d in range(x.shape[0]):
                    for k in range(3):
                        for m in range(3):
                            y[c, i, j] += x[d, i + k, j + m] * w[c, d, k, m]


def of_one_point(x: Array, w: Array, y: Array) -> None:
    for c in range(y.shape[0]):
        for i in range(y.shape[1]):
            for j in range(y.shape[2]):
                y[c, i, j] = 0.0
                for d in range(x.shape[0]):
                    for k in range(1):
                        for m in range(1):
                            y[c, i, j] += x[d, i + k, j + m] * w[c, d, k, m]


def along_a_line(x: Array, w: Array, y: Array) -> None:
    for c in range(y.shape[0]):
        for i in range(y.shape[1]):
            for j in range(y.shape[2]):
                y[c, i, j] = 0.0
                for d in range(x.shape[0]):
                    for k in range(3):
                        y[c, i, j] += x[d, i, j + k] * w[c, d, 0, k]


def with_a_stride(x: Array, w: Array, y: Array) -> None:
    for c in range(y.shape[0]):
        for i in range(y.shape[1] // 2):
            for j in range(y.shape[2] // 2):
                y[c, i, j] = 0.0
                for d in range(x.shape[0]):
                    for k in range(3):
                        for m in range(3):
                            y[c, i, j] += x[d, 2 * i + k, 2 * j + m] * w[c, d, k, m]


def each_by_itself(x: Array, w: Array, y: Array) -> None:
    for c in range(x.shape[0]):
        for i in range(y.shape[1]):
            for j in range(y.shape[2]):
                y[c, i, j] = 0.0
                for k in range(3):
                    for m in range(3):
                        y[c, i, j] += x[c, i + k, j + m] * w[c, c, k, m]


TAKEN = (channels_first, in_a_variable, channels_last, of_one_point)
OTHERS = (windows_first, along_a_line, with_a_stride, each_by_itself)
SIZES = [(17, 2, 11, 19), (18, 3, 5, 33), (8, 5, 16, 17)]


def arguments(sizes: tuple[int, int, int, int], dtype: str) -> list[Array]:
    channels, depth, rows, columns = sizes
    x = RNG.standard_normal((depth, rows + 2, columns + 2)) * 1000.0 ** RNG.random(columns + 2)
    w = RNG.standard_normal((channels, depth, 3, 3))
    y = RNG.standard_normal((channels, rows, columns))
    return [made.astype(dtype) for made in (x, w, y)]


def outcome(run: Callable[..., Any], args: list[Array]) -> Array:
    copies = [arg.copy() for arg in args]
    run(*copies)
    return copies[-1]


@pytest.mark.sampled(12)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("sizes", SIZES)
@pytest.mark.parametrize("function", [*TAKEN, *OTHERS])
def test_every_bit(function: Any, sizes: tuple[int, int, int, int], dtype: str) -> None:
    args = arguments(sizes, dtype)
    wanted = outcome(function, args)
    numpy.testing.assert_array_equal(outcome(hybrid.script(function), args), wanted)


@pytest.mark.parametrize("function", TAKEN)
def test_which_are_taken(function: Any) -> None:
    args = arguments((17, 2, 20, 19), "float64")
    kernel: Any = hybrid.script(function)
    assert "s.gemm" in str(kernel.auto_schedule(*args).trace)


def of_many(x: Array, w: Array, y: Array) -> None:
    for b in range(y.shape[0]):
        for c in range(y.shape[1]):
            for i in range(y.shape[2]):
                for j in range(y.shape[3]):
                    y[b, c, i, j] = 0.0
                    for d in range(x.shape[1]):
                        for k in range(3):
                            for m in range(3):
                                y[b, c, i, j] += x[b, d, i + k, j + m] * w[c, d, k, m]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("known", [(False, True, True), (True, False, True), (False, False, False)])
def test_sizes_of_the_run(known: tuple[bool, bool, bool]) -> None:
    """How many images there are, how many channels, how large they are may be known later."""
    has_batch, has_channels, has_pixels = known
    batch, channels = "b" if not has_batch else 2, "c" if not has_channels else 7
    width = 10 if has_pixels else "m"
    outer = width + 2 if isinstance(width, int) else "n"
    kernel: Any = hybrid.script(of_many)
    kernel.compile(
        hj.f32[batch, channels, outer, outer],
        hj.f32[9, channels, 3, 3],
        hj.f32[batch, 9, width, width],
    )
    for images in (2, 1, 3):
        x = RNG.normal(size=(images, 7, 12, 12)).astype(np.float32)
        w = RNG.normal(size=(9, 7, 3, 3)).astype(np.float32)
        found, expected = np.empty((2, images, 9, 10, 10), np.float32)
        kernel(x, w, found)
        kernel.interpret(x, w, expected)
        np.testing.assert_array_equal(found, expected)


def test_operators_of_many_images() -> None:
    X, W = te.placeholder((te.var("n"), 8, 10, 10), "float32"), te.placeholder((16, 8, 3, 3))
    module = hj.build([X, W, hs.conv2d(X, W, padding=1)])
    w = RNG.normal(size=(16, 8, 3, 3)).astype(np.float32)
    for images in (1, 3, 0):
        x = RNG.normal(size=(images, 8, 10, 10)).astype(np.float32)
        found = np.empty((images, 16, 10, 10), np.float32)
        module(x, w, found)
        np.testing.assert_allclose(found, hs.conv2d(x, w, padding=1), atol=1e-4)
