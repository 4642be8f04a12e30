"""squares: run two loops in squares."""

from __future__ import annotations

from hybridjit.errors import ScheduleError
from hybridjit.ir.expr import Var
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.stmt import For
from hybridjit.ir.visit import walk_stmts
from hybridjit.schedule.arrays.plain import Plain
from hybridjit.schedule.arrays.sink import SinkProofs
from hybridjit.schedule.arrays.squares import find_squares
from hybridjit.schedule.program import the_loop
from hybridjit.schedule.refusal import refuse


def squares(func: PrimFunc, var: Var, size: int, least: int) -> PrimFunc:
    """Run the loop over `var` and the one in it in squares: see schedule/arrays/squares.py."""
    if size < 2:
        raise _refuse(func, var, f"squares of {size} are none")
    plain = Plain.of(func)
    loops = (stmt for stmt in walk_stmts(plain.marks.body) if isinstance(stmt, For))
    loop = next(loop for loop in loops if loop.var is var)
    found = find_squares(loop)
    if found is None:
        raise _refuse(func, var, "it is not one around another one alone, of a range of its own")
    obstacle = SinkProofs(func, plain.marks.body).find_obstacle_in(found.nest)
    if obstacle is not None:
        raise _refuse(func, var, obstacle)
    made = [found.make(size, least) if stmt is loop else stmt for stmt in plain.list_with(loop)]
    return plain.with_new_blocks(loop).with_list(loop, made)


def _refuse(func: PrimFunc, var: Var, reason: str) -> ScheduleError:
    return refuse(func, f"squares: loop '{var.name}': {reason}", [the_loop(func, var)])
