"""compute_at: compute buffers inside of the loop that reads them, as much as an iteration needs."""

from __future__ import annotations

import dataclasses
from functools import reduce

from hybridjit.analysis.coverage import Coverage
from hybridjit.analysis.dependence import Dependences
from hybridjit.analysis.inside import find_outside
from hybridjit.analysis.instances import Part, infer_instances
from hybridjit.analysis.regions import Region, box_around, touched_elements
from hybridjit.analysis.reordering import find_fault
from hybridjit.arith.totality import is_total
from hybridjit.ir.expr import Var
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.stmt import Allocate, For, Seq, Stmt, While, seq
from hybridjit.record import record
from hybridjit.schedule.bind_loops import bind_loops
from hybridjit.schedule.buffers import find_allocation
from hybridjit.schedule.lost_errors import check_errors
from hybridjit.schedule.program import (
    loops_around,
    path_to,
    replace_inside,
    replace_stmts,
    the_block,
    the_loop,
)
from hybridjit.schedule.refusal import check_concurrent, refuse, refuse_conflict
from hybridjit.schedule.restriction import Slices, find_slices, is_all_of_axis, restrict
from hybridjit.schedule.stages import Stage, count_accesses, find_stage, is_certain, writes

STEP = "compute_at"


@record(eq=False)
class Plan:
    """What is moved, and what that gives. Finding it takes longest, so it is shared."""

    stage: Stage
    allocations: tuple[Allocate, ...] | None
    moved: Moved
    is_exact: bool


@record(eq=False)
class Moved:
    """The program after the move: `scope` stands for the sequence of the stage."""

    func: PrimFunc
    scope: Stmt
    nests: tuple[Stmt, ...]
    target: Stmt


def compute_at(func: PrimFunc, block_name: str, var: Var) -> PrimFunc:
    """Compute the buffers of a block in the loop over `var`, in each iteration what that needs.

        t = allocate((n,), "float32")         for i in range(n - 1):
        for i in range(n):                        t = allocate((n,), "float32")
            with block("t", i):                   for j in range(i, i + 2):
                t[i] = f(a[i])         -->            with block("t", j):
        for i in range(n - 1):                            t[j] = f(a[j])
            with block("c", i):                   with block("c", i):
                c[i] = t[i] + t[i + 1]                c[i] = t[i] + t[i + 1]

    All nests beside the block that write its buffer move with it. A buffer that is used nowhere
    else is made anew in each iteration, and what two iterations need is computed twice; lowering
    makes it as small as what is needed. Any other buffer is legal only if every element is still
    computed once. What the block reads must not be written in between. Where a block writes several
    buffers, all at the same indices, an iteration makes of each what it needs of any.
    """
    plan = plan_compute_at(func, block_name, var)
    check_compute_at(func, plan)
    return make_compute_at(plan)


def plan_compute_at(func: PrimFunc, block_name: str, var: Var) -> Plan:
    """The nests that move, cut down to what an iteration of the loop needs."""
    stage = find_stage(func, the_block(func, block_name), the_loop(func, var), STEP)
    _check_order(func, stage)
    part = infer_instances(func, stage.loop.body)
    region = _needed(func, stage, part)
    nests = tuple(_restricted(func, stage, nest, region, part) for nest in stage.nests)
    allocations = _find_private(func, stage)
    moved = _move(func, stage, nests, allocations or ())
    return Plan(stage, allocations, moved, _is_exact(region, part))


def check_compute_at(func: PrimFunc, plan: Plan) -> None:
    """Refuse what would compute something else, or not at all."""
    stage, moved = plan.stage, plan.moved
    known = is_certain(func, stage) and plan.is_exact
    if plan.allocations is None:
        _check_runs_once(func, stage, moved if known else None)
    else:
        _check_inputs(func, stage, moved)
        check_errors(func, stage, (moved.func, moved.scope) if known else None, STEP)
    check_concurrent(moved.func, loops_around(func, stage.loop.body), STEP)


def make_compute_at(plan: Plan) -> PrimFunc:
    """The program after the move."""
    return bind_loops(plan.moved.func)


def _check_order(func: PrimFunc, stage: Stage) -> None:
    stmts = stage.scope.stmts
    if stmts.index(stage.nests[-1]) > stmts.index(stage.target):
        raise refuse(
            func,
            f"{STEP}: loop '{stage.loop.var.name}' comes before {stage.names} is computed",
            [stage.loop],
            help="s.reverse_compute_at moves a block into a loop before it",
        )


def _needed(func: PrimFunc, stage: Stage, part: Part) -> Region:
    """What an iteration of the loop reads of the buffers."""
    loop, first = stage.loop, stage.buffers[0]
    if any(buffer.shape != first.shape for buffer in stage.buffers):
        raise refuse(func, f"{STEP}: {stage.names} have different shapes", stage.nests)
    found = [touched_elements(part, buffer, writes=False) for buffer in stage.buffers]
    touched = [elements for elements in found if elements is not None]
    if not touched:
        raise refuse(
            func,
            f"{STEP}: loop '{loop.var.name}' does not read {stage.names}",
            [loop],
            help="compute it in a loop that does",
        )
    for buffer in stage.buffers:
        if writes(loop.body, buffer):
            raise refuse(
                func, f"{STEP}: loop '{loop.var.name}' writes to '{buffer.name}' itself", [loop]
            )
    return box_around(part, first, reduce(lambda one, other: one.union(other), touched))


