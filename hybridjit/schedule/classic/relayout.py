"""The layout that axes of a stage give to a copy: its dimensions are the axes as they are now.

io, ii = s[C].split(i, 4)          C_local[io, j, ii] = ... of C[io * 4 + ii, j]
s[C].reorder(io, j, ii)      -->   C[i, j] = C_local[i // 4, j, i % 4]
CL = s.cache_write(C, "local")
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hybridjit.arith.simplify import simplify
from hybridjit.errors import ScheduleError
from hybridjit.ir.expr import Expr, FloorDiv, Mod, Var
from hybridjit.record import record
from hybridjit.schedule.classic.factoring import values_of_axes, without_reduced
from hybridjit.schedule.classic.stage import Stage, extent_of
from hybridjit.schedule.classic.steps import Fuse, Phase, Split, Step
from hybridjit.schedule.classic.waiting import Waiting
from hybridjit.tensors.tensor import Axis, AxisKind, Compute


@record(eq=False)
class Relayout:
    """The data axes of a stage as they are now, `leaves`.

    `values` are the axes of the operation in terms of these, valid where `guards` hold; `indices`
    are the leaves in terms of the axes of the operation.
    """

    leaves: tuple[Axis, ...]
    values: Mapping[Var, Expr]
    guards: tuple[Expr, ...]
    indices: tuple[Expr, ...]


def take_layout(stage: Stage, op: Compute) -> Relayout:
    """The layout that the axes of `stage` have. The stage starts anew, and its steps wait."""
    shaping = [step for step in stage.steps if step.phase is Phase.SHAPE]
    _check(stage, op)
    leaves = tuple(axis for axis in stage.leaves if axis.kind is not AxisKind.REDUCE)
    places = _places(op.axis, shaping)
    values, guards = values_of_axes(
        [step for step in shaping if not any(_is_reduced(axis) for axis in step.axes)]
    )
    stage.steps = [step for step in stage.steps if step.phase not in _TAKEN]
    stage.leaves = list(op.axis)
    kept = (without_reduced(step) for step in shaping)
    stage.waiting = Waiting(leaves, tuple(step for step in kept if step is not None))
    indices = tuple(places[leaf.var] for leaf in leaves)
    return Relayout(leaves, values, tuple(guards), indices)


_TAKEN = (Phase.SHAPE, Phase.INTRINSIC)


def _check(stage: Stage, op: Compute) -> None:
    roots = {axis.var for axis in op.axis}
    for step in stage.steps:
        kinds = {_is_reduced(axis) for axis in step.axes}
        if isinstance(step, Fuse) and len(kinds) > 1:
            raise ScheduleError(
                f"cache_write: '{step.fused.name}' is fused of an axis that is reduced and one "
                "that is not, and cannot be a dimension",
                help="call cache_write first",
            )
        lost = [axis.name for axis in step.axes if axis.var not in roots]
        if step.phase is Phase.KIND and lost:
            raise ScheduleError(
                f"cache_write: it has been said how axis '{lost[0]}' of '{op.name}' runs, and the "
                "axes of the stage start anew",
                help="call cache_write first",
            )


def _places(axes: Sequence[Axis], steps: Sequence[Step]) -> dict[Var, Expr]:
    """Each axis that was made of `axes`, counted from 0, in terms of them."""
    known: dict[Var, Expr] = {axis.var: simplify(axis.var - axis.start) for axis in axes}
    for step in steps:
        match step:
            case Split(axis, outer, inner) if axis.var in known:
                known[outer.var] = simplify(FloorDiv(known[axis.var], extent_of(inner)))
                known[inner.var] = simplify(Mod(known[axis.var], extent_of(inner)))
            case Fuse((first, *others), fused) if first.var in known:
                place = known[first.var]
                for part in others:
                    place = place * extent_of(part) + known[part.var]
                known[fused.var] = simplify(place)
            case Fuse((), fused):
                known[fused.var] = simplify(fused.start)
            case _:
                pass
    return known


def _is_reduced(axis: Axis) -> bool:
    return axis.kind is AxisKind.REDUCE
