"""Take the steps of a classic schedule, consumers first, on the one engine.

The program is that of the graph: one nest of loops for each operation. Then

1. stages that are inlined vanish into those that read them;
2. from the last stage to the first, a stage moves into the loop that it is attached to, which its
   consumer has shaped already. Its loops now run over what an iteration of that loop needs, and
   its own splits, fuses and reorders are taken on these;
3. scopes, layouts and padding; intrinsics; and at last how loops run: parallel, vectorized,
   unrolled, hints.

So the order in which stages were told what to do does not matter, that of the steps of one stage
does. Every step is checked by the engine, as if the user had taken it there.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from hybridjit.errors import ScheduleError
from hybridjit.ir.func import PrimFunc
from hybridjit.schedule.classic.graph import Graph, compute_apart, is_among
from hybridjit.schedule.classic.stage import At, Inline, Stage
from hybridjit.schedule.classic.steps import (
    DoubleBuffer,
    Fuse,
    Phase,
    Place,
    RollingBuffer,
    Split,
    TransformLayout,
)
from hybridjit.schedule.handles import LoopHandle
from hybridjit.schedule.schedule import Schedule
from hybridjit.tensors.function import MAIN, Program, create_prim_func, create_program
from hybridjit.tensors.tensor import Axis, Compute, Placeholder, Tensor


class Recorded(Protocol):
    """Stages with their steps, as a classic schedule records them."""

    graph: Graph
    fastmath: tuple[str, ...]

    @property
    def outputs(self) -> tuple[Tensor, ...]:
        """What the schedule was made for."""
        ...

    @property
    def stages(self) -> tuple[Stage, ...]:
        """The stages, each after those that it reads."""
        ...


def lower_classic(classic: Recorded, args: Sequence[Any], name: str | None = None) -> Schedule:
    """The engine's schedule with all steps of `classic` taken."""
    tensors = [arg for arg in args if isinstance(arg, Tensor)]
    stages = [stage for stage in classic.stages if not isinstance(stage.op, Placeholder)][::-1]
    graph, apart = _compute_arguments_apart(classic.graph, stages, tensors)
    program = create_program(args, name or MAIN, graph.order(tensors))
    func = dataclasses.replace(program.func, fastmath=classic.fastmath)
    schedule = Schedule(_lay_out_arguments(func, classic.stages))
    _check_attachments(stages)
    _check_buffers(stages)
    places = {stage: _find_place(schedule, program, stage, graph) for stage in stages}
    blocks = {
        stage: places[stage].block
        if stage not in apart
        else program.places.main_block(graph.maker(apart[stage]))
        for stage in stages
    }
    computed = [stage for stage in stages if not _is_inlined(schedule, stage, blocks[stage])]
    for phase in Phase:
        for stage in computed:
            _take(stage, places, phase)
    return schedule


def _is_inlined(schedule: Schedule, stage: Stage, block: str) -> bool:
    """Inline a stage that is to be inlined; False if there is none, or it stays where it is."""
    if not isinstance(stage.attached, Inline):
        return False
    try:
        schedule.compute_inline(block)
    except ScheduleError:
        if not stage.attached.if_possible:
            raise
        return False
    return True


def as_written(classic: Recorded, args: Sequence[Any], name: str | None = None) -> PrimFunc:
    """The function without the schedule."""
    func = create_prim_func(args, name or MAIN)
    func = dataclasses.replace(func, fastmath=classic.fastmath)
    return _lay_out_arguments(func, classic.stages)


def _lay_out_arguments(func: PrimFunc, stages: Sequence[Stage]) -> PrimFunc:
    """`func` whose arguments have the layouts that their stages say."""
    for stage in stages:
        for step in stage.steps:
            if isinstance(step, TransformLayout):
                for tensor in stage.op.outputs:
                    func = step.take_on_argument(func, tensor)
    return func


def check_outputs(classic: Recorded, args: Sequence[Any]) -> None:
    """Refuse arguments none of which is computed: nobody would see a result.

    Outputs that are not among them are made on the way, as all other tensors are.
    """
    tensors = [arg for arg in args if isinstance(arg, Tensor)]
    if all(isinstance(tensor.op, Placeholder) for tensor in tensors):
        output = classic.outputs[0]
        raise ScheduleError(
            f"'{output.name}' is an output of the schedule, and is not among the arguments",
            help=f"pass it, as in hj.build(s, [..., {output.name}])",
        )


