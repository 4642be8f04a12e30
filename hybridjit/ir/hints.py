"""Hints of loops: they go with the loops through the passes, and are gone in the end.

    for j in serial(n, annotations={"in_lanes": 8}):           for j_0 in range(0, n // 8 * 8, 8):
        b[j] = a[j] + 1.0                              -->         for j in vectorize(j_0, j_0 + 8):
                                                                       b[j] = a[j] + 1.0

Each is read by the pass that it is for, in the place of a decision of its own; whether that is
legal is proved there, as ever. What cannot be is an error (check_hints.py), if nothing else will
do. To find out what was decided (choices.py), loops are numbered.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Sequence

from hybridjit.ir.func import PrimFunc
from hybridjit.ir.stmt import (
    FINDINGS,
    HAS_LANES,
    HAS_REGISTER,
    HINTS,
    IF_POSSIBLE,
    IN_LANES,
    IN_REGISTER,
    ON_THREADS,
    ORIGIN,
    SUMS_IN_LANES,
    SUMS_IN_ROWS,
    UNNAMED,
    Annotations,
    For,
    LoopKind,
    Stmt,
)
from hybridjit.ir.visit import StmtMutator, walk_stmts


def with_lanes(loop: For, lanes: int) -> For:
    """`loop`, which gets so many lanes: a hint that asked for them has done its work.

    Lanes of a loop on threads hold no sums: these would have to be kept between its iterations.
    """
    asked = (IN_LANES,) if loop.kind is LoopKind.PARALLEL else (IN_LANES, SUMS_IN_LANES)
    return _carried_out(loop, asked, (HAS_LANES, lanes))


def with_register(loop: For) -> For:
    """`loop`, which updates a variable instead of an element, as a hint may have asked for."""
    return _carried_out(loop, (IN_REGISTER,), (HAS_REGISTER, True))


def _carried_out(loop: For, names: Sequence[str], outcome: tuple[str, int]) -> For:
    if not loop.hints:
        return loop
    done = (*names, *(IF_POSSIBLE[name] for name in names), outcome[0])
    others = tuple(item for item in loop.annotations if item[0] not in done)
    return dataclasses.replace(loop, annotations=(*others, outcome))


def part_of(loop: For, position: int, count: int) -> For:
    """`loop` with the hints for one of `count` loops that it becomes, counted from the outermost.

    Threads have parts of it, the outermost loop; neighbours run side by side, in the innermost.
    """
    lanes = () if position == count - 1 else (IN_LANES, SUMS_IN_LANES, SUMS_IN_ROWS)
    threads = () if position == 0 else (ON_THREADS,)
    return _without(loop, (*lanes, *threads))


def joined_hints(loops: Sequence[For]) -> Annotations:
    """The annotations of the first of `loops`, and the hints of the others that become one with it.

    What two of them say is taken from the first.
    """
    found = dict(loops[0].annotations)
    for loop in loops[1:]:
        found |= {name: value for name, value in loop.hints if name not in found}
    return tuple(found.items())


def _without(loop: For, names: Sequence[str]) -> For:
    """`loop` without what these hints ask of it; that something is not wanted is left."""
    asked = [name for name in names if (wanted := loop.hint(name)) is True or (wanted or 0) > 1]
    gone = (*asked, *(IF_POSSIBLE.get(name) for name in asked))
    left = tuple(item for item in loop.annotations if item[0] not in gone)
    return dataclasses.replace(loop, annotations=left) if asked else loop


def wants_lanes(stmt: Stmt) -> bool:
    """True if a hint wants lanes for a loop in `stmt`: then others leave them to it."""
    loops = (inner for inner in walk_stmts(stmt) if isinstance(inner, For))
    return any((loop.hint(IN_LANES) or 1) > 1 for loop in loops)


def number_loops(func: PrimFunc) -> PrimFunc:
    """`func` with a number for each loop, in their order, which lowering keeps with it."""
    loops = (stmt for stmt in walk_stmts(func.body) if isinstance(stmt, For))
    if any(loop.hint(ORIGIN) is not None for loop in loops):
        return func
    return dataclasses.replace(func, body=_NumberLoops().rewrite(func.body))


def drop_findings(func: PrimFunc) -> PrimFunc:
    """`func` without what only lowering finds out, which a script may have written as well."""
    body = _Drop(FINDINGS).rewrite(func.body)
    return func if body is func.body else dataclasses.replace(func, body=body)


def drop_hints(func: PrimFunc) -> PrimFunc:
    """`func` without hints."""
    if not any(isinstance(stmt, For) and stmt.hints for stmt in walk_stmts(func.body)):
        return func
    gone = {*HINTS} - {UNNAMED}
    return dataclasses.replace(func, body=_Drop(gone).rewrite(func.body))


class _Drop(StmtMutator):
    def __init__(self, names: Collection[str]) -> None:
        self.names = names

    def rewrite_For(self, node: For) -> Stmt:
        left = tuple(item for item in node.annotations if item[0] not in self.names)
        same = len(left) == len(node.annotations)
        return self.generic(node if same else dataclasses.replace(node, annotations=left))


class _NumberLoops(StmtMutator):
    def __init__(self) -> None:
        self.count = 0

    def rewrite_For(self, node: For) -> Stmt:
        numbered = (*node.annotations, (ORIGIN, self.count))
        self.count += 1
        return self.generic(dataclasses.replace(node, annotations=numbered))
