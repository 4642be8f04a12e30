"""Calls of the functions of NumPy that a script has: what people write, and what NumPy makes of it.

A line is a call on the arrays of `ARRAYS`; it must give what NumPy gives.
"""

from __future__ import annotations

import re
from typing import Any

import numpy

from tests.support.numpy_arithmetic import ARITHMETIC
from tests.support.numpy_arrangements import ARRANGEMENTS

np: Any = numpy


def arrays_at(length: int, rows: int, columns: int) -> dict[str, Any]:
    """The arrays that calls are made on, of some sizes."""
    rng = np.random.default_rng(3)
    vector, weights = rng.random(length) - 0.5, rng.random(length)
    matrix = rng.random((rows, columns)) - 0.5
    return {
        "v": vector,
        "w": weights,
        "m": matrix,
        "s": rng.random((columns, columns)) + 2 * np.eye(columns),
        "t": rng.random((3, rows, rows)),
        "c": rng.random((rows, 3)),
        "i": rng.integers(-5, 5, length),
        "i2": rng.integers(-5, 5, (rows, columns)),
        "k": rng.integers(0, 5, length),
        "u": rng.integers(0, 200, length).astype(np.uint8),
        "b": vector > 0,
        "b2": matrix > 0,
        "z": vector + 1j * weights,
        "h": np.where(weights > 0.6, np.nan, vector),
        "h2": np.where(matrix > 0.3, np.nan, matrix),
    }


ARRAYS: dict[str, Any] = arrays_at(7, 4, 5)


def arrays_of(call: str) -> list[str]:
    """The names of the arrays that a call is made on."""
    return [name for name in ARRAYS if re.search(rf"(?<![\w.\"]){name}(?![\w\"=])", call)]


CALLS: dict[str, str] = {**ARRANGEMENTS, **ARITHMETIC}
LINES: tuple[str, ...] = tuple(
    line.strip() for lines in CALLS.values() for line in lines.split("\n") if line.strip()
)
