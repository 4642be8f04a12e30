"""The elements that an expression reads, each with what is known where it is read."""

from __future__ import annotations

from collections.abc import Callable

from hybridjit.analysis.bounds import Facts
from hybridjit.ir.expr import And, Expr, Load, Node, Not, Or, Select
from hybridjit.ir.visit import children


def visit_loads(node: Node, facts: Facts, action: Callable[[Load], None]) -> None:
    """Call `action` on every `Load` in `node`, while `facts` hold the conditions it is under."""

    def visit_under(condition: Expr, inner: Node) -> None:
        known = len(facts.guards)
        facts.assume(condition)
        visit_loads(inner, facts, action)
        del facts.guards[known:]

    match node:
        case Select(cond, then, otherwise):
            visit_loads(cond, facts, action)
            visit_under(cond, then)
            visit_under(Not(cond), otherwise)
        case And(a, b):
            visit_loads(a, facts, action)
            visit_under(a, b)
        case Or(a, b):
            visit_loads(a, facts, action)
            visit_under(Not(a), b)
        case _:
            for child in children(node):
                visit_loads(child, facts, action)
    if isinstance(node, Load):
        action(node)
