"""What people write around their arrays: lists of indices, choices, errstate, names of dtypes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from hybridjit import hybrid
from tests.oracle import run_all_ways

Values = Any

_PROGRAMS: list[Callable[..., Any]] = []


def program(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of a matrix with three rows and at least two columns, and an index of a row."""
    _PROGRAMS.append(function)
    return function


@program
def rows_change_places(m: Values, k: int) -> None:
    m[[0, k]] = m[[k, 0]]


@program
def columns_change_places(m: Values, k: int) -> None:
    m[:, [0, -1]] = m[:, [-1, 0]]
    m[[k, 0], 1:] = m[[0, k], 1:]


@program
def lists_of_indices(m: Values, k: int) -> Values:
    return m[[k, 0, k]], m[:, [0, 1]], m[[0, k], [1, 0]], m[..., [-1]], m[[k]][0]


@program
def lists_of_indices_are_updated(m: Values, k: int) -> None:
    m[[0, k]] += 1
    m[[True, False, True]] = 0
    m[k, [0, 1]] *= 2


@program
def pivots(m: Values, k: int) -> Values:
    order = np.arange(3)
    for i in range(2):
        p = i + abs(m[i:, k % 2]).argmax()
        if p != i:
            m[[i, p]] = m[[p, i]]
            order[i], order[p] = order[p], order[i]
    return order


@program
def chooses_an_array(m: Values, k: int) -> Values:
    x = m[0] if k > 1 else m[:, :].sum(axis=0)
    y = m * 2 if k else m
    return x + 1, (y if k == 2 else -m).sum()


@program
def ignores_errors(m: Values, k: int) -> Values:
    with np.errstate(divide="ignore", invalid="ignore"):
        x = m / (m - m[k])
        if k > 1:
            x = x[::-1] + 1
    with np.errstate(all="ignore"):
        y = np.log(m - 2)
        return x, y


@program
def names_of_dtypes(m: Values, k: int) -> Values:
    counts = np.zeros(3, dtype="i4")
    counts[k] += 1
    wide = np.ones(2, "<f8") * np.full(2, k, "uint8")
    return counts, wide, m.astype("f4"), m.astype("c16"), (m > 1).astype("int"), m.astype("bool")


@program
def starred_names(m: Values, k: int) -> Values:
    rows, *rest = m.shape
    first, *middle, last = m[:, 0]
    *front, end = (k, m[0, 1], 2.5)
    return rows + rest[0], first + last * len(middle), front[1] + end


@program
def deleted_names(m: Values, k: int) -> Values:
    double = m * 2
    total = double.sum()
    del double
    double = total + k
    return double * double


@pytest.mark.parametrize("function", _PROGRAMS, ids=lambda f: f.__name__)
def test_program(function: Callable[..., Any]) -> None:
    kernel = hybrid.script(function)
    for columns in (2, 3, 5):
        numbers: Values = np.arange(3.0 * columns) * 0.5 - 2.5
        matrix = numbers.reshape(3, columns)
        for layout in (matrix, np.asfortranarray(matrix), matrix[::-1, ::-1], matrix.astype("f4")):
            for k in range(3):
                run_all_ways(kernel, (layout, k))
