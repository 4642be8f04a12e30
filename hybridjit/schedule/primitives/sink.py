"""sink: run a loop inside of the nests that it is around."""

from __future__ import annotations

from hybridjit.errors import ScheduleError
from hybridjit.ir.expr import Var
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.stmt import For
from hybridjit.ir.visit import walk_stmts
from hybridjit.schedule.arrays.plain import Plain
from hybridjit.schedule.arrays.sink import SinkProofs, find_sunk
from hybridjit.schedule.program import the_loop
from hybridjit.schedule.refusal import refuse


def sink(func: PrimFunc, var: Var) -> PrimFunc:
    """Run the loop over `var` inside of the nests in it: see schedule/arrays/sink.py."""
    plain = Plain.of(func)
    loops = (stmt for stmt in walk_stmts(plain.marks.body) if isinstance(stmt, For))
    loop = next(loop for loop in loops if loop.var is var)
    sunk = find_sunk(loop)
    if sunk is None:
        raise _refuse(func, var, "it is not one around nests over the same ranges, and them alone")
    obstacle = SinkProofs(func, plain.marks.body).find_obstacle(sunk)
    if obstacle is not None:
        raise _refuse(func, var, obstacle)
    made = [sunk.make() if stmt is loop else stmt for stmt in plain.list_with(loop)]
    return plain.with_new_blocks(loop).with_list(loop, made)


def _refuse(func: PrimFunc, var: Var, reason: str) -> ScheduleError:
    return refuse(func, f"sink: loop '{var.name}': {reason}", [the_loop(func, var)])