def _restricted(func: PrimFunc, stage: Stage, nest: Stmt, region: Region, part: Part) -> Stmt:
    """`nest` for the slices of the region, axis by axis."""
    made = nest
    for axis, wanted in enumerate(region.axes):
        if is_all_of_axis(wanted, region.buffer.shape[axis], part):
            continue
        slices = _find_slices(func, stage, nest, axis)
        if isinstance(slices, str):
            raise refuse(
                func,
                f"{STEP}: an iteration of loop '{stage.loop.var.name}' needs a part of "
                f"{stage.names}, but the nest that computes it cannot leave out the rest: "
                f"{slices}",
                [stage.loop, *stage.nests],
            )
        made = restrict(made, slices, wanted, part)
    return made


def _find_slices(func: PrimFunc, stage: Stage, nest: Stmt, axis: int) -> Slices | str:
    scope = infer_instances(func, stage.scope)
    for buffer in stage.buffers:
        if find_outside(scope, buffer, [axis], scope.inside(nest)) is not None:
            return f"its index on axis {axis} may be negative, and so count from the end"
    return find_slices(nest, stage.buffers, axis)


def _find_private(func: PrimFunc, stage: Stage) -> tuple[Allocate, ...] | None:
    """The allocations of the buffers, if each iteration of the loop may have some of its own.

    Then nothing but the nests and the body of the loop touches the buffers, and what they read of
    them was not left there by an earlier run of the sequence.
    """
    found: list[Allocate] = []
    for buffer in stage.buffers:
        allocation = find_allocation(func, buffer)
        if allocation is None or not all(is_total(extent) for extent in buffer.shape):
            return None
        inside = sum(count_accesses(stmt, buffer) for stmt in (*stage.nests, stage.loop.body))
        if inside != count_accesses(func.body, buffer) or not _is_fresh(func, stage, allocation):
            return None
        found.append(allocation)
    return tuple(found)


def _is_fresh(func: PrimFunc, stage: Stage, allocation: Allocate) -> bool:
    around = path_to(func, allocation)
    inner = path_to(func, stage.scope)[len(around) - 1 :]
    if not any(isinstance(stmt, For | While) for stmt in inner):
        return True
    part = infer_instances(func, stage.scope)
    return Coverage(part, stage.scope, allocation.buffer).prove_read_after_write()


def _move(
    func: PrimFunc, stage: Stage, nests: tuple[Stmt, ...], own: tuple[Allocate, ...]
) -> Moved:
    loop = dataclasses.replace(stage.loop, body=seq(*own, *nests, stage.loop.body))
    target = replace_inside(stage.target, {stage.loop: loop})
    kept = [
        target if stmt is stage.target else stmt
        for stmt in stage.scope.stmts
        if stmt not in stage.nests and stmt not in own
    ]
    scope = seq(*kept)
    changes: dict[Stmt, Stmt] = {stage.scope: scope}
    changes |= {stmt: Seq(()) for stmt in own if stmt not in stage.scope.stmts}
    return Moved(replace_stmts(func, changes), scope, nests, target)


def _check_inputs(func: PrimFunc, stage: Stage, moved: Moved) -> None:
    """Refuse if what a nest reads is written between where it ran and where it runs now."""
    part = infer_instances(moved.func, moved.scope)
    dependences = Dependences(part)
    for old, nest in zip(stage.nests, moved.nests, strict=True):
        own = {statement for made in moved.nests for statement in part.inside(made)}
        passed = [*stage.after(old), moved.target]
        firsts = [found for stmt in passed for found in part.inside(stmt) if found not in own]
        conflict = dependences.find_before(firsts, part.inside(nest), stage.buffers)
        if conflict is not None:
            raise refuse_conflict(
                func,
                f"{STEP}: what {stage.names} is computed from changes before loop "
                f"'{stage.loop.var.name}' needs it",
                conflict,
                [stage.loop],
            )


def _is_exact(region: Region, part: Part) -> bool:
    """Whether isl can say what is in the region."""
    bounds = (bound for axis in region.axes for bound in (axis.start, axis.stop))
    return all(part.names.affine(bound) is not None for bound in bounds)


def _check_runs_once(func: PrimFunc, stage: Stage, moved: Moved | None) -> None:
    """Refuse unless every iteration of the nests runs once; None: that is not known."""
    old = infer_instances(func, stage.scope)
    fault = None
    if moved is not None:
        fault = find_fault(old, infer_instances(moved.func, moved.scope), func.fastmath)
        if fault is None:
            return
    if fault is not None and fault.conflict is not None:
        raise refuse_conflict(
            func,
            f"{STEP} to loop '{stage.loop.var.name}' would turn a dependence around",
            fault.conflict,
            [stage.loop],
        )
    raise refuse(
        func,
        f"{STEP}: {stage.names} is used outside of loop '{stage.loop.var.name}', or keeps "
        "what it held before, so each element must be computed once, but the iterations of the "
        "loop may need it more often or not at all",
        [stage.loop, *stage.nests],
        help="compute it in a loop around all that uses it, or leave it where it is",
    )
