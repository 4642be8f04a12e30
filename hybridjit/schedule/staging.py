"""Staging: a part of a program works on a copy of a box of a buffer.

A *box* is, for each axis of the buffer, where it starts and how many elements it has. A part is
either the body of a loop, or the statement of the function (or of the scope of the buffer) that
holds a block.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass

from hybridjit.analysis.concurrency import find_obstacle
from hybridjit.arith.simplify import simplify
from hybridjit.ir.expr import And, Buffer, BufferRef, Const, Expr, Load, Var
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.stmt import Block, For, If, Iter, Seq, Stmt, Store
from hybridjit.ir.visit import substitute, walk
from hybridjit.schedule.buffers import find_allocation
from hybridjit.schedule.program import blocks_of, loops_around, path_to, the_loop
from hybridjit.schedule.refusal import refuse, refuse_conflict

Box = tuple[tuple[Expr, Expr], ...]


@dataclass(frozen=True, slots=True, eq=False)
class Copy:
    """What a copy moves: a box of `buffer`, kept in `scratch` from its corner on.

    `guards` hold where an element of the box, seen from the loops of the copy, is in the buffer.
    """

    buffer: Buffer
    scratch: Buffer
    box: Box


def find_part(func: PrimFunc, block: Block, buffer: Buffer, at: Var | None, step: str) -> Stmt:
    """The part of the program that works on a copy: it holds `block`, and sees `buffer`."""
    path = path_to(func, block)
    allocation = find_allocation(func, buffer)
    if at is not None:
        loop = the_loop(func, at)
        if loop not in path:
            raise refuse(
                func,
                f"{step}: block '{block.name}' is not in loop '{at.name}'",
                [loop, block],
            )
        if allocation is not None and allocation in set(walk(loop)):
            raise refuse(
                func,
                f"{step}: '{buffer.name}' is made inside of loop '{at.name}'",
                [loop, allocation],
            )
        return loop.body
    depth = 0
    if allocation is not None:
        depth = path.index(path_to(func, allocation)[-2])
    return path[depth + 1] if isinstance(path[depth], Seq) else path[depth]


def check_staged(func: PrimFunc, buffer: Buffer, part: Stmt, step: str) -> None:
    """Refuse buffers that cannot be seen element by element."""
    if buffer.is_register:
        raise refuse(func, f"{step}: '{buffer.name}' is a scalar variable, in a register already")
    for node in walk(part):
        if isinstance(node, BufferRef) and node.buffer is buffer:
            raise refuse(
                func, f"{step}: '{buffer.name}' is passed to an external function", [block_at(part)]
            )
