"""The names whose values statements read: liveness, backwards over the source."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from hybridjit.frontend.inner_functions import bound_names, nodes_in
from hybridjit.record import record


@record(eq=False, frozen=False)
class _Around:
    """What is read after the loop that is looked at, and from its next round on."""

    out: set[str]
    again: set[str]


_NOWHERE = _Around(set(), set())


def read_later(stmts: Sequence[ast.stmt], after: set[str], around: _Around = _NOWHERE) -> set[str]:
    """The names that may be read before they are given a value; `after` are those read later."""
    live = set(after)
    for stmt in reversed(stmts):
        live = _before(stmt, live, around)
    return live


def _before(stmt: ast.stmt, after: set[str], around: _Around) -> set[str]:
    match stmt:
        case ast.If():
            then = read_later(stmt.body, after, around)
            return _read(stmt.test) | then | read_later(stmt.orelse, after, around)
        case ast.For():
            return _read(stmt.iter) | _loop(stmt, after)
        case ast.While():
            return _loop(stmt, after)
        case ast.With():
            return set[str]().union(*map(_read, stmt.items)) | read_later(stmt.body, after, around)
        case ast.Try():
            last = read_later(stmt.finalbody, after, around)
            parts = [stmt.body, stmt.orelse, *(handler.body for handler in stmt.handlers)]
            return last.union(*(read_later(part, last, around) for part in parts))
        case ast.Break():
            return set(around.out)
        case ast.Continue():
            return set(around.again)
        case ast.Return() | ast.Raise():
            return _read(stmt)
        case ast.AugAssign(target=ast.Name(name)):
            return after | {name} | _read(stmt.value)
        case _:
            return (after - {name.id for name in bound_names([stmt])}) | _read(stmt)


def _loop(stmt: ast.For | ast.While, after: set[str]) -> set[str]:
    tested = _read(stmt.test) if isinstance(stmt, ast.While) else set[str]()
    targets = [stmt.target] if isinstance(stmt, ast.For) else []
    given = {name.id for name in bound_names(targets)}
    head = after | tested
    while True:  # what a round reads, the one before it may have given a value
        body = read_later(stmt.body, head, _Around(after, head)) - given
        if body <= head:
            return head
        head = head | body


def _read(node: ast.AST) -> set[str]:
    return {
        child.id
        for child in nodes_in(node)
        if isinstance(child, ast.Name) and isinstance(child.ctx, ast.Load)
    }
