"""The steps that a stage of a classic schedule records, and how each is taken on the engine.

A step names axes of its stage. When it is taken, the `Place` of the stage knows which loop of the
program each axis is.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum
from typing import ClassVar

from hybridjit.errors import ScheduleError
from hybridjit.intrinsics.registry import choose_part
from hybridjit.ir.expr import Buffer, Expr, Var
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.printer import name_buffers
from hybridjit.ir.stmt import IterKind, Store
from hybridjit.ir.visit import walk, walk_stmts
from hybridjit.record import record
from hybridjit.schedule.buffers import find_buffer
from hybridjit.schedule.handles import LoopHandle
from hybridjit.schedule.index_map import IndexFunction, parse_index_map, size_text, text_of
from hybridjit.schedule.primitives.annotate import Hint
from hybridjit.schedule.primitives.transform_layout import transform_argument
from hybridjit.schedule.program import the_block
from hybridjit.schedule.schedule import Schedule
from hybridjit.schedule.stages import allocated_in
from hybridjit.tensors.tensor import Axis, AxisKind, Tensor, TensorBuffer


class Phase(IntEnum):
    """When a step is taken: all those of one phase, of every stage, before those of the next.

    Loops get their shape first, since stages move into loops as their consumers shaped them. How
    loops run comes last: nothing that is done with them afterwards could make it wrong.
    """

    SHAPE = 0
    MEMORY = 1
    INTRINSIC = 2
    KIND = 3


@record(eq=False)
class Place:
    """Where a stage is in the program: its block, the loop of each axis, and what it makes.

    A step of a scan makes no tensors, but a part of those of the scan.
    """

    schedule: Schedule
    block: str
    loops: dict[Var, LoopHandle]
    outputs: Sequence[Tensor] = ()

    def loop(self, axis: Axis) -> LoopHandle:
        """The loop over `axis`."""
        return self.loops[axis.var]

    def replace(
        self, old: Sequence[Axis], new: Sequence[Axis], loops: Sequence[LoopHandle]
    ) -> None:
        """Note the loops over `new` axes, which stand in the place of `old` ones."""
        for axis in old:
            del self.loops[axis.var]
        self.loops.update({axis.var: loop for axis, loop in zip(new, loops, strict=True)})

    def take_out_init(self) -> None:
        """Let the init of a reduction run by itself, right before the first loop that reduces."""
        first = self._first_reducing()
        if first is not None:
            self.schedule.decompose_reduction(self.block, first)

    def reduces_outside(self, loop: LoopHandle) -> LoopHandle | None:
        """The first loop that reduces, if it is around `loop`, else `loop`; None without an init.

        Before it, the starting values have to be set.
        """
        first = self._first_reducing()
        loops = self.schedule.loops(self.block)
        return None if first is None else loops[min(loops.index(first), loops.index(loop))]

    def _first_reducing(self) -> LoopHandle | None:
        """The first loop that reduces, of a block that still sets its starting values."""
        block = the_block(self.schedule.func, self.block)
        if block.init is None:
            return None
        values = [item.value for item in block.iters if item.kind is IterKind.REDUCE]
        reduced = {node for value in values for node in walk(value)}
        loops = self.schedule.loops(self.block)
        return next((loop for loop in loops if self.schedule.find_var(loop) in reduced), None)

    def buffers(self) -> list[str]:
        """What the arrays that the stage makes print as at this moment."""
        names = [self.find_name(tensor) for tensor in self.outputs]
        return [name for name in names if name is not None] or self._written_in_block()

    def _written_in_block(self) -> list[str]:
        block = the_block(self.schedule.func, self.block)
        own = allocated_in(block)
        written = dict.fromkeys(
            node.buffer for node in walk_stmts(block) if isinstance(node, Store)
        )
        return [self.name_of(buffer) for buffer in written if buffer not in own]

    def name_of(self, buffer: Buffer) -> str:
        """What `buffer` prints as at this moment."""
        named = name_buffers(self.schedule.func)
        return next(text for text, found in named.items() if found is buffer)

    def find_name(self, tensor: Tensor) -> str | None:
        """What the array of a tensor prints as, whatever its layout has become by now."""
        named = name_buffers(self.schedule.func).items()
        return next((text for text, found in named if is_buffer_of(found, tensor)), None)


def is_buffer_of(found: object, tensor: Tensor) -> bool:
    """Whether `found` is the array of a tensor, in whatever layout."""
    made = tensor.buffer
    return isinstance(found, TensorBuffer) and (found.op, found.place) == (made.op, made.place)


@record(eq=False)
class Step:
    """Something to be done with a stage."""

    phase: ClassVar[Phase] = Phase.SHAPE

    @property
    def axes(self) -> tuple[Axis, ...]:
        """The axes that it is about."""
        return ()

    def take(self, place: Place) -> None:
        """Do it."""
        raise NotImplementedError(type(self).__name__)


# -- the shape of loops ----------------------------------------------------------------------------


@record(eq=False)
class Split(Step):
    """One axis becomes two."""

    axis: Axis
    outer: Axis
    inner: Axis
    factor: int | Expr | None
    nparts: int | Expr | None

    @property
    def parent(self) -> Axis:
        """The axis that was split, as TVM calls it."""
        return self.axis

    @property
    def axes(self) -> tuple[Axis, ...]:
        return (self.axis,)

    def take(self, place: Place) -> None:
        factor, nparts = (
            size_text(given) if isinstance(given, Expr) else given
            for given in (self.factor, self.nparts)
        )
        made = place.schedule.split(place.loop(self.axis), factor, nparts=nparts)
        place.replace(self.axes, (self.outer, self.inner), made)


@record(eq=False)
class Fuse(Step):
    """Several axes become one; none at all become one of a single iteration."""

    parts: tuple[Axis, ...]
    fused: Axis

    @property
    def outer(self) -> Axis:
        """The first of them, as TVM calls it."""
        return self.parts[0]

    @property
    def inner(self) -> Axis:
        """The last of them."""
        return self.parts[-1]

    @property
    def axes(self) -> tuple[Axis, ...]:
        return self.parts

    def take(self, place: Place) -> None:
        if len(self.parts) == 0:
            made = place.schedule.add_unit_loop(place.block)
        else:
            made = place.schedule.fuse(*map(place.loop, self.parts))
        place.replace(self.parts, (self.fused,), (made,))


@record(eq=False)
class Reorder(Step):
    """Axes take each other's places."""

    order: tuple[Axis, ...]

    @property
    def axes(self) -> tuple[Axis, ...]:
        return self.order

    def take(self, place: Place) -> None:
        place.schedule.reorder(*map(place.loop, self.order))


