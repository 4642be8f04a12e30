"""Operators on arrays against the same thing written in NumPy, and as loops for Numba."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numba
import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks.turns import best_times
from hybridjit import stdlib as hs

Array = Any
Function = Callable[..., Array]
RNG = np.random.default_rng(0)


@dataclass(frozen=True, slots=True)
class Case:
    """One operator, what it is compared with, and its arguments."""

    name: str
    ours: Function
    numpy: Function
    args: tuple[Array, ...]
    loops: Function | None = None


def random(*shape: int) -> Array:
    return RNG.random(shape, np.float32)


# -- the same in NumPy -----------------------------------------------------------------------------


def conv2d(x: Array, w: Array) -> Array:
    """By a copy of all windows, and one matrix product in BLAS."""
    views = np.lib.stride_tricks.sliding_window_view(pad(x), (3, 3), axis=(2, 3))
    return np.tensordot(views, w, axes=((1, 4, 5), (1, 2, 3))).transpose(0, 3, 1, 2)


def depthwise_conv2d(x: Array, w: Array) -> Array:
    """By one product of whole images for each element of the filters."""
    padded, found = pad(x), np.zeros_like(x)
    for i in range(3):
        for j in range(3):
            part = padded[:, :, i : i + x.shape[2], j : j + x.shape[3]]
            found += part * w[:, 0, i, j, None, None]
    return found


def pad(x: Array) -> Array:
    return np.pad(x, [(0, 0), (0, 0), (1, 1), (1, 1)])


def windows_of(x: Array, size: int) -> Array:
    views = np.lib.stride_tricks.sliding_window_view(x, (size, size), axis=(2, 3))
    return views[:, :, ::2, ::2]


def softmax(x: Array, axis: int = -1) -> Array:
    powers = np.exp(x - x.max(axis=axis, keepdims=True))
    return powers / powers.sum(axis=axis, keepdims=True)


def batch_norm(x: Array, *weights: Array) -> Array:
    mean, variance, gamma, beta = (weight[:, None, None] for weight in weights)
    return (x - mean) / np.sqrt(variance + np.float32(1e-5)) * gamma + beta


def layer_norm(x: Array) -> Array:
    center, spread = x.mean(-1, keepdims=True), x.var(-1, keepdims=True)
    return (x - center) / np.sqrt(spread + np.float32(1e-5))


# -- the same as loops -----------------------------------------------------------------------------


@numba.njit
def depthwise_loops(x: Array, w: Array) -> Array:
    n, channels, rows, columns = x.shape
    found = np.zeros_like(x)
    for b in range(n):
        for c in range(channels):
            for y in range(rows):
                for k in range(columns):
                    total = np.float32(0)
                    for i in range(max(0, 1 - y), min(3, rows + 1 - y)):
                        for j in range(max(0, 1 - k), min(3, columns + 1 - k)):
                            total += x[b, c, y + i - 1, k + j - 1] * w[c, 0, i, j]
                    found[b, c, y, k] = total
    return found


@numba.njit
def max_pool_loops(x: Array) -> Array:
    n, channels, rows, columns = x.shape
    found = np.empty((n, channels, rows // 2, columns // 2), x.dtype)
    for b in range(n):
        for c in range(channels):
            for y in range(rows // 2):
                for k in range(columns // 2):
                    top = max(x[b, c, 2 * y, 2 * k], x[b, c, 2 * y, 2 * k + 1])
                    low = max(x[b, c, 2 * y + 1, 2 * k], x[b, c, 2 * y + 1, 2 * k + 1])
                    found[b, c, y, k] = max(top, low)
    return found


@numba.njit
def softmax_loops(x: Array) -> Array:
    found = np.empty_like(x)
    for i in range(x.shape[0]):
        top = x[i, 0]
        for j in range(x.shape[1]):
            top = max(top, x[i, j])
        total = np.float32(0)
        for j in range(x.shape[1]):
            found[i, j] = np.exp(x[i, j] - top)
            total += found[i, j]
        for j in range(x.shape[1]):
            found[i, j] /= total
    return found


# -- cases -----------------------------------------------------------------------------------------


def layers() -> list[Case]:
    """Layers of networks for images."""
    images, large = random(1, 64, 56, 56), random(1, 3, 112, 112)
    weights = tuple(random(64) for _ in range(4))

    def convolve(x: Array, w: Array) -> Array:
        return hs.conv2d(x, w, padding=1)

    def convolve_each(x: Array, w: Array) -> Array:
        return hs.depthwise_conv2d(x, w, padding=1)

    def pool(x: Array) -> Array:
        return hs.avg_pool2d(x, 3, stride=2)

    return [
        Case("conv2d 64 to 64, 3x3", convolve, conv2d, (images, random(64, 64, 3, 3))),
        Case("conv2d 3 to 32, 3x3", convolve, conv2d, (large, random(32, 3, 3, 3))),
        Case(
            "depthwise_conv2d 3x3",
            convolve_each,
            depthwise_conv2d,
            (images, random(64, 1, 3, 3)),
            depthwise_loops,
        ),
        Case(
            "max_pool2d 2",
            lambda x: hs.max_pool2d(x, 2),
            lambda x: windows_of(x, 2).max(axis=(4, 5)),
            (images,),
            max_pool_loops,
        ),
        Case("avg_pool2d 3", pool, lambda x: windows_of(x, 3).mean(axis=(4, 5)), (images,)),
        Case("batch_norm", hs.batch_norm, batch_norm, (images, *weights)),
        Case(
            "softmax, channels",
            lambda x: hs.softmax(x, 1),
            lambda x: softmax(x, 1),
            (images,),
        ),
    ]


def matrices() -> list[Case]:
    """Products and rows of a matrix."""
    matrix, other = random(512, 512), random(512, 512)
    return [
        Case("matmul 512", hs.matmul, np.matmul, (matrix, other)),
        Case(
            "dense 64, 512 to 512, relu",
            lambda x, w, b: hs.dense(x, w, b, activation="relu"),
            lambda x, w, b: np.maximum(x @ w.T + b, 0),
            (random(64, 512), matrix, random(512)),
        ),
        Case("softmax, rows", hs.softmax, softmax, (matrix,), softmax_loops),
        Case("layer_norm", hs.layer_norm, layer_norm, (matrix,)),
        Case("sum, rows", lambda x: hs.sum(x, 1), lambda x: x.sum(1), (matrix,)),
        Case("sum, columns", lambda x: hs.sum(x, 0), lambda x: x.sum(0), (matrix,)),
        Case("sum, all", hs.sum, np.sum, (matrix,)),
        Case("max, rows", lambda x: hs.max(x, 1), lambda x: x.max(1), (matrix,)),
        Case("max, columns", lambda x: hs.max(x, 0), lambda x: x.max(0), (matrix,)),
        Case("argmax, rows", lambda x: hs.argmax(x, 1), lambda x: x.argmax(1), (matrix,)),
        Case("cumsum, rows", lambda x: hs.cumsum(x, 1), lambda x: x.cumsum(1), (matrix,)),
        Case("cumsum, columns", lambda x: hs.cumsum(x, 0), lambda x: x.cumsum(0), (matrix,)),
    ]


def elementwise() -> list[Case]:
    """Elements by themselves."""
    images = random(1, 64, 56, 56)
    return [
        Case("add", hs.add, np.add, (images, images)),
        Case("add, channels", hs.add, np.add, (images, random(64, 1, 1))),
        Case("exp", hs.exp, np.exp, (images,)),
        Case("sigmoid", hs.sigmoid, lambda x: 1 / (1 + np.exp(-x)), (images,)),
        Case("add, 8 elements", hs.add, np.add, (random(8), random(8))),
    ]


def main() -> None:
    """Print a table of all cases."""
    title = "float32, µs, best of many; OPENBLAS_NUM_THREADS and HYBRIDJIT_NUM_THREADS count"
    table = Table("operator", "hybridjit", "NumPy", "ratio", "Numba loops", title=title)
    for case in [*layers(), *matrices(), *elementwise()]:
        runs = [case.ours, case.numpy, *([] if case.loops is None else [case.loops])]
        expected = case.numpy(*case.args)
        for run in runs:
            np.testing.assert_allclose(run(*case.args), expected, rtol=1e-3, atol=1e-3)
        ours, theirs, *others = best_times(runs, case.args)
        shown = [f"{time:.1f}" for time in (ours, theirs)]
        table.add_row(case.name, *shown, f"{theirs / ours:.2f}", *(f"{t:.1f}" for t in others))
    Console().print(table)


if __name__ == "__main__":
    main()
