"""Python integers beside arrays of narrow integers: whether they fit is asked before the loop."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

from tests.frontend.from_text import script_from_text
from tests.support.array_results import assert_agree

np: Any = numpy

TYPES = ("int8", "uint8", "int16", "uint16", "int32", "uint32")
EXPRESSIONS = (
    "a + n",
    "(a + n) * n - n",
    "np.where(a > n, a - n, n)",
    "np.maximum(a, n).sum()",
    "a[a > 2] + n",
    "a // (n + 3) + a % 3",
    "(a & n) | (n ^ a)",
    "a[::2] + n, n - a[::-1]",
)
SIZES = (0, 1, 3, 17, 130)


@pytest.mark.sampled(6)
@pytest.mark.parametrize("expression", EXPRESSIONS)
@pytest.mark.parametrize("dtype", TYPES)
def test_numbers_that_fit_or_not(expression: str, dtype: str) -> None:
    kernel = script_from_text(f"def f(a, n):\n    return {expression}\n", {"np": np})
    for size in SIZES:
        a = np.arange(size).astype(dtype)
        for n in (3, -1, 100, 300, -(2**15) - 1, 2**40):
            assert_agree(kernel, [a, n])


@pytest.mark.parametrize("dtype", TYPES)
def test_the_loop_over_the_elements_has_lanes(dtype: str) -> None:
    kernel = script_from_text("def f(a, b, n):\n    return (a + n) * b\n", {})
    a = np.ones(1000, dtype)
    program = str(kernel.auto_schedule(a, a, 3).func)
    assert program.count("for ") == program.count('"in_lanes":') == 1, program


def test_a_number_that_does_not_fit_is_an_error_before_anything_is_written() -> None:
    text = "def f(a, n):\n    a[:4] = 7\n    a[:] = a + n\n"
    kernel = script_from_text(text, {})
    for _ in range(3):
        a = np.ones(20, np.int8)
        with pytest.raises(OverflowError, match="out of bounds"):
            kernel(a, 1000)
        assert a.tolist() == [7] * 4 + [1] * 16
