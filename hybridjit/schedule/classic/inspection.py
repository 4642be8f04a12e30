"""What a stage is like: its axes, how they came to be, and where it is computed."""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum
from typing import Any, Protocol

from hybridjit.record import record
from hybridjit.schedule.classic.steps import Fuse, SetScope, Split, Step
from hybridjit.tensors.tensor import Axis, Operation


class AttachType(IntEnum):
    """Where a stage is computed, by TVM's numbers."""

    GROUP_ROOT = 1
    INLINE = 2
    SCOPE = 4


class Attachable(Protocol):
    """A stage, as far as it matters here."""

    @property
    def leaf_iter_vars(self) -> tuple[Axis, ...]:
        """The axes as they are now."""
        ...


@record(eq=False)
class At:
    """A stage is computed in an axis of another one, as much as an iteration needs."""

    stage: Any
    axis: Axis


@record
class Inline:
    """A stage is computed wherever it is read; `if_possible`, by itself where that is refused."""

    if_possible: bool = False


def attach_type_of(attached: At | Inline | None) -> AttachType:
    """Where something that is attached so is computed."""
    match attached:
        case None:
            return AttachType.GROUP_ROOT
        case Inline():
            return AttachType.INLINE
        case At():
            return AttachType.SCOPE


class Inspection:
    """The part of a stage that is asked."""

    op: Operation
    leaves: list[Axis]
    steps: list[Step]
    attached: At | Inline | None

    @property
    def leaf_iter_vars(self) -> tuple[Axis, ...]:
        """The axes as they are now, outermost first."""
        return tuple(self.leaves)

    @property
    def all_iter_vars(self) -> tuple[Axis, ...]:
        """Every axis that there is or was: those of the operation, and those that steps made."""
        made = [axis for step in self.relations for axis in made_by(step)]
        known = {axis.var for axis in made}
        first = [axis for step in self.relations for axis in _taken_by(step)]
        old = [axis for axis in (*first, *self.leaves) if axis.var not in known]
        return tuple({axis.var: axis for axis in (*old, *made)}.values())

    @property
    def relations(self) -> tuple[Split | Fuse, ...]:
        """The splits and fusions, in order."""
        return tuple(step for step in self.steps if isinstance(step, Split | Fuse))

    @property
    def attach_type(self) -> AttachType:
        """Where it is computed: by itself, wherever it is read, or in an axis of another stage."""
        return attach_type_of(self.attached)

    @property
    def attach_ivar(self) -> Axis | None:
        """The axis that it is computed in."""
        return self.attached.axis if isinstance(self.attached, At) else None

    @property
    def attach_stage(self) -> Any:
        """The stage that it is computed in."""
        return self.attached.stage if isinstance(self.attached, At) else None

    @property
    def origin_op(self) -> Operation:
        """The operation that its tensor was made by at first."""
        return self.op.outputs[0].op

    @property
    def scope(self) -> str:
        """Where its result is kept."""
        scopes = [step.scope for step in self.steps if isinstance(step, SetScope)]
        return scopes[-1] if scopes else ""


def made_by(step: Step) -> Sequence[Axis]:
    """The axes that a step makes."""
    match step:
        case Split(_, outer, inner):
            return outer, inner
        case Fuse(_, fused):
            return (fused,)
        case _:
            return ()


def _taken_by(step: Split | Fuse) -> Sequence[Axis]:
    return (step.axis,) if isinstance(step, Split) else step.parts