# -- memory ----------------------------------------------------------------------------------------


@record(eq=False)
class SetScope(Step):
    """The memory that the outputs live in."""

    phase = Phase.MEMORY
    scope: str

    def take(self, place: Place) -> None:
        passed = {place.name_of(buffer) for buffer in place.schedule.func.buffers}
        for name in place.buffers():
            if self.scope != "global" or name not in passed:
                place.schedule.set_scope(name, self.scope)


@record(eq=False)
class StorageAlign(Step):
    """Padding: the stride of a dimension becomes `offset` + a multiple of `factor`."""

    phase = Phase.MEMORY
    dimension: int
    factor: int
    offset: int

    def take(self, place: Place) -> None:
        for name in place.buffers():
            place.schedule.storage_align(name, self.dimension, self.factor, self.offset)


@record(eq=False)
class DoubleBuffer(Step):
    """Two places for what a loop makes in each iteration."""

    phase = Phase.MEMORY

    def take(self, place: Place) -> None:
        for name in place.buffers():
            place.schedule.double_buffer(name)


@record(eq=False)
class RollingBuffer(Step):
    """Room for values that are still needed only."""

    phase = Phase.MEMORY

    def take(self, place: Place) -> None:
        for name in place.buffers():
            place.schedule.rolling_buffer(name)


@record(eq=False)
class TransformLayout(Step):
    """Another order of the elements; arguments are given theirs before all other steps."""

    phase = Phase.MEMORY
    index_map: str | IndexFunction

    def take(self, place: Place) -> None:
        for name in place.buffers():
            if find_buffer(place.schedule.func, name) not in place.schedule.func.params:
                place.schedule.transform_layout(name, self.index_map)

    def take_on_argument(self, func: PrimFunc, tensor: Tensor) -> PrimFunc:
        """`func` that takes `tensor` in this layout, if it takes it."""
        for param in func.params:
            if is_buffer_of(param, tensor):
                assert isinstance(param, Buffer)
                return transform_argument(func, param, parse_index_map(text_of(self.index_map)))
        return func


# -- hardware --------------------------------------------------------------------------------------


@record(eq=False)
class Tensorize(Step):
    """An intrinsic does what an axis and everything inside of it do."""

    phase = Phase.INTRINSIC
    axis: Axis
    intrinsic: str

    @property
    def axes(self) -> tuple[Axis, ...]:
        return (self.axis,)

    def take(self, place: Place) -> None:
        loop = place.loop(self.axis)
        outer = place.reduces_outside(loop)
        if outer is None:
            place.schedule.tensorize(loop, self.intrinsic)
            return
        is_partial = outer != loop
        name = choose_part(self.intrinsic, is_partial=is_partial)
        if name != self.intrinsic:
            place.schedule.decompose_reduction(place.block, outer)
        place.schedule.tensorize(loop, name)


@record(eq=False)
class SetKind(Step):
    """How the iterations of an axis run: "parallel", "vectorize", "unroll" or "bind"."""

    phase = Phase.KIND
    axis: Axis
    kind: str
    thread: str | None = None

    @property
    def axes(self) -> tuple[Axis, ...]:
        return (self.axis,)

    def take(self, place: Place) -> None:
        if self.axis.kind is AxisKind.REDUCE and self.kind in ("parallel", "vectorize"):
            place.take_out_init()  # the iterations of a loop with an init are not alike
        loop = place.loop(self.axis)
        match self.kind:
            case "parallel":
                place.schedule.parallel(loop)
            case "vectorize":
                place.schedule.vectorize(loop)
            case "unroll":
                place.schedule.unroll(loop)
            case _:
                place.schedule.bind(loop, self.thread or "")


@record(eq=False)
class Pragma(Step):
    """A hint on an axis."""

    phase = Phase.KIND
    axis: Axis
    name: str
    value: Hint

    @property
    def axes(self) -> tuple[Axis, ...]:
        return (self.axis,)

    def take(self, place: Place) -> None:
        place.schedule.pragma(place.loop(self.axis), self.name, self.value)


@record(eq=False)
class Prefetch(Step):
    """What an axis will read some iterations later is fetched."""

    phase = Phase.KIND
    tensor: Tensor
    axis: Axis
    distance: int

    @property
    def axes(self) -> tuple[Axis, ...]:
        return (self.axis,)

    def take(self, place: Place) -> None:
        name = place.find_name(self.tensor)
        if name is None:
            raise ScheduleError(
                f"prefetch: '{self.tensor.name}' is not in memory: it is inlined, or not part of "
                "the schedule"
            )
        place.schedule.prefetch(name, place.loop(self.axis), self.distance)
