"""cache_read: let a block read a copy of a buffer."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from hybridjit.analysis.dependence import Dependences
from hybridjit.analysis.instances import AffineAccess, Instances, Part, infer_instances
from hybridjit.ir.expr import Buffer, Load, Var
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.stmt import Allocate, Block, Stmt, While, seq
from hybridjit.ir.visit import walk
from hybridjit.schedule.bind_loops import bind_loops
from hybridjit.schedule.primitives.set_scope import check_rank, check_scope
from hybridjit.schedule.program import loops_around, replace_inside, replace_stmt, the_block
from hybridjit.schedule.refusal import check_concurrent, refuse, refuse_conflict
from hybridjit.schedule.reindex import reindex_loads
from hybridjit.schedule.staging import (
    Scratch,
    fresh_block_name,
    make_copy,
    make_scratch,
)
from hybridjit.schedule.staging_scope import (
    check_elementwise,
    find_place,
    set_elements,
)


def cache_read(
    func: PrimFunc, block_name: str, buffer: Buffer, scope: str, at: Var | None = None
) -> tuple[PrimFunc, str]:
    """Let the block read a copy of `buffer` in `scope`; also gives the name of the copying block.

        for i in range(n):                a_local = allocate((n,), "float32", "local")
            with block("c", i):           for ax0 in range(n):
                c[i] = a[i] + 1    -->        with block("a_local", ax0):
                                                  a_local[ax0] = a[ax0]
                                          for i in range(n):
                                              with block("c", i):
                                                  c[i] = a_local[i] + 1

    With `at`, only what one iteration of that loop reads is copied, in each iteration. Legal if
    nothing is written to `buffer` between the copy and the reads.
    """
    check_cache_read(func, block_name, buffer, scope, at)
    return make_cache_read(func, block_name, buffer, scope, at)


def check_cache_read(
    func: PrimFunc, block_name: str, buffer: Buffer, scope: str, at: Var | None = None
) -> None:
    """Refuse a copy that would not hold what the block reads."""
    block = the_block(func, block_name)
    _check(func, block, buffer, scope)
    place = find_place(func, block, buffer, at, "cache_read")
    part = infer_instances(func, place)
    _check_flow(func, part, _readers(part, block, buffer), buffer)
    around = loops_around(func, place)
    if any(loop.kind.is_concurrent for loop in around):
        made, _ = make_cache_read(func, block_name, buffer, scope, at)
        check_concurrent(made, around, "cache_read")


def make_cache_read(
    func: PrimFunc, block_name: str, buffer: Buffer, scope: str, at: Var | None = None
) -> tuple[PrimFunc, str]:
    """`func` with a copy of what the block reads, and the name of the copying block."""
    block = the_block(func, block_name)
    place = find_place(func, block, buffer, at, "cache_read")
    part = infer_instances(func, place)
    readers = _readers(part, block, buffer)
    name = fresh_block_name(func, f"{buffer.name}_{scope}")
    scratch = make_scratch(part, buffer, scope, readers, whole=at is None)
    copy = make_copy(func, part, place, scratch, name, back=False)
    changed = replace_inside(place, {block: _redirect(func, block, scratch)})
    staged = seq(Allocate(scratch.made, zero=False), copy, changed)

    return bind_loops(replace_stmt(set_elements(func, buffer, place), place, staged)), name


def _check(func: PrimFunc, block: Block, buffer: Buffer, scope: str) -> None:
    check_scope(func, scope, "cache_read")
    check_rank(func, buffer, scope, "cache_read")
    check_elementwise(func, buffer, block, "cache_read")
    if not any(isinstance(node, Load) and node.buffer is buffer for node in walk(block)):
        raise refuse(
            func, f"cache_read: block '{block.name}' does not read '{buffer.name}'", [block]
        )


def _readers(part: Part, block: Block, buffer: Buffer) -> list[Instances]:
    """The statements of the block with their reads of `buffer`, and nothing else."""
    nodes = {node for node in walk(block) if isinstance(node, Stmt)}
    found: list[Instances] = []
    for statement in part.statements:
        # A `while` is one statement, with all that is in it.
        if statement.node in nodes or any(node is block for node in walk(statement.node)):
            reads = tuple(
                access
                for access in statement.accesses
                if access.buffer is buffer and not access.is_write
            )
            found.append(_only(statement, f"R{len(found)}", reads))
    return found


def _only(statement: Instances, name: str, accesses: tuple[AffineAccess, ...]) -> Instances:
    return dataclasses.replace(
        statement, name=name, accesses=accesses, has_effects=False, reduction=None
    )


def _check_flow(func: PrimFunc, part: Part, readers: Sequence[Instances], buffer: Buffer) -> None:
    """The reads now see what is in the buffer before the part: no write may come before them."""
    writers = [
        _only(statement, statement.name, writes)
        for statement in part.statements
        if (writes := tuple(a for a in statement.accesses if a.buffer is buffer and a.is_write))
    ]
    moved = dataclasses.replace(part, statements=[*readers, *writers])
    conflict = Dependences(moved, func.fastmath).find_reversed(
        lambda statement: statement.time,
        lambda statement: ("0" if statement in readers else "1", *statement.time),
    )
    if conflict is not None:
        raise refuse_conflict(
            func, f"cache_read: the copy of '{buffer.name}' would be out of date", conflict
        )
    together = {reader.node for reader in readers} & {writer.node for writer in writers}
    if any(isinstance(node, While) for node in together):
        raise refuse(
            func, f"cache_read: '{buffer.name}' is written in the while loop that reads it"
        )


def _redirect(func: PrimFunc, block: Block, scratch: Scratch) -> Block:
    parts = [block.body] if block.init is None else [block.body, block.init]
    body, *init = (scratch.redirect(func, part, reindex_loads) for part in parts)
    return dataclasses.replace(block, body=body, init=init[0] if init else None)
