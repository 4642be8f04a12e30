"""np.random.seed, rand and others: bit for bit the stream of NumPy, before and after, too."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

from hybridjit import hybrid
from hybridjit.errors import ParseError, ScheduleError
from tests.support.oracle import assert_same, fresh, run_interpreted, run_native, run_plain

np: Any = numpy


@hybrid.script
def mixture(n: Any, seed: Any) -> Any:
    np.random.seed(seed)
    out = np.zeros((n, 6))
    for i in range(n):
        out[i, 0] = np.random.normal()
        out[i, 1] = np.random.rand()
        out[i, 2] = np.random.randint(0, 10 + i)
        out[i, 3] = np.random.uniform(-1.0, 2.0)
        out[i, 4] = np.random.exponential(0.5)
        if i % 3 == 0:
            out[i, 5] = np.random.standard_normal()
    return out


@hybrid.script
def arrays(n: Any, seed: Any) -> Any:
    np.random.seed(seed)
    drawn = np.random.randn(n, 3), np.random.random(n), np.random.rand(2, n)
    whole = np.random.randint(5, size=(2, 3)), np.random.randint(-(1 << 40), 1 << 40, n)
    return drawn, whole, np.random.normal(1.0, 2.0, n), np.random.random_sample()


@hybrid.script
def orders(n: Any, seed: Any) -> Any:
    np.random.seed(seed)
    order, rows = np.arange(n), np.arange(3 * n).reshape(n, 3)
    np.random.shuffle(order)
    np.random.shuffle(rows)
    chosen = np.random.choice(order, 4), np.random.choice(n), np.random.choice(n, 3, replace=False)
    return order, rows, np.random.permutation(n), np.random.permutation(order), chosen


KERNELS = (mixture, arrays, orders)
RUNS = {"interpret": run_interpreted, "native": run_native}


@pytest.mark.sampled(8)
@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.__name__)
@pytest.mark.parametrize("seed", [0, 12345, 2**32 - 1])
def test_streams(kernel: Any, seed: int) -> None:
    for size in (3, 300):
        plain = run_plain(kernel, size, seed)
        after = np.random.rand(), np.random.randn()
        for way in RUNS.values():
            assert_same(way(fresh(kernel), size, seed), plain)
            assert_same((np.random.rand(), np.random.randn()), after)


def test_long_streams() -> None:
    assert_same(run_native(mixture, 40_000, 7), run_plain(mixture, 40_000, 7))


@hybrid.script
def one_of_each() -> Any:
    return np.random.rand(), np.random.randn()


def test_one_stream_inside_and_outside(unchecked: None) -> None:
    """Half of a pair of normal numbers is handed over, too."""
    np.random.seed(3)
    wanted = [(np.random.rand(), np.random.randn()) for _ in range(9)]
    np.random.seed(3)
    drawn = [
        way(one_of_each) for _ in range(3) for way in (run_plain, run_native, RUNS["interpret"])
    ]
    assert drawn == wanted


def test_without_a_result() -> None:
    @hybrid.script
    def fill(a: Any) -> None:
        for i in range(len(a)):
            a[i] = np.random.rand()

    np.random.seed(1)
    wanted, found = np.random.rand(4), np.zeros(3)
    np.random.seed(1)
    run_native(fill, found)
    assert [*found, np.random.rand()] == list(wanted)


def test_errors_are_those_of_numpy() -> None:
    @hybrid.script
    def below(n: Any) -> Any:
        return np.random.randint(n)

    with pytest.raises(ValueError, match="high <= 0"):
        below(0)
    with pytest.raises(ValueError, match="Seed must be between 0"):
        mixture(3, -1)


def test_no_order_no_stream() -> None:
    @hybrid.script
    def at_once(a: Any) -> None:
        for i in hybrid.prange(len(a)):
            a[i] = np.random.rand()

    with pytest.raises((ParseError, ScheduleError), match="parallel"):
        at_once(np.zeros(8))


def test_by_a_name_of_its_own() -> None:
    rand = np.random.rand

    @hybrid.script
    def named(n: Any) -> Any:
        return rand() + n

    with pytest.raises(ParseError, match="a name of its own"):
        named(1)


def test_what_was_drawn_before_an_error_stays_drawn() -> None:
    @hybrid.script
    def failing(a: Any, i: Any) -> Any:
        x = np.random.rand()
        a[i] = x
        return np.random.rand()

    for run in (failing.py_func, failing, failing.interpret):
        np.random.seed(4)
        with pytest.raises(IndexError, match="out of bounds"):
            run(np.zeros(2), 5)
        assert np.random.rand() == np.random.RandomState(4).rand(2)[1]


def test_a_normal_number_that_numpy_keeps() -> None:
    @hybrid.script
    def one() -> Any:
        return np.random.randn()

    np.random.seed(4)
    found = [np.random.randn(), one(), one(), np.random.randn(), np.random.randn(), one()]
    assert found == np.random.RandomState(4).randn(6).tolist()


def test_lists_are_shuffled_and_drawn_from() -> None:
    @hybrid.script
    def of_lists(n: Any) -> Any:
        np.random.seed(3)
        known = [1, 2, 3, n]
        np.random.shuffle(known)
        return known, np.random.permutation([3, 1, 2]), np.random.choice([3.5, 1, 2], 4)

    for run in (of_lists, of_lists.interpret):
        np.testing.assert_equal(run(7), of_lists.py_func(7))
