"""Arrays of indices and masks, read and written, against NumPy."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

from hybridjit import hybrid
from tests.support.array_results import assert_agree

np: Any = numpy
RNG = np.random.default_rng(13)
Array = Any
VECTOR, MATRIX, CUBE = RNG.random(7), RNG.random((5, 4)), RNG.random((3, 4, 5))
REPEATED = np.array([3, -1, 3, 0, -5])
SQUARE = np.array([[0, 2], [-1, 1]])
MASK = np.array([True, False, True, True, False])


def rows(a: Array, idx: Array):
    return a[idx] * 2


def columns(a: Array, idx: Array):
    return a[:, idx] + 1


def of_part(a: Array, idx: Array):
    return a[1:, ::-1][idx]


def of_computed(a: Array, idx: Array):
    return (a * 3)[idx]


def with_single(a: Array, i: int, idx: Array):
    return a[i, :, idx]


def with_slice_between(a: Array, idx: Array):
    return a[idx, :, idx[::-1]]


def side_by_side(a: Array, idx: Array):
    return a[:, idx, idx + 1]


def broadcast_together(a: Array, idx: Array):
    return a[idx[:, None], idx]


def with_new_axis(a: Array, idx: Array):
    return a[None, idx, ..., 0]


def computed_indices(a: Array, n: int):
    return a[np.arange(n) % 3]


def set_elements(a: Array, idx: Array, v: Array):
    a[idx] = v


def set_number(a: Array, idx: Array):
    a[:, idx] = 7


def add_elements(a: Array, idx: Array, v: Array):
    a[idx] += v


def set_from_itself(a: Array, idx: Array):
    a[idx] = a[: len(idx)] * 2


def set_by_itself(a: Array):
    a[(a + 1) % 7] = a * 2


def set_pairs(a: Array, idx: Array, v: Array):
    a[idx, idx] = v[: len(idx)]


def set_in_part(a: Array, idx: Array):
    a[2:, 1][idx] -= 1


def mask_of_rows(a: Array, m: Array):
    a[m] = 2.5
    return a[m].sum(), a[~m].mean()


def mask_of_columns(a: Array, m: Array):
    a[:, m] *= 3
    return a[:, m].max()


def mask_and_index(a: Array, m: Array):
    a[m, 1] += 10
    a[m, ::2] -= 1
    return a[m, 0].sum()


def mask_after_dots(a: Array, m: Array):
    a[..., m] = -a[..., m]
    return a[..., m].sum()


def mask_apart_from_index(a: Array, m: Array):
    """Its axis comes first, as those of arrays of indices do: it stands for one."""
    b = a[0, :, m] * 2
    a[1, ..., m] += b
    a[2, None, m] -= 1
    a[0, :, m] = np.arange(len(b))[:, None]
    return b, a[:, None, 0, ..., m] * 1, a[0, :, m].sum(axis=0), a[None, 1, m] * 1


def dots_of_no_axes(a: Array, m: Array):
    """They stand between indices all the same."""
    a[:, m[:4], ..., 0] = a[:, m[:4], ..., 1]
    a[:, [0, 1], ..., [3, 1]] *= np.arange(3)
    return a[:, [0, 1], ..., [3, 1]], a[:, None, 1, ..., [0, 2]], a[:, m[:4], ..., 0] * 1


def sizes_of_selection(v: Array):
    x = v[v > 0.5]
    return len(x), x.size, len(v[v > 2]), x.sum() / len(x)


def wrong_mask(a: Array, m: Array):
    return a[m].sum()


CASES: list[tuple[Any, ...]] = [
    (rows, MATRIX, REPEATED),
    (rows, MATRIX, SQUARE),
    (rows, VECTOR, REPEATED.astype(np.int8)),
    (rows, MATRIX, np.array([5])),
    (rows, MATRIX, np.zeros(0, np.int64)),
    (columns, MATRIX, np.array([3, 3, -4])),
    (columns, MATRIX.T, REPEATED),
    (columns, MATRIX, np.array([4])),
    (of_part, MATRIX, np.array([3, -4])),
    (of_part, MATRIX, np.array([4])),
    (of_part, MATRIX, np.array([-5])),
    (of_computed, MATRIX, SQUARE),
    (with_single, CUBE, -1, np.array([4, 0])),
    (with_slice_between, CUBE, np.array([2, 0])),
    (side_by_side, CUBE, np.array([2, 0, 0])),
    (broadcast_together, MATRIX, np.array([3, 0, 1])),
    (with_new_axis, CUBE, SQUARE),
    (computed_indices, VECTOR, 11),
    (set_elements, VECTOR, REPEATED, RNG.random(5)),
    (set_elements, MATRIX, REPEATED, RNG.random((5, 4))),
    (set_elements, MATRIX, REPEATED, RNG.random(4)),
    (set_elements, MATRIX, np.array([1, 5]), RNG.random(4)),
    (set_number, MATRIX, SQUARE),
    (add_elements, VECTOR, REPEATED, RNG.random(5)),
    (add_elements, MATRIX, SQUARE, RNG.random((2, 2, 4))),
    (set_from_itself, VECTOR, REPEATED),
    (set_by_itself, np.array([3, 5, 0, 6, 1, 4, 2])),
    (set_pairs, MATRIX, np.array([0, 3, 3]), VECTOR),
    (set_in_part, MATRIX, np.array([0, -1, 0])),
    (mask_of_rows, MATRIX, MASK),
    (mask_of_columns, MATRIX.T, MASK),
    (mask_of_columns, CUBE, np.array([True, False, False, True])),
    (mask_and_index, MATRIX, MASK),
    (mask_after_dots, CUBE, MASK),
    (mask_of_rows, CUBE, RNG.random((3, 4)) > 0.5),
    (mask_apart_from_index, CUBE, MASK),
    (mask_apart_from_index, RNG.random((3, 4, 2, 3)), RNG.random((2, 3)) > 0.5),
    (dots_of_no_axes, CUBE, MASK),
    (sizes_of_selection, VECTOR),
    (wrong_mask, MATRIX, MASK[:4]),
    (wrong_mask, MATRIX, MASK[None, :]),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case[0].__name__)
def test_agrees_with_numpy(case: tuple[Any, ...]):
    function, *args = case
    kernel: Any = hybrid.script(function)
    assert_agree(kernel, args)
