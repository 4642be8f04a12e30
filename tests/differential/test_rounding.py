"""`round(x, digits)`: Python's floats by their exact decimal digits, NumPy's as np.round does."""

from __future__ import annotations

import random
from typing import Any

import numpy
import pytest

from tests.frontend.from_text import script_from_text

np: Any = numpy
ROUND = script_from_text("def f(x, k):\n    return round(x, k)\n", {})


def hard_floats(choose: random.Random) -> list[float]:
    """Halves of a digit, their neighbours, large and small numbers."""
    found = [0.0, -0.0, 0.5, 2.5, 2.675, 1.005, -1.005, 5e-324, 1e300, float("inf"), 1e22, 1e23]
    for _ in range(400):
        digits = choose.randrange(0, 16)
        half = (choose.randrange(10**6) + 0.5) / 10**digits
        found += [half, np.nextafter(half, 0.0).item(), -np.nextafter(half, 1e9).item()]
        found.append(choose.random() * 10 ** choose.randrange(-8, 25))
        found.append((choose.randrange(10**9) + 0.5) * 10 ** choose.randrange(0, 8))
    return found


def test_python_floats_are_rounded_exactly() -> None:
    choose = random.Random(5)
    for x in hard_floats(choose):
        for k in (choose.randrange(-12, 17), 2, 0):
            wanted = round(x, k)
            found = ROUND(x, k)
            assert (found, str(found), type(found)) == (wanted, str(wanted), float), (x, k)
        assert ROUND.interpret(x, 3) == round(x, 3)


def test_python_integers() -> None:
    choose = random.Random(6)
    for _ in range(300):
        n, k = choose.randrange(-(10**12), 10**12), choose.randrange(-12, 4)
        assert (ROUND(n, k), ROUND.interpret(5 * 10**6 + n, -6)) == (
            round(n, k),
            round(5 * 10**6 + n, -6),
        )


@pytest.mark.parametrize("dtype", ["float64", "float32", "int32"])
def test_elements_as_numpy_rounds_them(dtype: str) -> None:
    text = "def f(a, k):\n    return round(a[0], k), round(a[1], ndigits=k), round(a[2], None)\n"
    kernel = script_from_text(text, {})
    for k in (0, 1, 2, 5) if dtype.startswith("float") else (0, 2):
        a = np.array([2.675, -1234.5678, 3.5]).astype(dtype)
        wanted = kernel.py_func(a, k)
        for found in (kernel(a, k), kernel.interpret(a, k)):
            assert found == wanted
            assert list(map(type, found)) == list(map(type, wanted))
