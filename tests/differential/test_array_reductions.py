"""The arguments of reductions, and the methods of ufuncs, against NumPy."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

from hybridjit import hybrid
from tests.support.array_results import assert_agree

np: Any = numpy
RNG = np.random.default_rng(29)
Array = Any
FLOATS = RNG.random((4, 3))
SMALL = RNG.integers(-50, 50, (4, 3)).astype(np.int8)
INDICES = np.array([0, 3, 3, 1, -1])


def types(a: Array):
    return np.sum(a, dtype=np.float32), a.sum(dtype=np.int16), np.mean(a, dtype=np.float32)


def kinds(a: Array):
    return a.sum(), a.prod(axis=0), a.mean(), a.max(), a.argmin(axis=1), a.any(), a.std(ddof=1)


def begun(a: Array, x: float):
    return np.sum(a, initial=x), np.max(a, axis=1, initial=7), np.prod(a, initial=2)


def begun_empty(a: Array):
    return np.max(a[:0], initial=3), np.sum(a[:0], axis=0, initial=1)


def chosen(a: Array):
    m = a > 0.5
    return np.sum(a, where=m), np.sum(a, axis=0, where=m), np.min(a, where=~m, initial=5)


def stored(a: Array):
    o = np.zeros(a.shape[1])
    np.sum(a, axis=0, out=o)
    p = o * 2
    np.max(a, axis=0, out=o)
    return o, p, np.mean(a, axis=0, out=p).sum()


def by_ufunc(a: Array):
    return np.add.reduce(a), np.maximum.reduce(a, axis=1), np.multiply.reduce(a, axis=None)


def running(a: Array):
    return np.add.accumulate(a), np.maximum.accumulate(a, axis=1), np.minimum.accumulate(a)


def added_at(v: Array, idx: Array, w: Array):
    np.add.at(v, idx, w)
    np.subtract.at(v, idx, 1)
    np.maximum.at(v, idx[:2], w[1:3] * 9)


def added_at_pairs(a: Array, idx: Array):
    np.add.at(a, (idx, idx // 2), a[0, 0])


def added_in_rows(a: Array, idx: Array, w: Array):
    np.add.at(a, idx, w[:3])


CASES: list[tuple[Any, ...]] = [
    (types, FLOATS * 20),
    (types, SMALL),
    (types, SMALL > 0),
    (kinds, FLOATS),
    (kinds, SMALL),
    (kinds, SMALL.astype(np.uint8)),
    (kinds, SMALL > 0),
    (kinds, FLOATS.astype(np.float16)),
    (kinds, FLOATS.astype(np.float32)[::-1, ::2]),
    (begun, FLOATS, 2.5),
    (begun_empty, FLOATS),
    (begun_empty, SMALL),
    (chosen, FLOATS),
    (chosen, SMALL),
    (stored, FLOATS),
    (stored, SMALL),
    (by_ufunc, FLOATS),
    (by_ufunc, SMALL),
    (running, FLOATS),
    (running, SMALL),
    (added_at, FLOATS[:, 0].copy(), INDICES, RNG.random(5)),
    (added_at, np.arange(6), INDICES, np.arange(5)),
    (added_at_pairs, FLOATS, np.array([0, 3, 3])),
    (added_in_rows, FLOATS, INDICES, RNG.random(5)),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case[0].__name__)
def test_agrees_with_numpy(case: tuple[Any, ...]):
    function, *args = case
    kernel: Any = hybrid.script(function)
    assert_agree(kernel, args)
