"""Checks that are sure to hold are left out, and forbid no other order of loops."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import hybridjit as hj
from hybridjit import ScheduleError
from hybridjit.frontend.parse import parse_text
from hybridjit.ir.expr import Cast
from hybridjit.ir.stmt import Assert, Raise
from hybridjit.ir.visit import walk, walk_stmts
from tests.frontend.from_text import script_from_text

HEAD = "def f(a, b, n):\n    for i in range(8):\n        for j in range(i, a.shape[1]):\n"


def script_of(*checks: str) -> Any:
    body = [*checks, "b[i, j] = a[i, j] * 2"]
    return script_from_text(HEAD + "".join(f"            {line}\n" for line in body), {"np": np})


def checks_in(func: Any) -> int:
    return sum(isinstance(stmt, Assert | Raise) for stmt in walk_stmts(func.body))


@pytest.mark.parametrize(
    "check",
    [
        "assert i + j < 8 + a.shape[1]",
        "assert i <= j",
        "assert 0 <= i and i < 8",
        "assert i == 3 or j >= i",
        "assert not i > j",
        "assert i - j != 1",
        "assert i < 8, ('too large', i * 2)",
        "if i > j:\n                raise ValueError('no')",
    ],
)
def test_proved(check: str) -> None:
    func = script_of(check).prim_func(hj.f64[8, "m"], hj.f64[8, "m"], 3)
    assert checks_in(func) == 0


@pytest.mark.parametrize(
    "check",
    [
        "assert i + j < 8",
        "assert i < j",
        "assert i < n",
        "assert i + n * 4 > n * 4 - 1",  # wraps, for some n
        "assert i // n <= i or i >= 0",  # fails, for n = 0
        "assert a[i, j] < 1",
        "if i >= j:\n                raise ValueError('no')",
    ],
)
def test_not_proved(check: str) -> None:
    func = script_of(check).prim_func(hj.f64[8, "m"], hj.f64[8, "m"], 3)
    assert checks_in(func) == 1


CASTS = {
    "b[i, j] = np.uint8(i)": True,
    "b[i, j] = np.int32(i - 9) + np.uint64(i)": True,
    "b[i, j] = np.int8(i * 16 + 15)": True,
    "b[i, j] = np.int8(i * 16 + 16)": False,
    "b[i, j] = np.uint64(i - 1)": False,
    "b[i, j] = np.int16(j)": False,
    "if j < 100:\n                b[i, j] = np.int8(j)": True,
    "if j < 200:\n                b[i, j] = np.int8(j)": False,
    "c = i * n\n            b[i, j] = np.int8(c - i * n)": True,
    "c = i * n\n            b[i, j] = np.int8(c // n)": False,  # fails, for n = 0
    "b[i, j] = np.int16(a.shape[1])": False,
}


@pytest.mark.parametrize("statement", CASTS)
def test_numbers_that_fit(statement: str) -> None:
    func = script_of(statement).prim_func(hj.f64[8, "m"], hj.f64[8, "m"], 3)
    checked = any(isinstance(node, Cast) and node.checked for node in walk(func.body))
    assert checked is not CASTS[statement]


def test_a_number_that_does_not_fit_is_an_error() -> None:
    kernel = script_of("c = np.int8(i * 16 + 16)")
    with pytest.raises(OverflowError, match="128"):
        kernel(np.ones((8, 8)), np.ones((8, 8)), 3)


def test_loops_around_a_check_that_holds_change_places() -> None:
    text = HEAD.replace("range(i, a.shape[1])", "range(9)") + "            assert i + j < {}\n"
    text += "            b[i, j] = a[i, j] * n\n"
    schedule = script_from_text(text.format(16)).schedule(hj.f64[8, 9], hj.f64[8, 9], 3)
    schedule.reorder(*reversed(schedule.loops()))
    schedule = script_from_text(text.format(15)).schedule(hj.f64[8, 9], hj.f64[8, 9], 3)
    with pytest.raises(ScheduleError, match="the effect at line"):
        schedule.reorder(*reversed(schedule.loops()))


def test_a_check_that_fails_is_still_there() -> None:
    kernel = script_of("assert i <= j and i < n, 'too far'")
    with pytest.raises(AssertionError, match="too far"):
        kernel(np.ones((8, 8)), np.ones((8, 8)), 3)


def test_a_printed_function_is_read_as_it_is() -> None:
    text = "def f(a: float64[8]):\n    for i in range(8):\n        assert i < 9\n"
    assert checks_in(parse_text(text)) == 1
