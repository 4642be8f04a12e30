"""Operators on arrays against the same thing written in NumPy, and as loops for Numba."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks.kernels import best_times
from hybridjit import stdlib as hs

Array = Any
Case = tuple[str, Callable[..., Array], Callable[..., Array], tuple[Array, ...]]


def conv2d(x: Array, w: Array) -> Array:
    """By a copy of all windows, and one matrix product in BLAS."""
    padded = np.pad(x, [(0, 0), (0, 0), (1, 1), (1, 1)])
    views = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), axis=(2, 3))
    return np.tensordot(views, w, axes=((1, 4, 5), (1, 2, 3))).transpose(0, 3, 1, 2)


def depthwise_conv2d(x: Array, w: Array) -> Array:
    """By one product of whole images for each element of the filters."""
    padded = np.pad(x, [(0, 0), (0, 0), (1, 1), (1, 1)])
    found = np.zeros_like(x)
    for i in range(3):
        for j in range(3):
            found += padded[:, :, i : i + x.shape[2], j : j + x.shape[3]] * w[:, 0, i, j, None, None]
    return found


def max_pool2d(x: Array) -> Array:
    views = np.lib.stride_tricks.sliding_window_view(x, (2, 2), axis=(2, 3))[:, :, ::2, ::2]
    return views.max(axis=(4, 5))


def avg_pool2d(x: Array) -> Array:
    views = np.lib.stride_tricks.sliding_window_view(x, (3, 3), axis=(2, 3))[:, :, ::2, ::2]
    return views.mean(axis=(4, 5))


def softmax(x: Array) -> Array:
    powers = np.exp(x - x.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


def softmax_channels(x: Array) -> Array:
    powers = np.exp(x - x.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)


def batch_norm(x: Array, mean: Array, variance: Array, gamma: Array, beta: Array) -> Array:
    mean, variance, gamma, beta = (v[:, None, None] for v in (mean, variance, gamma, beta))
    return (x - mean) / np.sqrt(variance + np.float32(1e-5)) * gamma + beta


def layer_norm(x: Array) -> Array:
    center, spread = x.mean(-1, keepdims=True), x.var(-1, keepdims=True)
    return (x - center) / np.sqrt(spread + np.float32(1e-5))


def dense(x: Array, w: Array, bias: Array) -> Array:
    return np.maximum(x @ w.T + bias, 0)


def cases() -> list[Case]:
    rng = np.random.default_rng(0)

    def random(*shape: int) -> Array:
        return rng.random(shape, np.float32)

    images, matrix = random(1, 64, 56, 56), random(512, 512)
    pool = (lambda x: hs.avg_pool2d(x, 3, stride=2), avg_pool2d)
    norm = (random(64), random(64), random(64), random(64))
    return [
        ("conv2d 64x64 3x3", lambda x, w: hs.conv2d(x, w, padding=1), conv2d, (images, random(64, 64, 3, 3))),
        ("conv2d 3x32 3x3", lambda x, w: hs.conv2d(x, w, padding=1), conv2d, (random(1, 3, 112, 112), random(32, 3, 3, 3))),
        ("depthwise_conv2d 3x3", lambda x, w: hs.depthwise_conv2d(x, w, padding=1), depthwise_conv2d, (images, random(64, 1, 3, 3))),
        ("max_pool2d 2", lambda x: hs.max_pool2d(x, 2), max_pool2d, (images,)),
        ("avg_pool2d 3, stride 2", *pool, (images,)),
        ("softmax, rows", hs.softmax, softmax, (matrix,)),
        ("softmax, channels", lambda x: hs.softmax(x, 1), softmax_channels, (images,)),
        ("batch_norm", hs.batch_norm, batch_norm, (images, *norm)),
        ("layer_norm", hs.layer_norm, layer_norm, (matrix,)),
        ("matmul 512", hs.matmul, np.matmul, (matrix, random(512, 512))),
        ("dense 64x512x512, relu", lambda *a: hs.dense(*a, activation="relu"), dense, (random(64, 512), matrix, random(512))),
        ("sum, rows", lambda x: hs.sum(x, 1), lambda x: x.sum(1), (matrix,)),
        ("sum, columns", lambda x: hs.sum(x, 0), lambda x: x.sum(0), (matrix,)),
        ("sum, all", hs.sum, np.sum, (matrix,)),
        ("max, rows", lambda x: hs.max(x, 1), lambda x: x.max(1), (matrix,)),
        ("max, columns", lambda x: hs.max(x, 0), lambda x: x.max(0), (matrix,)),
        ("max, all", hs.max, np.max, (matrix,)),
        ("argmax, rows", lambda x: hs.argmax(x, 1), lambda x: x.argmax(1), (matrix,)),
        ("cumsum, rows", lambda x: hs.cumsum(x, 1), lambda x: x.cumsum(1), (matrix,)),
        ("cumsum, columns", lambda x: hs.cumsum(x, 0), lambda x: x.cumsum(0), (matrix,)),
        ("add", hs.add, np.add, (images, images)),
        ("add, channels", hs.add, np.add, (images, random(64, 1, 1))),
        ("exp", hs.exp, np.exp, (images,)),
        ("sigmoid", hs.sigmoid, lambda x: 1 / (1 + np.exp(-x)), (images,)),
        ("add, 8 elements", hs.add, np.add, (random(8), random(8))),
    ]


def main() -> None:
    """Print a table of all cases."""
    table = Table("operator", "hybridjit", "NumPy", "ratio", title="float32, µs, best of many")
    for name, ours, theirs, args in cases():
        np.testing.assert_allclose(ours(*args), theirs(*args), rtol=1e-3, atol=1e-3)
        times = best_times([ours, theirs], args)
        table.add_row(name, *(f"{time:.1f}" for time in times), f"{times[1] / times[0]:.2f}")
    Console().print(table)


if __name__ == "__main__":
    main()
