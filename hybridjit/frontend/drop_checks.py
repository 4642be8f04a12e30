"""Leave out checks of the script that are sure to hold: they would only forbid other orders.

    for i in range(8):                       for i in range(8):
        for j in range(8):                       for j in range(8):
            assert i + j < 16         -->            b[i, j] = a[i, j]
            b[i, j] = a[i, j]

An error is an effect, and the order of effects stays as it is written: a loop around a check can be
moved only if the check cannot fail. The same goes for a number that is sure to fit its new type:

    for k in range(8):                       for k in range(8):
        c[k] = checked(uint8, k)      -->        c[k] = uint8(k)

A number may also be sure to fit by what variables were set to, and tested for, on the way.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from hybridjit.analysis.bounds import Facts
from hybridjit.analysis.scoped_facts import ScopedFacts, ends_here
from hybridjit.arith.totality import is_total
from hybridjit.ir.dtype import INT64
from hybridjit.ir.expr import And, Buffer, BufferRef, Cast, Const, Expr, Le, Node, Not
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.stmt import (
    Assert,
    Block,
    For,
    If,
    Let,
    Raise,
    Seq,
    Stmt,
    Store,
    While,
    flat_stmts,
    seq,
)
from hybridjit.ir.visit import N, walk, walk_stmts
from hybridjit.lazy import lazy_module

if TYPE_CHECKING:
    from hybridjit.analysis import value_intervals
    from hybridjit.analysis.value_intervals import Values
else:
    value_intervals = lazy_module("hybridjit.analysis.value_intervals")


def drop_checks(func: PrimFunc) -> PrimFunc:
    """`func` without the checks that are proved; the same object if there are none."""
    if not any(map(_is_check, walk(func.body))):
        return func
    body = _DropChecks(func).rewrite(func.body)
    return func if body is func.body else replace(func, body=body)


def _is_check(node: Node) -> bool:
    return isinstance(node, Assert | Raise) or (isinstance(node, Cast) and node.checked)


class _DropChecks(ScopedFacts):
    def __init__(self, func: PrimFunc) -> None:
        super().__init__(Facts.of(func))
        self.values = value_intervals.Values()
        self.ends: list[Values] = []  # of the branches of a condition
        # Variables that somebody else may set, or that one iteration sets for later ones.
        self.unsteady = set(_unsteady(func.body))

    def rewrite_Block(self, node: Block) -> Stmt:
        with self._scope():
            for iteration in node.iters:
                self.facts.bind(iteration.var, iteration.value)
            return self.generic(node)

    def rewrite_Cast(self, node: Cast) -> Expr:
        made = self.generic(node)
        return replace(made, checked=False) if node.checked and self._fits(node) else made

    def _fits(self, node: Cast) -> bool:
        if self.values.of(node.value).is_in(value_intervals.Interval.of_type(node.to)):
            return True
        if node.value.dtype is not INT64:
            return False
        least = max(node.to.bounds[0], INT64.bounds[0])
        most = min(node.to.bounds[1], INT64.bounds[1])
        # The value is computed all the same: it may well fail.
        return self.facts.prove(And(Le(Const(least), node.value), Le(node.value, Const(most))))

    def rewrite_Store(self, node: Store) -> Stmt:
        made = self.generic(node)
        if made.buffer.is_register and made.buffer not in self.unsteady:
            self.values = self.values.having(made.buffer, self.values.of(made.value))
        return made

    def rewrite_Let(self, node: Let) -> Stmt:
        made = super().rewrite_Let(node)
        self.values = self.values.having(node.var, self.values.of(node.value))
        return made

    def rewrite_For(self, node: For) -> Stmt:
        with self._rounds(node):
            return super().rewrite_For(node)

    def rewrite_While(self, node: While) -> Stmt:
        with self._rounds(node):
            return super().rewrite_While(node)

    @contextmanager
    def _rounds(self, loop: For | While) -> Generator[None]:
        """What a loop sets is known neither in it nor after it."""
        changed = [node.buffer for node in walk_stmts(loop) if isinstance(node, Store)]
        before = self.values = self.values.without(changed)
        outer, self.ends = self.ends, []
        yield
        self.values, self.ends = before, outer

    def _under(self, condition: Expr, part: N) -> N:
        before = self.values
        self.values = before.under(condition)
        made = super()._under(condition, part)
        self.ends.append(self.values)
        self.values = before
        return made

    def rewrite_Seq(self, node: Seq) -> Stmt:
        done = super().rewrite_Seq(node)
        return done if done is node or not isinstance(done, Seq) else seq(*done.stmts)

    def rewrite_Assert(self, node: Assert) -> Stmt:
        return Seq(()) if self._holds(node.cond) else super().rewrite_Assert(node)

    def rewrite_If(self, node: If) -> Stmt:
        is_check = node.otherwise is None and _fails(node.then)
        if is_check and self._holds(Not(node.cond)):
            return Seq(())
        outer, self.ends = self.ends, []
        made = super().rewrite_If(node)
        then, otherwise = (*self.ends, self.values.under(Not(node.cond)))[:2]
        self.values = otherwise if ends_here(node.then) else then.joined(otherwise)
        self.ends = outer
        return made

    def _holds(self, condition: Expr) -> bool:
        return is_total(condition) and self.facts.prove(condition)


def _unsteady(body: Stmt) -> Iterator[Buffer]:
    for node in walk(body):
        if isinstance(node, BufferRef):
            yield node.buffer
        elif isinstance(node, Block) and node.init is not None:
            yield from (inner.buffer for inner in walk_stmts(node) if isinstance(inner, Store))


def _fails(stmt: Stmt) -> bool:
    """True if all that a statement does is raise an error."""
    *needed, last = flat_stmts(stmt) or [stmt]
    return isinstance(last, Raise) and all(isinstance(inner, Let) for inner in needed)
