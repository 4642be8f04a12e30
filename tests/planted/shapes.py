"""Bugs planted where arrays are read in another shape: other axes, rows that are not whole."""

from __future__ import annotations

from typing import Any

import numpy

import hybridjit as hj
from hybridjit import hybrid
from hybridjit.analysis import places
from hybridjit.arith.ranges import tidy
from hybridjit.arith.sizes import product as size_of
from hybridjit.frontend.arrays import axis_groups
from hybridjit.ir.expr import Expr, FloorDiv, Mod, Var
from hybridjit.schedule.arrays import ravel
from tests.planted.bugs import Bug, always, replaced
from tests.support.array_results import assert_agree

np: Any = numpy
SHAPES = ((2, 3, 4), (3, 5, 2), (4, 1, 6), (5, 4, 3))


def rows_in_another_order(x: Any) -> Any:
    n, m, k = x.shape
    return x.reshape(k, n, m) * 2


def all_but_one(x: Any) -> Any:
    return x.ravel()[:-1] * 2


def flat(x: Any) -> Any:
    return x.reshape(-1) + 1


def total_of_points(x: Any) -> Any:
    return x.sum()


def _check(function: Any, columns: int | None = None) -> None:
    kernel: Any = hybrid.script(function)
    for shape in SHAPES:
        given = shape if columns is None else (shape[0] * 9, columns)
        assert_agree(kernel, [np.arange(np.prod(given) * 1.0).reshape(given) ** 2])


def whole_or_not(total: Expr, divisor: Expr) -> Expr:
    """Rows, as if nothing were left over."""
    return tidy(FloorDiv(total, divisor))


def of_any_array(stop: Expr, before: Any, buffers: Any) -> list[Expr]:
    """The elements of each array, whatever was compared before."""
    return [size_of(buffer.shape) for buffer in buffers]


def column_is_row(self: Any, node: Mod) -> Expr:
    """The number of a row for that of a column."""
    return self.row if isinstance(node.lhs, Var) else self.generic(node)


def first_of_two(rows: Expr, _: Expr) -> Expr:
    """One element for each row."""
    return rows


@hybrid.script(parallel=True)
def rows_that_overlap(x: Any, y: Any) -> None:
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            y[i * x.shape[0] + j] = np.sin(x[i, j])


def rows_that_overlap_stay_in_order() -> None:
    """None of the loops is on several threads."""
    text = rows_that_overlap.inspect("lowered", hj.f64["n", "m"], hj.f64["k"])
    assert "for i in parallel" not in text
    assert "for block" not in text


BUGS = (
    Bug(
        "axes stand for others of another size",
        [replaced(axis_groups, "_same", always(True))],
        lambda: _check(rows_in_another_order),
    ),
    Bug(
        "the last row is whole wherever it ends",
        [replaced(ravel, "quotient", whole_or_not)],
        lambda: _check(all_but_one),
    ),
    Bug(
        "a loop over some elements of an array is one over all",
        [replaced(ravel, "_sizes_known", of_any_array)],
        lambda: _check(all_but_one),
    ),
    Bug(
        "columns are rows",
        [replaced(ravel._Places, "rewrite_Mod", column_is_row)],  # pyright: ignore[reportPrivateUsage]
        lambda: _check(flat),
    ),
    Bug(
        "rows are as long as it takes",
        [replaced(places, "_counts", always(True))],
        rows_that_overlap_stay_in_order,
    ),
    Bug(
        "rows that are joined end where one does",
        [replaced(ravel, "times", first_of_two)],
        lambda: _check(total_of_points, columns=3),
    ),
)
