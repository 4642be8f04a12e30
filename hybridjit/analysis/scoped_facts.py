"""Rewriting with what is known at each place: the loops around it, names, and what was tested."""

from __future__ import annotations

import dataclasses
from collections.abc import Generator
from contextlib import contextmanager

from hybridjit.analysis.bounds import Facts
from hybridjit.ir.expr import Expr, Not
from hybridjit.ir.stmt import (
    Assert,
    Break,
    Continue,
    For,
    If,
    Let,
    Raise,
    Return,
    Seq,
    Stmt,
    While,
    flat_stmts,
)
from hybridjit.ir.visit import Mutator, N


class ScopedFacts(Mutator):
    """A pass that knows, in `facts`, what holds where it is."""

    def __init__(self, facts: Facts) -> None:
        self.facts = facts

    def rewrite_For(self, node: For) -> Stmt:
        start, stop, step = (self.rewrite(bound) for bound in (node.start, node.stop, node.step))
        with self._scope():
            self.facts.enter_loop(node)
            body = self.rewrite(node.body)
        if (start, stop, step, body) == (node.start, node.stop, node.step, node.body):
            return node
        return dataclasses.replace(node, start=start, stop=stop, step=step, body=body)

    def rewrite_While(self, node: While) -> Stmt:
        cond, body = self.rewrite(node.cond), self._under(node.cond, node.body)
        if cond is node.cond and body is node.body:
            return node
        return dataclasses.replace(node, cond=cond, body=body)

    def rewrite_Seq(self, node: Seq) -> Stmt:
        with self._scope():
            return self.generic(node)

    def rewrite_Let(self, node: Let) -> Stmt:
        self.facts.bind(node.var, node.value)
        return self.generic(node)

    def rewrite_If(self, node: If) -> Stmt:
        cond = self.rewrite(node.cond)
        then = self._under(node.cond, node.then)
        otherwise = node.otherwise
        if otherwise is not None:
            otherwise = self._under(Not(node.cond), otherwise)
        elif ends_here(node.then):
            self.facts.assume(Not(node.cond))
        if cond is node.cond and then is node.then and otherwise is node.otherwise:
            return node
        return dataclasses.replace(node, cond=cond, then=then, otherwise=otherwise)

    def rewrite_Assert(self, node: Assert) -> Stmt:
        rewritten = self.generic(node)
        self.facts.assume(node.cond)
        return rewritten

    def _under(self, condition: Expr, part: N) -> N:
        with self._scope():
            self.facts.assume(condition)
            return self.rewrite(part)

    @contextmanager
    def _scope(self) -> Generator[None]:
        """Forget the guards of a part of the program after it."""
        before = len(self.facts.guards)
        yield
        del self.facts.guards[before:]


def ends_here(stmt: Stmt) -> bool:
    """True if nothing that stands after `stmt` is run after it."""
    stmts = flat_stmts(stmt)
    return bool(stmts) and isinstance(stmts[-1], Break | Continue | Raise | Return)
