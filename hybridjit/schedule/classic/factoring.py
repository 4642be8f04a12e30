"""What rfactor needs to know about a stage: its reduced axes in terms of how they were split."""

from __future__ import annotations

from collections.abc import Sequence

from hybridjit.arith.simplify import simplify
from hybridjit.errors import ScheduleError
from hybridjit.ir.expr import Const, Expr, FloorDiv, Lt, Mod, Var
from hybridjit.ir.visit import walk
from hybridjit.schedule.classic.rfactor import Factoring
from hybridjit.schedule.classic.stage import Inline, Stage, extent_of
from hybridjit.schedule.classic.steps import Fuse, Reorder, Split, Step
from hybridjit.tensors.reduction import Reduction
from hybridjit.tensors.tensor import Axis, AxisKind, Compute


def factor_stage(stage: Stage, axis: Axis, factor_axis: int) -> Factoring:
    """How to take the reduction of `stage` apart along `axis`; takes its reduced axes away."""
    op = _check(stage, axis)
    places = len(op.axis) + 1
    if not -places <= factor_axis < places:
        raise ScheduleError(
            f"rfactor: factor_axis is {factor_axis}, and '{op.name}' has {len(op.axis)} axes",
            help=f"give a number from 0 to {len(op.axis)}, or a negative one, from the end",
        )
    reduced = [leaf for leaf in stage.leaves if leaf.kind is AxisKind.REDUCE]
    kept = tuple(leaf for leaf in reduced if leaf.var is not axis.var)
    shaping = [step for step in stage.steps if _touches_reduced(step)]
    values, guards = values_of_axes(shaping)
    if not any(axis.var in variables(value) for value in values.values()):
        values[axis.var] = simplify(axis.var + axis.start)
    stage.steps = [step for step in map(without_reduced, stage.steps) if step is not None]
    stage.leaves = [leaf for leaf in stage.leaves if leaf.kind is not AxisKind.REDUCE]
    factor = Axis(axis.var, Const(0), extent_of(axis), AxisKind.REDUCE)
    return Factoring(factor, kept, values, tuple(guards), factor_axis % places)


def _check(stage: Stage, axis: Axis) -> Compute:
    op = stage.op
    if not isinstance(op, Compute) or not isinstance(op.body, Reduction):
        raise ScheduleError(f"rfactor: '{op.name}' is no reduction")
    if isinstance(stage.attached, Inline):
        raise ScheduleError(f"rfactor: '{op.name}' is inlined")
    stage.find(axis, "rfactor")
    if axis.kind is not AxisKind.REDUCE:
        reduced = ", ".join(f"'{known.name}'" for known in op.reduce_axis)
        raise ScheduleError(
            f"rfactor: axis '{axis.name}' of '{op.name}' is not reduced",
            help=f"it reduces over {reduced}",
        )
    for step in stage.steps:
        kinds = {part.kind for part in step.axes}
        if isinstance(step, Fuse) and AxisKind.REDUCE in kinds and len(kinds) > 1:
            raise ScheduleError(
                f"rfactor: '{step.fused.name}' is fused of an axis that is reduced and one that "
                "is not",
                help="factor before they are fused",
            )
    others = [other.name for other in op.axis if other.var in variables(extent_of(axis))]
    if others:
        raise ScheduleError(
            f"rfactor: how far axis '{axis.name}' of '{op.name}' goes depends on '{others[0]}'",
            help="split it by a number, and factor the inner part",
        )
    roots = {root.var for root in op.body.axes}
    if any(var in roots for root in op.body.axes for b in root.dom for var in variables(b)):
        raise ScheduleError(f"rfactor: the reduced axes of '{op.name}' depend on each other")
    return op


def variables(expr: Expr) -> set[Var]:
    """The variables in `expr`."""
    return {node for node in walk(expr) if isinstance(node, Var)}


def values_of_axes(steps: Sequence[Step]) -> tuple[dict[Var, Expr], list[Expr]]:
    """Each axis that was split or fused, by those that are left, and where it is in its range."""
    known: dict[Var, Expr] = {}
    guards: list[Expr] = []
    for step in reversed(steps):
        match step:
            case Split(axis, outer, inner):
                first, second = (known.get(part.var, part.var) for part in (outer, inner))
                count = simplify(first * extent_of(inner) + second)
                known[axis.var] = simplify(axis.start + count)
                if simplify(extent_of(outer) * extent_of(inner)) != extent_of(axis):
                    guards.append(Lt(count, extent_of(axis)))
            case Fuse(parts, fused) if parts:
                rest = known.get(fused.var, fused.var)
                for part in reversed(parts[1:]):
                    known[part.var] = simplify(part.start + Mod(rest, extent_of(part)))
                    rest = FloorDiv(rest, extent_of(part))
                known[parts[0].var] = simplify(parts[0].start + rest)
            case _:
                pass
    return known, guards[::-1]


def _touches_reduced(step: Step) -> bool:
    return any(axis.kind is AxisKind.REDUCE for axis in step.axes)


def without_reduced(step: Step) -> Step | None:
    """`step` as far as it is about axes that stay."""
    if not _touches_reduced(step):
        return step
    if isinstance(step, Reorder):
        order = tuple(axis for axis in step.order if axis.kind is not AxisKind.REDUCE)
        return Reorder(order) if len(order) > 1 else None
    return None
