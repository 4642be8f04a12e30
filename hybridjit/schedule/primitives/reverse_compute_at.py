"""reverse_compute_at: run a nest inside of a loop before it, each iteration when it is ready."""

from __future__ import annotations

import dataclasses

from hybridjit.analysis.completion import Completion, find_completion
from hybridjit.analysis.instances import infer_instances
from hybridjit.analysis.regions import AxisRange
from hybridjit.analysis.reordering import Fault, find_fault
from hybridjit.arith.simplify import simplify
from hybridjit.errors import ScheduleError
from hybridjit.ir.dtype import BOOL
from hybridjit.ir.expr import Const, Var
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.stmt import For, If, Stmt, seq
from hybridjit.ir.visit import walk_stmts
from hybridjit.schedule.bind_loops import bind_loops
from hybridjit.schedule.program import (
    loops_around,
    path_to,
    replace_inside,
    replace_stmt,
    the_block,
    the_loop,
)
from hybridjit.schedule.refusal import check_concurrent, refuse, refuse_conflict
from hybridjit.schedule.restriction import Slices, restrict
from hybridjit.schedule.stages import Stage, find_nest, is_certain, with_names_first

STEP = "reverse_compute_at"


def reverse_compute_at(func: PrimFunc, block_name: str, var: Var) -> PrimFunc:
    """Run the nest of a block inside of the loop over `var`, which comes before it.

        for i in range(n):                    for i in range(n):
            with block("t", i):                   with block("t", i):
                t[i] = f(a[i])         -->            t[i] = f(a[i])
        for i in range(n):                        for j in range(i, i + 1):
            with block("c", i):                       with block("c", j):
                c[i] = t[i] + 1                           c[j] = t[j] + 1

    Each iteration of the loop ends with the iterations of the nest that have waited for it, and
    for nothing later. Legal if all of them still run, once, after what they depend on.
    """
    stage = find_nest(func, the_block(func, block_name), the_loop(func, var), STEP)
    func, stage = with_names_first(func, stage, STEP)
    completion = _find_completion(func, stage)

    nest = _restricted(func, stage, completion)
    made, fault = _move(func, stage, nest)
    if fault is not None and completion.condition != Const(True, BOOL):
        # The condition may say no more than that there is anything to wait for.
        made, fault = _move(func, stage, If(completion.condition, nest))

    if fault is not None:
        raise _refuse_fault(func, stage, fault)
    check_concurrent(made, loops_around(func, stage.loop.body), STEP)
    return bind_loops(made)


def _move(func: PrimFunc, stage: Stage, nest: Stmt) -> tuple[PrimFunc, Fault | None]:
    """The program with `nest` at the end of the loop, and what is wrong with it."""
    loop = dataclasses.replace(stage.loop, body=seq(stage.loop.body, nest))
    target = replace_inside(stage.target, {stage.loop: loop})
    kept = (stmt for stmt in stage.scope.stmts if stmt not in stage.nests)
    scope = seq(*(target if stmt is stage.target else stmt for stmt in kept))
    made = replace_stmt(func, stage.scope, scope)
    old, new = infer_instances(func, stage.scope), infer_instances(made, scope)
    return made, find_fault(old, new, func.fastmath)


def _find_completion(func: PrimFunc, stage: Stage) -> Completion:
    stmts, loop = stage.scope.stmts, stage.loop
    if stmts.index(stage.nests[0]) < stmts.index(stage.target):
        raise refuse(
            func,
            f"{STEP}: the block comes before loop '{loop.var.name}'",
            [loop],
            help="s.compute_at moves a block into a loop behind it",
        )
    if not is_certain(func, stage):
        raise refuse(
            func,
            f"{STEP}: it is not known which iterations of loop '{loop.var.name}' run",
            [loop],
        )
    path = path_to(func, loop)
    loops = [stmt for stmt in path[path.index(stage.target) :] if isinstance(stmt, For)]
    found = find_completion(func, stage.scope, loops, stage.nests[0])
    if found is None:
        raise refuse(
            func, f"{STEP}: the block depends on nothing in loop '{loop.var.name}'", [loop]
        )
    return found


def _restricted(func: PrimFunc, stage: Stage, completion: Completion) -> Stmt:
    """The nest for the iterations that one iteration of the loop completes."""
    part = infer_instances(func, stage.loop.body)
    nest = stage.nests[0]
    for loop in [node for node in walk_stmts(nest) if isinstance(node, For)]:
        if loop.var in completion.ranges:
            start, stop = completion.ranges[loop.var]
            wanted = AxisRange(start, stop, simplify(stop - start), None)
            nest = restrict(nest, Slices(loop.var, (loop,)), wanted, part)
    return nest


def _refuse_fault(func: PrimFunc, stage: Stage, fault: Fault) -> ScheduleError:
    loop = stage.loop
    if fault.conflict is not None:
        return refuse_conflict(
            func,
            f"{STEP} to loop '{loop.var.name}' would turn a dependence around",
            fault.conflict,
            [loop],
        )
    return refuse(
        func,
        f"{STEP}: the iterations of {stage.names} cannot be dealt out to those of loop "
        f"'{loop.var.name}', so that each of them runs once",
        [loop, fault.statement.node],
    )
