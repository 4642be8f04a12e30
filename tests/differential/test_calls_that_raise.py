"""Calls that are sure to raise, wherever they stand, also where they may not be reached."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

from tests.frontend.from_text import script_from_text
from tests.support.oracle import (
    assert_same_outcome,
    run_interpreted,
    run_native,
    run_once,
    run_plain,
)

np: Any = numpy

HELPERS = """
def refuse(x):
    raise ValueError("refused")

def refuse_late(x):
    try:
        if 0 < 3.6:
            raise KeyError("late")
        x = x + 1
    finally:
        x = x + 2
    return x + 1.0

def refuse_by_assert(x):
    assert False, "never"

def may(x):
    if x > 3:
        return refuse(x) + 1.0
    return x * 2.0
"""
EXPRESSIONS = (
    "refuse(x) if x > 1 else 100.0",
    "100.0 if x > 1 else refuse_late(x)",
    "x > 1 and refuse(x) > 2",
    "x > 1 or refuse_late(x) > 2",
    "x > 1 and x > 2 and refuse(x) > 2 and x < 0",
    "1 < x < refuse(x)",
    "1 < x < refuse(x) < 7",
    "(1.0, x) if x > 1 else refuse(x)",
    "refuse(x) if x > 2 else (refuse_late(x) if x > 1 else x + 1)",
    "float(a[0] if x > 1 else refuse(x)) + (refuse(x) if x > 2 else 1)",
    "a + 1 if x > 1 else refuse(x)",
    "may(x) + (may(x + 1) if x > 0 else 3.0)",
    "max(x, refuse(x) if x > 2 else 0.0)",
    "sum(refuse_late(v) if v > 10 * x else v for v in a)",
    "refuse_by_assert(x) if x > 1 else 100.0",
    "(w := may(x)) if x > 1 else (w := x)",
)
# What has no value at all, and lists, do not live on after branches and loops.
ALONE = (
    "(refuse(x) + 1 if x > 1 else refuse_late(x)) * 2",
    "[refuse(v) if v > x else v for v in a]",
)
STATEMENTS = (
    "    y = {}\n    return y",
    "    a[1] = 7\n    if x > -5:\n        y = {}\n    else:\n        y = {}\n    return y",
    "    for k in range(2):\n        a[k] += 1\n        y = {}\n    return y",
)


@pytest.mark.parametrize("expression", EXPRESSIONS + ALONE)
def test_as_plain_python(expression: str) -> None:
    for statement in STATEMENTS[: 1 if expression in ALONE else None]:
        body = statement.replace("{}", expression)
        kernel = script_from_text(f"{HELPERS}\ndef f(a, x):\n{body}\n", {"np": np})
        for x in (0.5, 1.5, 2.5, 4.0):
            args = [np.arange(4.0), x]
            wanted = run_once(run_plain, kernel, args)
            assert_same_outcome(run_once(run_interpreted, kernel, args), wanted)
            assert_same_outcome(run_once(run_native, kernel, args), wanted)


# Each with what the call stands for.
WHOLE = (
    "a[1] += {}(x)",
    "a[1] -= {}(x) + {}(x)",
    "a[int(x) + 2] *= {}(x)",
    "a[1:] += {}(x)",
    "a[{}(x)] += 1",
    "x += {}(x)",
    "while {}(x) > 3:\n    a[0] = 1",
    "for i in range({}(x)):\n    a[0] = 1",
    "assert x > 1, {}(x)",
    "assert {}(x) > 1, x",
    "if x > 1:\n    a[1] += {}(x)\nelse:\n    a[1] += 3",
    "for i in range(3):\n    if i * x > 1:\n        a[i] += {}(x)",
    "try:\n    a[1] += {}(x)\nexcept ValueError:\n    a[2] = 9",
    "try:\n    a[1] += {}(x)\nfinally:\n    a[2] = 9",
)


@pytest.mark.parametrize("statement", WHOLE)
@pytest.mark.parametrize("name", ["refuse", "refuse_late", "refuse_by_assert"])
def test_statements_that_end_there(statement: str, name: str) -> None:
    body = statement.replace("{}", name).replace("\n", "\n    ")
    kernel = script_from_text(f"{HELPERS}\ndef f(a, x):\n    {body}\n    return a[0]\n", {"np": np})
    for x in (0.5, 1.5, 4.0):
        args = [np.arange(4.0), x]
        wanted = run_once(run_plain, kernel, args)
        assert_same_outcome(run_once(run_interpreted, kernel, args), wanted)
        assert_same_outcome(run_once(run_native, kernel, args), wanted)
