"""A depthwise convolution: every channel has a filter of its own; scale, shift and ReLU follow.

The three stages after the convolution are inlined into one.
"""

from __future__ import annotations

import numpy as np
from _measure import compare

import hybridjit as hj
from hybridjit import te

CHANNELS, SIZE, KERNEL, STRIDE = 32, 30, 3, 1
OUT = (SIZE - KERNEL) // STRIDE + 1


def depthwise(data: te.Tensor, weight: te.Tensor) -> te.Tensor:
    ry = te.reduce_axis((0, KERNEL), "ry")
    rx = te.reduce_axis((0, KERNEL), "rx")
    return te.compute(
        (CHANNELS, OUT, OUT),
        lambda c, y, x: te.sum(
            data[c, y * STRIDE + ry, x * STRIDE + rx] * weight[c, ry, rx], axis=[ry, rx]
        ),
        name="depthwise",
    )


def by_numpy(data, weight, scale, shift):
    windows = np.lib.stride_tricks.sliding_window_view(data, (KERNEL, KERNEL), axis=(1, 2))
    sums = np.einsum("cyxab,cab->cyx", windows[:, ::STRIDE, ::STRIDE], weight)
    return np.maximum(sums * scale[:, None, None] + shift[:, None, None], 0)


def main() -> None:
    data = te.placeholder((CHANNELS, SIZE, SIZE), "float32", "data")
    weight = te.placeholder((CHANNELS, KERNEL, KERNEL), "float32", "weight")
    scale = te.placeholder((CHANNELS,), "float32", "scale")
    shift = te.placeholder((CHANNELS,), "float32", "shift")
    sums = depthwise(data, weight)
    scaled = te.compute(sums.shape, lambda c, y, x: sums[c, y, x] * scale[c], name="scaled")
    shifted = te.compute(sums.shape, lambda c, y, x: scaled[c, y, x] + shift[c], name="shifted")
    relu = te.compute(sums.shape, lambda *i: te.max(shifted(*i), 0.0), name="relu")

    s = te.create_schedule(relu.op)
    s.auto_inline()  # scaled and shifted vanish into relu
    channel, row, column = relu.op.axis
    s[relu].parallel(channel)
    s[relu].vectorize(column)
    s[sums].compute_at(s[relu], row)
    ry, rx = sums.op.reduce_axis
    s[sums].reorder(ry, rx, sums.op.axis[2])
    s[sums].vectorize(sums.op.axis[2])

    args = [data, weight, scale, shift, relu]
    print(hj.lower(s, args, name="depthwise"))
    run = hj.build(s, args, name="depthwise")

    rng = np.random.default_rng(0)
    given = [rng.standard_normal(tensor.shape, np.float32) for tensor in args[:-1]]
    found = np.empty((CHANNELS, OUT, OUT), np.float32)
    run(*given, found)
    np.testing.assert_allclose(found, by_numpy(*given), atol=1e-5)
    compare({"hybridjit": lambda: run(*given, found), "NumPy": lambda: by_numpy(*given)})


if __name__ == "__main__":
    main()
