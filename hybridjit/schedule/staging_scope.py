"""Where a step that stages a buffer works: the part of the program, and what forbids it."""

from __future__ import annotations

import dataclasses

from hybridjit.analysis.coverage import Coverage
from hybridjit.analysis.instances import infer_instances
from hybridjit.ir.expr import Buffer, BufferRef, Var
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.stmt import Allocate, Block, Seq, Stmt
from hybridjit.ir.visit import walk
from hybridjit.schedule.buffers import find_allocation
from hybridjit.schedule.program import path_to, replace_stmt, the_loop
from hybridjit.schedule.refusal import refuse


def find_place(func: PrimFunc, block: Block, buffer: Buffer, at: Var | None, step: str) -> Stmt:
    """The part that works on a copy of `buffer`: the body of a loop, or all that holds `block`."""
    path = path_to(func, block)
    allocation = find_allocation(func, buffer)
    scope = path[0] if allocation is None else path_to(func, allocation)[-2]
    if scope not in path:
        raise refuse(
            func,
            f"{step}: '{buffer.name}' is not made around block '{block.name}'",
            [block] if allocation is None else [block, allocation],
        )
    if at is None:
        return path[path.index(scope) + 1] if isinstance(scope, Seq) else scope
    loop = the_loop(func, at)
    if loop not in path:
        raise refuse(
            func, f"{step}: block '{block.name}' is not inside of loop '{at.name}'", [loop, block]
        )
    if allocation is not None and any(node is allocation for node in walk(loop)):
        raise refuse(
            func, f"{step}: '{buffer.name}' is made inside of loop '{at.name}'", [loop, allocation]
        )
    return loop.body


def check_elementwise(func: PrimFunc, buffer: Buffer, stmt: Stmt, step: str) -> None:
    """Refuse a buffer that `stmt` does not touch element by element."""
    if buffer.is_register:
        raise refuse(func, f"{step}: '{buffer.name}' is a scalar variable, a register already")
    if any(isinstance(node, BufferRef) and node.buffer is buffer for node in walk(stmt)):
        raise refuse(func, f"{step}: '{buffer.name}' is passed to an external function")


def set_elements(func: PrimFunc, buffer: Buffer, place: Stmt) -> PrimFunc:
    """`func` with all elements of `buffer` set where `place` begins, as a copy may read them all.

    A scratch buffer whose elements start unset starts as zero, unless it is filled before.
    """
    allocation = find_allocation(func, buffer)
    if allocation is None or allocation.zero or _is_filled(func, allocation, place):
        return func
    return replace_stmt(func, allocation, dataclasses.replace(allocation, zero=True))


def _is_filled(func: PrimFunc, allocation: Allocate, place: Stmt) -> bool:
    scope = path_to(func, allocation)[-2]
    if not isinstance(scope, Seq):
        return False
    path = path_to(func, place)
    before = scope.stmts[: scope.stmts.index(path[path.index(scope) + 1])]
    part = infer_instances(func, scope)
    inside: list[str] = []
    for axis, extent in enumerate(allocation.buffer.shape):
        size = part.names.affine(extent)
        inside.append(f"x{axis} >= 0" if size is None else f"0 <= x{axis} < {size}")
    return Coverage(part, Seq(before), allocation.buffer).prove_written(inside)
