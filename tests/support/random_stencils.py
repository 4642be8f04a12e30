"""Random stencils whose windows are cut at the edges by guards, in loops that are long enough for
vectors.

All values are small integers, so that the answer is exact in every type and order.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

DTYPES = ("float32", "float64", "int32", "int16")
SIZES = ((4, 16), (3, 37), (1, 8), (5, 65), (2, 1))  # rows and columns


@dataclass(frozen=True, slots=True)
class Stencil:
    """The text of a script `f`, and what to call it with."""

    text: str
    dtype: str
    margin: tuple[int, ...]  # by so much H and P are smaller than X and G, in each direction
    seed: int

    def arguments(self) -> Iterator[list[Any]]:
        """X, P, H, G, D and K for each of several sizes."""
        numbers = np.random.default_rng(self.seed)
        for rows, columns in SIZES:
            inner = (max(1, rows - self.margin[0]), max(1, columns - self.margin[1]))
            shapes = ((rows, columns), inner, inner, (rows, columns), (columns,), (columns,))
            *arrays, places = (numbers.integers(-2, 4, shape) for shape in shapes)
            yield [*(array.astype(self.dtype) for array in arrays), np.abs(places) % inner[1]]


def make_stencil(seed: int) -> Stencil:
    """The stencil of a seed."""
    chosen = random.Random(seed)
    window = [chosen.choice((1, 2, 2, 2, 3)) for _ in range(2)]
    # As in the gradient of a convolution, which has all places that the window touches.
    margin = tuple(chosen.choice((size - 1, size - 1, size - 1, 0, 2)) for size in window)
    step = chosen.choice(("", "", "", "2 * "))
    places = (f"i - {step}c", f"j - {step}d")
    lines = [
        "def f(X, P, H, G, D, K):",
        "    n, m = X.shape",
        "    p, q = H.shape",
        f"    for i in range({chosen.choice(('n', 'n', 'n', '1, n', 'n - 1, -1, -1'))}):",
        f"        for j in range({chosen.choice(('m', 'm', 'm', '1, m', '0, m, 2', 'i, m'))}):",
        *([] if chosen.random() < 0.3 else ["            G[i, j] = 0"]),
        f"            for c in range({window[0]}):",
        f"                for d in range({window[1]}):",
        f"                    if {_guard(chosen, places)}:",
        *(f"                        {line}" for line in _updates(chosen, places)),
    ]
    return Stencil("\n".join(lines) + "\n", chosen.choice(DTYPES), margin, seed)


def _guard(chosen: random.Random, places: tuple[str, str]) -> str:
    """Keeps the places inside H and P; asks for more now and then."""
    tests = [f"{place} >= 0 and {place} < {size}" for place, size in zip(places, "pq", strict=True)]
    if chosen.random() < 0.2:
        tests.append(chosen.choice(("D[j] > 0", "X[i, j] != 1", "c + d < 3", "i % 2 == 0")))
    if chosen.random() < 0.3:
        tests.reverse()
    return " and ".join(tests)


def _updates(chosen: random.Random, places: tuple[str, str]) -> list[str]:
    here = ", ".join(places)
    terms = (
        f"H[{here}] * X[i, j]",
        f"P[{here}]",
        f"H[{here}]",
        f"P[i % p, {places[1]}]",
        f"H[{places[0]}, K[j]]",
        "D[j]",
        f"P[({places[0]}) // 2, {places[1]}]",
    )
    usual = chosen.sample(terms[:3], chosen.randint(1, 2))
    added = " + ".join([*usual, *chosen.sample(terms[3:], chosen.choice((0, 0, 1)))])
    lines = [f"G[i, j] = G[i, j] + {added}"]
    if chosen.random() < 0.3:
        lines.append(f"G[i, j] -= {chosen.choice(terms)}")
    return lines
