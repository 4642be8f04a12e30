"""Ufuncs, gufuncs and expressions next to NumPy's and Numba's: small calls and large arrays.

All candidates of a row run in turn, many times; the best time of each counts. NumPy computes the
same formula array by array.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numba
import numpy as np

from hybridjit import hybrid

ROUNDS = 40
WARM_UP = 4
# Seconds of one measurement.
AT_LEAST = 2e-3


def polynomial(x: Any, y: Any) -> Any:
    return (x * 0.5 + y) * x - y


def smooth(x: Any, y: Any) -> Any:
    return math.exp(-x * x) * y


def smooth_numpy(x: Any, y: Any) -> Any:
    return np.exp(-x * x) * y


def clipped(x: Any, y: Any) -> Any:
    if x < 0.25:
        return y
    return x if x < y else y


def clipped_numpy(x: Any, y: Any) -> Any:
    return np.where(x < 0.25, y, np.where(x < y, x, y))


def dot(x: Any, y: Any) -> Any:
    total = 0.0
    for i in range(x.shape[0]):
        total += x[i] * y[i]
    return total


def numba_dot(x: Any, y: Any, out: Any) -> None:
    total = 0.0
    for i in range(x.shape[0]):
        total += x[i] * y[i]
    out[0] = total


def numpy_dot(x: Any, y: Any) -> Any:
    return np.einsum("...i,...i->...", x, y)


def evaluated(x: Any, y: Any) -> Any:
    return hybrid.evaluate("(x*0.5 + y)*x - y", x=x, y=y)


@dataclass(frozen=True, slots=True)
class Row:
    """Functions that do the same for the same arguments."""

    name: str
    ours: Callable[..., Any]
    numba: Callable[..., Any] | None
    numpy: Callable[..., Any]
    args: tuple[Any, ...]


def rows() -> list[Row]:
    """The calls to compare."""
    kinds: dict[str, tuple[Any, Any]] = {
        "polynomial": (polynomial, polynomial),
        "exp(-x*x)*y": (smooth, smooth_numpy),
        "branches": (clipped, clipped_numpy),
    }
    generator = np.random.default_rng(0)
    small = generator.random((2, 8))
    large = generator.random((2, 1_000_000))
    grid = generator.random((1000, 1000))
    found: list[Row] = []
    for name, (function, plain) in kinds.items():
        ours: Any = hybrid.vectorize(function)
        theirs: Any = numba.vectorize(function)
        found += [
            Row(f"{name}, 8", ours, theirs, plain, (small[0], small[1])),
            Row(f"{name}, 1M", ours, theirs, plain, (large[0], large[1])),
            Row(f"{name}, 1M float32", ours, theirs, plain, tuple(large.astype("float32"))),
            Row(f"{name}, 1000x1000, row", ours, theirs, plain, (grid, grid[0])),
            Row(f"{name}, 1000x1000, T", ours, theirs, plain, (grid, grid.T)),
            Row(f"{name}, number", ours, theirs, plain, (large[0], 0.5)),
        ]
    gufunc = hybrid.script(dot).as_gufunc("(n),(n)->()")
    signatures = [(numba.float64[:], numba.float64[:], numba.float64[:])]
    their_gufunc: Any = numba.guvectorize(signatures, "(n),(n)->()")(numba_dot)
    found += [
        Row("dot of 8", gufunc, their_gufunc, numpy_dot, (small[0], small[1])),
        Row("1000 dots of 1000", gufunc, their_gufunc, numpy_dot, (grid, grid)),
        Row("evaluate, 8", evaluated, None, polynomial, (small[0], small[1])),
        Row("evaluate, 1M", evaluated, None, polynomial, (large[0], large[1])),
    ]
    return found


def measure(functions: Sequence[Callable[..., Any]], args: tuple[Any, ...]) -> list[float]:
    """The time of one call of each, in microseconds."""
    best = [float("inf")] * len(functions)
    for function in functions:
        for _ in range(WARM_UP):
            function(*args)
    calls = 1
    while time_calls(functions[0], args, calls) * calls < AT_LEAST:
        calls *= 2
    for _ in range(ROUNDS):
        for position, function in enumerate(functions):
            best[position] = min(best[position], time_calls(function, args, calls))
    return [seconds * 1e6 for seconds in best]


def time_calls(function: Callable[..., Any], args: tuple[Any, ...], calls: int) -> float:
    start = time.perf_counter()
    for _ in range(calls):
        function(*args)
    return (time.perf_counter() - start) / calls


def main() -> None:
    """Print a table."""
    print(f"{'microseconds':30}{'hybridjit':>11}{'Numba':>10}{'NumPy':>10}{'of Numba':>10}")
    for row in rows():
        functions = [row.ours, row.numpy, *([] if row.numba is None else [row.numba])]
        ours, numpy, *rest = measure(functions, row.args)
        theirs = f"{rest[0]:10.2f}" if rest else f"{'-':>10}"
        ratio = f"{ours / rest[0]:9.2f}x" if rest else ""
        print(f"{row.name:30}{ours:11.2f}{theirs}{numpy:10.2f}{ratio}")


if __name__ == "__main__":
    main()
