"""sums_first: compute the sums of a group of rows before what is done with them."""

from __future__ import annotations

from hybridjit.errors import ScheduleError
from hybridjit.ir.expr import Var
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.stmt import For, seq
from hybridjit.ir.visit import walk_stmts
from hybridjit.schedule.arrays.plain import Plain
from hybridjit.schedule.arrays.sink import SinkProofs
from hybridjit.schedule.arrays.sums_first import find_sums_first
from hybridjit.schedule.primitives.hints import MAX_SUMS, check_lanes
from hybridjit.schedule.program import the_loop
from hybridjit.schedule.refusal import refuse


def sums_first(func: PrimFunc, var: Var, group: int) -> PrimFunc:
    """Cut the loop over `var` into groups whose sums come first: see arrays/sums_first.py."""
    check_lanes("sums_first", group, MAX_SUMS)
    if group == 1:
        raise _refuse(func, var, "groups of one iteration are none")
    plain = Plain.of(func)
    loops = (stmt for stmt in walk_stmts(plain.marks.body) if isinstance(stmt, For))
    loop = next(loop for loop in loops if loop.var is var)
    found = find_sums_first(loop)
    if found is None:
        raise _refuse(func, var, "its iterations are no sums in variables of their own, and a rest")
    proofs = SinkProofs(func, plain.marks.body)
    obstacle = proofs.find_obstacle_between(loop, seq(*found.sums), seq(*found.rest))
    if obstacle is not None:
        raise _refuse(func, var, obstacle)
    made = [found.make(group) if stmt is loop else stmt for stmt in plain.list_with(loop)]
    return plain.with_new_blocks(loop).with_list(loop, made)


def _refuse(func: PrimFunc, var: Var, reason: str) -> ScheduleError:
    return refuse(func, f"sums_first: loop '{var.name}': {reason}", [the_loop(func, var)])
