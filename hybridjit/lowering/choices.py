"""What the passes made of the loops of a program: which run in lanes, which on several threads.

    for i in range(n):         -->    Choice(i, on_threads=True)
        for j in range(m):            Choice(j, lanes=16)
            c[i, j] = a[i, j] + 1

The loops are numbered, and the lowered program, before the numbers are dropped, is read.
"""

from __future__ import annotations

from collections.abc import Iterator

from hybridjit.ir.expr import Var
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.hints import drop_hints, number_loops
from hybridjit.ir.stmt import HAS_LANES, ORIGIN, SUMS_IN_LANES, For, LoopKind
from hybridjit.ir.visit import walk_stmts
from hybridjit.lowering.pipeline import lower_steps
from hybridjit.record import record
from hybridjit.target import Target


@record
class Choice:
    """What became of a loop: how many lanes it has, 1 for none, and whether it is on threads."""

    var: Var
    lanes: int = 1
    on_threads: bool = False


def find_choices(func: PrimFunc, target: Target, *, may_reorder: bool) -> list[Choice]:
    """The loops of `func` that lowering runs in lanes or on threads though they do not say so."""
    loops = [stmt for stmt in walk_stmts(func.body) if isinstance(stmt, For)]
    lowered = lower_numbered(func, target, may_reorder=may_reorder)
    made: dict[int, list[For]] = {}
    for stmt in walk_stmts(lowered.body):
        if isinstance(stmt, For) and stmt.hint(ORIGIN) is not None:
            made.setdefault(stmt.hint(ORIGIN), []).append(stmt)
    return [choice for k, found in sorted(made.items()) for choice in _choices(loops[k], found)]


def lower_numbered(
    func: PrimFunc, target: Target, *, may_reorder: bool, may_vectorize: bool = True
) -> PrimFunc:
    """`func` after all passes but the last one, its loops with their numbers."""
    made = numbered = number_loops(func)
    for step in lower_steps(numbered, target, may_reorder=may_reorder, may_vectorize=may_vectorize):
        if step.name != drop_hints.__name__:
            made = step.func
    return made


def _choices(loop: For, made: list[For]) -> Iterator[Choice]:
    lanes = max((found.hint(HAS_LANES) or 1 for found in made), default=1)
    is_told = loop.kind is LoopKind.VECTORIZED or loop.hint(SUMS_IN_LANES) is not None
    lanes = 1 if is_told else lanes
    on_threads = any(found.kind is LoopKind.PARALLEL for found in made)
    on_threads = on_threads and loop.kind is not LoopKind.PARALLEL
    if lanes > 1 or on_threads:
        yield Choice(loop.var, lanes, on_threads)
