"""The elements that an expression reads, each with what is known where it is read."""

from __future__ import annotations

import functools
from collections.abc import Callable

from hybridjit.analysis.bounds import Facts
from hybridjit.arith.simplify import simplify
from hybridjit.ir.dtype import BOOL
from hybridjit.ir.expr import And, Const, Expr, Load, Node, Not, Or, Select
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


def condition_of(element: Load, node: Node) -> Expr:
    """When `element` is read as a part of `node`."""
    match node:
        case Select(cond, then, otherwise):
            parts = [
                condition_of(element, cond),
                And(cond, condition_of(element, then)),
                And(Not(cond), condition_of(element, otherwise)),
            ]
        case And(a, b):
            parts = [condition_of(element, a), And(a, condition_of(element, b))]
        case Or(a, b):
            parts = [condition_of(element, a), And(Not(a), condition_of(element, b))]
        case _ if node == element:
            return Const(True, BOOL)
        case _:
            parts = [condition_of(element, child) for child in children(node)]
    return simplify(functools.reduce(Or, parts, Const(False, BOOL)))
