"""parallel, vectorize, unroll, bind, serial: how the iterations of a loop are run."""

from __future__ import annotations

import dataclasses

from hybridjit.analysis.concurrency import find_obstacle
from hybridjit.analysis.unrolling import find_long_loop
from hybridjit.errors import ScheduleError
from hybridjit.ir.expr import Var
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.stmt import (
    IF_POSSIBLE,
    IN_LANES,
    ON_THREADS,
    THREADS,
    Annotations,
    For,
    LoopKind,
)
from hybridjit.schedule.program import replace_stmt, the_loop
from hybridjit.schedule.refusal import check_int, refuse, refuse_obstacle

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


MAX_LANES = 64


def set_hint(
    func: PrimFunc, var: Var, name: str, value: int, *, if_possible: bool = False
) -> PrimFunc:
    """Say how lowering is to run the loop over `var`, where it proves that nothing changes.

    for j in range(m):      -->     for j in serial(m, annotations={"in_lanes": 8}):
        body(j)                         body(j)
    """
    loop = the_loop(func, var)
    hints: Annotations = ((name, value),)
    if if_possible:
        hints = (*hints, (IF_POSSIBLE[name], True))
    others = (item for item in loop.annotations if item[0] not in (name, IF_POSSIBLE[name]))
    hinted = dataclasses.replace(loop, annotations=(*others, *hints))
    _check_hint(func, hinted, name)
    return replace_stmt(func, loop, hinted)


def _check_hint(func: PrimFunc, loop: For, name: str) -> None:
    if loop.kind is not LoopKind.SERIAL:
        kind = loop.kind.value
        raise refuse(func, f"{name}: loop '{loop.var.name}' is '{kind}' already", [loop])
    if name == ON_THREADS and loop.asks(name) and not func.parallel:
        raise ScheduleError(
            f"on_threads: '{func.name}' runs on one thread",
            help="@hybrid.script(parallel=True) allows more, and s.parallel(loop) asks for them",
        )
    if name == IN_LANES:
        lanes = loop.hint(IN_LANES)
        check_int(lanes, "in_lanes: the number of lanes")
        if not 1 <= lanes <= MAX_LANES or lanes & (lanes - 1):
            raise ScheduleError(
                f"in_lanes: lanes are a power of two, {MAX_LANES} at most, got {lanes}"
            )


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
    hints = tuple(item for item in loop.annotations if item[0] != "unsafe")
    if unsafe:
        hints = (*hints, ("unsafe", True))
    changed = dataclasses.replace(loop, kind=kind, thread=thread, annotations=hints)
    return replace_stmt(func, loop, changed)
