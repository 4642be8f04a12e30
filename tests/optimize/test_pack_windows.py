"""Convolutions as loops: in packed tiles where there is much to do, bit for bit what loops give."""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any

import numpy
import pytest

from hybridjit import hybrid
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
