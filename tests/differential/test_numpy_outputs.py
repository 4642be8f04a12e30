"""Functions of NumPy that write to an array that is given: `out=`, and methods in place."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

from hybridjit.errors import TypeMismatch
from tests.frontend.from_text import script_from_text
from tests.support.array_results import assert_agree

np: Any = numpy
STATEMENTS = (
    "np.matmul(a, b, out=c)",
    "np.dot(a, b, out=c)",
    "np.outer(a[0], b[0], out=c)",
    "np.cumsum(a, axis=0, out=c)",
    "np.sum(a, axis=0, out=c[0])",
    "np.median(a, axis=0, out=c[1])",
    "np.add(a, b, out=a); np.clip(a, 0, 1, out=c); np.round(b, 1, out=b)",
    "np.add.at(c, (np.array([0, 0, 1]), np.array([1, 1, 2])), 2.0)",
    "a.sort(axis=0); b[:2].sort()",
    "np.copyto(c, a, where=a > 0.5); np.putmask(b, b > 0.5, 0.0); np.fill_diagonal(a, 3.0)",
)


@pytest.mark.parametrize("statement", STATEMENTS)
def test_writes_what_numpy_writes(statement: str) -> None:
    rng = np.random.default_rng(5)
    kernel = script_from_text(f"def f(a, b, c):\n    {statement}\n", {"np": np})
    outcome = assert_agree(kernel, [rng.random((5, 5)), rng.random((5, 5)), np.zeros((5, 5))])
    assert outcome.error is None


WHERE = (
    "np.divide(x, y, out=np.zeros(x.shape), where=y != 0)",
    "np.floor_divide(x, y, out=np.full_like(x, 7), where=y != 0)",
    "np.mod(x, y, where=y != 0, out=np.full_like(x, -1))",
    "np.sqrt(x, out=np.full(x.shape, -1.0), where=[True, False, True, True, False])",
    "np.add(x, 1, x, where=y > 1), x",
    "np.add(x, x[::-1], out=x, where=y > 0), x",
    "np.add(x[1:], x[:-1], out=x[1:], where=y[1:] > 0), x",
    "np.subtract(2, y, out=y[::-1], where=True), y",
    "np.less(x, y, out=np.zeros(5, bool), where=x > 0)",
)


@pytest.mark.parametrize("call", WHERE)
def test_other_elements_stay(call: str) -> None:
    kernel = script_from_text(f"def f(x, y):\n    return {call}\n", {"np": np})
    for dtype in ("int32", "float64"):
        x, y = np.array([4, 3, 2, 1, 0], dtype), np.array([0, 2, 0, 3, 1], dtype)
        assert_agree(kernel, [x, y])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("np.add(x, 1, out=x, where=k)", "an array of bools"),
        ("np.add(x, 0.5, out=k, where=k > 0)", "does not store in int64"),
        ("np.add(x, 1, out=x[0], where=x > 0)", "shape"),
    ],
)
def test_wrong_outputs_with_a_condition(call: str, message: str) -> None:
    kernel = script_from_text(f"def f(x, k):\n    {call}\n", {"np": np})
    with pytest.raises((TypeMismatch, ValueError), match=message):
        kernel(np.ones((2, 3)), np.arange(3))
