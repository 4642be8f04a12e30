"""blockize: make one block of a loop and everything in it."""

from __future__ import annotations

from hybridjit.analysis.context import infer_context
from hybridjit.analysis.iteration import classify
from hybridjit.ir.expr import Var
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.stmt import Block, Break, Continue, For, Iter, Return, Stmt
from hybridjit.ir.visit import substitute, walk
from hybridjit.schedule.program import path_to, replace_stmt, the_loop
from hybridjit.schedule.refusal import refuse
from hybridjit.schedule.staging import fresh_block_name


def blockize(func: PrimFunc, var: Var) -> tuple[PrimFunc, str]:
    """Put a block around the loop over `var`: schedules and intrinsics then see it as one.

    for i in range(n):            for i in range(n):
        for j in range(4):            with block("j_o", i):
            body(i, j)     -->            for j in range(4):
                                              body(i, j)
    """
    loop = the_loop(func, var)
    if any(isinstance(node, Return | Break | Continue) for node in walk(loop.body)):
        raise refuse(func, f"blockize: a jump may leave loop '{var.name}'", [loop])

    around = _loops_since_block(path_to(func, loop)[:-1])
    kinds = classify(loop, around, infer_context(func.body))
    iters = tuple(
        Iter(Var(outer.var.name), outer.var, kind)
        for outer, kind in zip(around, kinds, strict=True)
    )
    inside = {item.value: item.var for item in iters if isinstance(item.value, Var)}
    name = fresh_block_name(func, f"{var.name}_o")
    block = Block(name, iters, substitute(loop, inside), span=loop.span)
    return replace_stmt(func, loop, block), name


def _loops_since_block(path: tuple[Stmt, ...]) -> list[For]:
    """The loops on the way, from the innermost block on."""
    loops: list[For] = []
    for stmt in path:
        if isinstance(stmt, Block):
            loops = []
        elif isinstance(stmt, For):
            loops.append(stmt)
    return loops
