"""Where the largest value of each row is: a reduction of pairs, with a reducer of our own.

Sixteen lanes search a sixteenth of a row each; then the best of the sixteen is taken.
"""

from __future__ import annotations

import numpy as np
from _measure import compare

import hybridjit as hj
from hybridjit import te

ROWS, COLUMNS, LANES = 100, 500, 16


def larger(left, right):
    """Of two (index, value) pairs the one with the larger value; of equals, the first."""
    is_left = te.any(left[1] > right[1], te.all(left[1] == right[1], left[0] < right[0]))
    return tuple(te.if_then_else(is_left, x, y) for x, y in zip(left, right, strict=True))


def nothing(index_type: str, value_type: str):
    """The pair that is never the larger one."""
    return te.max_value(index_type), te.min_value(value_type)


argmax = te.comm_reducer(larger, nothing, name="argmax")


def main() -> None:
    x = te.placeholder((ROWS, COLUMNS), "float32", "x")
    k = te.reduce_axis((0, COLUMNS), "k")
    place, value = te.compute((ROWS,), lambda i: argmax((k, x[i, k]), axis=k), name="found")

    s = te.create_schedule(place.op)
    _, inner = s[place].split(k, factor=LANES)
    best, _ = s.rfactor(place, inner, factor_axis=1)
    row, lane = best.op.axis
    s[best].reorder(row, *best.op.reduce_axis, lane)
    s[best].vectorize(lane)
    s[best].parallel(row)
    print(hj.lower(s, [x, place, value], name="argmax"))
    run = hj.build(s, [x, place, value], name="argmax")

    given = np.random.default_rng(0).integers(0, 99, (ROWS, COLUMNS)).astype(np.float32)
    places, values = np.empty(ROWS, np.int64), np.empty(ROWS, np.float32)
    run(given, places, values)
    np.testing.assert_array_equal(places, given.argmax(axis=1))
    np.testing.assert_array_equal(values, given.max(axis=1))
    compare(
        {
            "hybridjit": lambda: run(given, places, values),
            "NumPy": lambda: (given.argmax(axis=1), given.max(axis=1)),
        }
    )


if __name__ == "__main__":
    main()
