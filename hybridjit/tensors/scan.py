"""te.scan: tensors that are computed step by step, each step from those before it.

    state = te.placeholder((m, n), name="state")
    init = te.compute((1, n), lambda t, i: X[t, i])
    update = te.compute((m, n), lambda t, i: state[t - 1, i] + X[t, i])
    Y = te.scan(init, update, state)

The placeholder stands for the result inside of the update. Whatever the update reads that depends
on it is a stage of the scan, too, and is computed in every step.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from hybridjit.config import api_edge
from hybridjit.errors import ArgumentError, ArgumentValueError
from hybridjit.ir.expr import Buffer, Const, Var
from hybridjit.ir.printer import format_expr
from hybridjit.record import record
from hybridjit.tensors.compute import choose_tag, make_outputs, output_names
from hybridjit.tensors.expression import name_of
from hybridjit.tensors.scan_steps import check_reads, find_time_axes
from hybridjit.tensors.sizes import run_time_sizes, same_size
from hybridjit.tensors.tensor import Axis, AxisKind, Compute, Operation, Placeholder, Tensor

Tensors = Tensor | Sequence[Tensor]


@record(eq=False, repr=False)
class Scan(Operation):
    """`update` for every step of `scan_axis`, after `init` gave the first steps.

    `stages` are the computes of one step, producers first, the updates among them; `times` says
    which of its axes is the step, None for a stage that does not know the step.
    """

    scan_axis: Axis
    dim: int
    init: Sequence[Tensor]
    update: Sequence[Tensor]
    state: Sequence[Tensor]
    stages: Sequence[Compute]
    times: Mapping[Compute, int | None]
    inputs: list[Tensor]

    @property
    def input_tensors(self) -> list[Tensor]:
        return self.inputs

    @property
    def state_placeholder(self) -> Sequence[Tensor]:
        """The placeholders that stand for the results inside of the update."""
        return self.state

    @property
    def inner_tensors(self) -> list[Tensor]:
        """The tensors of one step, which nothing outside of the scan can read."""
        return [*self.state, *(tensor for stage in self.stages for tensor in stage.outputs)]


@api_edge
def scan(
    init: Tensors,
    update: Tensors,
    state_placeholder: Tensors,
    inputs: Sequence[Tensor] | None = None,
    name: str = "scan",
    tag: str = "",
    attrs: dict[str, Any] | None = None,
    *,
    axis: int = 0,
) -> Any:
    """What `update` gives step by step along `axis`, which starts with the steps of `init`.

    With lists of tensors there are several states, which may read each other. `inputs` need not
    be given: they are found. The update may read the placeholders at earlier steps only. A negative
    axis counts from the last one.
    """
    name_of(name, "a tensor")
    groups = [_as_list(group) for group in (init, update, state_placeholder)]
    made = make_scan_of(groups, axis, (name, choose_tag(tag), dict(attrs or {})))
    return made[0] if isinstance(update, Tensor) else made


def make_scan_of(
    groups: Sequence[list[Tensor]],
    axis: int,
    options: tuple[str, str, dict[str, Any]],
    sizes: frozenset[Var] = frozenset(),
) -> list[Tensor]:
    """The results of a scan: of its init, update and state tensors, a name, a tag and attributes.

    `sizes` are run-time sizes that it need not read.
    """
    if len({len(group) for group in groups}) > 1 or not groups[0]:
        raise ArgumentValueError(
            "a scan needs as many init as update tensors and state placeholders, found "
            f"{len(groups[0])}, {len(groups[1])} and {len(groups[2])}"
        )
    rank = groups[2][0].ndim
    axis = axis + rank if -rank <= axis < 0 else axis
    for one_init, one_update, one_state in zip(*groups, strict=True):
        _check_state(one_init, one_update, one_state, axis)
    _check_steps(groups, axis)
    op = _make_scan(groups, axis, options)
    sizes |= run_time_sizes([*groups[1], *groups[2]])
    states: dict[Buffer, int] = {tensor.buffer: axis for tensor in groups[2]}
    check_reads(op.scan_axis, op.stages, op.times, states, sizes)
    for label, one_state in zip(output_names(options[0], len(groups[2])), groups[2], strict=True):
        make_outputs(op, [label], [one_state.dtype], one_state.buffer.shape)
    return list(op.outputs)


def _make_scan(
    groups: Sequence[list[Tensor]], axis: int, options: tuple[str, str, dict[str, Any]]
) -> Scan:
    init, update, state = groups
    stages = _find_stages(update, {tensor.op for tensor in state})
    times = find_time_axes(stages, update, axis)
    start, stop = init[0].buffer.shape[axis], update[0].buffer.shape[axis]
    main = cast("Compute", update[0].op)
    scan_axis = Axis(Var(main.axis[axis].name), start, stop, AxisKind.SCAN)
    within = {*stages, *(tensor.op for tensor in state)}
    read = [*init, *(tensor for stage in stages for tensor in stage.input_tensors)]
    inputs = [tensor for tensor in dict.fromkeys(read) if tensor.op not in within]
    return Scan(*options, scan_axis, axis, init, update, state, stages, times, inputs)


def _as_list(tensors: Tensors) -> list[Tensor]:
    given: object = tensors
    items = cast("Sequence[object]", given) if isinstance(given, (tuple, list)) else [given]
    for item in items:
        if not isinstance(item, Tensor):
            raise ArgumentError(f"a scan is made of tensors, got {item!r}")
    return cast("list[Tensor]", list(items))


def _check_state(init: Tensor, update: Tensor, state: Tensor, axis: int) -> None:
    if not isinstance(state.op, Placeholder):
        raise ArgumentError(f"the state '{state.name}' of a scan must be a te.placeholder")
    if not isinstance(update.op, Compute):
        raise ArgumentError(f"the update '{update.name}' of a scan must be a te.compute")
    if not (0 <= axis < state.ndim):
        raise ArgumentValueError(
            f"the scan axis {axis} is none of the {state.ndim} dimensions of '{state.name}'"
        )
    for tensor in (init, update):
        if tensor.dtype is not state.dtype:
            raise ArgumentError(
                f"'{tensor.name}' is {tensor.dtype}, the state '{state.name}' is {state.dtype}"
            )
        if tensor.ndim != state.ndim:
            raise ArgumentValueError(
                f"'{tensor.name}' has {tensor.ndim} dimensions, the state '{state.name}' has "
                f"{state.ndim}"
            )
        for dim, size in enumerate(state.buffer.shape):
            is_time_of_init = tensor is init and dim == axis
            if not is_time_of_init and not same_size(tensor.buffer.shape[dim], size):
                raise ArgumentValueError(
                    f"dimension {dim} of '{tensor.name}' is "
                    f"{format_expr(tensor.buffer.shape[dim])}, that of the state "
                    f"'{state.name}' is {format_expr(size)}"
                )


def _check_steps(groups: Sequence[list[Tensor]], axis: int) -> None:
    for what, group in zip(("init", "update", "state"), groups, strict=True):
        if len(set(group)) < len(group):
            raise ArgumentValueError(f"a scan has one {what} tensor for each of its states")
        for tensor in group:
            if not same_size(tensor.buffer.shape[axis], group[0].buffer.shape[axis]):
                raise ArgumentValueError(
                    f"'{tensor.name}' and '{group[0].name}' have different numbers of steps"
                )
    first, steps = (groups[place][0].buffer.shape[axis] for place in (0, 2))
    match first, steps:
        case Const(int(given)), Const(int(wanted)) if given > wanted:
            raise ArgumentValueError(
                f"'{groups[0][0].name}' gives {given} steps of a scan that has {wanted}"
            )
        case _:
            pass


def _find_stages(update: Sequence[Tensor], state: set[Operation]) -> list[Compute]:
    """The computes that the updates need and that depend on the state, producers first."""
    depends: dict[Operation, bool] = dict.fromkeys(state, True)
    stages: list[Compute] = []
    stack: list[tuple[Operation, bool]] = [(tensor.op, False) for tensor in reversed(update)]
    updates = {tensor.op for tensor in update}
    while stack:
        op, is_ready = stack.pop()
        if op in depends:
            continue
        if not is_ready:
            stack.append((op, True))
            stack += [(tensor.op, False) for tensor in reversed(op.input_tensors)]
            continue
        depends[op] = op in updates or any(depends[tensor.op] for tensor in op.input_tensors)
        if depends[op]:
            stages.append(_as_stage(op))
    return stages


def _as_stage(op: Operation) -> Compute:
    if not isinstance(op, Compute):
        raise ArgumentError(
            f"'{op.name}' depends on the state of a scan, and only a te.compute may",
            help="scan with a loop `for t in scan(lo, hi)` in a script instead",
        )
    return op
