"""Random steps of a classic schedule: every kind of step, on stages and axes that are there.

A move is made of a number: made again on a schedule with the same steps, it does the same.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from hybridjit.errors import ScheduleError
from hybridjit.schedule.classic.schedule import ClassicSchedule
from hybridjit.schedule.classic.stage import At, Stage
from hybridjit.tensors.scan import Scan
from hybridjit.tensors.tensor import Axis, AxisKind, Compute, Placeholder, Tensor

T = TypeVar("T")
Choose = random.Random
Take = Callable[[ClassicSchedule, Choose], str]

FACTORS = (1, 2, 3, 4, 8)


@dataclass(frozen=True, slots=True)
class Move:
    """A step of some kind; `number` says on what and how."""

    kind: str
    number: int

    def take(self, s: ClassicSchedule) -> str:
        """Take the step and say what it was; a ScheduleError refuses it."""
        return MOVES[self.kind](s, random.Random(self.number))


def pick(choose: Choose, options: Sequence[T]) -> T:
    """One of `options`; without any, the move cannot be made."""
    if not options:
        raise Impossible("there is nothing to choose from")
    return choose.choice(options)


class Impossible(ScheduleError):
    """There is nothing in the graph that a move of this kind could be about."""


def any_stage(s: ClassicSchedule, choose: Choose) -> Stage:
    """A stage that computes."""
    return pick(choose, [stage for stage in s.stages if not isinstance(stage.op, Placeholder)])


def any_axis(stage: Stage, choose: Choose) -> Axis:
    """An axis of a stage as it is now."""
    return pick(choose, stage.leaves)


def any_inner(s: ClassicSchedule, choose: Choose) -> Stage:
    """A stage that is no output, so that it may be placed."""
    stages = [stage for stage in s.stages if not isinstance(stage.op, Placeholder)]
    return pick(choose, [stage for stage in stages if not stage.is_output])


def any_compute(s: ClassicSchedule, choose: Choose) -> tuple[Stage, Compute]:
    """A stage of a te.compute."""
    stages = [stage for stage in s.stages if isinstance(stage.op, Compute)]
    stage = pick(choose, stages)
    assert isinstance(stage.op, Compute)
    return stage, stage.op


def readers_of(s: ClassicSchedule, stage: Stage) -> list[Stage]:
    """The stages that read a stage; of a scan, those of its steps, too."""
    readers = [s[op] for tensor in stage.op.outputs for op in s.graph.readers(tensor)]
    inside = [s[step] for item in readers if isinstance(item.op, Scan) for step in item.op.stages]
    if stage.scan is not None:
        inside += [s[step] for step in stage.scan.stages if stage.op.outputs[0] in step.inputs]
    return readers + inside


# -- loops -----------------------------------------------------------------------------------------


def _split(s: ClassicSchedule, choose: Choose) -> str:
    stage = any_stage(s, choose)
    axis, size = any_axis(stage, choose), choose.choice(FACTORS)
    if choose.random() < 0.3:
        stage.split(axis, nparts=size)
        return f"{stage.op.name}.split({axis.name}, nparts={size})"
    stage.split(axis, factor=size)
    return f"{stage.op.name}.split({axis.name}, {size})"


def _tile(s: ClassicSchedule, choose: Choose) -> str:
    stage = any_stage(s, choose)
    if len(stage.leaves) < 2:
        raise Impossible("there are no two axes")
    x, y = choose.sample(stage.leaves, 2)
    sizes = choose.choice(FACTORS), choose.choice(FACTORS)
    stage.tile(x, y, *sizes)
    return f"{stage.op.name}.tile({x.name}, {y.name}, {sizes[0]}, {sizes[1]})"


def _fuse(s: ClassicSchedule, choose: Choose) -> str:
    stage = any_stage(s, choose)
    if len(stage.leaves) < 2:
        raise Impossible("there are no two axes")
    first = choose.randrange(len(stage.leaves) - 1)
    axes = stage.leaves[first : first + choose.choice([2, 2, 3])]
    stage.fuse(*axes)
    return f"{stage.op.name}.fuse({_names(axes)})"


def _reorder(s: ClassicSchedule, choose: Choose) -> str:
    stage = any_stage(s, choose)
    if len(stage.leaves) < 2:
        raise Impossible("there are no two axes")
    order = choose.sample(stage.leaves, choose.randint(2, len(stage.leaves)))
    stage.reorder(*order)
    return f"{stage.op.name}.reorder({_names(order)})"


def _names(axes: Sequence[Axis]) -> str:
    return ", ".join(axis.name for axis in axes)


# -- how loops run ---------------------------------------------------------------------------------


def _kind(kind: str) -> Take:
    def take(s: ClassicSchedule, choose: Choose) -> str:
        stage = any_stage(s, choose)
        # Axes that are reduced over cannot run at once, mostly.
        data = [axis for axis in stage.leaves if axis.kind is AxisKind.DATA]
        axis = pick(choose, data if choose.random() < 0.8 and data else stage.leaves)
        getattr(stage, kind)(axis)
        return f"{stage.op.name}.{kind}({axis.name})"

    return take


def _bind(s: ClassicSchedule, choose: Choose) -> str:
    stage = any_stage(s, choose)
    axis = any_axis(stage, choose)
    stage.bind(axis, "threadIdx.x")
    return f"{stage.op.name}.bind({axis.name})"


def _pragma(s: ClassicSchedule, choose: Choose) -> str:
    stage = any_stage(s, choose)
    axis = any_axis(stage, choose)
    name, value = choose.choice([("auto_unroll_max_step", 16), ("unroll", None), ("note", "x")])
    stage.pragma(axis, name, value)
    return f"{stage.op.name}.pragma({axis.name}, {name!r})"


def _prefetch(s: ClassicSchedule, choose: Choose) -> str:
    stage = any_stage(s, choose)
    tensor: Tensor = pick(choose, stage.op.input_tensors)
    axis, distance = any_axis(stage, choose), choose.choice([1, 2, 4])
    stage.prefetch(tensor, axis, distance)
    return f"{stage.op.name}.prefetch({tensor.name}, {axis.name}, {distance})"


# -- where stages are computed ---------------------------------------------------------------------


def _compute_at(s: ClassicSchedule, choose: Choose) -> str:
    stage = any_inner(s, choose)
    parent = pick(choose, readers_of(s, stage))
    axis = any_axis(parent, choose)
    stage.compute_at(parent, axis)
    return f"{stage.op.name}.compute_at({parent.op.name}, {axis.name})"


def _compute_inline(s: ClassicSchedule, choose: Choose) -> str:
    stage = any_inner(s, choose)
    stage.compute_inline()
    return f"{stage.op.name}.compute_inline()"


def _compute_root(s: ClassicSchedule, choose: Choose) -> str:
    stage = any_inner(s, choose)
    stage.compute_root()
    return f"{stage.op.name}.compute_root()"


def _auto_inline(s: ClassicSchedule, choose: Choose) -> str:
    kind: Any = choose.choice(["elementwise", "broadcast", "injective"])
    s.auto_inline(kind)
    return f"auto_inline({kind})"


def _create_group(s: ClassicSchedule, choose: Choose) -> str:
    stage = any_inner(s, choose)
    parent = pick(choose, readers_of(s, stage))
    source = pick(choose, stage.op.input_tensors)
    axis, include = any_axis(parent, choose), choose.random() < 0.5
    before = [(item, item.attached) for item in s.stages]
    group = s.create_group(stage.op, source, include_inputs=include)
    try:
        group.compute_at(parent, axis)
    except ScheduleError:
        for item, attached in before:
            item.attached = attached
        raise
    placed = ", ".join(item.op.name for item in group.stages)
    return f"create_group({placed}).compute_at({parent.op.name}, {axis.name})"


# -- new stages ------------------------------------------------------------------------------------


def _cache_read(s: ClassicSchedule, choose: Choose) -> str:
    stage = any_stage(s, choose)
    tensor = pick(choose, stage.op.input_tensors)
    s.cache_read(tensor, "local", [stage.op])
    return f"cache_read({tensor.name}, {stage.op.name})"


def _cache_write(s: ClassicSchedule, choose: Choose) -> str:
    _, op = any_compute(s, choose)
    outputs = list(op.outputs)
    s.cache_write(outputs if len(outputs) > 1 else outputs[0], "local")
    return f"cache_write({op.name})"


def _rfactor(s: ClassicSchedule, choose: Choose) -> str:
    reductions = [stage for stage in s.stages if _is_reduction(stage)]
    stage = pick(choose, reductions)
    op = stage.op
    axis = pick(choose, [leaf for leaf in stage.leaves if leaf.kind is AxisKind.REDUCE])
    place = choose.randint(0, op.outputs[0].ndim)
    if choose.random() < 0.7:  # an axis by itself gives partial results of one element each
        axis = choose.choice(stage.split(axis, factor=choose.choice(FACTORS)))
    s.rfactor(op.output(0), axis, place)
    return f"rfactor({op.name}, {axis.name}, {place})"


def _is_reduction(stage: Stage) -> bool:
    return isinstance(stage.op, Compute) and bool(stage.op.reduce_axis)


# -- memory ----------------------------------------------------------------------------------------


def _set_scope(s: ClassicSchedule, choose: Choose) -> str:
    stage, scope = any_inner(s, choose), choose.choice(["global", "shared", "local"])
    stage.set_scope(scope)
    return f"{stage.op.name}.set_scope({scope!r})"


def _storage_align(s: ClassicSchedule, choose: Choose) -> str:
    stage = any_inner(s, choose)
    if not isinstance(stage.op, Compute):
        raise Impossible("there are no dimensions")
    axes = stage.op.axis if choose.random() < 0.1 else stage.op.axis[:-1]  # the last has none
    axis = pick(choose, axes)
    factor = choose.choice([2, 4, 8])
    stage.storage_align(axis, factor, choose.choice([0, 1]))
    return f"{stage.op.name}.storage_align({axis.name}, {factor})"


def _any_attached(s: ClassicSchedule, choose: Choose) -> Stage:
    """A stage that is computed in an axis of another; now and then, any."""
    attached = [stage for stage in s.stages if isinstance(stage.attached, At)]
    return pick(choose, attached) if choose.random() < 0.9 else any_inner(s, choose)


def _double_buffer(s: ClassicSchedule, choose: Choose) -> str:
    stage = _any_attached(s, choose)
    stage.double_buffer()
    return f"{stage.op.name}.double_buffer()"


def _rolling_buffer(s: ClassicSchedule, choose: Choose) -> str:
    stage = _any_attached(s, choose)
    stage.rolling_buffer()
    return f"{stage.op.name}.rolling_buffer()"


LAYOUTS: dict[int, tuple[str, ...]] = {
    1: ("i -> i // 4, i % 4", "i -> i + 1", "i -> 0, i"),
    2: ("i, j -> j, i", "i, j -> i, j // 4, j % 4", "i, j -> i // 2, j, i % 2"),
}


def _transform_layout(s: ClassicSchedule, choose: Choose) -> str:
    stage = any_inner(s, choose)
    index_map = pick(choose, LAYOUTS.get(stage.op.outputs[0].ndim, ()))
    stage.transform_layout(index_map)
    return f"{stage.op.name}.transform_layout({index_map!r})"


MOVES: dict[str, Take] = {
    "split": _split,
    "tile": _tile,
    "fuse": _fuse,
    "reorder": _reorder,
    "vectorize": _kind("vectorize"),
    "parallel": _kind("parallel"),
    "unroll": _kind("unroll"),
    "bind": _bind,
    "pragma": _pragma,
    "prefetch": _prefetch,
    "compute_at": _compute_at,
    "compute_inline": _compute_inline,
    "compute_root": _compute_root,
    "auto_inline": _auto_inline,
    "create_group": _create_group,
    "cache_read": _cache_read,
    "cache_write": _cache_write,
    "rfactor": _rfactor,
    "set_scope": _set_scope,
    "storage_align": _storage_align,
    "double_buffer": _double_buffer,
    "rolling_buffer": _rolling_buffer,
    "transform_layout": _transform_layout,
}
