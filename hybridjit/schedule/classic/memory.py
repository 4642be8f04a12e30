"""The steps of a stage that are about memory: where it is kept, and how it lies there."""

from __future__ import annotations

from collections.abc import Sequence

from hybridjit.config import api_edge
from hybridjit.errors import ScheduleError
from hybridjit.schedule.classic.steps import (
    DoubleBuffer,
    RollingBuffer,
    SetScope,
    Step,
    StorageAlign,
    TransformLayout,
)
from hybridjit.schedule.classic.waiting import Waiting, find_layout_axes
from hybridjit.schedule.index_map import IndexFunction, parse_index_map, text_of
from hybridjit.tensors.tensor import Axis, AxisKind, Compute, Operation, Placeholder


class MemorySteps:
    """The part of a stage that says how what it makes is kept."""

    op: Operation
    steps: list[Step]
    waiting: Waiting | None
    is_output: bool

    @api_edge
    def set_scope(self, scope: str) -> None:
        """Say in which memory the stage is kept: "global", "shared" or "local".

        Without a step, and for "", it is the "global" one, where arguments are.

        >>> s[B].set_scope("local")
        """
        wanted = scope or "global"
        if wanted != "global":
            self._check_scratch("set_scope")
        self.steps.append(SetScope(wanted))

    @api_edge
    def storage_align(self, axis: Axis, factor: int, offset: int = 0) -> None:
        """Pad the stage: the stride of an axis becomes `offset` + a multiple of `factor`.

        >>> s[B].storage_align(B.op.axis[0], 32, 1)
        """
        data = self.op.axis if isinstance(self.op, Compute) else ()
        place = next((k for k, known in enumerate(data) if known.var is axis.var), None)
        if place is None:
            raise ScheduleError(
                f"storage_align: '{axis.name}' is no dimension of '{self.op.name}'",
                help=f"it has {quoted(data)}",
            )
        self.steps.append(StorageAlign(place, factor, offset))

    @api_edge
    def double_buffer(self) -> None:
        """Fill the stage one iteration ahead of the axis that it is attached to.

        >>> s[B].double_buffer()
        """
        self._check_scratch("double_buffer")
        self.steps.append(DoubleBuffer())

    @api_edge
    def rolling_buffer(self) -> None:
        """Keep only values of the stage that are still needed.

        >>> s[B].rolling_buffer()
        """
        self._check_scratch("rolling_buffer")
        self.steps.append(RollingBuffer())

    @api_edge
    def transform_layout(self, mapping_function: str | IndexFunction) -> tuple[Axis, ...]:
        """Keep the elements of the stage in another order. An argument is passed in that order.

        Gives axes that run over the elements as they lie. The stage has them as soon as one of them
        is named; until then its axes stay what they are. A map that does more than to split and
        reorder gives none, nor does a stage whose axes were split, fused or reordered before.

        >>> jo, ii, ji = s[B].transform_layout(lambda i, j: (j // 4, i, j % 4))
        """
        index_map = parse_index_map(text_of(mapping_function))
        self.steps.append(TransformLayout(mapping_function))
        found = find_layout_axes(index_map, self.op, self.steps)
        if found is None:
            return ()
        self.waiting = found
        return tuple(axis for axis in found.leaves if axis.kind is not AxisKind.REDUCE)

    def _check_scratch(self, step: str) -> None:
        if self.is_output or isinstance(self.op, Placeholder):
            kind = "an output of the schedule" if self.is_output else "a placeholder"
            raise ScheduleError(
                f"{step}: '{self.op.name}' is {kind}, which has the layout that it has",
                help="s.cache_read and s.cache_write make a copy that may change",
            )


def quoted(axes: Sequence[Axis]) -> str:
    """The names of axes, for messages."""
    return ", ".join(f"'{axis.name}'" for axis in axes) or "none"
