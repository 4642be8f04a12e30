"""What a call costs: native calls next to Numba's, and to NumPy's functions where one fits.

The work in the kernels is next to nothing (8 elements), so that the call is what is measured. All
candidates of a row are run in turn, many times; the best time of each counts.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import repeat
from typing import Any

import numba
import numpy as np

from hybridjit import hybrid
from hybridjit.hybrid import output_tensor

CALLS = 2000
ROUNDS = 200
WARM_UP = 5


@hybrid.script
def add(a: Any, b: Any, c: Any) -> Any:
    for i in range(a.shape[0]):
        c[i] = a[i] + b[i]


@hybrid.script
def add_new(a: Any, b: Any) -> Any:
    c = output_tensor(a.shape, a.dtype)
    for i in range(a.shape[0]):
        c[i] = a[i] + b[i]
    return c


def numpy_add_new(a: Any, b: Any) -> Any:
    c = np.zeros(a.shape, a.dtype)
    for i in range(a.shape[0]):
        c[i] = a[i] + b[i]
    return c


@hybrid.script
def axpy(x: Any, k: Any, n: Any, y: Any) -> Any:
    for i in range(n):
        y[i] += k * x[i]


@hybrid.script
def total(a: Any) -> Any:
    s = 0.0
    for i in range(a.shape[0]):
        s += a[i]
    return s


@hybrid.script
def promoted(a: Any, b: Any, c: Any) -> Any:
    for i in range(a.shape[0]):
        c[i] = a[i] + b[i]


@dataclass(frozen=True, slots=True)
class Row:
    """Functions that do the same for the same arguments."""

    name: str
    ours: Callable[..., Any]
    numba: Callable[..., Any]
    numpy: Callable[..., Any] | None
    args: tuple[Any, ...]


def rows() -> list[Row]:
    """The calls to compare."""
    a, b, c = np.ones(8), np.ones(8), np.zeros(8)
    for size in (3, 5, 7):
        promoted(*(np.ones(size) for _ in range(3)))
    plain: Any = numba.njit
    return [
        Row("3 arrays, in place", add, plain(add.py_func), np.add, (a, b, c)),
        Row("run-time sizes, in place", promoted, plain(promoted.py_func), np.add, (a, b, c)),
        Row("arrays and numbers", axpy, plain(axpy.py_func), None, (a, 0.5, 8, c)),
        Row("returns a new array", add_new, plain(numpy_add_new), np.add, (a, b)),
        Row("returns a number", total, plain(total.py_func), np.sum, (a,)),
    ]


def measure(functions: Sequence[Callable[..., Any]], args: tuple[Any, ...]) -> list[float]:
    """The time of one call of each, in nanoseconds."""
    best = [float("inf")] * len(functions)
    for function in functions:
        for _ in range(WARM_UP):
            function(*args)
    for _ in range(ROUNDS):
        for position, function in enumerate(functions):
            best[position] = min(best[position], time_calls(function, args))
    return best


def time_calls(function: Callable[..., Any], args: tuple[Any, ...]) -> float:
    calls = repeat(None, CALLS)
    start = time.perf_counter_ns()
    for _ in calls:
        function(*args)
    return (time.perf_counter_ns() - start) / CALLS


def empty(*args: Any) -> None:
    """What a call costs at least in Python."""


def main() -> None:
    """Print a table."""
    print(f"{'ns per call':26}{'hybridjit':>11}{'Numba':>9}{'NumPy':>9}{'of Numba':>11}")
    for row in rows():
        functions = [row.ours, row.numba, *([] if row.numpy is None else [row.numpy])]
        ours, theirs, *rest = measure(functions, row.args)
        numpy = f"{rest[0]:9.0f}" if rest else f"{'-':>9}"
        print(f"{row.name:26}{ours:11.0f}{theirs:9.0f}{numpy}{ours / theirs:10.2f}x")
    nothing = measure([empty], tuple(rows()[0].args))[0]
    print(f"{'empty Python function':26}{nothing:11.0f}")


if __name__ == "__main__":
    main()
