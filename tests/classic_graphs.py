"""Random graphs of tensors, and random schedules of their stages, from a stream of choices."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any

from hybridjit import te
from hybridjit.errors import ScheduleError
from hybridjit.ir.func import PrimFunc
from hybridjit.schedule.classic_stage import Stage
from hybridjit.schedule.scheduled import lower
from hybridjit.te.function import operations_of
from hybridjit.te.tensor import Axis, AxisKind, Compute, Placeholder, Tensor

SIZES = (1, 2, 3, 5, 7, 8, 13)
FACTORS = (1, 2, 3, 4, 8)


@dataclass(frozen=True, slots=True)
class RandomGraph:
    """The arguments of a graph, and its tensors in the order in which they were made."""

    args: list[Any]
    tensors: list[Tensor]

    @property
    def output(self) -> Tensor:
        """What the schedule is made for."""
        return self.tensors[-1]


def make_graph(choose: random.Random) -> RandomGraph:
    """Two to five stages over one or two placeholders: elementwise, stencil, padding, reduce."""
    dtype = choose.choice(["int64", "float32"])
    shape = tuple(choose.choice(SIZES) for _ in range(choose.choice([1, 2, 2])))
    inputs = [te.placeholder(shape, dtype, f"A{k}") for k in range(choose.choice([1, 2]))]
    tensors: list[Tensor] = list(inputs)
    for number in range(choose.randint(2, 5)):
        make = choose.choice(MAKERS)
        made = make(choose, tensors, f"T{number}")
        if made is not None:
            tensors.append(made)
    if len(tensors) == len(inputs):
        tensors.append(_elementwise(choose, tensors, "T"))
    output = tensors[-1]
    used = [op.output(0) for op in operations_of([output]) if isinstance(op, Placeholder)]
    return RandomGraph([*used, output], tensors)


def _elementwise(choose: random.Random, tensors: list[Tensor], name: str) -> Tensor:
    source = tensors[-1]
    others = [t for t in tensors if t.ndim == source.ndim and _same(t, source)]
    other, factor = choose.choice(others), choose.randint(2, 4)

    def value(*i: Any) -> Any:
        return source[i] * factor + other[i]

    return te.compute(source.shape, value, name=name)


def _stencil(choose: random.Random, tensors: list[Tensor], name: str) -> Tensor | None:
    """The sum of an element and one or two after it on some axis: the tensor gets smaller."""
    source = choose.choice(tensors[-2:])
    axis, reach = choose.randrange(source.ndim) if source.ndim else 0, choose.choice([1, 2])
    if source.ndim == 0 or source.shape[axis] <= reach:
        return None
    shape = [size - reach if k == axis else size for k, size in enumerate(source.shape)]

    def value(*i: Any) -> Any:
        later = [index + reach if k == axis else index for k, index in enumerate(i)]
        return source[i] - source[tuple(later)]

    return te.compute(tuple(shape), value, name=name)


def _padding(choose: random.Random, tensors: list[Tensor], name: str) -> Tensor | None:
    source = choose.choice(tensors[-2:])
    if source.ndim == 0:
        return None
    pad = choose.choice([1, 2])
    size = source.shape[0]
    shape = (size + 2 * pad, *source.shape[1:])

    def value(*i: Any) -> Any:
        inside = te.all(i[0] >= pad, i[0] < size + pad)
        return te.if_then_else(inside, source[(i[0] - pad, *i[1:])], 0)

    return te.compute(shape, value, name=name)


def _stride(choose: random.Random, tensors: list[Tensor], name: str) -> Tensor | None:
    source = choose.choice(tensors[-2:])
    if source.ndim == 0 or source.shape[-1] < 2:
        return None
    shape = (*source.shape[:-1], source.shape[-1] // 2)

    def value(*i: Any) -> Any:
        return source[(*i[:-1], i[-1] * 2 + 1)] + 1

    return te.compute(shape, value, name=name)


def _reduce(choose: random.Random, tensors: list[Tensor], name: str) -> Tensor | None:
    source = choose.choice(tensors[-2:])
    if source.ndim == 0:
        return None
    k = te.reduce_axis((0, source.shape[-1]), f"k{name}")
    reducer = choose.choice([te.sum, te.max])

    def value(*i: Any) -> Any:
        return reducer(source[(*i, k)], axis=k)

    return te.compute(source.shape[:-1], value, name=name)


def _windows(choose: random.Random, tensors: list[Tensor], name: str) -> Tensor | None:
    source = choose.choice(tensors[-2:])
    if source.ndim == 0 or source.shape[0] < 3:
        return None
    k = te.reduce_axis((0, 3), f"w{name}")
    shape = (source.shape[0] - 2, *source.shape[1:])

    def value(*i: Any) -> Any:
        return te.sum(source[(i[0] + k, *i[1:])], axis=k)

    return te.compute(shape, value, name=name)


def _same(a: Tensor, b: Tensor) -> bool:
    return a.shape == b.shape


MAKERS = (_elementwise, _stencil, _padding, _stride, _reduce, _windows)


# -- schedules -------------------------------------------------------------------------------------


def make_schedule(choose: random.Random, graph: RandomGraph) -> tuple[Any, list[str]]:
    """A schedule with random steps, and what they were; some of them may be refused later."""
    s = te.create_schedule(graph.output.op)
    story: list[str] = []
    if choose.random() < 0.3:
        _add_caches(choose, s, graph, story)
    stages = [stage for stage in s.stages if not isinstance(stage.op, Placeholder)]
    choose.shuffle(stages)
    for stage in stages:
        _shape(choose, stage, story)
    for stage in stages:
        _attach(choose, s, stage, story)
        _set_kinds(choose, stage, story)
    return s, story


def _add_caches(choose: random.Random, s: Any, graph: RandomGraph, story: list[str]) -> None:
    stage = choose.choice([x for x in s.stages if isinstance(x.op, Compute)])
    tensor = choose.choice(stage.op.input_tensors)
    if choose.random() < 0.5:
        s.cache_read(tensor, "local", [stage.op])
        story.append(f"cache_read({tensor.name}, {stage.op.name})")
    else:
        s.cache_write(stage.op.output(0), "local")
        story.append(f"cache_write({stage.op.name})")


def _shape(choose: random.Random, stage: Stage, story: list[str]) -> None:
    name = stage.op.name
    for _ in range(choose.randint(0, 2)):
        if not stage.leaves:
            return
        axis = choose.choice(stage.leaves)
        match choose.choice(["split", "nparts", "fuse", "reorder"]):
            case "split":
                stage.split(axis, factor=choose.choice(FACTORS))
                story.append(f"{name}.split({axis.name})")
            case "nparts":
                stage.split(axis, nparts=choose.choice(FACTORS))
                story.append(f"{name}.split({axis.name}, nparts)")
            case "fuse":
                _fuse(choose, stage, story)
            case _:
                _reorder(choose, stage, story)


def _fuse(choose: random.Random, stage: Stage, story: list[str]) -> None:
    data = [axis for axis in stage.leaves if axis.kind is AxisKind.DATA]
    if len(data) > 1 and all(a is b for a, b in zip(stage.leaves, data[:2], strict=False)):
        stage.fuse(data[0], data[1])
        story.append(f"{stage.op.name}.fuse({data[0].name}, {data[1].name})")


def _reorder(choose: random.Random, stage: Stage, story: list[str]) -> None:
    order = list(stage.leaves)
    choose.shuffle(order)
    stage.reorder(*order)
    story.append(f"{stage.op.name}.reorder({', '.join(axis.name for axis in order)})")


def _attach(choose: random.Random, s: Any, stage: Stage, story: list[str]) -> None:
    readers = [s[op] for op in s.graph.readers(stage.op.output(0))]
    if stage.is_output or not readers:
        return
    match choose.choice(["root", "at", "at", "inline"]):
        case "at":
            parent = choose.choice(readers)
            if parent.leaves:
                axis: Axis = choose.choice(parent.leaves)
                stage.compute_at(parent, axis)
                story.append(f"{stage.op.name}.compute_at({parent.op.name}, {axis.name})")
        case "inline" if isinstance(stage.op, Compute) and not stage.op.reduce_axis:
            stage.compute_inline()
            story.append(f"{stage.op.name}.compute_inline()")
        case _:
            pass


def _set_kinds(choose: random.Random, stage: Stage, story: list[str]) -> None:
    for axis in stage.leaves:
        kind = choose.choice(["", "", "", "vectorize", "parallel", "unroll"])
        if kind and axis.kind is AxisKind.DATA:
            getattr(stage, kind)(axis)
            story.append(f"{stage.op.name}.{kind}({axis.name})")


def lower_or_refuse(s: Any, args: list[Any]) -> PrimFunc | None:
    """The scheduled function, or None where the engine refuses a step."""
    try:
        return lower(s, args)
    except ScheduleError:
        return None
