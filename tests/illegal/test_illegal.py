"""Schedules that must be refused: forced with unsafe=True, each of them changes the answer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import hybridjit as hj
from hybridjit import ScheduleError
from hybridjit.ir.func import PrimFunc
from hybridjit.schedule.schedule import Schedule
from tests.nests.check import backwards
from tests.support.before_after import outcome
from tests.support.oracle import assert_same


@dataclass(frozen=True, slots=True)
class Illegal:
    """A program and the step on it that must be refused."""

    name: str
    text: str
    step: str
    loops: tuple[str, ...]
    before: Callable[[Schedule], Any] = lambda s: None

    def __str__(self) -> str:
        return self.name

    def take(self, s: Schedule, **options: Any) -> None:
        self.before(s)
        if self.step == "fission":
            s.fission(self.loops[0], after=self.loops[1], **options)
        else:
            getattr(s, self.step)(*self.loops, **options)


HEADER = "def f(a: int64[8, 8], b: int64[8], c: int64[8], x: float64[8], y: float64[8]):\n"


def illegal(name: str, step: str, loops: str, body: str, **options: Any) -> Illegal:
    return Illegal(name, HEADER + body.strip("\n") + "\n", step, tuple(loops.split()), **options)


def _parallel_j(s: Schedule) -> None:
    s.parallel("j")


CASES = (
    illegal(
        "flow against the new order",
        "reorder",
        "j i",
        """
    for i in range(1, 8):
        for j in range(7):
            a[i, j] = a[i - 1, j + 1] + 1
""",
    ),
    illegal(
        "a read that must come before the write",
        "reorder",
        "j i",
        """
    for i in range(7):
        for j in range(1, 8):
            a[i, j] = a[i + 1, j - 1] + 1
""",
    ),
    illegal(
        "the last write wins",
        "reorder",
        "j i",
        """
    for i in range(8):
        for j in range(8):
            b[0] = a[i, j]
            b[(i + j) % 8] = a[i, j]
""",
    ),
    illegal(
        "a counting down loop",
        "reorder",
        "j i",
        """
    for i in range(7, 0, -1):
        for j in range(1, 8):
            a[i - 1, j - 1] = a[i, j] * 2 + a[i - 1, j - 1]
            a[i, j] = a[i - 1, j - 1] + 1
""",
    ),
    illegal(
        "a sum of floats",
        "reorder",
        "j i",
        """
    for i in range(8):
        for j in range(8):
            y[0] = y[0] + x[i] * x[j] * x[i]
""",
    ),
    illegal(
        "the sign of a zero",
        "reorder",
        "j i",
        """
    for i in range(8):
        for j in range(8):
            y[0] = min(y[0], x[i] * 0.0 if j == 7 - i else 1.0)
""",
    ),
    illegal(
        "a later iteration of the first loop",
        "merge",
        "i j",
        """
    for i in range(7):
        b[i] = i + 100
    for j in range(7):
        c[j] = b[j + 1]
""",
    ),
    illegal(
        "a read of the first loop that the second overwrites",
        "merge",
        "i j",
        """
    for i in range(6):
        c[i] = b[i + 1]
    for j in range(6):
        b[j + 2] = j + 50
""",
    ),
    illegal(
        "two loops that add up to one another",
        "merge",
        "i j",
        """
    for i in range(8):
        b[0] = b[0] + c[i]
    for j in range(8):
        c[j] = c[j] + b[0]
""",
    ),
    illegal(
        "the second statement feeds the first",
        "fission",
        "i t",
        """
    for i in range(1, 8):
        with block("t"):
            b[i] = c[i - 1]
        with block("u"):
            c[i] = b[i] + 1
""",
    ),
    illegal(
        "both statements update one element",
        "fission",
        "i t",
        """
    for i in range(8):
        with block("t"):
            b[0] = b[0] + c[i]
        with block("u"):
            b[0] = b[0] * 2
""",
    ),
    illegal(
        "a chain",
        "parallel",
        "i",
        """
    for i in range(1, 8):
        b[i] = b[i - 1] + 1
""",
    ),
    illegal(
        "a read of what another iteration writes",
        "parallel",
        "i",
        """
    for i in range(7):
        b[i] = b[i + 1] + 1
""",
    ),
    illegal(
        "a scatter",
        "parallel",
        "i",
        """
    for i in range(8):
        b[c[i] % 3] = i
""",
    ),
    illegal(
        "a window that laps over",
        "parallel",
        "i",
        """
    for i in range(4):
        for j in range(4):
            b[i + j] = i * 10
""",
    ),
    illegal(
        "a scalar that lives on",
        "parallel",
        "i",
        """
    last: int64 = 0
    for i in range(8):
        b[i] = last
        last = c[i]
""",
    ),
    illegal(
        "a sum that is read in between",
        "parallel",
        "i",
        """
    for i in range(8):
        c[0] = c[0] + b[i]
        a[i, 0] = c[0]
""",
    ),
    illegal(
        "a wrapping index",
        "parallel",
        "i",
        """
    for i in range(4):
        b[i - 2] = i
        b[i + 4] = -i
""",
    ),
    illegal(
        "lanes that read their neighbours",
        "vectorize",
        "i",
        """
    for i in range(7):
        b[i + 1] = b[i] * 2
""",
    ),
    illegal(
        "lanes that meet in the middle",
        "vectorize",
        "i",
        """
    for i in range(8):
        b[7 - i] = b[i] + 1
""",
    ),
    illegal(
        "threads of a grid",
        "bind",
        "i threadIdx.x",
        """
    for i in range(1, 8):
        b[i] = b[i] + b[i - 1]
""",
    ),
    illegal(
        "a thread loop that goes around a serial one",
        "reorder",
        "j i",
        """
    for i in range(1, 8):
        for j in range(1, 8):
            a[i, j] = a[i - 1, j - 1] + 1
""",
        before=_parallel_j,
    ),
)


def arguments() -> list[Any]:
    count: Any = np.arange(64, dtype=np.int64) * 7 % 13 - 3
    wild = np.array([1e16, 1.0, -1e16, -0.5, 3.0, 1e-9, 7.0, -2.0])
    return [count.reshape(8, 8), count[:8] + 3, count[8:16] + 4, wild, np.ones(8)]


def assert_answers(func: PrimFunc, expected: list[Any]) -> None:
    """Fail unless `func` gives the same in order, and with its concurrent loops turned around."""
    for version in (func, backwards(func)):
        for one, other in zip(outcome(version, arguments()), expected, strict=True):
            assert_same(one, other)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_it_is_refused(case: Illegal) -> None:
    s = Schedule(hj.parse(case.text))
    with pytest.raises(
        ScheduleError, match=r"` (read|written) by .* in iteration .* in iteration"
    ) as caught:
        case.take(s)
    assert "^^^" in str(caught.value)  # the loops are underlined


@pytest.mark.parametrize("case", CASES, ids=str)
def test_it_would_change_the_answer(case: Illegal) -> None:
    s = Schedule(hj.parse(case.text))
    case.take(s, unsafe=True)
    assert "unsafe=True" in str(s.trace)
    expected = outcome(s.original, arguments())
    with pytest.raises(AssertionError, match="expected"):
        assert_answers(s.func, expected)
