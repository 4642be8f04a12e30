"""Replace every block by its body, with the block's iterations bound to their values.

    with block("c", i_0 * 4 + i_1, reduce(k)) as (i, r):      i = i_0 * 4 + i_1
        with init(): c[i] = 0.0                        -->    if k == 0:
        c[i] = c[i] + a[i, r]                                     c[i] = 0.0
                                                              c[i] = c[i] + a[i, k]

Relies on: an iter without a domain is bound to a loop variable, and ranges over that loop.
"""

from __future__ import annotations

import dataclasses

from hybridjit.arith.simplify import simplify
from hybridjit.arith.substitution import FoldingSubstitute
from hybridjit.ir.expr import And, Const, Eq, Expr, Var
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.stmt import ARRAY, REASSOCIATE, Block, For, If, Iter, IterKind, Let, Stmt, seq
from hybridjit.ir.visit import walk_stmts


def lower_blocks(func: PrimFunc) -> PrimFunc:
    """`func` without blocks."""
    body = _LowerBlocks({}).rewrite(func.body)
    return func if body is func.body else dataclasses.replace(func, body=body)


class _LowerBlocks(FoldingSubstitute):
    """`starts` holds the first value of each loop variable in scope.

    A block that became several statements joins its neighbours: the scope of a `Let` is the `Seq`.
    """

    def __init__(self, variables: dict[Var, Expr]) -> None:
        super().__init__(variables)
        self.starts: dict[Var, Expr] = {}
        self.is_folding = False  # until a constant comes in: simplifying takes time

    def rewrite_For(self, node: For) -> Stmt:
        self.starts[node.var] = node.start
        if (ARRAY, True) in node.annotations:
            left = tuple(mark for mark in node.annotations if mark[0] != ARRAY)
            node = dataclasses.replace(node, annotations=left)
        if node.kind.is_concurrent and any(map(_is_open, walk_stmts(node.body))):
            node = dataclasses.replace(node, annotations=(*node.annotations, (REASSOCIATE, True)))
        return self.generic(node)

    def rewrite_Block(self, node: Block) -> Stmt:
        lets: list[Stmt] = []
        first: list[Expr] = []
        for it in node.iters:
            value = self.rewrite(it.value)
            if it.kind is IterKind.REDUCE:
                first.append(Eq(value, self.rewrite(self._start(it)), span=it.span))
            if isinstance(value, (Var, Const)):
                self.variables[it.var] = value
                self.is_folding = self.is_folding or isinstance(value, Const)
            else:
                lets.append(Let(it.var, value, span=it.span))
        init = [] if node.init is None else self._init(node, node.init, first)
        return seq(*lets, *init, self.rewrite(node.body))

    def _init(self, block: Block, init: Stmt, first: list[Expr]) -> list[Stmt]:
        """`init` if all the conditions in `first` hold."""
        body = self.rewrite(init)
        if not first:
            return [body]
        cond = simplify(_all(first)) if self.is_folding else _all(first)
        if isinstance(cond, Const):
            return [body] if cond.value else []
        return [If(cond, body, span=block.span)]

    def _start(self, it: Iter) -> Expr:
        if it.domain is not None:
            return it.domain[0]
        assert isinstance(it.value, Var)
        return self.starts[it.value]


def _is_open(stmt: Stmt) -> bool:
    return isinstance(stmt, Block) and stmt.is_open


def _all(conditions: list[Expr]) -> Expr:
    result = conditions[0]
    for condition in conditions[1:]:
        result = And(result, condition)
    return result
