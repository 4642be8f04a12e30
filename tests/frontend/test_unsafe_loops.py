"""`parallel(n, unsafe=True)`: loops that run side by side because the script says so."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import hybridjit as hj
from hybridjit import hybrid, te
from hybridjit.errors import ParseError, ScheduleError
from hybridjit.frontend.parse import parse_text
from hybridjit.hybrid import output_tensor, parallel, prange
from hybridjit.ir.equal import structural_equal
from tests.frontend.from_text import script_from_text
from tests.support.oracle import run_native, run_plain_and_interpreted

N = 4000
UNSAFE = True
VALUES: Any = np.arange(float(N))
ORDER: Any = np.random.default_rng(0).permutation(N)


@hybrid.script
def scattered(a: Any, order: Any) -> Any:
    b = output_tensor(a.shape, a.dtype)
    for i in parallel(a.shape[0], unsafe=True):
        b[order[i]] = a[i] * 2
    return b


@hybrid.script
def scattered_by_numba(a: Any, order: Any) -> Any:
    b = output_tensor(a.shape, a.dtype)
    for i in prange(0, a.shape[0], 1, unsafe=UNSAFE):
        row = np.zeros(3)
        for k in range(3):
            row[k] = a[i] + k
        b[order[i]] = row.sum()
    return b


@hybrid.script
def checked(a: Any, order: Any) -> Any:
    b = output_tensor(a.shape, a.dtype)
    for i in parallel(a.shape[0], unsafe=False):
        b[order[i]] = a[i] * 2
    return b


@pytest.mark.parametrize("kernel", [scattered, scattered_by_numba])
@pytest.mark.parametrize("size", [0, 7, N])
def test_what_is_said_is_believed(kernel: Any, size: int) -> None:
    order = ORDER[size > ORDER]
    run_plain_and_interpreted(kernel, [VALUES[:size], order])
    with hj.threads(2):
        found = run_native(kernel, VALUES[:size], order)
    np.testing.assert_array_equal(found, kernel.py_func(VALUES[:size], order))


@pytest.mark.usefixtures("unchecked")
def test_the_report_says_so() -> None:
    assert "unsafe" in str(scattered.report(VALUES, ORDER))


def test_what_is_not_said_is_proved() -> None:
    with pytest.raises(ScheduleError, match="loop 'i' cannot be parallel"):
        checked(VALUES, ORDER)


def test_indices_are_checked_all_the_same() -> None:
    wrong = ORDER.copy()
    wrong[N // 2] = N
    with pytest.raises(IndexError, match="4000"):
        run_native(scattered, VALUES, wrong)


def test_it_prints_and_parses_back() -> None:
    func = scattered.prim_func(VALUES, ORDER)
    assert structural_equal(parse_text(str(func)), func)


def test_on_tensors() -> None:
    a, order = te.placeholder((N,), "float64", "A"), te.placeholder((N,), "int64", "order")
    b: Any = scattered(a, order)
    found = np.zeros(N)
    hj.build(te.create_schedule(b.op), [a, order, b])(VALUES, ORDER, found)
    np.testing.assert_array_equal(found, scattered.py_func(VALUES, ORDER))


def test_an_error_leaves_others_as_they_are() -> None:
    for loop in ("range", "serial", "unroll", "vectorize", "grid", "const_range"):
        text = f"def f(a):\n    for i in {loop}(3, unsafe=True):\n        a[i] = 0\n"
        with pytest.raises(ParseError, match="takes no argument 'unsafe='"):
            script_from_text(text).interpret(np.zeros(3))


def test_whether_is_known() -> None:
    text = "def f(a, x):\n    for i in parallel(3, unsafe=x > 0):\n        a[i] = 0\n"
    with pytest.raises(ParseError, match="unsafe= must be known"):
        script_from_text(text).interpret(np.zeros(3), 1.0)
