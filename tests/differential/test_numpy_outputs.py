"""Functions of NumPy that write to an array that is given: `out=`, and methods in place."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

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
