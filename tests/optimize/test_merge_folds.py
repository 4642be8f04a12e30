"""Folds of one large array become one loop; what would differ, or does not pay, stays apart."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

from hybridjit import config, hybrid
from hybridjit.optimize.optimize import optimize
from hybridjit.processor import current_target
from tests.support.array_results import assert_agree

np: Any = numpy
Array = Any
LARGE, SMALL = 20_011, 1_000


def arguments(function: Any, size: int) -> list[Array]:
    rng = numpy.random.default_rng(7)
    names = function.__code__.co_varnames[: function.__code__.co_argcount]
    shapes = {"m": (size // 100, 100)}
    return [rng.integers(-8, 9, shapes.get(name, (size,))) / 4 for name in names]


def check(function: Any, size: int = LARGE) -> int:
    """How many loops are put together; what is computed stays the same."""
    args = arguments(function, size)
    kernel: Any = hybrid.script(function)
    with config.scope(cache_enabled=False):
        assert_agree(kernel, args)
    taken = optimize(kernel.prim_func(*args), current_target()).decisions.taken
    return sum(decision.step == "merge" for decision in taken)


def moments(a: Array) -> Any:
    total = a.sum()
    square = (a * a).sum()
    return total, square


def extremes(a: Array) -> Any:
    return a.min(), a.max()


def selected(a: Array, b: Array) -> Any:
    return b[a > 0.5].mean()


def scaled(a: Array) -> Any:
    low = a.min()
    high = a.max()
    return (a - low) / (high - low)


def of_two(a: Array, b: Array) -> Any:
    ab = (a * b).sum()
    aa = (a * a).sum()
    bb = (b * b).sum()
    return ab / np.sqrt(aa * bb)


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    ("function", "count"),
    [(moments, 1), (extremes, 1), (selected, 1), (scaled, 1), (of_two, 2)],
)
def test_one_pass(function: Any, count: int) -> None:
    assert check(function) == count


@pytest.mark.parametrize("function", [moments, extremes, selected])
def test_small_arrays_stay_as_they_are(function: Any) -> None:
    assert check(function, SMALL) == 0


def dependent(a: Array) -> Any:
    mean = a.sum() / a.shape[0]
    return ((a - mean) ** 2).sum()


def written_between(a: Array) -> Any:
    total = a.sum()
    a[3:] = 1.5
    return total, (a * a).sum()


def of_others(a: Array, b: Array) -> Any:
    return a.sum(), b.sum()


@pytest.mark.parametrize("function", [dependent, written_between, of_others])
def test_stays_apart(function: Any) -> None:
    assert check(function) == 0


def many(a: Array) -> Any:
    return a.sum(), (a * a).sum(), a.min(), a.max(), (a + 1).min(), (a - 1).max()


def test_not_too_many_at_once() -> None:
    assert check(many) == 4  # of 5


def in_rows(m: Array) -> Any:
    return m.sum(), (m * m).sum()


def test_matrices() -> None:
    assert check(in_rows) == 2  # each of their loops
