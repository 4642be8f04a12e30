"""How fast the best candidate is: operations per second, as a share of the peak."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

from hybridjit import hybrid
from hybridjit.tuning.rates import Work, work_of
from hybridjit.tuning.result import Tuned
from hybridjit.tuning.timing import Times


@hybrid.script
def product(a: Any, b: Any, c: Any) -> None:
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            for k in range(a.shape[1]):
                c[i, j] += a[i, k] * b[k, j]


@hybrid.script
def repeated(a: Any, n: Any) -> None:
    for _ in range(n):
        for i in range(a.shape[0]):
            a[i] = a[i] * 0.5


@hybrid.script
def copied(a: Any, b: Any) -> None:
    for i in range(a.shape[0]):
        b[i] = a[i]


@hybrid.script
def searched(a: Any) -> Any:
    i = 0
    while a[i] < 0.5:
        i += 1
    return i


def work(kernel: Any, *args: Any) -> Work | None:
    return work_of(kernel.schedule(*args).func, args, is_parallel=False)


def test_the_operations_of_a_program_are_counted() -> None:
    a, b, c = np.ones((8, 5)), np.ones((5, 7)), np.zeros((8, 7))
    found = work(product, a, b, c)
    assert found is not None
    assert found.flops == 2 * 8 * 5 * 7
    assert found.peak > 0


def test_numbers_tell_how_often_a_loop_runs() -> None:
    found = work(repeated, np.ones(10), 3)
    assert found is not None
    assert found.flops == 30


def test_what_computes_nothing_or_is_not_known_has_no_rate() -> None:
    assert work(copied, np.ones(4), np.ones(4)) is None
    assert work(searched, np.ones(4)) is None


def test_more_threads_have_a_higher_peak(monkeypatch: pytest.MonkeyPatch) -> None:
    def peak(kind: str, threads: int) -> float:
        return threads * 1e9

    monkeypatch.setattr("hybridjit.tuning.rates.peak_flops", peak)
    monkeypatch.setattr("hybridjit.tuning.rates.get_num_threads", lambda: 3)
    args = np.ones(10), 3
    func = repeated.schedule(*args).func
    assert work_of(func, args, is_parallel=True) == Work(30, 3e9)
    assert work_of(func, args, is_parallel=False) == Work(30, 1e9)


def test_a_rate_in_words() -> None:
    assert Work(2e9, 1e11).describe(0.04) == "50 GFLOP/s, 50% of the peak"


def test_a_result_tells_the_rate() -> None:
    times, plain = Times((0.04,)), Times((0.08,))
    facts = (), Counter(measured=3), 1.0, "the time is up"
    assert "50 GFLOP/s, 50% of the peak" in str(
        Tuned((), 0.5, times, plain, *facts, Work(2e9, 1e11))
    )
    assert "GFLOP" not in str(Tuned((), 0.5, times, plain, *facts))
