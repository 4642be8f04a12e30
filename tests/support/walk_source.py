"""Walk the statements of a module: there are ten times as many nodes in its expressions."""

from __future__ import annotations

import ast
from collections.abc import Iterator


def walk_statements(node: ast.AST) -> Iterator[ast.stmt]:
    """The statements in a module or a statement, and those in them; lambdas hold none."""
    for name in ("body", "handlers", "cases", "orelse", "finalbody"):
        for each in getattr(node, name, ()):
            if isinstance(each, ast.stmt):
                yield each
            yield from walk_statements(each)
