"""A matrix product in five steps: as it is written, in blocks, packed, through a cache, parallel.

    OPENBLAS_NUM_THREADS=1 python examples/te/matmul.py

What is computed stays the same; only the schedule changes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from _measure import compare

import hybridjit as hj
from hybridjit import te

N = 192
ROWS, COLUMNS, DEPTH = 12, 32, 4
Made = tuple[Any, list[te.Tensor]]  # a schedule, and the parameters of its function

a = te.placeholder((N, N), "float32", "a")
b = te.placeholder((N, N), "float32", "b")
k = te.reduce_axis((0, N), "k")


def product() -> te.Tensor:
    return te.compute((N, N), lambda i, j: te.sum(a[i, k] * b[k, j], axis=k), name="c")


def as_written() -> Made:
    c = product()
    return te.create_schedule(c.op, fastmath={"contract"}), [a, b, c]


def in_blocks() -> Made:
    """Tiles of c, so that what is read stays in the cache; columns as lanes."""
    s, (_, _, c) = as_written()
    io, jo, ii, ji = s[c].tile(*c.op.axis, ROWS, COLUMNS)
    ko, ki = s[c].split(k, factor=DEPTH)
    s[c].reorder(io, jo, ko, ki, ii, ji)
    s[c].vectorize(ji)
    return s, [a, b, c]


def packed() -> Made:
    """b in strips of columns, each of them one piece of memory."""
    strips = te.compute(
        (N // COLUMNS, N, COLUMNS), lambda jo, k, ji: b[k, jo * COLUMNS + ji], name="strips"
    )
    c = te.compute(
        (N, N),
        lambda i, j: te.sum(a[i, k] * strips[j // COLUMNS, k, j % COLUMNS], axis=k),
        name="c",
    )
    s = te.create_schedule(c.op, fastmath={"contract"})
    s[strips].vectorize(strips.op.axis[2])
    return s, [a, b, c]


def cached() -> Made:
    """Every tile is summed up in registers and written once."""
    s, (_, _, c) = packed()
    tile = s.cache_write(c, "local")
    io, jo, ii, ji = s[c].tile(*c.op.axis, ROWS, COLUMNS)
    s[c].reorder(jo, io, ii, ji)
    s[c].unroll(ii)
    s[c].vectorize(ji)
    s[tile].compute_at(s[c], io)
    row, column = tile.op.axis
    (depth,) = tile.op.reduce_axis
    s[tile].reorder(depth, row, column)
    s[tile].vectorize(column)
    s[tile].unroll(row)
    return s, [a, b, c]


def on_all_cores() -> Made:
    """Rows of tiles on all cores."""
    s, (_, _, c) = cached()
    s[c].parallel(s[c].leaf_iter_vars[0])
    return s, [a, b, c]


def main() -> None:
    x, y = np.random.default_rng(0).random((2, N, N), np.float32)
    z = np.empty((N, N), np.float32)
    runs: dict[str, Callable[[], object]] = {}
    for make in (as_written, in_blocks, packed, cached, on_all_cores):
        s, args = make()
        print(hj.lower(s, args, name=make.__name__), "\n")
        matmul = hj.build(s, args, name=make.__name__)
        matmul(x, y, z)
        np.testing.assert_allclose(z, x @ y, rtol=1e-4)
        runs[make.__name__] = lambda matmul=matmul: matmul(x, y, z)
    runs["NumPy"] = lambda: np.matmul(x, y, out=z)
    compare(runs)


if __name__ == "__main__":
    main()
