"""Refuse hints of loops that no pass carried out, unless the compiler may choose instead.

    for i in serial(1, n, annotations={"in_lanes": 8}):    -->    error: loop 'i' cannot run in
        a[i] = a[i] + a[i - 1]                                    lanes: iterations may need ...

The loops are numbered in the beginning: of the loops that have become of one, some must be as the
hint says. Relies on: passes that hand on hints.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from hybridjit.analysis.limits import loop_extent
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.hints import number_loops
from hybridjit.ir.stmt import (
    HAS_LANES,
    HAS_REGISTER,
    IN_LANES,
    IN_REGISTER,
    ON_THREADS,
    ORIGIN,
    SUMS_IN_LANES,
    For,
    LoopKind,
)
from hybridjit.ir.visit import walk_stmts
from hybridjit.lazy import lazy_module
from hybridjit.target import Target

if TYPE_CHECKING:
    from hybridjit.lowering import hint_refusals
else:
    hint_refusals = lazy_module("hybridjit.lowering.hint_refusals")


def number_hints(func: PrimFunc) -> PrimFunc:
    """`func` with a number for each loop, if some have hints that must be carried out."""
    return number_loops(func) if any(map(_asks, _loops(func))) else func


def check_hints(func: PrimFunc, target: Target) -> PrimFunc:
    """`func`, if all its hints are carried out."""
    left = {loop.hint(ORIGIN): loop for loop in _loops(func) if _asks(loop)}
    for loop in left.values():
        if loop_extent(loop) in (0, 1):
            continue  # there is nothing to run side by side
        made = [each for each in _loops(func) if each.hint(ORIGIN) == loop.hint(ORIGIN)]
        for name, is_done in OUTCOMES.items():
            if loop.asks(name) and not any(map(is_done, made)):
                raise hint_refusals.refuse_hint(func, loop, name, target)
    return func


OUTCOMES: dict[str, Callable[[For], bool]] = {
    IN_LANES: lambda loop: loop.hint(HAS_LANES) is not None,
    SUMS_IN_LANES: lambda loop: (
        loop.hint(HAS_LANES) is not None and loop.kind is not LoopKind.PARALLEL
    ),
    IN_REGISTER: lambda loop: loop.hint(HAS_REGISTER) is not None,
    ON_THREADS: lambda loop: loop.kind is LoopKind.PARALLEL,
}
"""What a loop is like for which a hint was carried out."""


def _asks(loop: For) -> bool:
    return any(map(loop.asks, OUTCOMES))


def _loops(func: PrimFunc) -> list[For]:
    return [stmt for stmt in walk_stmts(func.body) if isinstance(stmt, For)]
