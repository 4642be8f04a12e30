"""Random graphs of tensors, and random schedules of their stages, from a stream of choices."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from hybridjit import hybrid, te
from hybridjit.errors import ScheduleError
from hybridjit.hybrid import output_tensor
from hybridjit.ir.func import PrimFunc
from hybridjit.schedule.classic_stage import Stage
from hybridjit.schedule.scheduled import lower
from hybridjit.te.function import operations_of
from hybridjit.te.scan import Scan
from hybridjit.te.tensor import Axis, AxisKind, Compute, Placeholder, Tensor

SIZES = (1, 2, 3, 5, 7, 8, 13)
FACTORS = (1, 2, 3, 4, 8)


@dataclass(frozen=True, slots=True, eq=False)
class Made:
    """A tensor, and its shape in numbers: the tensor itself may have sizes that are variables."""

    tensor: Tensor
    sizes: tuple[int, ...]

    @property
    def dims(self) -> tuple[Any, ...]:
        return self.tensor.shape


@dataclass(frozen=True, slots=True, eq=False)
class RandomGraph:
    """The tensors of a graph in the order in which they were made; the last one is the output.

    Some of those between are arguments, too.
    """

    made: list[Made]
    passed: list[Made]

    @property
    def output(self) -> Tensor:
        """What the schedule is made for."""
        return self.made[-1].tensor

    @property
    def args(self) -> list[Any]:
        """The parameters."""
        return [item.tensor for item in self.passed]

    def make_arrays(self, seed: int) -> list[Any]:
        """Random inputs; outputs hold what must not show."""
        generator = np.random.default_rng(seed)
        return [
            generator.integers(-9, 9, item.sizes).astype(item.tensor.dtype.numpy)
            for item in self.passed
        ]


def make_graph(choose: random.Random) -> RandomGraph:
    """Two to five stages: elementwise, stencil, padding, stride, reduce, windows, scan, script."""
    dtype = choose.choice(["int64", "float32"])
    sizes = tuple(choose.choice(SIZES) for _ in range(choose.choice([1, 2, 2])))
    dims: list[Any] = [
        te.var(f"n{k}") if choose.random() < 0.3 else size for k, size in enumerate(sizes)
    ]
    names = ["A0", "A1"][: choose.choice([1, 2])]
    made = [Made(te.placeholder(dims, dtype, name), sizes) for name in names]
    inputs = list(made)
    for number in range(choose.randint(2, 5)):
        item = choose.choice(MAKERS)(choose, made, f"T{number}")
        if item is not None:
            made.append(item)
    if len(made) == len(inputs):
        made.append(_elementwise(choose, made, "T"))
    used = operations_of([made[-1].tensor])
    passed = [item for item in made if item.tensor.op in used and _is_passed(choose, item)]
    if made[-1] not in passed:
        passed.append(made[-1])
    return RandomGraph(made, passed)


def _is_passed(choose: random.Random, item: Made) -> bool:
    return isinstance(item.tensor.op, Placeholder) or choose.random() < 0.1


def _elementwise(choose: random.Random, made: list[Made], name: str) -> Made:
    source = made[-1]
    others = [item for item in made if _same(item, source)]
    a, b, factor = source.tensor, choose.choice(others).tensor, choose.randint(2, 4)

    def value(*i: Any) -> Any:
        return a[i] * factor + b[i]

    return Made(te.compute(source.dims, value, name=name), source.sizes)


def _same(a: Made, b: Made) -> bool:
    """Whether both have one shape, variables included."""
    return a.sizes == b.sizes and a.tensor.buffer.shape == b.tensor.buffer.shape


def _changed(
    source: Made, axis: int, change: Callable[[Any], Any]
) -> tuple[tuple[Any, ...], tuple[int, ...]]:
    dims = tuple(change(d) if k == axis else d for k, d in enumerate(source.dims))
    return dims, tuple(change(d) if k == axis else d for k, d in enumerate(source.sizes))


def _stencil(choose: random.Random, made: list[Made], name: str) -> Made | None:
    """The difference of an element and a later one on some axis: the tensor gets smaller."""
    source = choose.choice(made[-2:])
    if not source.sizes:
        return None
    axis, reach = choose.randrange(len(source.sizes)), choose.choice([1, 2])
    if source.sizes[axis] <= reach:
        return None
    dims, sizes = _changed(source, axis, lambda size: size - reach)

    def value(*i: Any) -> Any:
        later = tuple(index + reach if k == axis else index for k, index in enumerate(i))
        return source.tensor[i] - source.tensor[later]

    return Made(te.compute(dims, value, name=name), sizes)


def _padding(choose: random.Random, made: list[Made], name: str) -> Made | None:
    source = choose.choice(made[-2:])
    if not source.sizes:
        return None
    pad = choose.choice([1, 2])
    dims, sizes = _changed(source, 0, lambda size: size + 2 * pad)

    def value(*i: Any) -> Any:
        inside = te.all(i[0] >= pad, i[0] < source.dims[0] + pad)
        return te.if_then_else(inside, source.tensor[(i[0] - pad, *i[1:])], 0)

    return Made(te.compute(dims, value, name=name), sizes)


def _stride(choose: random.Random, made: list[Made], name: str) -> Made | None:
    source = choose.choice(made[-2:])
    if not source.sizes or source.sizes[-1] < 2:
        return None
    dims, sizes = _changed(source, len(source.sizes) - 1, lambda size: size // 2)

    def value(*i: Any) -> Any:
        return source.tensor[(*i[:-1], i[-1] * 2 + 1)] + 1

    return Made(te.compute(dims, value, name=name), sizes)


def _reduce(choose: random.Random, made: list[Made], name: str) -> Made | None:
    source = choose.choice(made[-2:])
    if not source.sizes:
        return None
    k = te.reduce_axis((0, source.dims[-1]), f"k{name}")
    reducer = choose.choice([te.sum, te.max])

    def value(*i: Any) -> Any:
        return reducer(source.tensor[(*i, k)], axis=k)

    return Made(te.compute(source.dims[:-1], value, name=name), source.sizes[:-1])


def _windows(choose: random.Random, made: list[Made], name: str) -> Made | None:
    source = choose.choice(made[-2:])
    if not source.sizes or source.sizes[0] < 3:
        return None
    k = te.reduce_axis((0, 3), f"w{name}")
    dims, sizes = _changed(source, 0, lambda size: size - 2)

    def value(*i: Any) -> Any:
        return te.sum(source.tensor[(i[0] + k, *i[1:])], axis=k)

    return Made(te.compute(dims, value, name=name), sizes)


def _scan(choose: random.Random, made: list[Made], name: str) -> Made | None:
    """The running sum over the first axis."""
    source = made[-1]
    if not source.sizes:
        return None
    tensor = source.tensor
    state = te.placeholder(source.dims, tensor.dtype, f"{name}_state")

    def begin(*i: Any) -> Any:
        return tensor[(0, *i[1:])]

    def step(*i: Any) -> Any:
        return state[(i[0] - 1, *i[1:])] + tensor[i]

    init = te.compute((1, *source.dims[1:]), begin, name=f"{name}_first")
    update = te.compute(source.dims, step, name=f"{name}_update")
    return Made(te.scan(init, update, state, name=name), source.sizes)


@hybrid.script
def blur(a: Any) -> Any:
    b = output_tensor(a.shape, a.dtype)
    for y in range(a.shape[0]):
        for x in range(a.shape[1]):
            if x > 0:
                b[y, x] = a[y, x] - a[y, x - 1]
            else:
                b[y, x] = a[y, x]
    return b


def _script(choose: random.Random, made: list[Made], name: str) -> Made | None:
    source = made[-1]
    if len(source.sizes) != 2:
        return None
    result: Any = blur(source.tensor)
    return Made(result, source.sizes)


MAKERS = (
    _elementwise,
    _elementwise,
    _stencil,
    _padding,
    _stride,
    _reduce,
    _windows,
    _scan,
    _script,
)


# -- schedules -------------------------------------------------------------------------------------


def make_schedule(choose: random.Random, graph: RandomGraph) -> tuple[Any, list[str]]:
    """A schedule with random steps, and what they were; some of them may be refused later."""
    s = te.create_schedule(graph.output.op)
    story: list[str] = []
    if choose.random() < 0.3:
        _add_caches(choose, s, story)
    stages = [stage for stage in s.stages if not isinstance(stage.op, Placeholder)]
    choose.shuffle(stages)
    for stage in stages:
        _shape(choose, stage, story)
    for stage in stages:
        _attach(choose, s, stage, story)
        _set_kinds(choose, stage, story)
    return s, story


def _add_caches(choose: random.Random, s: Any, story: list[str]) -> None:
    computes = [x for x in s.stages if isinstance(x.op, Compute) and x.scan is None]
    if not computes:
        return
    stage: Stage = choose.choice(computes)
    op = stage.op
    assert isinstance(op, Compute)
    kind = choose.choice(["read", "write", "rfactor"])
    if kind == "read":
        tensor = choose.choice(op.input_tensors)
        s.cache_read(tensor, "local", [op])
        story.append(f"cache_read({tensor.name}, {op.name})")
    elif kind == "write":
        s.cache_write(op.output(0), "local")
        story.append(f"cache_write({op.name})")
    elif op.reduce_axis and op.output(0).dtype.is_integer:
        _, inner = stage.split(op.reduce_axis[0], factor=choose.choice(FACTORS))
        s.rfactor(op.output(0), inner)
        story.append(f"rfactor({op.name})")


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
    readers += [stage for reader in readers for stage in _steps_of(s, reader)]
    if stage.is_output or stage.scan is not None or not readers:
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


def _steps_of(s: Any, stage: Stage) -> list[Stage]:
    return [s[step] for step in stage.op.stages] if isinstance(stage.op, Scan) else []


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
