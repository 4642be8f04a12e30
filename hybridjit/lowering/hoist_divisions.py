"""Take divisions that are the same in every iteration of an inner loop out of it.

    for i in range(n):                         for i in range(n):
        for j in range(m):             -->         row = (i + 1) % n
            r[i, j] = u[(i + 1) % n, j]            for j in range(m):
                                                       r[i, j] = u[row, j]

LLVM does so too, but what may divide by zero has no lanes, and only here is it known that it does
not: `n` is more than 0 where `i` is below it. Relies on: indices are checked already.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from hybridjit.analysis.bounds import Facts
from hybridjit.arith.linear import Linear
from hybridjit.arith.totality import is_total
from hybridjit.ir.dtype import INT64
from hybridjit.ir.expr import Const, FloorDiv, Load, Lt, Node, Var
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.stmt import For, Let, Stmt, While, seq
from hybridjit.ir.visit import StmtMutator, walk, walk_stmts
from hybridjit.lowering.replace_divisions import Division, replace_divisions


def hoist_divisions(func: PrimFunc) -> PrimFunc:
    """`func` with innermost loops that find quotients and remainders of others before them."""
    body = _Hoist(func).rewrite(func.body)
    return func if body is func.body else dataclasses.replace(func, body=body)


class _Hoist(StmtMutator):
    def __init__(self, func: PrimFunc) -> None:
        self.facts = Facts.of(func)

    def rewrite_Let(self, node: Let) -> Stmt:
        if node.value.dtype is INT64 and self.facts.exact(node.value) is not None:
            self.facts.bind(node.var, node.value)
        return node

    def rewrite_For(self, node: For) -> Stmt:
        if not any(isinstance(each, For | While) for each in walk_stmts(node.body)):
            return self._without_divisions(node, list(walk(node.body)))
        known = len(self.facts.guards)
        self.facts.enter_loop(node)
        if isinstance(node.step, Const) and node.step.value.real > 0:
            self.facts.assume(Lt(node.start, node.stop))
        rewritten = self.generic(node)
        del self.facts.guards[known:]
        return rewritten

    def _without_divisions(self, loop: For, nodes: Sequence[Node]) -> Stmt:
        own = {node.var for node in nodes if isinstance(node, Let)} | {loop.var}
        instead: dict[Division, Var] = {}
        for node in nodes:
            if isinstance(node, Division) and self._can_stand_before(node, own):
                name = "quotient" if isinstance(node, FloorDiv) else "remainder"
                instead.setdefault(node, Var(name))
        if not instead:
            return loop
        lets = (Let(var, division) for division, var in instead.items())
        body = replace_divisions(loop.body, instead)
        return seq(*lets, dataclasses.replace(loop, body=body))

    def _can_stand_before(self, node: Division, own: set[Var]) -> bool:
        """Whether a division needs nothing of the loop, and cannot fail where it begins."""
        if node.dtype is not INT64 or isinstance(node.rhs, Const):
            return False
        if any(isinstance(part, Load) or part in own for part in walk(node)):
            return False
        divisor = self.facts.exact(node.rhs)
        is_positive = divisor is not None and self.facts.prove_non_negative(
            divisor.plus(Linear({}, -1))
        )
        return is_positive and is_total(node.lhs) and is_total(node.rhs)
