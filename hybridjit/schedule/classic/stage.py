"""Stages of a classic schedule: `s[C].split(...)`. A stage records; nothing happens yet.

What can be seen at once is refused at once: axes that are not there (any more), wrong numbers.
Whether the steps keep what the program computes is decided when the schedule is lowered.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from hybridjit.arith.simplify import simplify
from hybridjit.config import api_edge
from hybridjit.errors import ScheduleError
from hybridjit.ir.expr import Const, Expr, Var
from hybridjit.schedule.classic.absent import AbsentSteps
from hybridjit.schedule.classic.inspection import At, Inline, Inspection
from hybridjit.schedule.classic.memory import MemorySteps, quoted
from hybridjit.schedule.classic.steps import (
    Fuse,
    Phase,
    Pragma,
    Prefetch,
    Reorder,
    SetKind,
    Split,
    Step,
    Tensorize,
)
from hybridjit.schedule.classic.waiting import Waiting, is_shaping, split_axis
from hybridjit.schedule.primitives.annotate import Hint
from hybridjit.tensors.expression import Expression
from hybridjit.tensors.inlined import Inlined
from hybridjit.tensors.scan import Scan
from hybridjit.tensors.tensor import (
    Axis,
    AxisKind,
    Compute,
    Operation,
    Placeholder,
    Tensor,
    TensorizedAxes,
    index_expr,
)

KIND_PRAGMAS = ("unroll", "vectorize", "parallel")


class Stage(MemorySteps, Inspection, AbsentSteps):
    """One operation of a schedule: the axes that its loops will run over, and its steps.

    `scan` is the scan that the operation is a step of, if it is one. `waiting` are steps
    that it takes if one of their axes is named.
    """

    def __init__(self, op: Operation, scan: Scan | None = None) -> None:
        self.op = op
        self.scan = scan
        self.leaves = list(axes_of(op))
        if scan is not None and isinstance(op, Compute):
            # The loop over the steps is that of the scan.
            time = scan.times[op]
            self.leaves = [axis for k, axis in enumerate(self.leaves) if k != time]
        self.steps: list[Step] = []
        self.waiting: Waiting | None = None
        if isinstance(op, Compute) and op.intrinsic is not None:
            self._tensorize_body(op.intrinsic)
        self.attached: At | Inline | None = None
        self.is_output = False
        self.group: Any = None  # of group.py

    def _tensorize_body(self, intrinsic: TensorizedAxes) -> None:
        """Run the intrinsic that was called in the body, inside of all other axes."""
        inner = {axis.var for axis in intrinsic.axes}
        outer = [axis for axis in self.leaves if axis.var not in inner]
        self.leaves = [*outer, *intrinsic.axes]
        self.steps.append(Reorder(tuple(self.leaves)))
        self.steps.append(Tensorize(intrinsic.axes[0], intrinsic.name))

    def __repr__(self) -> str:
        axes = ", ".join(axis.name for axis in self.leaves)
        return f"stage {self.op.name}({axes}): {len(self.steps)} steps"

    # -- loops -------------------------------------------------------------------------------------

    @api_edge
    def split(
        self,
        parent: Axis,
        factor: Any = None,
        nparts: Any = None,
        disable_predication: bool = False,
    ) -> tuple[Axis, Axis]:
        """Split an axis in two: `factor` is the extent of the inner one, `nparts` of the outer.

        Either is a number, or an expression of te.vars and sizes of tensors: less than 1 counts as
        1 then. Iterations that are not there never run, whatever `disable_predication` says.

        >>> outer, inner = s[C].split(C.op.axis[0], factor=32)
        """
        del disable_predication
        place = self.find(parent, "split")
        if (factor is None) == (nparts is None):
            raise ScheduleError(
                f"split of axis '{parent.name}': give factor or nparts, not both"
                if factor is not None
                else f"split of axis '{parent.name}': give factor or nparts"
            )
        what = f"split of '{parent.name}'"
        size, parts = (
            None if given is None else _read_factor(given, what) for given in (factor, nparts)
        )
        outer, inner = split_axis(parent, size, parts)
        self.leaves[place : place + 1] = [outer, inner]
        self.steps.append(Split(parent, outer, inner, size, parts))
        return outer, inner

    @api_edge
    def tile(
        self, x_parent: Axis, y_parent: Axis, x_factor: int, y_factor: int
    ) -> tuple[Axis, Axis, Axis, Axis]:
        """Split two axes and run tiles of them; gives x_outer, y_outer, x_inner, y_inner.

        >>> xo, yo, xi, yi = s[C].tile(*C.op.axis, 8, 16)
        """
        x_outer, x_inner = self.split(x_parent, factor=x_factor)
        y_outer, y_inner = self.split(y_parent, factor=y_factor)
        self.reorder(x_outer, y_outer, x_inner, y_inner)
        return x_outer, y_outer, x_inner, y_inner

    @api_edge
    def fuse(self, *axes: Axis) -> Axis:
        """Make one axis of neighbours; of none at all, one with a single iteration.

        >>> both = s[C].fuse(*C.op.axis)
        """
        places = self._find_all(axes, "fuse")
        if len(set(places)) < len(places):
            raise ScheduleError(f"fuse: an axis is given twice: {quoted(axes)}")
        if len(places) == 2 and places[0] == places[1] + 1:
            axes, places = axes[::-1], places[::-1]
        if any(later != first + 1 for first, later in itertools.pairwise(places)):
            raise ScheduleError(
                f"fuse: {quoted(axes)} of stage '{self.op.name}' are not neighbours: the axes are "
                f"{quoted(self.leaves)}",
                help="s[...].reorder(...) puts them side by side",
            )
        fused = _fused(axes)
        if axes:
            self.leaves[places[0] : places[-1] + 1] = [fused]
        else:
            self.leaves.append(fused)
        self.steps.append(Fuse(tuple(axes), fused))
        return fused

    @api_edge
    def reorder(self, *axes: Axis) -> None:
        """Put axes in this order, in the places that they take up now.

        >>> s[C].reorder(xo, yo, k, xi, yi)
        """
        places = self._find_all(axes, "reorder")
        if len(set(places)) < len(places):
            raise ScheduleError(f"reorder: an axis is given twice: {quoted(axes)}")
        for place, axis in zip(sorted(places), axes, strict=True):
            self.leaves[place] = axis
        self.steps.append(Reorder(tuple(axes)))

    # -- how loops run -----------------------------------------------------------------------------

    @api_edge
    def parallel(self, axis: Axis) -> None:
        """Run the iterations of an axis on several threads.

        >>> s[C].parallel(xo)
        """
        self._set_kind(axis, "parallel")

    @api_edge
    def vectorize(self, axis: Axis) -> None:
        """Run the iterations of an axis as lanes of vector instructions.

        >>> s[C].vectorize(yi)
        """
        self._set_kind(axis, "vectorize")

    @api_edge
    def unroll(self, axis: Axis) -> None:
        """Write the iterations of an axis out one after the other.

        >>> s[C].unroll(xi)
        """
        self._set_kind(axis, "unroll")

    @api_edge
    def bind(self, axis: Axis, thread: Axis | str) -> None:
        """Bind an axis to a thread axis; on the CPU it runs as a loop.

        >>> s[C].bind(xo, te.thread_axis("blockIdx.x"))
        """
        tag = thread.thread if isinstance(thread, Axis) else thread
        if not isinstance(tag, str):
            raise ScheduleError(
                f"bind: {thread!r} is no thread axis",
                help='make one with te.thread_axis("threadIdx.x")',
            )
        self._set_kind(axis, "bind", tag)

    def _set_kind(self, axis: Axis, kind: str, thread: str | None = None) -> None:
        self.find(axis, kind)
        self.steps = [
            step
            for step in self.steps
            if not (isinstance(step, SetKind) and step.axis.var is axis.var)
        ]
        self.steps.append(SetKind(axis, kind, thread))

    @api_edge
    def pragma(self, axis: Axis, pragma_type: str, pragma_value: Hint | None = None) -> None:
        """Put a hint on an axis; "unroll", "vectorize" and "parallel" say how it runs.

        >>> s[C].pragma(xo, "auto_unroll_max_step", 16)
        """
        if pragma_type in KIND_PRAGMAS:
            self._set_kind(axis, pragma_type)
            return
        self.find(axis, "pragma")
        value = True if pragma_value is None else pragma_value
        self.steps.append(Pragma(axis, pragma_type, value))

    @api_edge
    def prefetch(self, tensor: Tensor, axis: Axis, offset: int) -> None:
        """Fetch what an axis reads of `tensor` some iterations later into the cache.

        >>> s[C].prefetch(A, i, 8)
        """
        self.find(axis, "prefetch")
        _check_kind(tensor, Tensor, "prefetch: expected a tensor")
        if extent_of(axis) == Const(1):
            raise ScheduleError(f"prefetch: axis '{axis.name}' has one iteration only")
        distance = _check_number(offset, f"prefetch of '{tensor.name}'")
        self.steps.append(Prefetch(tensor, axis, distance))

    @api_edge
    def tensorize(self, axis: Axis, intrinsic: object) -> None:
        """Do what an axis and everything inside of it do by an intrinsic.

        >>> s[C].tensorize(ki, "dot4")
        """
        self.find(axis, "tensorize")
        name = intrinsic if isinstance(intrinsic, str) else getattr(intrinsic, "name", None)
        if not isinstance(name, str):
            raise ScheduleError(
                f"tensorize: {intrinsic!r} is no intrinsic",
                help="declare one: hj.intrinsic(name, description, implementation)",
            )
        if any(isinstance(step, Tensorize) for step in self.steps):
            raise ScheduleError(f"tensorize: stage '{self.op.name}' has an intrinsic already")
        self.steps.append(Tensorize(axis, name))

    # -- where it is computed ----------------------------------------------------------------------

    @api_edge
    def compute_at(self, parent: Stage, scope: Axis) -> None:
        """Compute the stage in an axis of a stage that reads it, as much as an iteration needs.

        >>> s[B].compute_at(s[C], xo)
        """
        self._check_may_move("compute_at")
        _check_kind(parent, Stage, "compute_at: expected a stage, such as s[C]")
        if parent is self:
            raise ScheduleError(f"compute_at: stage '{self.op.name}' cannot be inside of itself")
        parent.find(scope, "compute_at")
        self.attached = At(parent, scope)

    @api_edge
    def compute_inline(self) -> None:
        """Put the value of the stage in the place of every read of it.

        >>> s[Padded].compute_inline()
        """
        self._check_may_move("compute_inline")
        if self.op.num_outputs != 1 or not isinstance(self.op, Compute | Inlined):
            raise ScheduleError(
                f"compute_inline: '{self.op.name}' must be a te.compute, or a script, with one "
                "output",
                help="s[...].compute_at(...) computes anything where it is read",
            )
        if self.op.reduce_axis:
            raise ScheduleError(
                f"compute_inline: '{self.op.name}' is a reduction, which has no single value",
                help="s[...].compute_at(...) computes it where it is read",
            )
        self.attached = Inline()

    @api_edge
    def compute_root(self) -> None:
        """Compute the stage by itself, before the stages that read it, as at first.

        >>> s[B].compute_root()
        """
        self.attached = None

    @property
    def is_free(self) -> bool:
        """Whether it may be placed anywhere, and no step has said where, or how its loops run."""
        is_placed = self.attached is not None or any(map(is_shaping, self.steps))
        return not (is_placed or self.is_output or self._is_update)

    @property
    def _is_update(self) -> bool:
        """Whether it is what a scan does in a step."""
        return self.scan is not None and any(tensor.op is self.op for tensor in self.scan.update)

    def _check_may_move(self, step: str) -> None:
        if isinstance(self.op, Placeholder):
            raise ScheduleError(f"{step}: '{self.op.name}' is a placeholder: it is not computed")
        if self.is_output:
            raise ScheduleError(
                f"{step}: '{self.op.name}' is an output of the schedule",
                help="it is computed by itself; stages that it reads can be placed in it",
            )
        if self.scan is not None and self._is_update:
            raise ScheduleError(
                f"{step}: '{self.op.name}' is an update of the scan '{self.scan.name}', and is "
                "computed in its steps"
            )

    # -- axes --------------------------------------------------------------------------------------

    def find(self, axis: object, step: str) -> int:
        """The place of an axis among those of the stage."""
        if not isinstance(axis, Axis):
            raise ScheduleError(f"{step}: expected an axis of '{self.op.name}', got {axis!r}")
        self._take_waiting(axis)
        for place, leaf in enumerate(self.leaves):
            if leaf.var is axis.var:
                self._check_kind(axis, step)
                return place
        raise ScheduleError(
            f"{step}: axis '{axis.name}' {self._story(axis)}",
            help=f"the axes of '{self.op.name}' are {quoted(self.leaves)}"
            if self.leaves
            else f"'{self.op.name}' has no axes",
        )

    def _find_all(self, axes: Sequence[object], step: str) -> list[int]:
        for axis in axes:
            self._take_waiting(axis)
        return [self.find(axis, step) for axis in axes]

    def _take_waiting(self, axis: object) -> None:
        waiting = self.waiting
        if waiting is None or not isinstance(axis, Axis) or not waiting.made(axis):
            return
        if any(map(is_shaping, self.steps)):
            return
        self.steps = [*waiting.steps, *self.steps]
        self.leaves = list(waiting.leaves)
        self.waiting = None

    def _check_kind(self, axis: Axis, step: str) -> None:
        if step not in ("split", "fuse"):
            return
        for known in self.steps:
            # What comes after the loops have their shape names the axes that are there then.
            is_about = any(item.var is axis.var for item in known.axes)
            if is_about and known.phase is not Phase.SHAPE:
                kind = known.kind if isinstance(known, SetKind) else type(known).__name__.lower()
                raise ScheduleError(
                    f"{step}: axis '{axis.name}' of '{self.op.name}' has been given to {kind}",
                    help=f"{step} it first, then say how the new axes run",
                )

    def _story(self, axis: Axis) -> str:
        for step in self.steps:
            if isinstance(step, Split) and step.axis.var is axis.var:
                return f"was split into '{step.outer.name}' and '{step.inner.name}'"
            if isinstance(step, Fuse) and any(part.var is axis.var for part in step.parts):
                return f"was fused into '{step.fused.name}'"
        time = None if self.scan is None else self.scan.times.get(cast("Compute", self.op))
        if self.scan is not None and time is not None and axes_of(self.op)[time].var is axis.var:
            return f"runs over the steps of the scan '{self.scan.name}', and belongs to its stage"
        if self.waiting is not None and self.waiting.made(axis):
            return "was made before, and other axes have been made since"
        if any(leaf.name == axis.name for leaf in self.leaves):
            return f"is none of stage '{self.op.name}', which has another one of that name"
        return f"does not belong to stage '{self.op.name}'"


def axes_of(op: Operation) -> tuple[Axis, ...]:
    """The axes of an operation, data first; of a script, its loops in the order of the text."""
    match op:
        case Compute():
            return (*op.axis, *op.reduce_axis)
        case Inlined():
            return op.axis
        case Scan():
            return (op.scan_axis,)
        case _:
            return ()


def extent_of(axis: Axis) -> Expr:
    """How many values an axis has."""
    return simplify(axis.stop - axis.start)


def _fused(axes: Sequence[Axis]) -> Axis:
    if len(axes) == 0:
        return Axis(Var("u"), Const(0), Const(1), AxisKind.DATA)
    extent = extent_of(axes[0])
    for axis in axes[1:]:
        extent = simplify(extent * extent_of(axis))
    kinds = {axis.kind for axis in axes}
    kind = AxisKind.REDUCE if AxisKind.REDUCE in kinds else axes[0].kind
    return Axis(Var("_".join(axis.name for axis in axes)), Const(0), extent, kind)


def _check_kind(value: object, kind: type, expected: str) -> None:
    if not isinstance(value, kind):
        raise ScheduleError(f"{expected}, got {value!r}")


def _read_factor(value: object, what: str) -> int | Expr:
    """A factor: a number, or an expression that is known when the function runs."""
    if not isinstance(value, Expression):
        return _check_number(value, what)
    expr = simplify(index_expr(value))
    return _check_number(expr.value, what) if isinstance(expr, Const) else expr


def _check_number(value: object, what: str) -> int:
    is_number = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
    if not is_number or int(cast("int", value)) < 1:
        raise ScheduleError(f"{what}: expected an integer of at least 1, got {value!r}")
    return int(cast("int", value))
