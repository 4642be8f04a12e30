"""Loops that were split, then fused with a loop whose size is known at run time only.

The quotient by that size is one of a few numbers, and steps after the fuse need that.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
import pytest

import hybridjit as hj
from hybridjit import hybrid, te
from hybridjit.hybrid import output_tensor
from hybridjit.schedule.schedule import Schedule
from tests.conftest import Golden
from tests.support.before_after import assert_unchanged

np: Any = numpy
SHAPES = [(0, 3), (3, 0), (1, 1), (9, 5), (4, 33), (17, 2)]


@hybrid.script
def doubled(a: Any) -> Any:
    b = output_tensor((a.shape[0], a.shape[1]), a.dtype)
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            b[i, j] = a[i, j] * 2
    return b


def in_parallel(s: Schedule, outer: Any, fused: Any) -> None:
    s.parallel(outer)


def swapped(s: Schedule, outer: Any, fused: Any) -> None:
    s.reorder(fused, outer)


@pytest.mark.parametrize("step", [in_parallel, swapped])
@pytest.mark.parametrize("factor", [2, 3, 4, 8])
def test_rows_of_a_tile_and_columns(step: Callable[..., None], factor: int) -> None:
    s = Schedule(doubled.prim_func(hj.i64["n", "m"]))
    outer, inner = s.split("i", factor)
    step(s, outer, s.fuse(inner, "j"))
    for shape in SHAPES:
        args = [np.arange(np.prod(shape)).reshape(shape)]
        assert_unchanged(s.original, s.func, args, native=shape == (9, 5))


def mirrored() -> tuple[Any, Any, Any]:
    """What is read from both ends: the first row of it is the least of two."""
    a = te.placeholder((9, 5), "int64", "a")
    p = te.compute((9, 5), lambda i, j: a[i, j] * 2, "p")
    return a, p, te.compute((9, 5), lambda i, j: p[i, j] - p[8 - i, 4 - j], "o")


def test_rows_from_both_ends() -> None:
    a, p, o = mirrored()
    s = te.create_schedule(o.op)
    s[p].compute_at(s[o], o.op.axis[0])
    s[p].vectorize(s[p].fuse(*p.op.axis))
    x = np.arange(45).reshape(9, 5) ** 2
    found = np.zeros_like(x)
    hj.build(s, [a, o])(x, found)
    np.testing.assert_array_equal(found, 2 * x - 2 * x[::-1, ::-1])


@pytest.mark.parametrize("tile", [(2, 2), (3, 4), (4, 3)])
@pytest.mark.parametrize(("rows", "columns"), [(3, 5), (4, 6), (7, 9), (1, 1), ("n", 5)])
def test_a_stage_in_fused_loops_of_tiles(
    rows: Any, columns: int, tile: tuple[int, int], golden: Golden
) -> None:
    """Where a tile begins is a quotient and a remainder of the fused loop; the last ones are cut,
    and that is the least of two numbers, not a choice.
    """
    n = te.var("n") if rows == "n" else rows
    a = te.placeholder((n, 8), "int64", "a")
    k = te.reduce_axis((0, 8), "k")
    c = te.compute((n, columns), lambda i, j: te.sum(a[i, k] * (j + 1), axis=k), "c")
    d = te.compute((n, columns), lambda i, j: c[i, j] + 1, "d")
    s = te.create_schedule(d.op)
    i_0, i_1 = s[d].split(d.op.axis[0], tile[0])
    j_0, j_1 = s[d].split(d.op.axis[1], tile[1])
    s[d].reorder(i_0, j_0, i_1, j_1)
    fused = s[d].fuse(i_0, j_0)
    s[d].parallel(fused)
    s[c].compute_at(s[d], fused)
    if (rows, tile) == (7, (3, 4)):
        golden.check(str(hj.lower(s, [a, d])), "ir")
    s[c].reorder(c.op.reduce_axis[0], s[c].fuse(*c.op.axis))
    module = hj.build(s, [a, d])
    for size in (1, 6, 7) if rows == "n" else (rows,):
        x = np.arange(size * 8).reshape(size, 8)
        found = np.zeros((size, columns), np.int64)
        module(x, found)
        np.testing.assert_array_equal(found, x.sum(1)[:, None] * (np.arange(columns) + 1) + 1)
