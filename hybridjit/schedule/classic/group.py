"""Groups: stages that are placed together."""

from __future__ import annotations

from collections.abc import Sequence

from hybridjit.config import api_edge
from hybridjit.errors import ScheduleError
from hybridjit.schedule.classic.inspection import At, Inline, attach_type_of
from hybridjit.schedule.classic.inspection import AttachType as AttachType
from hybridjit.schedule.classic.stage import Stage
from hybridjit.tensors.tensor import Axis


class Group:
    """Stages that are placed together; `group` is the one that it lies in."""

    def __init__(self, stages: Sequence[Stage]) -> None:
        self.stages = tuple(stages)
        self.group: Group | None = None
        self.attached: At | None = None

    @api_edge
    def compute_at(self, parent: Stage, scope: Axis) -> None:
        """Compute them in an axis of another stage; those that are in one of the group stay there.

        >>> s.create_group(D, A).compute_at(s[E], xo)
        """
        if parent in self.stages:
            raise ScheduleError(
                f"compute_at: '{parent.op.name}' is in the group, which cannot be inside of itself"
            )
        for stage in self._placed():
            stage.compute_at(parent, scope)
        self.attached = At(parent, scope)

    @api_edge
    def compute_root(self) -> None:
        """Compute them by themselves; those that are in one of the group stay there."""
        for stage in self._placed():
            stage.compute_root()
        self.attached = None

    def _placed(self) -> list[Stage]:
        """The stages that the place of the group is about."""
        return [
            stage
            for stage in self.stages
            if not isinstance(stage.attached, Inline)
            and not (isinstance(stage.attached, At) and stage.attached.stage in self.stages)
        ]

    @property
    def num_child_stages(self) -> int:
        """How many stages and groups lie in it, those in its groups not counted."""
        inner = {stage.group for stage in self.stages if stage.group is not self}
        return len([stage for stage in self.stages if stage.group is self]) + len(inner)

    @property
    def attach_type(self) -> AttachType:
        """Where it is computed: by itself, or in an axis of another stage."""
        return attach_type_of(self.attached)

    @property
    def attach_ivar(self) -> Axis | None:
        """The axis that it is computed in."""
        return None if self.attached is None else self.attached.axis

    @property
    def attach_stage(self) -> Stage | None:
        """The stage that it is computed in."""
        return None if self.attached is None else self.attached.stage

    def __repr__(self) -> str:
        return f"group of stages: {', '.join(stage.op.name for stage in self.stages)}"


def make_group(stages: Sequence[Stage]) -> Group:
    """A group of `stages`, all of another one or none of it."""
    made = Group(stages)
    for stage in stages:
        outer = _outermost(stage, made)
        if outer is None:
            stage.group = made
        elif {*stages} < {*outer.stages}:
            made.group = outer
            stage.group = made
        elif {*outer.stages} <= {*stages}:
            outer.group = made
        else:
            raise ScheduleError(
                f"create_group: '{stage.op.name}' is in another group, which has stages outside of "
                "this one",
                help="take all stages of the other group, or none of them",
            )
    return made


def _outermost(stage: Stage, made: Group) -> Group | None:
    """The group around a stage that `made` lies in, contains, or overlaps."""
    found: Group | None = stage.group
    while found is not None and found.group is not None and found.group is not made:
        inside = {*found.stages}
        if {*made.stages} < inside:
            break
        found = found.group
    return None if found is made else found
