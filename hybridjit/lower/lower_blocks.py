"""Replace every block by its body, with the block's iterations bound to their values.

    with block("c", i_0 * 4 + i_1, reduce(k)) as (i, r):      i = i_0 * 4 + i_1
        with init(): c[i] = 0.0                        -->    if k == 0:
        c[i] = c[i] + a[i, r]                                     c[i] = 0.0
                                                              c[i] = c[i] + a[i, k]

Relies on: an iter without a domain is bound to a loop variable, and ranges over that loop.
"""

from __future__ import annotations

import dataclasses

from hybridjit.ir.expr import And, Const, Eq, Expr, Var
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.stmt import Block, For, If, Iter, IterKind, Let, Seq, Stmt, seq
from hybridjit.ir.visit import Substitute


def lower_blocks(func: PrimFunc) -> PrimFunc:
    """`func` without blocks."""
    body = _LowerBlocks({}).rewrite(func.body)
    return func if body is func.body else dataclasses.replace(func, body=body)


class _LowerBlocks(Substitute):
    """`starts` holds the first value of each loop variable in scope."""

    def __init__(self, variables: dict[Var, Expr]) -> None:
        super().__init__(variables)
        self.starts: dict[Var, Expr] = {}

    def rewrite_For(self, node: For) -> Stmt:
        self.starts[node.var] = node.start
        return self.generic(node)

    def rewrite_Seq(self, node: Seq) -> Stmt:
        rewritten = self.generic(node)
        # A block that became several statements joins its neighbours: a Let's scope is the Seq.
        return rewritten if rewritten is node else seq(*rewritten.stmts)

    def rewrite_Block(self, node: Block) -> Stmt:
        lets: list[Stmt] = []
        first: list[Expr] = []
        for it in node.iters:
            value = self.rewrite(it.value)
            if it.kind is IterKind.REDUCE:
                first.append(Eq(value, self.rewrite(self._start(it)), span=it.span))
            if isinstance(value, (Var, Const)):
                self.variables[it.var] = value
            else:
                lets.append(Let(it.var, value, span=it.span))
        stmts = [*lets]
        if node.init is not None:
            init = self.rewrite(node.init)
            stmts.append(If(_all(first), init, span=node.span) if first else init)
        stmts.append(self.rewrite(node.body))
        return seq(*stmts)

    def _start(self, it: Iter) -> Expr:
        if it.domain is not None:
            return it.domain[0]
        assert isinstance(it.value, Var)
        return self.starts[it.value]


def _all(conditions: list[Expr]) -> Expr:
    result = conditions[0]
    for condition in conditions[1:]:
        result = And(result, condition)
    return result
