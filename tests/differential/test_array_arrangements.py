"""Arrays joined, repeated, rolled and turned, grids of indices and running sums, against NumPy."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

from hybridjit import hybrid
from tests.frontend.from_text import script_from_text
from tests.support.array_results import assert_agree

np: Any = numpy
RNG = np.random.default_rng(17)
Array = Any
VECTOR, MATRIX, CUBE = RNG.random(6), RNG.random((3, 4)), RNG.random((2, 3, 4))
SMALL = RNG.integers(-9, 9, (3, 4)).astype(np.int8)


def stacked(a: Array, b: Array):
    return np.hstack((a, b)), np.vstack((a, b)), np.dstack((a, b)), np.column_stack((a, b))


def stacked_at(a: Array, b: Array):
    return np.stack((a, b)), np.stack((a, b * 2), axis=1), np.stack([a, b, a], -1)


def joined(a: Array, b: Array):
    return np.concatenate((a, b[::-1])), np.concatenate([a.T, b.T, a.T * 2], axis=1)


def joined_flat(a: Array, b: Array):
    return np.concatenate((a, b), axis=None)


def joined_at_run_time(a: Array, n: int):
    return np.concatenate((a[:n], a[n:] * 2)).sum()


def rows_and_a_row(a: Array, v: Array):
    return np.vstack((a, v))


def repeated(a: Array, n: int):
    return np.repeat(a, 2), np.repeat(a, 3, axis=1), np.repeat(a, n, 0).sum(), a.repeat(2)


def tiled(a: Array):
    return np.tile(a, 2), np.tile(a, (2, 1)), np.tile(a[0], (2, 2)), np.tile(a, (2, 1, 2))


def rolled(a: Array, n: int):
    return np.roll(a, 1), np.roll(a, -2, axis=1), np.roll(a, n, 0)


def taken(a: Array, idx: Array):
    return np.take(a, idx), np.take(a, idx, axis=1), np.take(a, 2, 1)


def axes(a: Array):
    b = np.swapaxes(a, 0, 2) * 2
    return b, np.moveaxis(a, 0, -1) + 1, np.expand_dims(a, 1) * 1, a.swapaxes(1, 2) - 1


def squeezed(a: Array):
    return np.squeeze(a[:, :1, None]) * 2, np.squeeze(a[:1, :1], axis=0) + 1, a[:1].squeeze() * 3


def diagonals(a: Array):
    d = np.diagonal(a)
    e = np.diagonal(a, -1)
    return d * 2, e + 1, np.diagonal(a, 2).sum(), a.diagonal(1).max()


def diagonal_is_a_view(a: Array):
    d = a[1:, 1:].T.diagonal()
    a[1, 1] = 100
    return d.sum()


def spread(v: Array):
    return np.broadcast_to(v, (2, 6)) * 2


def grid(n: int):
    i, j = np.mgrid[0:n, 1:4]
    g = np.mgrid[0:2, 0:3]
    return (i * 10 + j).sum(), g[1] + 1, np.mgrid[2:5] * 1, g + 0


def indices(a: Array):
    i, j = np.indices(a.shape)
    return a[i, j] - i * j


def mesh(v: Array, w: Array):
    x, y = np.meshgrid(v, w)
    p, q = np.meshgrid(v, w, indexing="ij")
    return x * y, p - q


def running(a: Array):
    return np.cumsum(a), np.cumsum(a, axis=0), np.cumprod(a, axis=1), a.cumsum(1)


def running_in(a: Array):
    return np.cumsum(a, dtype=np.float32), a.cumprod()


def written(x: float, v: Array):
    a = np.array([1.0, x, 2])
    b = np.array([[1, 2], [3, 4]])
    c = np.array([v, v * 2])
    a[0] = b[1, 0]
    return a, b.T @ b, c, np.array(v), np.asarray(v, dtype=np.float32), np.array([x], np.int32)


def unpacked(v: Array, a: Array):
    x, y = v[:2]
    p, q, r = a
    q[:] = x
    return x - y, p + r


def typed(a: Array, b: Array):
    return np.zeros(3, np.result_type(a, b))


def reshaped_views(v: Array, a: Array):
    grid = v.reshape(2, 3)
    turned = grid.T
    flat = np.ravel(a)
    v[1] = 100.0
    return grid * 1, turned + 1, flat[::-1] * 2


def reshaped_local(a: Array):
    b = a * 2
    flat = b.reshape(-1)
    b[0, 0] = 7.0
    return flat.sum()


def made(n: int):
    a = np.ndarray(n, dtype=np.float64)
    a[:] = 2
    return a.sum()


CASES: list[tuple[Any, ...]] = [
    (stacked, MATRIX, MATRIX[::-1]),
    (stacked, VECTOR, VECTOR * 2),
    (stacked, CUBE, SMALL[None, :, :].repeat(2, 0)),
    (stacked_at, MATRIX, SMALL),
    (joined, MATRIX, SMALL),
    (joined, SMALL, SMALL > 0),
    (joined, MATRIX, MATRIX[:, :2]),
    (joined_flat, MATRIX, VECTOR),
    (joined_at_run_time, VECTOR, 2),
    (rows_and_a_row, MATRIX, MATRIX[0]),
    (repeated, MATRIX, 3),
    (repeated, SMALL.T, 0),
    (tiled, MATRIX),
    (rolled, MATRIX, 5),
    (rolled, SMALL, -4),
    (taken, MATRIX, np.array([[1, 0], [3, -1]])),
    (axes, CUBE),
    (squeezed, MATRIX),
    (diagonals, MATRIX),
    (diagonals, MATRIX.T),
    (diagonal_is_a_view, MATRIX),
    (spread, VECTOR),
    (grid, 3),
    (indices, MATRIX),
    (mesh, VECTOR, MATRIX[0]),
    (running, MATRIX),
    (running, SMALL),
    (running, SMALL.astype(np.uint16)),
    (running, SMALL > 0),
    (running, np.zeros((0, 3))),
    (running_in, MATRIX.astype(np.float16)),
    (written, 2.5, VECTOR),
    (unpacked, VECTOR, MATRIX),
    (unpacked, VECTOR, CUBE.transpose(1, 0, 2)),
    (typed, SMALL, MATRIX.astype(np.float32)),
    (reshaped_views, VECTOR, MATRIX),
    (reshaped_views, VECTOR[::-1], MATRIX.T),
    (reshaped_local, MATRIX),
    (made, 4),
]


@pytest.mark.sampled(4)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case[0].__name__)
def test_agrees_with_numpy(case: tuple[Any, ...]):
    function, *args = case
    kernel: Any = hybrid.script(function)
    assert_agree(kernel, args)


def test_windows_over_an_array_in_memory() -> None:
    text = (
        "def f(x, n):\n"
        "    w = windows(x, n)\n"
        "    total = 0.0\n"
        "    for row in w:\n"
        "        total += row.max() * row[0]\n"
        "    return total, w.sum(axis=1), w.shape\n"
    )
    windows = np.lib.stride_tricks.sliding_window_view
    kernel = script_from_text(text, {"np": np, "windows": windows})
    for length, n in ((9, 3), (9, 1), (33, 4), (5, 5), (4, 5), (0, 1)):
        assert_agree(kernel, [np.arange(float(length)), n])
