"""Kernels of the kinds that a search meets."""

from __future__ import annotations

from typing import Any

import numpy as np

from hybridjit import hybrid
from hybridjit.hybrid import allocate, output_tensor


@hybrid.script
def product(a: Any, b: Any) -> Any:
    return a @ b


@hybrid.script
def loops(a: Any, b: Any) -> Any:
    c = output_tensor((a.shape[0], b.shape[1]), a.dtype)
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            for k in range(a.shape[1]):
                c[i, j] += a[i, k] * b[k, j]
    return c


@hybrid.script
def softmax(x: Any) -> Any:
    e = np.exp(x - x.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


@hybrid.script
def mirrored(x: Any) -> Any:
    return x + x.T


@hybrid.script
def blur(x: Any) -> Any:
    y = output_tensor((x.shape[0] - 2, x.shape[1] - 2), x.dtype)
    for i in range(x.shape[0] - 2):
        for j in range(x.shape[1] - 2):
            y[i, j] = x[i, j] + x[i + 1, j + 1] + x[i + 2, j + 2]
    return y


@hybrid.script
def stages(x: Any) -> Any:
    t = allocate((x.shape[0], x.shape[1] - 2), x.dtype)
    u = allocate((x.shape[0] - 2, x.shape[1] - 2), x.dtype)
    y = output_tensor((x.shape[0] - 2, x.shape[1] - 2), x.dtype)
    for i in range(x.shape[0]):
        for j in range(x.shape[1] - 2):
            t[i, j] = x[i, j] + x[i, j + 1] + x[i, j + 2]
    for k in range(x.shape[0] - 2):
        for m in range(x.shape[1] - 2):
            u[k, m] = t[k, m] + t[k + 1, m] + t[k + 2, m]
    for p in range(x.shape[0] - 2):
        for q in range(x.shape[1] - 2):
            y[p, q] = 2 * x[p + 1, q + 1] - u[p, q]
    return y


@hybrid.script
def windows(x: Any, w: Any) -> Any:
    """A convolution."""
    channels, depth, size, _ = w.shape
    rows, columns = x.shape[1] - size + 1, x.shape[2] - size + 1
    y = output_tensor((channels, rows, columns), x.dtype)
    for c in range(channels):
        for i in range(rows):
            for j in range(columns):
                for d in range(depth):
                    for k in range(size):
                        for m in range(size):
                            y[c, i, j] += x[d, i + k, j + m] * w[c, d, k, m]
    return y


@hybrid.script
def in_place(x: Any) -> None:
    for i in range(1, x.shape[0]):
        for j in range(x.shape[1]):
            x[i, j] = x[i, j] + 0.5 * x[i - 1, j]


def matrices(count: int, rows: int, columns: int) -> Any:
    random = np.random.default_rng(rows + columns)
    return random.integers(-4, 5, (count, rows, columns)).astype(np.float32)


CASES: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "product": (product, (matrices(1, 37, 41)[0], matrices(1, 41, 35)[0])),
    "loops": (loops, (matrices(1, 19, 23)[0], matrices(1, 23, 34)[0])),
    "softmax": (softmax, (matrices(1, 13, 37)[0],)),
    "mirrored": (mirrored, (matrices(1, 35, 35)[0],)),
    "blur": (blur, (matrices(1, 21, 38)[0],)),
    "stages": (stages, (matrices(1, 23, 39)[0],)),
    "windows": (windows, (matrices(3, 12, 21), matrices(15, 3, 3).reshape(5, 3, 3, 3))),
    "in_place": (in_place, (matrices(1, 18, 35)[0],)),
}
