"""`*args`, slices that have names, streams of random numbers, names that are first set inside."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

from hybridjit import hybrid
from hybridjit.errors import ArgumentError, ArgumentValueError, TypeMismatch
from hybridjit.hybrid import parallel
from tests.support.array_results import assert_agree
from tests.support.oracle import fresh

np: Any = numpy


@hybrid.script
def total(first: Any, *others: Any, scale: Any = 1.0) -> Any:
    s = first.sum()
    for other in others:
        s += other[0] * len(others)
    return s * scale


def test_any_number_of_arrays() -> None:
    a, b = np.arange(3.0), np.arange(4) + 2
    for run in (total, total.interpret, total.py_func):
        assert run(a) == 3
        assert run(a, b) == 5
        assert run(a, b, a + 1, scale=2) == 18
        assert run(a, b) == 5  # the second time by the dispatcher, if it could


def test_any_number_by_name_is_refused() -> None:
    def named(**given: Any) -> Any:
        return 1.0

    with pytest.raises(ArgumentValueError, match=r"takes '\*\*given'"):
        hybrid.script(named)


@hybrid.script
def slices(a: Any, k: Any) -> Any:
    rows, every = slice(1, None), slice(None, None, 2)
    both = (rows, slice(k))
    k = 0
    b = a.copy()
    b[rows, k] = -1.0
    b[both] *= 2
    return a[rows] + 1, a[every, 1], a[both].sum(), a[slice(2)], b


def test_slices_that_have_names() -> None:
    for k in (2, 0, 9):
        assert_agree(fresh(slices), [np.arange(12.0).reshape(3, 4), k])


def test_a_slice_as_an_argument_is_refused() -> None:
    with pytest.raises(ArgumentError, match=r"(?s)is a slice.*pass its bounds"):
        slices(np.ones((2, 2)), slice(2))


def test_a_slice_is_no_number() -> None:
    @hybrid.script
    def returned(a: Any) -> Any:
        return slice(a[0])

    with pytest.raises(TypeMismatch, match="cannot return a slice"):
        returned(np.ones(2))


@hybrid.script
def draws(seed: Any, n: Any) -> Any:
    out = np.zeros((n, 3))
    for i in parallel(n):
        g = hybrid.rng(seed, i)
        out[i, 0] = g.random()
        out[i, 1] = g.standard_normal()
        out[i, 2] = np.random.default_rng([seed, i + 2**33]).integers(0, 100)
    return out


def test_streams_by_iteration() -> None:
    for seed in (0, 3, 2**40 + 1):
        assert (draws(seed, 5) == draws.py_func(seed, 5)).all()
        assert (draws.interpret(seed, 2) == draws.py_func(seed, 2)).all()


def test_negative_streams() -> None:
    for run in (draws, draws.py_func):
        with pytest.raises(ValueError, match="non-negative"):
            run(-1, 2)


@hybrid.script
def running(x: Any) -> Any:
    out = np.zeros(len(x), x.dtype)
    for i in range(len(x)):
        most = x[i] if i == 0 else max(most, x[i])  # noqa: F821  # pyright: ignore
        added = added + x[i] if i > 0 else x[i]  # noqa: F821  # pyright: ignore
        out[i] = most + added
    return out


def test_names_that_a_choice_sets_first() -> None:
    for dtype in (np.float32, np.int64):
        assert_agree(fresh(running), [(np.arange(7) * 5 % 7 - 4).astype(dtype)])
