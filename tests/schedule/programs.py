"""Small programs with every shape of loop, for constant and for run-time sizes, to try steps on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import hybridjit as hj
from hybridjit import ScheduleError
from hybridjit.ir.equal import structural_equal
from hybridjit.ir.func import PrimFunc
from hybridjit.schedule.schedule import Schedule
from tests.nests.check import backwards
from tests.support.before_after import assert_unchanged, replayed

Steps = Callable[[Schedule], Any]
# Nothing, one, two, primes, and numbers that no factor in the tests divides.
SIZES = (0, 1, 2, 7, 13)


@dataclass(frozen=True, slots=True)
class Program:
    """The text of a program over `a[n, n]`, `b[n]` and `c[n]`; its sizes are called N."""

    name: str
    body: str

    def __str__(self) -> str:
        return self.name

    def func(self, size: int | None) -> PrimFunc:
        """The program for arrays of a size; None for those of any size."""
        dim = '"n"' if size is None else str(size)
        extent = "b.shape[0]" if size is None else str(size)
        header = f"def f(a: int64[{dim}, {dim}], b: int64[{dim}], c: int64[{dim}]):"
        return hj.parse(f"{header}\n{self.body.replace('N', extent)}")


def numbers(*shape: int) -> Any:
    """Small integers, some of them negative."""
    count = int(np.prod(shape))
    found: Any = np.arange(count, dtype=np.int64) * 7 % 13 - 3
    return found.reshape(shape)


def arguments(size: int) -> list[Any]:
    """Arguments of the programs."""
    return [numbers(size, size), numbers(size) + 1, numbers(size) * 2]


def check(
    program: Program, steps: Steps, *, native: bool = True, constants: Sequence[int] = SIZES
) -> None:
    """Fail unless `steps` leave the results as they are, for every size and in every way.

    `constants` are the sizes that also become part of a program.
    """
    for size in (*constants, None):
        s = Schedule(program.func(size))
        steps(s)
        turned = backwards(s.func)
        for run in SIZES if size is None else (size,):
            args = arguments(run)
            assert_unchanged(s.original, s.func, args, native=native and run in (0, 7))
            assert_unchanged(s.original, turned, args)
    assert structural_equal(replayed(s), s.func)  # pyright: ignore[reportPossiblyUnboundVariable]


def refuse(func: PrimFunc | Program, steps: Steps, match: str) -> ScheduleError:
    """The error that `steps` must end in, after which nothing has changed."""
    s = Schedule(func.func(7) if isinstance(func, Program) else func)
    before, taken = s.func, len(s.trace.steps)
    with pytest.raises(ScheduleError, match=match) as caught:
        steps(s)
    assert s.func is before
    assert len(s.trace.steps) == taken
    return caught.value


def sort(programs: Sequence[Program], steps: Steps) -> dict[str, list[str]]:
    """Check each program that takes `steps`; the names of those that do, and of those refused."""
    found: dict[str, list[str]] = {"taken": [], "refused": []}
    for program in programs:
        try:
            steps(Schedule(program.func(7)))
        except ScheduleError:
            found["refused"].append(program.name)
        else:
            check(program, steps, native=False, constants=(2, 7))
            found["taken"].append(program.name)
    return found


def _program(name: str, body: str) -> Program:
    return Program(name, body.strip("\n"))


PLAIN = _program(
    "plain",
    """
    for i in range(N):
        c[i] = b[i] * 2
""",
)
NEST = _program(
    "nest",
    """
    for i in range(N):
        for j in range(N):
            a[i, j] = a[i, j] * 2 + b[j]
""",
)
DOWN = _program(
    "down",
    """
    for i in range(N - 1, -1, -1):
        c[i] = b[N - 1 - i] + i
""",
)
STRIDED = _program(
    "strided",
    """
    for i in range(1, N, 3):
        c[i] = b[i] + i
""",
)
TRIANGLE = _program(
    "triangle",
    """
    for i in range(N):
        for j in range(i, N):
            a[i, j] = a[i, j] + i * 10
""",
)
GUARDED = _program(
    "guarded",
    """
    for i in range(N):
        if b[i] > 2:
            c[i] = b[i]
""",
)
IMPERFECT = _program(
    "imperfect",
    """
    for i in range(N):
        c[i] = b[i] + 1
        for j in range(N):
            a[i, j] = a[i, j] + c[i]
""",
)
NAMED = _program(
    "named",
    """
    for i in range(N):
        x = b[i] * 3
        y = i + 1
        with block("t"):
            c[i] = x
        with block("u"):
            a[i, 0] = c[i] + y
""",
)
REGISTER = _program(
    "register",
    """
    for i in range(N):
        x: int64 = b[i]
        for j in range(N):
            x = x + a[i, j]
        c[i] = x
""",
)
INIT = _program(
    "init",
    """
    for i in range(N):
        for k in range(N):
            with block("total", i, reduce(k)):
                with init():
                    c[i] = 5
                c[i] = c[i] + a[i, k]
""",
)
SCAN = _program(
    "scan",
    """
    for i in scan(1, N):
        b[i] = b[i - 1] + b[i]
""",
)
BREAK = _program(
    "break",
    """
    for i in range(N):
        if b[i] > 5:
            break
        c[i] = b[i]
""",
)
CONTINUE = _program(
    "continue",
    """
    for i in range(N):
        if b[i] > 2:
            continue
        c[i] = b[i]
""",
)
RETURN = _program(
    "return",
    """
    for i in range(N):
        if b[i] > 5:
            return
        c[i] = b[i]
""",
)
WHILE = _program(
    "while",
    """
    for i in range(N):
        x: int64 = b[i]
        while x > 0:
            x = x - 2
        c[i] = x
""",
)
NEIGHBOURS = _program(
    "neighbours",
    """
    for i in range(N):
        b[i] = b[i] + 1
    for j in range(N):
        c[j] = b[j] * 2
""",
)
TOTAL = _program(
    "total",
    """
    for i in range(N):
        c[0] = c[0] + b[i]
""",
)
PROGRAMS = (
    *(PLAIN, NEST, DOWN, STRIDED, TRIANGLE, GUARDED, IMPERFECT, NAMED, REGISTER, INIT, SCAN),
    *(BREAK, CONTINUE, RETURN, WHILE, NEIGHBOURS, TOTAL),
)

EXAMPLES = """
def examples(a: float32[32, 32], b: float32[32], c: float32[32, 32], e: int64[16], f: int64[16]):
    for i in range(4):
        for j in range(32):
            with block("c", i, j):
                c[i, j] = a[i, j] * 2.0
    for p in range(16):
        e[p] = f[p] + 1
    for q in range(16):
        f[q] = e[q] * 2
    for r in range(16):
        with block("t"):
            e[r] = f[r] + 3
        with block("u"):
            f[r] = e[r] * 2
    for m in range(16):
        e[0] = e[0] + f[m]
    for v in range(16):
        for w in range(16):
            with block("total", v, reduce(w)):
                with init():
                    e[v] = 0
                e[v] = e[v] + f[w]
    for z in range(4):
        b[z + 8] = b[z + 8] + b[z + 8]
"""
"""The program that the examples in the docstrings of steps are about."""
