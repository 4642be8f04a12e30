"""What people write around their arrays: lists of indices, choices, errstate, names of dtypes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from hybridjit import ParseError, hybrid
from tests.support.array_results import assert_agree
from tests.support.oracle import run_plain_and_interpreted

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


@program
def lists_are_stored(m: Values, k: int) -> Values:
    counts = np.zeros((2, 3), np.int32)
    counts[0] = [1, 2.75, k]
    counts[:, 1:] = [[7, 8], [counts[0, 2], counts[0, 1]]]
    m[1:, 0] = m[2, 0], m[1, 0]
    m[[2, 0], 1] = m[0, 1], k
    m[k, :2], m[0] = (m[0, 0], 4), m[1].sum()
    m[:, :2] = [m[1, :2].copy(), m[0, :2] * 2, (k, 3)]
    return counts


@program
def lists_are_operands(m: Values, k: int) -> Values:
    m[:, :2] *= [[k], [2], [3]]
    m[:, 1] += 1, 2, m[0, 0]
    sums = m[:, :2] + [0.5, k], [1, 2] - m[:, :2], m.T * (1, 2, 3)
    return *sums, m[:, 0] > [0, 1, 2], np.maximum(m[:, 1], [k, 0, 1]), np.sqrt([1, 4, k])


@program
def lists_are_arguments(m: Values, k: int) -> Values:
    joined = np.concatenate(([0], m[0], [k, m[1, 1]])), np.append(m[1], [1, 2])
    slid = np.convolve(m[0], [1, 0, -1]), np.correlate([1, 2, k, 4], m[0, :2])
    values: Values = (
        np.polyval([1, 2, k], m[1]),
        np.outer([1, k], m[0]),
        np.isclose(m[:, 0], [0, -1, 1]),
    )
    found: Values = np.searchsorted([0, 1, 2], m[1]), np.digitize(m[1], [0, 1, 2])
    return *joined, *slid, *values, *found


@program
def means_of_clusters(m: Values, k: int) -> Values:
    labels = np.arange(3) % 2
    means = np.zeros((2, m.shape[1]))
    for j in range(2):
        means[j] = m.mean(axis=0, where=(labels == j)[:, None])
    return means


@program
def lists_are_factors(m: Values, k: int) -> Values:
    return m.T @ [0.25, 0.5, 2.0], [1, 2, k] @ m, np.dot(m.T, (1, k, 2)), np.dot([1, 2, 3], m)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("function", _PROGRAMS, ids=lambda f: f.__name__)
def test_program(function: Callable[..., Any]) -> None:
    kernel = hybrid.script(function)
    for columns in (2, 3, 5):
        numbers: Values = np.arange(3.0 * columns) * 0.5 - 2.5
        matrix = numbers.reshape(3, columns)
        for layout in (matrix, np.asfortranarray(matrix), matrix[::-1, ::-1], matrix.astype("f4")):
            for k in range(3):
                run_plain_and_interpreted(kernel, (layout, k))


def test_parts_of_what_is_assigned_to_are_refused_in_lists() -> None:
    @hybrid.script
    def swap(m: Values) -> None:
        m[:2] = [m[1], m[0]]

    with pytest.raises(ParseError, match=r"a part of 'm', which is being assigned to(.|\n)*copy"):
        swap(np.ones((3, 3)))


def test_masked_rows_may_keep_an_axis() -> None:
    @hybrid.script
    def center(m: Values, labels: Values) -> Values:
        return m[labels == 1].mean(axis=0)

    rows: Values = np.array([[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]])
    assert_agree(center, [rows, np.array([1, 0, 1])])
