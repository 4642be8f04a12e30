"""Axes of length 1 that steps make constants: what is computed with them is folded."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import hybridjit as hj
from hybridjit import te


def fused(s: Any, out: Any) -> None:
    s[out].fuse(*out.op.axis)
    s.cache_write(out, "local")


def split(s: Any, out: Any) -> None:
    s[out].split(out.op.axis[1], factor=1)
    s.cache_write(out, "local")


def turned(i: Any, j: Any) -> list[Any]:
    return [j, i]


def in_threes(i: Any, j: Any) -> list[Any]:
    return [i // 3, j, i % 3]


def laid_out(s: Any, out: Any) -> None:
    s[out].transform_layout(turned)
    s.cache_write(out, "local")


def split_and_laid_out(s: Any, out: Any) -> None:
    s[out].transform_layout(in_threes)


def factored(s: Any, out: Any) -> None:
    if out.op.reduce_axis:
        outer, _ = s[out].split(out.op.reduce_axis[0], factor=1)
        s.rfactor(out, outer)


# Of results that lie otherwise.
SHAPES = {laid_out: (1, 3), split_and_laid_out: (1, 1, 3)}


def neighbours(a: Any) -> Any:
    return te.compute((3, 1), lambda i, j: a[i, j] - a[i, j + 2], "neighbours")


def rows(a: Any) -> Any:
    k = te.reduce_axis((0, 1), "k")
    return te.compute((3, 1), lambda i, j: te.sum(a[i, j + k + 1] * (k + 2), axis=k), "rows")


def chosen(a: Any) -> Any:
    return te.compute(
        (3, 1), lambda i, j: te.if_then_else(j + 1 > i, a[i, j + 1], a[i, 2 - j]), "chosen"
    )


@pytest.mark.parametrize("make", [neighbours, rows, chosen])
@pytest.mark.parametrize("steps", [fused, split, laid_out, split_and_laid_out, factored])
def test_constants_are_folded(steps: Any, make: Any) -> None:
    a = te.placeholder((3, 3), "int16", "a")
    out = make(a)
    data: Any = np.array([[0, 1, 4], [9, 16, 25], [36, 49, 64]], np.int16)
    plain: Any = np.zeros((3, 1), out.dtype.name)
    found: Any = np.zeros(SHAPES.get(steps, (3, 1)), out.dtype.name)
    hj.build(te.create_schedule(out.op), [a, out])(data, plain)
    s = te.create_schedule(out.op)
    steps(s, out)
    hj.build(s, [a, out])(data, found)
    np.testing.assert_array_equal(found.ravel(), plain.ravel())
