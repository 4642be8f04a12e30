"""reduce_in_lanes, unroll_and_jam, ravel and unravel: rows of arrays in lanes, several of them at
once, and one after the other as if they were one.
"""

from __future__ import annotations

from collections.abc import Sequence

from hybridjit.analysis.independence import LoopProofs
from hybridjit.analysis.unrolling import MAX_STATEMENTS, count_statements
from hybridjit.errors import ScheduleError
from hybridjit.ir.expr import Var
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.stmt import For
from hybridjit.schedule.arrays.plain import Plain
from hybridjit.schedule.arrays.ravel import find_raveled, find_unraveled
from hybridjit.schedule.arrays.reduce_in_lanes import (
    InLanes,
    Row,
    find_row,
    make_in_lanes,
    prove_free,
)
from hybridjit.schedule.arrays.unroll_and_jam import find_jam_obstacle, make_unroll_and_jam
from hybridjit.schedule.program import the_loop
from hybridjit.schedule.refusal import check_int, refuse

# Each is written out: compiling 256 takes 5 s, and four times as long for twice as many.
MAX_VECTORS = 64


def unroll_and_jam(func: PrimFunc, var: Var, factor: int) -> PrimFunc:
    """Run `factor` iterations of a loop at once: see schedule/arrays/unroll_and_jam.py."""
    check_int(factor, "unroll_and_jam: the factor")
    if factor < 2:
        raise ScheduleError(f"unroll_and_jam: the factor must be at least 2, got {factor}")
    plain = Plain.of(func)
    loop = _loop_of_array(func, plain, var, "unroll_and_jam")
    obstacle = find_jam_obstacle(LoopProofs(plain.marks.body), loop)
    if obstacle is not None:
        raise _refuse(func, var, f"unroll_and_jam: {factor} iterations of", obstacle)
    each = count_statements(loop.body)
    if factor * each > MAX_STATEMENTS:
        many = f"{factor} copies of {each} statements are more than {MAX_STATEMENTS}"
        raise _refuse(func, var, "unroll_and_jam:", many)
    made = make_unroll_and_jam(loop, factor)
    return plain.with_list(loop, [made if s is loop else s for s in plain.list_with(loop)])


def reduce_in_lanes(func: PrimFunc, var: Var, options: InLanes) -> PrimFunc:
    """Fold the elements of a row in lanes: see schedule/arrays/reduce_in_lanes.py."""
    _check_lanes(options)
    plain = Plain.of(func)
    loop = _loop_of_array(func, plain, var, "reduce_in_lanes")
    row = _row_of(func, plain, loop)
    stmts = plain.list_with(loop)
    before = stmts[: stmts.index(loop)]
    after = stmts[stmts.index(loop) + 1 :]
    made = make_in_lanes(row, before, options)
    return plain.with_list(loop, [*before, made, *after])


def ravel(func: PrimFunc, var: Var) -> PrimFunc:
    """Join a loop over rows with that over columns: see schedule/arrays/ravel.py."""
    plain = Plain.of(func)
    loop = _loop_of_array(func, plain, var, "ravel")
    found = find_raveled(loop)
    if found is None or found.columns.var not in plain.fusion.loops:
        reason = "it is not one around a loop over a known number of elements, and that alone"
        raise _refuse(func, var, "ravel:", f"{reason}, in which nothing can fail")
    made = found.make()
    return _with_loops(plain, loop, made, [made.var])


def unravel(func: PrimFunc, var: Var) -> PrimFunc:
    """Take a loop over all elements apart: see schedule/arrays/ravel.py."""
    plain = Plain.of(func)
    loop = _loop_of_array(func, plain, var, "unravel")
    stmts = plain.list_with(loop)
    found = find_unraveled(loop, stmts[: stmts.index(loop)])
    if found is None:
        reason = "its variable is not divided by the size of a row, of which there are whole ones"
        raise _refuse(func, var, "unravel:", f"{reason}, or something in it can fail")
    made = found.make()
    assert isinstance(made.body, For)
    return _with_loops(plain, loop, made, [made.var, made.body.var])


def _with_loops(plain: Plain, loop: For, made: For, variables: Sequence[Var]) -> PrimFunc:
    """The function with other loops over elements for one of them."""
    plain.fusion.loops = {*plain.fusion.loops, *variables}
    stmts = [made if stmt is loop else stmt for stmt in plain.list_with(loop)]
    return plain.with_new_blocks(loop).with_list(loop, stmts)


def _check_lanes(options: InLanes) -> None:
    for name, number in (("lanes", options.shape.width), ("vectors", options.shape.vectors)):
        check_int(number, f"reduce_in_lanes: {name}")
        if number < 1 or number & (number - 1):
            raise ScheduleError(f"reduce_in_lanes: {name} must be a power of two, got {number}")
    if options.shape.vectors > MAX_VECTORS:
        raise ScheduleError(
            f"reduce_in_lanes: vectors must be {MAX_VECTORS} at most, got {options.shape.vectors}",
            help="a few keep all adders busy, and fit the registers",
        )
    if options.block is not None:
        check_int(options.block, "reduce_in_lanes: block")
        if options.block < 1:
            raise ScheduleError(f"reduce_in_lanes: block must be at least 1, got {options.block}")


def _row_of(func: PrimFunc, plain: Plain, loop: For) -> Row:
    is_any = "reassoc" in func.fastmath
    row = find_row(loop, None if is_any else plain.fusion.reassociable)
    if isinstance(row, str):
        raise _refuse(func, loop.var, "reduce_in_lanes:", row)
    if not prove_free(LoopProofs(plain.marks.body), row):
        raise _refuse(
            func, loop.var, "reduce_in_lanes:", "its iterations are not proved to be independent"
        )
    return row


def _loop_of_array(func: PrimFunc, plain: Plain, var: Var, step: str) -> For:
    loop = plain.find_loop(var)
    if loop is None:
        raise _refuse(
            func, var, f"{step}:", "it is not one over the elements of an array statement"
        )
    return loop


def _refuse(func: PrimFunc, var: Var, what: str, reason: str) -> ScheduleError:
    return refuse(func, f"{what} loop '{var.name}': {reason}", [the_loop(func, var)])
