"""blockize: make one block of a loop and everything in it."""

from __future__ import annotations

import dataclasses

from hybridjit.analysis.context import infer_context
from hybridjit.analysis.iteration import classify
from hybridjit.ir.expr import Node, Var
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.stmt import Block, Break, Continue, For, Iter, IterKind, Return, Stmt
from hybridjit.ir.visit import Substitute, walk, walk_stmts
from hybridjit.schedule.program import path_to, replace_stmt, the_loop, variables_in
from hybridjit.schedule.refusal import refuse
from hybridjit.schedule.staging import fresh_block_name


def blockize(func: PrimFunc, var: Var) -> tuple[PrimFunc, str]:
    """Put a block around the loop over `var`: schedules and intrinsics then see it as one.

    for i in range(n):            for i in range(n):
        for j in range(4):            with block("j_o", i):
            body(i, j)     -->            for j in range(4):
                                              body(i, j)
    """
    check_blockize(func, var)
    return make_blockize(func, var)


def check_blockize(func: PrimFunc, var: Var) -> None:
    """Refuse a loop that is left by a jump, or that a reduction around it starts in."""
    loop = the_loop(func, var)
    if any(isinstance(node, Return | Break | Continue) for node in walk_stmts(loop.body)):
        raise refuse(func, f"blockize: a jump may leave loop '{var.name}'", [loop])

    if any(_reduces_outside(node, loop) for node in walk(loop.body)):
        raise refuse(
            func,
            f"blockize: a reduction with an init runs over a loop around '{var.name}'",
            [loop],
            help="s.decompose_reduction takes the init out",
        )


def make_blockize(func: PrimFunc, var: Var) -> tuple[PrimFunc, str]:
    """`func` with a block around a loop, and the name of the block."""
    loop = the_loop(func, var)
    around = _loops_since_block(path_to(func, loop)[:-1])
    kinds = classify(loop, around, infer_context(func.body))
    iters = tuple(
        Iter(Var(outer.var.name), outer.var, kind)
        for outer, kind in zip(around, kinds, strict=True)
    )
    outer = {loop.var: item.var for loop, item in zip(around, iters, strict=True)}
    name = fresh_block_name(func, f"{var.name}_o")
    body = _SeeThrough(outer).rewrite(loop)
    return replace_stmt(func, loop, Block(name, iters, body, span=loop.span)), name


class _SeeThrough(Substitute):
    """Let what stands in the new block use its iters in the place of the loops around.

    A block inside sees them too: it needs no iters of its own for these loops.
    """

    def rewrite_Block(self, node: Block) -> Stmt:
        kept: list[Iter] = []
        for item in node.iters:
            if isinstance(item.value, Var) and item.value in self.variables:
                self.variables[item.var] = self.variables[item.value]
            else:
                kept.append(item)
        return self.generic(dataclasses.replace(node, iters=tuple(kept)))


def _reduces_outside(node: Node, loop: For) -> bool:
    """Whether the init of a block depends on a loop that is not in `loop`."""
    if not isinstance(node, Block) or node.init is None:
        return False
    inside = {inner.var for inner in walk_stmts(loop) if isinstance(inner, For)}
    return any(
        item.kind is IterKind.REDUCE and not inside.issuperset(variables_in(item.value))
        for item in node.iters
    )


def _loops_since_block(path: tuple[Stmt, ...]) -> list[For]:
    """The loops on the way, from the innermost block on."""
    loops: list[For] = []
    for stmt in path:
        if isinstance(stmt, Block):
            loops = []
        elif isinstance(stmt, For):
            loops.append(stmt)
    return loops
