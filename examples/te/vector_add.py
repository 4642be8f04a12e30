"""Two vectors of any length, added: placeholders, one compute, one schedule, one module."""

from __future__ import annotations

import numpy as np
from _measure import compare

import hybridjit as hj
from hybridjit import te

LANES = 16


def make_add() -> hj.Module:
    n = te.var("n")  # known when the module is called
    a = te.placeholder((n,), "float32", "a")
    b = te.placeholder((n,), "float32", "b")
    c = te.compute((n,), lambda i: a[i] + b[i], name="c")

    s = te.create_schedule(c.op)
    _, inner = s[c].split(c.op.axis[0], factor=LANES)
    s[c].vectorize(inner)

    print(hj.lower(s, [a, b, c], name="add"))
    return hj.build(s, [a, b, c], name="add")


def main() -> None:
    add = make_add()
    rng = np.random.default_rng(0)
    for size in (0, 1, 1000, 100_003):  # no length needs to be a multiple of the lanes
        a, b = rng.random((2, size), np.float32)
        c = np.empty_like(a)
        add(a, b, c)
        np.testing.assert_array_equal(c, a + b)
    compare({"hybridjit": lambda: add(a, b, c), "NumPy": lambda: np.add(a, b, out=c)})


if __name__ == "__main__":
    main()
