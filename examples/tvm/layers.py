"""Layers of a network in TVM's words: hybrid scripts, operators of topi, BLAS, one graph."""

from __future__ import annotations

import numpy as np

import hybridjit.compat.tvm as tvm
from hybridjit.compat.tvm import te, topi


@te.hybrid.script
def shifted(x):
    y = output_tensor(x.shape, "float32")
    for i in range(x.shape[0]):
        largest = x[i, 0]
        for j in range(x.shape[1]):
            largest = max(largest, x[i, j])
        for j in range(x.shape[1]):
            y[i, j] = x[i, j] - largest
    return y


def main() -> None:
    X = te.placeholder((32, 20), name="X")
    W = te.placeholder((20, 10), name="W")
    scores = tvm.contrib.cblas.matmul(X, W)
    exps = topi.exp(shifted(topi.nn.relu(scores)))
    sums = topi.sum(exps, axis=1, keepdims=True)
    P = te.compute((32, 10), lambda i, j: exps[i, j] / sums[i, 0], name="P")
    func = tvm.build(te.create_schedule(P.op), [X, W, P], name="layer")

    x, w = np.random.rand(32, 20).astype("float32"), np.random.rand(20, 10).astype("float32")
    p = tvm.nd.empty((32, 10))
    func(x, w, p)
    z = np.exp(np.maximum(x @ w, 0))
    tvm.testing.assert_allclose(p.numpy(), z / z.sum(axis=1, keepdims=True), rtol=1e-5)
    print("rows sum to", p.numpy().sum(axis=1)[:3])


if __name__ == "__main__":
    main()
