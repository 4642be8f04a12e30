"""parallel, vectorize, unroll, bind, serial: how the iterations of a loop are run."""

from __future__ import annotations

import dataclasses

from hybridjit.analysis.concurrency import find_obstacle
from hybridjit.analysis.unrolling import find_long_loop
from hybridjit.ir.expr import Var
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.stmt import THREADS, UNSAFE, LoopKind
from hybridjit.schedule.program import replace_stmt, the_loop
from hybridjit.schedule.refusal import refuse, refuse_obstacle

AXES = ", ".join(THREADS)


def set_kind(
    func: PrimFunc, var: Var, kind: LoopKind, *, thread: str | None = None, unsafe: bool = False
) -> PrimFunc:
    """Run the loop over `var` as `kind` says.

        for i in range(n):      -->     for i in parallel(n):
            body(i)                         body(i)

    Concurrent kinds are legal if no two iterations depend on each other, reductions aside that
    give the same result in any order. An unrolled loop must not get too long.
    """
    check_kind(func, var, kind, thread=thread, unsafe=unsafe)
    return make_kind(func, var, kind, thread=thread, unsafe=unsafe)


def check_kind(
    func: PrimFunc, var: Var, kind: LoopKind, *, thread: str | None = None, unsafe: bool = False
) -> None:
    """Refuse a kind that a loop cannot have, and one that it may not, unless that is `unsafe`."""
    loop = the_loop(func, var)
    if kind is LoopKind.BOUND and thread not in THREADS:
        raise refuse(
            func, f"bind: there is no thread axis {thread!r}", [loop], help=f"there are {AXES}"
        )
    if kind.is_concurrent and not unsafe:
        wanted = dataclasses.replace(loop, kind=kind)
        obstacle = find_obstacle(func, loop)
        if obstacle is not None:
            raise refuse_obstacle(func, wanted, obstacle)
    if kind is LoopKind.UNROLLED:
        result = make_kind(func, var, kind)
        long = find_long_loop(result.body)
        if long is not None:
            raise refuse(result, long.message, [long.loop], help=long.help)


def make_kind(
    func: PrimFunc, var: Var, kind: LoopKind, *, thread: str | None = None, unsafe: bool = False
) -> PrimFunc:
    """`func` with another kind of loop; `unsafe` shows."""
    loop = the_loop(func, var)
    hints = tuple(item for item in loop.annotations if item[0] != UNSAFE)
    if unsafe:
        hints = (*hints, (UNSAFE, True))
    changed = dataclasses.replace(loop, kind=kind, thread=thread, annotations=hints)
    return replace_stmt(func, loop, changed)
