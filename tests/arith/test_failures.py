"""What may fail is named as the script has it, in reports and refusals."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from hybridjit import hybrid, parse
from hybridjit.arith.failures import find_failure
from hybridjit.errors import ScheduleError
from hybridjit.schedule.schedule import Schedule
from tests.corpus.case import Array


def divided(x: Any, y: Any) -> Any:
    return x // y


DIVIDED = divided.__code__.co_firstlineno + 1


@hybrid.script
def sums(y: Array, a: Array, k: Array) -> None:
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            y[i] += a[i, j] // k[j]


@hybrid.script
def updates(y: Array, a: Array, k: Array) -> None:
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            y[0] += divided(a[i, j], k[j])


@hybrid.script
def stages(y: Array, k: Array) -> None:
    t = k % (k - 2)
    for i in range(3):
        y[i] = t[i] + 1


ARGS: tuple[Any, ...] = (np.zeros(20, int), np.ones((20, 30), int), np.ones(30, int))


def place(kernel: Any, number: int) -> str:
    return f"at line {kernel.__hybrid_function__.__code__.co_firstlineno + number}"


REFUSED: dict[str, tuple[Callable[[], Any], str]] = {
    "in lanes": (
        lambda: sums.with_schedule(lambda s: s.in_lanes("j", 8))(*ARGS),
        f"`a\\[i, j\\] // k\\[j\\]` {place(sums, 4)} may divide by zero",
    ),
    "sums in lanes": (
        lambda: sums.with_schedule(lambda s: s.sums_in_lanes("i", lanes=8))(*ARGS),
        f"`a\\[i, j\\] // k\\[j\\]` {place(sums, 4)} may divide by zero",
    ),
    "in a register": (
        lambda: updates.with_schedule(lambda s: s.in_register("j"))(*ARGS),
        f"leave another value there: `x // y` at line {DIVIDED} may divide by zero",
    ),
    "a stage that is left out": (
        lambda: stages.schedule(ARGS[0], ARGS[2]).compute_inline("t"),
        f"`k % \\(k - 2\\)` {place(stages, 2)} may divide by zero",
    ),
}


@pytest.mark.parametrize("step", REFUSED)
def test_refusals_name_it(step: str) -> None:
    call, text = REFUSED[step]
    with pytest.raises(ScheduleError, match=text):
        call()


def test_programs_without_a_text_name_it_as_they_print() -> None:
    func = parse(
        "def f(a: int64[4], b: int64[4]):\n    for i in range(4):\n        a[i] = a[i] // b[i]"
    )
    assert find_failure(func.body) == "`a[i] // b[i]` at line 3 may divide by zero"
    assert find_failure(Schedule(func).func.body, func.span) is not None


def test_lines_of_other_files_are_named_with_them() -> None:
    func = parse("def f(a: int64[4], b: int64[4]):\n    a[0] = a[0] // b[0]")
    text = find_failure(func.body, sums.prim_func(*ARGS).span)
    assert text is not None
    assert ">:2 may divide" in text
    assert find_failure(sums.prim_func(ARGS[0] * 1.0, ARGS[1] * 1.0, ARGS[2] * 1.0).body) is None
