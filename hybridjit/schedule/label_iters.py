"""Keep the labels of iters true: SPATIAL says that no two iterations write the same element."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection

from hybridjit.analysis.context import infer_context
from hybridjit.analysis.iteration import classify
from hybridjit.ir.expr import Buffer, Var
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.stmt import Block, For, Iter, IterKind, Stmt, Store
from hybridjit.ir.visit import walk, walk_stmts
from hybridjit.schedule.program import blocks_of, path_to, replace_stmts, variables_in


def label_iters(func: PrimFunc, names: Collection[str]) -> PrimFunc:
    """`func` in which the blocks of these names call an iter SPATIAL only where that is so.

    The others become SCAN, which says nothing. No block stands inside another of them.
    """
    context = infer_context(func.body)
    changes: dict[Stmt, Stmt] = {}
    for block in blocks_of(func):
        if block.name in names:
            loops = _loops_bound(func, block)
            kinds = classify(block.body, loops, context)
            spatial = {
                loop.var
                for loop, kind in zip(loops, kinds, strict=True)
                if kind is IterKind.SPATIAL
            }
            iters = tuple(_labelled(item, spatial) for item in block.iters)
            changes[block] = dataclasses.replace(block, iters=iters)
    return replace_stmts(func, changes)


def label_writers(func: PrimFunc, buffer: Buffer) -> PrimFunc:
    """The same for the blocks that write `buffer`, the innermost ones."""
    return label_iters(
        func,
        [
            block.name
            for block in blocks_of(func)
            if any(isinstance(node, Store) and node.buffer is buffer for node in walk(block))
            and not any(isinstance(node, Block) for node in walk_stmts(block.body))
        ],
    )


def _loops_bound(func: PrimFunc, block: Block) -> list[For]:
    """The loops around `block`, up to the next block."""
    loops: list[For] = []
    for stmt in path_to(func, block)[:-1]:
        if isinstance(stmt, Block):
            loops = []
        elif isinstance(stmt, For):
            loops.append(stmt)
    return loops


def _labelled(item: Iter, spatial: set[Var]) -> Iter:
    if item.kind is not IterKind.SPATIAL or spatial.issuperset(variables_in(item.value)):
        return item
    return dataclasses.replace(item, kind=IterKind.SCAN)
