"""A convolution with padding and stride; the padding is never stored."""

from __future__ import annotations

import numpy as np
from _measure import compare

import hybridjit as hj
from hybridjit import te

CHANNELS, FILTERS, SIZE, KERNEL, STRIDE, PADDING = 16, 32, 28, 3, 2, 1
OUT = (SIZE + 2 * PADDING - KERNEL) // STRIDE + 1
LANES = 16


def conv2d(data: te.Tensor, weight: te.Tensor) -> tuple[te.Tensor, te.Tensor]:
    """The padded image, and the result: [filter, row, column]."""
    padded = te.compute(
        (CHANNELS, SIZE + 2 * PADDING, SIZE + 2 * PADDING),
        lambda c, y, x: te.if_then_else(
            te.all(y >= PADDING, y < SIZE + PADDING, x >= PADDING, x < SIZE + PADDING),
            data[c, y - PADDING, x - PADDING],
            0.0,
        ),
        name="padded",
    )
    rc = te.reduce_axis((0, CHANNELS), "rc")
    ry = te.reduce_axis((0, KERNEL), "ry")
    rx = te.reduce_axis((0, KERNEL), "rx")
    result = te.compute(
        (OUT, OUT, FILTERS),
        lambda y, x, f: te.sum(
            padded[rc, y * STRIDE + ry, x * STRIDE + rx] * weight[rc, ry, rx, f],
            axis=[rc, ry, rx],
        ),
        name="conv",
    )
    return padded, result


def by_numpy(data: np.ndarray, weight: np.ndarray) -> np.ndarray:
    padded = np.pad(data, ((0, 0), (PADDING, PADDING), (PADDING, PADDING)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, (KERNEL, KERNEL), axis=(1, 2))
    return np.einsum("cyxab,cabf->yxf", windows[:, ::STRIDE, ::STRIDE], weight, optimize=True)


def main() -> None:
    data = te.placeholder((CHANNELS, SIZE, SIZE), "float32", "data")
    weight = te.placeholder((CHANNELS, KERNEL, KERNEL, FILTERS), "float32", "weight")
    padded, conv = conv2d(data, weight)

    s = te.create_schedule(conv.op, fastmath={"contract"})
    y, x, f = conv.op.axis
    s[conv].reorder(y, x, *conv.op.reduce_axis, f)
    s[conv].vectorize(f)
    s[conv].parallel(y)
    rows = s[padded]
    rows.compute_at(s[conv], y)  # only the rows that one row of the result needs

    print(hj.lower(s, [data, weight, conv], name="conv2d"))
    run = hj.build(s, [data, weight, conv], name="conv2d")

    rng = np.random.default_rng(0)
    image = rng.standard_normal((CHANNELS, SIZE, SIZE), np.float32)
    filters = rng.standard_normal((CHANNELS, KERNEL, KERNEL, FILTERS), np.float32)
    found = np.empty((OUT, OUT, FILTERS), np.float32)
    run(image, filters, found)
    np.testing.assert_allclose(found, by_numpy(image, filters), atol=1e-4)
    compare(
        {"hybridjit": lambda: run(image, filters, found), "NumPy": lambda: by_numpy(image, filters)}
    )


if __name__ == "__main__":
    main()
