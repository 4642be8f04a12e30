"""Which loops of a lowered program get counters: those that run long enough for that.

for t in range(100):             timed
    for i in range(100000):      timed: reading the clock twice takes no part of it
        ...
    for i in range(10):          too short: its time is that of the loop over t
        ...

All counters together take less than a twentieth of the time.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from hybridjit.analysis.loop_work import LoopWork, find_loop_work
from hybridjit.ir.expr import Var
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.hints import drop_hints
from hybridjit.ir.stmt import ORIGIN, For, Stmt, While
from hybridjit.ir.visit import children, walk_stmts

# Two readings of the clock and the sums take about 100 cycles, and vector code does up to 16
# operations in one: a loop of 1 << 15 takes 20 times as long. An outermost loop is twice that, and
# each loop in another timed one must be twice as long again: so nests of any depth stay below it.
LEAST_OPERATIONS = 1 << 16


def choose_loops(
    numbered: PrimFunc, known: Mapping[Var, float], cache_bytes: int
) -> tuple[PrimFunc, dict[For, int]]:
    """`numbered` without its numbers, and those of its loops that are timed, with their numbers."""
    plain = drop_hints(numbered)
    works = find_loop_work(numbered.body, known, cache_bytes)
    timed = dict(_timed(numbered.body, works, is_outside=True, depth=0))
    pairs = zip(_loops(numbered), _loops(plain), strict=True)
    return plain, {made: timed[loop] for loop, made in pairs if loop in timed}


def _loops(func: PrimFunc) -> Iterator[For]:
    return (stmt for stmt in walk_stmts(func.body) if isinstance(stmt, For))


def _timed(
    stmt: Stmt, works: Mapping[For, LoopWork | None], *, is_outside: bool, depth: int
) -> Iterator[tuple[For, int]]:
    if isinstance(stmt, For):
        number, work = _number(stmt), works.get(stmt)
        # Nobody knows how long it takes, but one that runs once may have counters.
        is_long = is_outside if work is None else work.operations >= LEAST_OPERATIONS << depth
        if number is None or not is_long:
            return
        yield stmt, number
        depth += 1
    is_outside = is_outside and not isinstance(stmt, For | While)
    for child in children(stmt):
        if isinstance(child, Stmt):
            yield from _timed(child, works, is_outside=is_outside, depth=depth)


def _number(loop: For) -> int | None:
    """The number of the loop that this one was made of, or else of the first one in it."""
    inner = (stmt for stmt in walk_stmts(loop) if isinstance(stmt, For))
    numbers = (each.hint(ORIGIN) for each in inner)
    return next((number for number in numbers if number is not None), None)
