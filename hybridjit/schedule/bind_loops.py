"""Bind loops to blocks: after a rewrite, blocks may use loops around them that are no iters yet."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence

from hybridjit.ir.expr import Expr, Var
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.stmt import Block, For, Iter, IterKind, Stmt
from hybridjit.ir.visit import StmtMutator, substitute, walk
from hybridjit.schedule.program import variables_in, variables_used


def bind_loops(func: PrimFunc) -> PrimFunc:
    """`func` with an iter for each loop that a block in it uses directly.

        with block("c", spatial(i_0 * 4 + i_1, 0, n)) as (i,):
            c_local[i_1] = a[i]
    -->
        with block("c", spatial(i_0 * 4 + i_1, 0, n), spatial(i_1)) as (i, i_1):
            c_local[i_1] = a[i]
    """
    return dataclasses.replace(func, body=_BindLoops().rewrite(func.body))


class _BindLoops(StmtMutator):
    def __init__(self) -> None:
        self.loops: list[Var] = []

    def rewrite_For(self, node: For) -> Stmt:
        self.loops.append(node.var)
        made = self.generic(node)
        self.loops.pop()
        return made

    def rewrite_Block(self, node: Block) -> Stmt:
        parts = [part for part in (node.init, node.body) if part is not None]
        used = {var for part in parts for var in variables_used(part)}
        needed = [var for var in self.loops if var in used]
        if needed:
            node = _with_iters(node, needed)
        outside, self.loops = self.loops, []
        made = self.generic(node)
        self.loops = outside
        return made


def _with_iters(block: Block, needed: Sequence[Var]) -> Block:
    known: dict[Var, Expr] = {
        item.value: item.var for item in block.iters if isinstance(item.value, Var)
    }
    made = tuple(Iter(Var(var.name), var, _kind(block, var)) for var in needed if var not in known)
    inside = known | {item.value: item.var for item in made if isinstance(item.value, Var)}
    chosen = {var: inside[var] for var in needed}
    return dataclasses.replace(
        block,
        iters=(*block.iters, *made),
        body=substitute(block.body, chosen),
        init=None if block.init is None else substitute(block.init, chosen),
    )


def _kind(block: Block, var: Var) -> IterKind:
    """The kind of the iter that is computed from `var`: both say the same about the block."""
    kinds = {item.kind for item in block.iters if var in variables_in(item.value)}
    return kinds.pop() if len(kinds) == 1 else IterKind.SCAN


def values_of_iters(func: PrimFunc) -> Mapping[Var, Expr]:
    """The value of each iter of `func`, in terms of loops."""
    values: dict[Var, Expr] = {}
    for node in walk(func.body):  # outer blocks come before inner ones
        if isinstance(node, Iter):
            values[node.var] = substitute(node.value, values)
    return values
