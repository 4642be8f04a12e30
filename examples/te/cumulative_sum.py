"""Sums so far, by te.scan: every step reads the step before it."""

from __future__ import annotations

import numpy as np
from _measure import compare

import hybridjit as hj
from hybridjit import te

LANES = 16


def main() -> None:
    m, n = te.var("m"), te.var("n")
    x = te.placeholder((m, n), "float32", "x")
    state = te.placeholder((m, n), "float32", "state")  # stands for the result inside
    first = te.compute((1, n), lambda _, i: x[0, i], name="first")
    update = te.compute((m, n), lambda t, i: state[t - 1, i] + x[t, i], name="update")
    sums = te.scan(first, update, state, inputs=[x], name="sums")

    s = te.create_schedule(sums.op)
    _, inner = s[update].split(s[update].leaf_iter_vars[0], factor=LANES)
    s[update].vectorize(inner)
    print(hj.lower(s, [x, sums], name="cumulative_sum"))
    run = hj.build(s, [x, sums], name="cumulative_sum")

    given = np.random.default_rng(0).random((300, 203), np.float32)
    found = np.empty_like(given)
    run(given, found)
    np.testing.assert_array_equal(found, np.cumsum(given, axis=0))
    compare(
        {
            "hybridjit": lambda: run(given, found),
            "NumPy": lambda: np.cumsum(given, axis=0, out=found),
        }
    )


if __name__ == "__main__":
    main()
