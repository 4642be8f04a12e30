"""Loops that are split by a factor that is known at run time only, and what may be done to them."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

import hybridjit as hj
from hybridjit import te

np: Any = numpy
FACTORS = (1, 3, 8, 37, 50)


def _rows(step: str) -> Any:
    n, f = te.var("n"), te.var("f")
    a = te.placeholder((n,), name="a", dtype="float32")
    b = te.compute((n,), lambda i: a[i] * 2.0 + 1.0, name="b")
    s = te.create_schedule(b.op)
    outer, inner = s[b].split(b.op.axis[0], factor=f)
    if step == "reorder":
        s[b].reorder(inner, outer)
    else:
        getattr(s[b], step)(outer if step == "parallel" else inner)
    return hj.build(s, [f, a, b])


@pytest.mark.parametrize("step", ["vectorize", "parallel", "reorder", "unroll"])
def test_rows(step: str) -> None:
    run = _rows(step)
    for n in (0, 1, 7, 37, 100):
        a, b = np.arange(n, dtype=np.float32), np.full(n, -1, np.float32)
        for factor in FACTORS:
            b[:] = -1
            run(factor, a, b)
            np.testing.assert_array_equal(b, a * 2 + 1)


def test_tiles_of_a_product() -> None:
    n, m, k, f, g = (te.var(name) for name in "nmkfg")
    a = te.placeholder((n, k), name="a")
    b = te.placeholder((k, m), name="b")
    r = te.reduce_axis((0, k), name="r")
    c = te.compute((n, m), lambda i, j: te.sum(a[i, r] * b[r, j], axis=r), name="c")
    s = te.create_schedule(c.op)
    rows, row = s[c].split(c.op.axis[0], factor=f)
    columns, column = s[c].split(c.op.axis[1], factor=g)
    s[c].reorder(rows, columns, c.op.reduce_axis[0], row, column)
    s[c].parallel(rows)
    s[c].vectorize(column)
    run = hj.build(s, [f, g, a, b, c])
    rng = np.random.default_rng(2)
    for sizes in ((1, 1, 1), (5, 7, 3), (33, 20, 17)):
        n_rows, n_columns, terms = sizes
        x = rng.random((n_rows, terms)).astype(np.float32)
        y = rng.random((terms, n_columns)).astype(np.float32)
        out = np.empty((n_rows, n_columns), np.float32)
        for factors in ((1, 1), (4, 8), (40, 3)):
            run(*factors, x, y, out)
            np.testing.assert_allclose(out, x @ y, rtol=1e-5)
