"""in_lanes, on_threads, sums_in_lanes, in_register: what lowering is to do with loops.

    for j in range(m):      -->     for j in serial(m, annotations={"in_lanes": 8}):
        body(j)                         body(j)

Lowering carries it out where it proves that nothing changes; else it refuses, unless the compiler
may choose instead (lowering/check_hints.py).
"""

from __future__ import annotations

import dataclasses

from hybridjit.errors import ScheduleError
from hybridjit.ir.expr import Var
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.stmt import (
    IF_POSSIBLE,
    IN_LANES,
    IN_REGISTER,
    ON_THREADS,
    SUMS_IN_LANES,
    SUMS_IN_ROWS,
    Annotations,
    LoopKind,
)
from hybridjit.schedule.program import replace_stmt, the_loop
from hybridjit.schedule.refusal import check_int, refuse

MAX_LANES, MAX_SUMS, MAX_ROWS = 64, 256, 16


def set_lanes(func: PrimFunc, var: Var, lanes: int, *, if_possible: bool) -> PrimFunc:
    """Run the loop over `var` in so many lanes."""
    _check_serial(func, var, IN_LANES, LoopKind.PARALLEL)
    check_lanes(IN_LANES, lanes, MAX_LANES)
    return _make_hint(func, var, IN_LANES, lanes, if_possible=if_possible)


def set_threads(func: PrimFunc, var: Var, wanted: bool, *, if_possible: bool) -> PrimFunc:
    """Run the loop over `var` on several threads, or not."""
    _check_serial(func, var, ON_THREADS)
    if wanted and not if_possible and not func.parallel:
        raise ScheduleError(
            f"on_threads: '{func.name}' runs on one thread",
            help="@hybrid.script(parallel=True) allows more, and s.parallel(loop) asks for them",
        )
    return _make_hint(func, var, ON_THREADS, wanted, if_possible=if_possible)


def set_sums_in_lanes(
    func: PrimFunc, lane: Var, row: Var | None, lanes: int, rows: int, *, if_possible: bool
) -> PrimFunc:
    """Compute sums side by side: `lane` is the loop over lanes, `row` that over rows."""
    _check_serial(func, lane, SUMS_IN_LANES, LoopKind.PARALLEL)
    check_lanes(SUMS_IN_LANES, lanes, MAX_SUMS)
    check_int(rows, "sums_in_lanes: the number of rows")
    if not 1 <= rows <= MAX_ROWS:
        raise ScheduleError(f"sums_in_lanes: there are 1 to {MAX_ROWS} rows, got {rows}")
    if row is None and rows > 1:
        raise ScheduleError(
            f"sums_in_lanes: which loop goes over the {rows} rows is not said",
            help="it is the second loop: s.sums_in_lanes(columns, rows, lanes=8, rows=4)",
        )
    if row is lane:
        raise ScheduleError(f"sums_in_lanes: loop '{lane.name}' has either lanes or rows")
    if row is not None:
        _check_serial(func, row, SUMS_IN_LANES, LoopKind.PARALLEL)
    return make_sums_in_lanes(func, lane, row, lanes, rows, if_possible=if_possible)


def set_in_register(func: PrimFunc, var: Var, wanted: bool, *, if_possible: bool) -> PrimFunc:
    """Keep the element that the loop over `var` updates in a variable, or not."""
    _check_serial(func, var, IN_REGISTER)
    return make_in_register(func, var, wanted, if_possible=if_possible)


def make_sums_in_lanes(
    func: PrimFunc, lane: Var, row: Var | None, lanes: int, rows: int, *, if_possible: bool
) -> PrimFunc:
    """`func` with the marks of a tile of sums."""
    func = _make_hint(func, lane, SUMS_IN_LANES, lanes, if_possible=if_possible)
    return func if row is None else _make_hint(func, row, SUMS_IN_ROWS, rows)


def make_in_register(
    func: PrimFunc, var: Var, wanted: bool = True, *, if_possible: bool
) -> PrimFunc:
    """`func` with the mark of a sum in a variable."""
    return _make_hint(func, var, IN_REGISTER, wanted, if_possible=if_possible)


def _make_hint(
    func: PrimFunc, var: Var, name: str, value: int, *, if_possible: bool = False
) -> PrimFunc:
    loop = the_loop(func, var)
    hints: Annotations = ((name, value),)
    if if_possible:
        hints = (*hints, (IF_POSSIBLE[name], True))
    others = (item for item in loop.annotations if item[0] not in (name, IF_POSSIBLE.get(name)))
    return replace_stmt(func, loop, dataclasses.replace(loop, annotations=(*others, *hints)))


def _check_serial(func: PrimFunc, var: Var, step: str, *besides: LoopKind) -> None:
    loop = the_loop(func, var)
    if loop.kind not in (LoopKind.SERIAL, *besides):
        kind = loop.kind.value
        raise refuse(func, f"{step}: loop '{var.name}' is '{kind}' already", [loop])


def check_lanes(step: str, lanes: int, most: int) -> None:
    """Refuse numbers of lanes that no vector has."""
    check_int(lanes, f"{step}: the number of lanes")
    if not 1 <= lanes <= most or lanes & (lanes - 1):
        raise ScheduleError(f"{step}: lanes are a power of two, {most} at most, got {lanes}")
