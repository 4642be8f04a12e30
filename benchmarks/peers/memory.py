"""Rows that move more than they compute: chains, sums, transposes, masks, distances, stencils."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from benchmarks.peers.network import in_xla as by_xla
from benchmarks.peers.products import script
from benchmarks.peers.row import Array, Function, Row, random
from benchmarks.peers.ways import numba_way, numpy_way, xla_way


def chain(x: Array, y: Array, z: Array) -> Array:
    return (x * y + z) * x - y


def sum_of_columns(x: Array) -> Array:
    return np.sum(x, axis=0)


def sum_of_rows(x: Array) -> Array:
    return np.sum(x, axis=1)


def with_transpose(x: Array) -> Array:
    return x + x.T


def transposed(x: Array) -> Array:
    return x.T.copy()


def distances(x: Array, c: Array) -> Array:
    return np.sum((x[:, None, :] - c[None, :, :]) ** 2, axis=2)


def selected(x: Array) -> Array:
    return x[x > 0]


def jacobi(x: Array) -> Array:
    return 0.2 * (x[1:-1, 1:-1] + x[1:-1, :-2] + x[1:-1, 2:] + x[2:, 1:-1] + x[:-2, 1:-1])


def repeated(x: Array) -> Array:
    return np.repeat(x, 4)


def rows() -> Iterator[Row]:
    """All of them."""
    large, square, flat = random(1 << 22), random(2048, 2048), random(1 << 20)
    yield _row(
        "x * y + z, ... 4M", chain, (large, random((1 << 22) + 1)[1:], large[::-1].copy()), 4
    )
    yield _row("sum of columns 2048x2048", sum_of_columns, (square,), 1)
    yield _row("sum of rows 2048x2048", sum_of_rows, (square,), 1)
    yield _row("x + x.T 2048x2048", with_transpose, (square,), 1)
    yield _row("x.T.copy() 2048x2048", transposed, (square,), 0)
    yield _row("squared distances 4096x64x8", distances, (random(4096, 8), random(64, 8)), 192)
    yield _row("x[x > 0] 1M", selected, (flat,), 1, in_xla=False)
    yield _row("five points 2048x2048", jacobi, (square.astype(np.float64),), 5)
    yield _row("np.repeat(x, 4) 1M", repeated, (flat,), 0)


def _row(
    name: str, function: Function, args: tuple[Array, ...], work: float, *, in_xla: bool = True
) -> Row:
    ways: dict[str, Any] = {
        "numpy": numpy_way(function),
        "numba": numba_way(function, parallel=True),
        "script": script(function),
    }
    if in_xla:
        ways["xla"] = xla_way(lambda jax: by_xla(jax, function))
    return Row("memory", name, args, ways, flops=work * args[0].size, tolerance=1e-3)
