"""Fuse the statements on whole arrays of a script: chains of operations become one loop nest.

    t = allocate((n,), ...)
    for i in range(n):
        t[i] = a[i] * 2                      for i in range(n):
    for i in range(n):            -->            total = total + (a[i] * 2 + b[i])
        u[i] = t[i] + b[i]
    for i in range(n):
        total = total + u[i]

Only arrays that the front end made go, and only loops that it made are put together: what is
written by hand stays as it is written.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from hybridjit.frontend.fusion.contract import contract
from hybridjit.frontend.fusion.inline import inline
from hybridjit.frontend.fusion.merge import merge
from hybridjit.frontend.fusion.nests import Fusion
from hybridjit.frontend.fusion.profit import fits_cache
from hybridjit.frontend.fusion.reasons import explain
from hybridjit.frontend.fusion.sink import sink
from hybridjit.ir.expr import Buffer
from hybridjit.ir.stmt import Allocate, For, If, Seq, Stmt, While, flat_stmts, seq
from hybridjit.ir.visit import walk_stmts


def fuse_arrays(body: Stmt, fusion: Fusion) -> Stmt:
    """`body` with fewer arrays and fewer loops; the same object if nothing can be done."""
    if not fusion.temporaries:
        return body
    return _fuse(fusion, body)


def _fuse(fusion: Fusion, stmt: Stmt) -> Stmt:
    """A statement that is a scope of its own, fused."""
    match stmt:
        case For() if fusion.is_nest(stmt) and not isinstance(stmt.body, Seq):
            return stmt
        case For() | While():
            body = _fuse_list(fusion, flat_stmts(stmt.body))
            is_done = isinstance(body, Seq) and not body.stmts and fusion.is_nest(stmt)
            return body if is_done else replace(stmt, body=body)
        case If(_, then, otherwise):
            other = None if otherwise is None else _fuse_list(fusion, flat_stmts(otherwise))
            return replace(stmt, then=_fuse_list(fusion, flat_stmts(then)), otherwise=other)
        case Seq():
            return _fuse_list(fusion, flat_stmts(stmt))
        case _:
            return stmt


def _fuse_list(fusion: Fusion, stmts: list[Stmt]) -> Stmt:
    """A list of statements: its arrays first, then what is inside of each statement."""
    stmts = [stmt if fusion.is_nest(stmt) else _fuse(fusion, stmt) for stmt in stmts]
    for again in (False, True):
        for buffer in fusion.own_arrays(stmts):
            inlined = inline(fusion, stmts, _allocation(stmts, buffer), again=again)
            stmts = stmts if inlined is None else inlined
        for buffer in fusion.own_arrays(stmts):
            merged = _merge_uses(fusion, stmts, buffer)
            stmts = stmts if merged is None else merged
    for buffer in fusion.own_arrays(stmts):
        sunk = sink(fusion, stmts, _allocation(stmts, buffer))
        stmts = stmts if sunk is None else sunk
    for buffer in fusion.own_arrays(stmts):
        fusion.reasons[buffer] = explain(fusion, stmts, buffer)
    return seq(*(_fuse(fusion, stmt) if fusion.is_nest(stmt) else stmt for stmt in stmts))


def _allocation(stmts: Sequence[Stmt], buffer: Buffer) -> Allocate:
    found = (stmt for stmt in stmts if isinstance(stmt, Allocate))
    return next(stmt for stmt in found if stmt.buffer is buffer)


def _merge_uses(fusion: Fusion, stmts: list[Stmt], buffer: Buffer) -> list[Stmt] | None:
    """All loops that use an array as one, in which the array is smaller; None if it stays."""
    allocation = _allocation(stmts, buffer)
    places = _users(fusion, stmts, allocation)
    users = [stmts[place] for place in places]
    while len(places) > 1:
        merged = _merge_next(fusion, stmts, places[0], places[1])
        if merged is None:
            return None
        stmts = merged
        places = _users(fusion, stmts, allocation)
    if not places:
        return None
    loop = stmts[places[0]]
    if not isinstance(loop, For) or not fusion.is_nest(loop):
        return None
    found = contract(fusion, stmts, allocation, loop)
    if found is None:
        return None
    made, small = found
    if small is None:
        fusion.note(buffer, "kept in a variable", users)
        return made
    fusion.temporaries.add(small)
    fusion.spans[small] = fusion.spans.get(buffer)
    return made if not fits_cache(buffer) or _goes(fusion, made, small) else None


def _goes(fusion: Fusion, stmts: Sequence[Stmt], small: Buffer) -> bool:
    """True if an array that a loop uses goes altogether once the loop is fused inside, too."""
    trial = replace(fusion, fused=[], reasons={}, temporaries=set(fusion.temporaries))
    loop = next(stmt for stmt in stmts if fusion.footprint(stmt).touches(small))
    inner = [stmt for stmt in walk_stmts(_fuse(trial, loop)) if isinstance(stmt, Allocate)]
    return not any(stmt.buffer.ndim and stmt.buffer.name == small.name for stmt in inner)


def _merge_next(
    fusion: Fusion, stmts: Sequence[Stmt], first: int, second: int
) -> list[Stmt] | None:
    """Two loops as one; if what stands between keeps them apart, the first with a loop there."""
    between = (k for k in range(first + 1, second) if fusion.is_nest(stmts[k]))
    for other in (second, *between):
        merged = merge(fusion, stmts, first, other)
        if merged is not None:
            return merged
    return None


def _users(fusion: Fusion, stmts: Sequence[Stmt], allocation: Allocate) -> list[int]:
    """Where an array is used; none if one of the places is not a loop over an array."""
    users = [
        position
        for position, stmt in enumerate(stmts)
        if stmt is not allocation and fusion.footprint(stmt).touches(allocation.buffer)
    ]
    return users if all(fusion.is_nest(stmts[position]) for position in users) else []