def _compute_arguments_apart(
    graph: Graph, stages: Sequence[Stage], tensors: Sequence[Tensor]
) -> tuple[Graph, dict[Stage, Tensor]]:
    """Give those that read an inlined argument a copy of it that can be inlined."""
    apart: dict[Stage, Tensor] = {}
    for stage in stages:
        is_passed = is_among(stage.op.outputs[0], tensors)
        if not is_passed or not isinstance(stage.attached, Inline):
            continue
        op = graph.maker(stage.op.outputs[0])
        if isinstance(op, Compute):
            graph, apart[stage] = compute_apart(graph, op)
    return graph, apart


def _check_attachments(stages: Sequence[Stage]) -> None:
    for stage in stages:
        passed = [stage]
        while isinstance(passed[-1].attached, At):
            parent = passed[-1].attached.stage
            if parent not in stages:
                raise ScheduleError(
                    f"compute_at: '{passed[-1].op.name}' is attached to '{parent.op.name}', which "
                    "is no stage of this schedule",
                    help="take both stages from one schedule, as in s[B].compute_at(s[C], axis)",
                )
            if isinstance(parent.attached, Inline):
                raise ScheduleError(
                    f"compute_at: '{passed[-1].op.name}' is attached to '{parent.op.name}', which "
                    "is inlined: its axes are not there"
                )
            _check_axis(passed[-1], parent, passed[-1].attached.axis)
            if parent in passed:
                names = ", ".join(f"'{item.op.name}'" for item in passed)
                raise ScheduleError(f"compute_at: {names} are attached to each other in a circle")
            passed.append(parent)
        for below, above in itertools.pairwise(passed):
            if stages.index(above) > stages.index(below):  # those that read others come first
                raise ScheduleError(
                    f"compute_at: '{below.op.name}' is attached to '{above.op.name}', which does "
                    "not read it",
                    help="a stage is computed in an axis of one that reads it",
                )


def _check_buffers(stages: Sequence[Stage]) -> None:
    """Refuse buffers for the iterations of a loop where a stage is not computed in a loop."""
    for stage in stages:
        for step in stage.steps:
            is_alone = stage.scan is None and not isinstance(stage.attached, At)
            if is_alone and isinstance(step, DoubleBuffer | RollingBuffer):
                kind = "double" if isinstance(step, DoubleBuffer) else "rolling"
                raise ScheduleError(
                    f"{kind}_buffer: '{stage.op.name}' is computed by itself, and not in an axis "
                    "of another stage",
                    help="attach it: s[...].compute_at(s[...], axis)",
                )


def _check_axis(stage: Stage, parent: Stage, axis: Axis) -> None:
    present = _present(parent, axis)
    if not any(leaf.var is present.var for leaf in parent.leaves):
        raise ScheduleError(
            f"compute_at: '{stage.op.name}' was attached to axis '{axis.name}' of "
            f"'{parent.op.name}' before cache_write or rfactor gave that axis to another stage",
            help="attach it afterwards, to an axis of the new stage",
        )


def _find_place(schedule: Schedule, program: Program, stage: Stage, graph: Graph) -> Place:
    made = stage.op if stage.scan is not None else graph.maker(stage.op.outputs[0])
    loops = {
        var: LoopHandle(loop) for (op, var), loop in program.places.loops.items() if op is made
    }
    outputs = stage.op.outputs if stage.scan is None else ()
    return Place(schedule, program.places.main_block(made), loops, outputs)


def _take(stage: Stage, places: Mapping[Stage, Place], phase: Phase) -> None:
    place = places[stage]
    if phase is Phase.SHAPE and isinstance(stage.attached, At):
        parent = stage.attached.stage
        axis = _present(parent, stage.attached.axis)
        place.schedule.compute_at(place.block, places[parent].loop(axis))
    for step in stage.steps:
        if step.phase is phase:
            step.take(place)


def _present(stage: Stage, axis: Axis) -> Axis:
    """What `axis` has become: the inner part of a split, the whole of a fusion."""
    for step in stage.steps:
        if isinstance(step, Split) and step.axis.var is axis.var:
            axis = step.inner
        elif isinstance(step, Fuse) and any(part.var is axis.var for part in step.parts):
            axis = step.fused
    return axis
