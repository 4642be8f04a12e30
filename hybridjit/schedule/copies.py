"""Copies of code that stand beside the original."""

from __future__ import annotations

import dataclasses

from hybridjit.ir.expr import Node
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.stmt import Block, Stmt
from hybridjit.ir.visit import fresh_copy, rewrite
from hybridjit.schedule.staging import fresh_block_name


def copy_beside(func: PrimFunc, stmt: Stmt) -> Stmt:
    """A copy of `stmt` that binds variables, buffers and blocks of its own."""
    taken: list[str] = []

    def rename(node: Node) -> Node | None:
        if not isinstance(node, Block):
            return None
        taken.append(fresh_block_name(func, node.name, taken))
        return dataclasses.replace(node, name=taken[-1])

    return rewrite(fresh_copy(stmt), rename)
