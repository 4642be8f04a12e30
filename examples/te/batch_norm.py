"""Batch normalisation as it is learnt: mean and variance of every channel, then one pass."""

from __future__ import annotations

import numpy as np
from _measure import compare

import hybridjit as hj
from hybridjit import te

BATCH, CHANNELS, SIZE = 8, 16, 14
COUNT = BATCH * SIZE * SIZE
EPSILON = 1e-5


def reduced(value, name: str) -> te.Tensor:
    """The average of `value(n, c, y, x)` over everything but the channel."""
    axes = [
        te.reduce_axis((0, size), label) for size, label in ((BATCH, "n"), (SIZE, "y"), (SIZE, "x"))
    ]
    n, y, x = axes
    total = te.compute(
        (CHANNELS,), lambda c: te.sum(value(n, c, y, x), axis=axes), name=f"{name}_total"
    )
    return te.compute((CHANNELS,), lambda c: total[c] / COUNT, name=name)


def by_numpy(data, gamma, beta):
    mean = data.mean(axis=(0, 2, 3), keepdims=True)
    variance = data.var(axis=(0, 2, 3), keepdims=True)
    scale = gamma[:, None, None] / np.sqrt(variance + EPSILON)
    return (data - mean) * scale + beta[:, None, None]


def main() -> None:
    data = te.placeholder((BATCH, CHANNELS, SIZE, SIZE), "float32", "data")
    gamma = te.placeholder((CHANNELS,), "float32", "gamma")
    beta = te.placeholder((CHANNELS,), "float32", "beta")
    mean = reduced(lambda n, c, y, x: data[n, c, y, x], "mean")

    def squared(n, c, y, x):
        away = data[n, c, y, x] - mean[c]
        return away * away

    variance = reduced(squared, "variance")
    scale = te.compute((CHANNELS,), lambda c: gamma[c] * te.rsqrt(variance[c] + EPSILON), "scale")
    result = te.compute(
        data.shape,
        lambda n, c, y, x: (data[n, c, y, x] - mean[c]) * scale[c] + beta[c],
        name="result",
    )

    # Sums of floats may be taken in another order: then their lanes add up side by side.
    s = te.create_schedule(result.op, fastmath={"reassoc", "contract"})
    for stage in (mean.op.input_tensors[0], variance.op.input_tensors[0]):
        s[stage].vectorize(stage.op.reduce_axis[2])
    s[result].parallel(result.op.axis[0])
    s[result].vectorize(s[result].fuse(*result.op.axis[2:]))

    args = [data, gamma, beta, result]
    print(hj.lower(s, args, name="batch_norm"))
    run = hj.build(s, args, name="batch_norm")

    rng = np.random.default_rng(0)
    given = [rng.standard_normal(tensor.shape, np.float32) for tensor in args[:-1]]
    found = np.empty(data.shape, np.float32)
    run(*given, found)
    np.testing.assert_allclose(found, by_numpy(*given), atol=1e-5)
    compare({"hybridjit": lambda: run(*given, found), "NumPy": lambda: by_numpy(*given)})


if __name__ == "__main__":
    main()
