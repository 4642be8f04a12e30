"""Making syntax trees, and going over them, which every stage of the front end does.

`ast.walk` also visits operators and contexts (`Add()`, `Load()`), which have nothing inside and are
half of all nodes, and looks names up in a generator for each: with it, a tenth of what it takes to
compile a small function is walking.
"""

from __future__ import annotations

import ast
from functools import cache
from typing import Any, cast

_LEAF_FIELDS = frozenset({"ctx", "op", "ops", "id", "attr", "arg", "kind", "type_comment"})

_MANY_TRIES = 100


def parse_module(text: str) -> ast.Module:
    """The tree of a text of statements."""
    return _parse(text, "exec")


def parse_expression(text: str) -> ast.expr:
    """The tree of a text that is one expression."""
    return _parse(text, "eval").body


def _parse(text: str, mode: str) -> Any:
    """Python 3.11 counts how deep the trees of all threads are together, and gives up where one of
    them goes on while another waits in the middle. Each text starts anew: it is tried again.
    """
    for _ in range(_MANY_TRIES):
        try:
            return ast.parse(text, mode=mode)
        except SystemError:
            continue
    return ast.parse(text, mode=mode)


def nodes_of(tree: ast.AST) -> list[ast.AST]:
    """A node and everything inside it, outer ones first, without operators and contexts."""
    found = [tree]
    for node in found:  # it grows on the way
        found += children_of(node)
    return found


def children_of(node: ast.AST) -> list[ast.AST]:
    """The nodes that stand in a node, without operators and contexts."""
    found: list[ast.AST] = []
    for name in _fields_of(type(node)):
        value = getattr(node, name, None)
        if isinstance(value, ast.AST):
            found.append(value)
        elif isinstance(value, list):
            found += [item for item in cast(list[Any], value) if isinstance(item, ast.AST)]
    return found


@cache
def _fields_of(kind: type[ast.AST]) -> tuple[str, ...]:
    return tuple(name for name in kind._fields if name not in _LEAF_FIELDS)
