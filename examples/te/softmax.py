"""Softmax of rows in three stages: the largest, the exponentials, their sum; then the quotient.

All three are computed row by row, inside of the loop over the rows of the result.
"""

from __future__ import annotations

import numpy as np
from _measure import compare

import hybridjit as hj
from hybridjit import te

ROWS, COLUMNS = 64, 1000


def main() -> None:
    x = te.placeholder((ROWS, COLUMNS), "float32", "x")
    k = te.reduce_axis((0, COLUMNS), "k")
    largest = te.compute((ROWS,), lambda i: te.max(x[i, k], axis=k), name="largest")
    weight = te.compute(x.shape, lambda i, j: te.exp(x[i, j] - largest[i]), name="weight")
    k = te.reduce_axis((0, COLUMNS), "k")
    total = te.compute((ROWS,), lambda i: te.sum(weight[i, k], axis=k), name="total")
    softmax = te.compute(x.shape, lambda i, j: weight[i, j] / total[i], name="softmax")

    s = te.create_schedule(softmax.op, fastmath={"reassoc"})
    row, column = softmax.op.axis
    s[softmax].parallel(row)
    s[softmax].vectorize(column)
    for stage in (total, weight, largest):
        s[stage].compute_at(s[softmax], row)
    s[weight].vectorize(weight.op.axis[1])
    for stage in (total, largest):
        s[stage].vectorize(stage.op.reduce_axis[0])

    print(hj.lower(s, [x, softmax], name="softmax"))
    run = hj.build(s, [x, softmax], name="softmax")

    given = np.random.default_rng(0).standard_normal((ROWS, COLUMNS), np.float32) * 10
    found = np.empty_like(given)

    def by_numpy():
        weights = np.exp(given - given.max(axis=1, keepdims=True))
        return weights / weights.sum(axis=1, keepdims=True)

    run(given, found)
    np.testing.assert_allclose(found, by_numpy(), rtol=1e-5)
    compare({"hybridjit": lambda: run(given, found), "NumPy": by_numpy})


if __name__ == "__main__":
    main()
