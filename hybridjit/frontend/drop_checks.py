"""Leave out checks of the script that are sure to hold: they would only forbid other orders.

    for i in range(8):                       for i in range(8):
        for j in range(8):                       for j in range(8):
            assert i + j < 16         -->            b[i, j] = a[i, j]
            b[i, j] = a[i, j]

An error is an effect, and the order of effects stays as it is written: a loop around a check can be
moved only if the check cannot fail. The same goes for a number that is sure to fit its new type:

    for k in range(8):                       for k in range(8):
        c[k] = checked(uint8, k)      -->        c[k] = uint8(k)
"""

from __future__ import annotations

from dataclasses import replace

from hybridjit.analysis.bounds import Facts
from hybridjit.analysis.scoped_facts import ScopedFacts
from hybridjit.arith.totality import is_total
from hybridjit.ir.dtype import INT64
from hybridjit.ir.expr import And, Cast, Const, Expr, Le, Node, Not
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.stmt import Assert, Block, If, Let, Raise, Seq, Stmt, flat_stmts, seq
from hybridjit.ir.visit import walk


def drop_checks(func: PrimFunc) -> PrimFunc:
    """`func` without the checks that are proved; the same object if there are none."""
    if not any(map(_is_check, walk(func.body))):
        return func
    body = _DropChecks(Facts.of(func)).rewrite(func.body)
    return func if body is func.body else replace(func, body=body)


def _is_check(node: Node) -> bool:
    return isinstance(node, Assert | Raise) or (isinstance(node, Cast) and node.checked)


class _DropChecks(ScopedFacts):
    def rewrite_Block(self, node: Block) -> Stmt:
        with self._scope():
            for iteration in node.iters:
                self.facts.bind(iteration.var, iteration.value)
            return self.generic(node)

    def rewrite_Cast(self, node: Cast) -> Expr:
        made = self.generic(node)
        return replace(made, checked=False) if node.checked and self._fits(node) else made

    def _fits(self, node: Cast) -> bool:
        if node.value.dtype is not INT64:
            return False
        least = max(node.to.bounds[0], INT64.bounds[0])
        most = min(node.to.bounds[1], INT64.bounds[1])
        return self._holds(And(Le(Const(least), node.value), Le(node.value, Const(most))))

    def rewrite_Seq(self, node: Seq) -> Stmt:
        done = super().rewrite_Seq(node)
        return done if done is node or not isinstance(done, Seq) else seq(*done.stmts)

    def rewrite_Assert(self, node: Assert) -> Stmt:
        return Seq(()) if self._holds(node.cond) else super().rewrite_Assert(node)

    def rewrite_If(self, node: If) -> Stmt:
        is_check = node.otherwise is None and _fails(node.then)
        return Seq(()) if is_check and self._holds(Not(node.cond)) else super().rewrite_If(node)

    def _holds(self, condition: Expr) -> bool:
        return is_total(condition) and self.facts.prove(condition)


def _fails(stmt: Stmt) -> bool:
    """True if all that a statement does is raise an error."""
    *needed, last = flat_stmts(stmt) or [stmt]
    return isinstance(last, Raise) and all(isinstance(inner, Let) for inner in needed)
