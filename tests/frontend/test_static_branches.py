"""Conditions that a first round takes for constants, before it knows what they read."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from hybridjit import hybrid
from hybridjit.hybrid import grid
from tests.frontend.from_text import script_from_text
from tests.support.oracle import run_plain_and_interpreted


def again(x: Any) -> Any:
    if x <= 1:
        return 2
    return again(x - 1) + x


@hybrid.script
def of_a_recursion(a: Any, n: Any) -> Any:
    if (a[again(n) % 3] if n else 1.5) == 3.5:
        for i in range(5):
            a[i] += i


@hybrid.script
def both_sides(a: Any, n: Any) -> Any:
    if (a[again(n) % 3] if n else 1.5) == 3.5:
        for i, j in grid(2, 2):
            t = i + j
            a[t] += 1
    else:
        u = 0
        for k in range(5):
            u, w = k, a[k]
            a[u] = w * 2
        a[0] = u


# Names that have a value from the second turn of a loop on.
of_the_next_turn = script_from_text(
    """
def f(a, n):
    for i in range(5):
        if (x if i else 1.5) == 3.5:
            for k in range(n % 5):
                a[k] += 1
        elif (x if i > 1 else 3.5) != 3.5:
            y = a[i] + 1
            a[i] = y
        x = a[i]
"""
)
with_and = script_from_text(
    """
def f(a, n):
    for i in range(5):
        if (i and x > 2) or False:
            for k in range(n % 5):
                z = a[k]
                a[k] = z + 1
        x = a[i]
"""
)


@hybrid.script
def names_of_arrays(a: Any, n: Any) -> Any:
    b = a + 1
    if (a[again(n) % 3] if n else 1.5) == 3.5:
        for _ in range(2):
            a, b = b, a
    else:
        c = b
        b = a
        a = c * 2
    return a + b


@hybrid.script
def in_a_helper(a: Any, n: Any) -> Any:
    for i in range(3):
        _helper(a, n, i)


def _helper(a: Any, n: Any, i: Any) -> None:
    if (a[again(n) % 3] if i else 1.5) == 3.5:
        for k in range(4):
            t = a[k]
            a[k + 1] += t


@pytest.mark.parametrize("n", [0, 1, 3, 4])
@pytest.mark.parametrize("value", [3.5, 1.0])
@pytest.mark.parametrize(
    "kernel",
    [of_a_recursion, both_sides, of_the_next_turn, with_and, names_of_arrays, in_a_helper],
    ids=["recursion", "both_sides", "next_turn", "and", "names_of_arrays", "helper"],
)
def test_both_ways(kernel: Any, value: float, n: int) -> None:
    a = np.arange(5.0)
    a[: n % 3 + 1] = value
    run_plain_and_interpreted(kernel, [a, n])
