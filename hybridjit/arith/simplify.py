"""Simplify integer expressions and conditions: one law at a time, until none applies.

    (i * 32 + j) - i * 32   -->   j                    x // 4 // 8   -->   x // 32
    not i < n and True      -->   i >= n               0 + i         -->   i

The laws, one per arm, are in the laws_* files. Each holds for integers that wrap, of any width,
unless its comment names what it needs. No law says anything about floats.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

from hybridjit.arith import laws_logic, laws_order, laws_product, laws_sum
from hybridjit.arith.fold import fold_integer, fold_unary
from hybridjit.arith.laws_sum import Law, literal
from hybridjit.ir.expr import Binary, Const, Expr, ExternCall, Unary, Var
from hybridjit.ir.visit import map_children, walk

LAWS: Mapping[type[Expr], tuple[Law, ...]] = {
    **laws_sum.LAWS,
    **laws_product.LAWS,
    **laws_order.LAWS,
    **laws_logic.LAWS,
}


def simplify(expr: Expr) -> Expr:
    """An expression with the same value that is no larger; the same object if no law applies.

    Whatever may fail is still evaluated, in the same order, except a second time. An expression
    with an `ExternCall`, which may change what the rest of it reads, is left as it is.
    """
    if any(isinstance(node, ExternCall) for node in walk(expr)):
        return expr
    return _Simplifier().visit(expr)


class _Simplifier:
    """One run. Remembers what no law applies to, so that a rewritten node costs only itself."""

    def __init__(self) -> None:
        self.finished: dict[int, Expr] = {}  # by identity; holding the node keeps its id taken

    def visit(self, expr: Expr) -> Expr:
        while id(expr) not in self.finished:
            expr = map_children(expr, self.visit)
            simpler = _apply_laws(expr)
            if simpler is None:
                self.finished[id(expr)] = expr
            else:
                expr = simpler
        return expr


def _apply_laws(expr: Expr) -> Expr | None:
    """What the first law that applies makes of `expr`, whose operands are simple already."""
    simpler = _fold(expr)
    for law in LAWS.get(type(expr), ()):
        if simpler is not None:
            break
        simpler = law(expr)
    if simpler is None or simpler.span is not None or expr.span is None:
        return simpler
    # A variable is its identity: a copy of it with a span would be another variable.
    return simpler if isinstance(simpler, Var) else dataclasses.replace(simpler, span=expr.span)


def _fold(expr: Expr) -> Expr | None:
    match expr:
        case Binary(Const(int(a)), Const(int(b))) if not expr.lhs.dtype.is_inexact:
            value = fold_integer(type(expr), a, b, expr.lhs.dtype)
        case Unary(Const(int(a))) if not expr.dtype.is_inexact:
            value = fold_unary(type(expr), a, expr.dtype)
        case _:
            return None
    return None if value is None else literal(value, expr.dtype)
