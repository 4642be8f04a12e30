"""Largest value and average of windows that overlap: two results, built into one module."""

from __future__ import annotations

import numpy as np

import hybridjit as hj
from hybridjit import te

CHANNELS, SIZE, WINDOW, STRIDE = 8, 29, 3, 2
OUT = (SIZE - WINDOW) // STRIDE + 1

data = te.placeholder((CHANNELS, SIZE, SIZE), "float32", "data")


def max_pool() -> tuple[te.Tensor, list[te.Tensor]]:
    ry = te.reduce_axis((0, WINDOW), "ry")
    rx = te.reduce_axis((0, WINDOW), "rx")
    pool = te.compute(
        (CHANNELS, OUT, OUT),
        lambda c, y, x: te.max(data[c, y * STRIDE + ry, x * STRIDE + rx], axis=[ry, rx]),
        name="max_pool",
    )
    return pool, []


def average_pool() -> tuple[te.Tensor, list[te.Tensor]]:
    """The average, and the stages before it."""
    ry = te.reduce_axis((0, WINDOW), "ry")
    rx = te.reduce_axis((0, WINDOW), "rx")
    total = te.compute(
        (CHANNELS, OUT, OUT),
        lambda c, y, x: te.sum(data[c, y * STRIDE + ry, x * STRIDE + rx], axis=[ry, rx]),
        name="total",
    )
    pool = te.compute(total.shape, lambda *i: total(*i) / (WINDOW * WINDOW), name="average_pool")
    return pool, [total]


def scheduled(pool: te.Tensor, before: list[te.Tensor]):
    s = te.create_schedule(pool.op)
    channel, row, _ = pool.op.axis
    s[pool].parallel(channel)
    for stage in before:
        s[stage].compute_at(s[pool], row)
    return s


def windows(image: np.ndarray) -> np.ndarray:
    found = np.lib.stride_tricks.sliding_window_view(image, (WINDOW, WINDOW), axis=(1, 2))
    return found[:, ::STRIDE, ::STRIDE]


def main() -> None:
    functions = {}
    for make in (max_pool, average_pool):
        pool, before = make()
        functions[make.__name__] = hj.lower(scheduled(pool, before), [data, pool])
    module = hj.build(functions)
    for name in module.names:
        print(module.prim_func(name), "\n")

    image = np.random.default_rng(0).standard_normal((CHANNELS, SIZE, SIZE), np.float32)
    found = np.empty((CHANNELS, OUT, OUT), np.float32)
    module["max_pool"](image, found)
    np.testing.assert_array_equal(found, windows(image).max(axis=(3, 4)))
    module["average_pool"](image, found)
    np.testing.assert_allclose(found, windows(image).mean(axis=(3, 4)), atol=1e-6)
    timing = module.time_evaluator("max_pool", number=50)(image, found)
    print(f"max_pool: {timing}")


if __name__ == "__main__":
    main()
