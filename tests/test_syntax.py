"""Walking over syntax trees: what `ast.walk` finds, but for operators and contexts."""

from __future__ import annotations

import ast
import inspect
from typing import Any

import pytest

from hybridjit.frontend import plain_syntax
from hybridjit.syntax import children_of, nodes_of, parse_expression, parse_module

_SMALL = (ast.operator, ast.unaryop, ast.boolop, ast.cmpop, ast.expr_context)
TREE = ast.parse(inspect.getsource(plain_syntax))


def test_the_nodes_of_a_module() -> None:
    expected = [node for node in ast.walk(TREE) if not isinstance(node, _SMALL)]
    assert nodes_of(TREE) == expected


def test_the_children_of_every_node() -> None:
    for node in nodes_of(TREE):
        expected = [inner for inner in ast.iter_child_nodes(node) if not isinstance(inner, _SMALL)]
        assert children_of(node) == expected


def test_other_threads_do_not_disturb(monkeypatch: pytest.MonkeyPatch) -> None:
    """Python 3.11 refuses a text now and then while other threads parse theirs."""
    answers = iter([SystemError("AST constructor recursion depth mismatch")] * 3)
    parse: Any = ast.parse

    def disturbed(text: str, **options: Any) -> Any:
        for error in answers:
            raise error
        return parse(text, **options)

    monkeypatch.setattr(ast, "parse", disturbed)
    assert ast.unparse(parse_module("x = 1")) == "x = 1"
    assert next(answers, None) is None
    assert ast.unparse(parse_expression("a + b")) == "a + b"
