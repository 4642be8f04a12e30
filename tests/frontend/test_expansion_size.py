"""Loops that become too large are refused before they are expanded; no others are."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from hybridjit.errors import ParseError
from hybridjit.frontend.builder import Builder
from hybridjit.frontend.captures import Environment
from hybridjit.frontend.expansion_size import least_statements, written_rounds
from tests.frontend.from_text import script_from_text

A: Any = np.zeros(1000)
NAMES = Environment({}, {})

COUNTS = {
    "a[0] = 1\na[1] = 2": 2,
    "for i in const_range(5):\n    a[0] = 1\n    a[1] = 2": 11,
    "for i in const_range(5):\n    for j in const_range(7):\n        a[0] = 1": 41,
    "for i in const_range(n):\n    a[0] = 1": 1,
    "for i in range(5):\n    a[0] = 1": 1,
    "for i in const_range(5):\n    a[0] = 1\n    if a[0] > 0:\n        break": 1,
    "if x:\n    a[0] = 1\n    a[1] = 2\nelse:\n    a[2] = 3": 2,
    "if x:\n    a[0] = 1": 1,
    "if x:\n    return 1\na[0] = 1\na[1] = 2": 1,
    "a[0] = 1\nreturn a": 2,
    "while x:\n    a[0] = 1": 1,
    "with block('b'):\n    a[0] = 1": 2,
    "f(a)": 4,
    "y = f(a)": 4,
    "g(f(a))": 1,
}


def inlined(
    call: ast.Call, environment: Environment
) -> tuple[Sequence[ast.stmt], Environment] | None:
    """`f` has three statements."""
    is_known = isinstance(call.func, ast.Name) and call.func.id == "f"
    return (ast.parse("a[0] = 1\na[1] = 2\na[2] = 3").body, environment) if is_known else None


@pytest.mark.parametrize(("text", "count"), COUNTS.items(), ids=map(repr, COUNTS))
def test_least_statements(text: str, count: int) -> None:
    assert least_statements(ast.parse(text).body, NAMES, written_rounds, inlined) == count


def test_function_that_calls_itself_is_counted_to_an_end() -> None:
    def again(call: ast.Call, names: Environment) -> tuple[Sequence[ast.stmt], Environment]:
        return ast.parse("f()").body, names

    assert least_statements(ast.parse("f()").body, NAMES, written_rounds, again) == 9


def twice(a: Any) -> None:
    a[0] += 1
    a[0] += 1


def eight_times(a: Any) -> None:
    twice(a)
    twice(a)
    twice(a)
    twice(a)


TOO_LARGE = {
    "nested": "for i in const_range(1000):\n    for j in const_range(1000):\n        a[0] += i",
    "of_shapes": "for i in const_range(999):\n    for j in const_range(len(a)):\n        a[0] += i",
    "long": "for i in const_range(1000):\n" + "    a[0] += i\n" * 30,
    "inlined": "for i in const_range(1000):\n" + "    eight_times(a)\n" * 3,
    "items": f"for i in {tuple(range(500))}:\n    for j in const_range(100):\n        a[0] += i",
}


@pytest.mark.parametrize("body", TOO_LARGE.values(), ids=TOO_LARGE)
def test_loop_is_refused_before_it_is_expanded(body: str, monkeypatch: pytest.MonkeyPatch) -> None:
    translated: list[ast.stmt] = []
    run = Builder.run_statement

    def note(self: Builder, stmt: ast.stmt) -> bool:
        translated.append(stmt)
        return run(self, stmt)

    monkeypatch.setattr(Builder, "run_statement", note)
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    kernel = script_from_text(f"def f(a):\n{lines}", {"eight_times": eight_times, "twice": twice})
    with pytest.raises(ParseError, match="grows to more than 20000 statements"):
        kernel.prim_func(A)
    assert len(translated) == 1


SMALL_ENOUGH = {
    "mostly_left_out": "for i in const_range(1000):\n    if i < 10:\n" + "        a[0] += i\n" * 40,
    "left_early": "for i in const_range(1000):\n"
    + "    a[0] += i\n" * 40
    + "    if i == 5:\n        return",
    "triangle": "for i in const_range(40):\n    for j in const_range(40 - i):\n        a[j] += i",
}


@pytest.mark.parametrize("body", SMALL_ENOUGH.values(), ids=SMALL_ENOUGH)
def test_loop_that_stays_small_is_expanded(body: str) -> None:
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    kernel = script_from_text(f"def f(a):\n{lines}", {})
    found, expected = np.zeros(1000), np.zeros(1000)
    kernel.interpret(found)
    kernel.py_func(expected)
    np.testing.assert_array_equal(found, expected)
