"""The classic schedule of tensors: `s = te.create_schedule(C.op)`, then steps on stages `s[C]`.

    s = te.create_schedule(C.op)
    xo, yo, xi, yi = s[C].tile(*C.op.axis, 8, 32)
    s[B].compute_at(s[C], yo)
    print(hj.lower(s, [A, C]))

Stages record; see `classic_lower` for how the steps are taken, on the one engine.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Literal, cast

from hybridjit.config import api_edge
from hybridjit.errors import HybridError, ScheduleError
from hybridjit.html_text import heading, preformatted
from hybridjit.ir.expr import Expr, Load, Var
from hybridjit.ir.fastmath import read_fastmath
from hybridjit.ir.visit import walk
from hybridjit.schedule.classic.factoring import factor_stage
from hybridjit.schedule.classic.graph import Graph, cache_read, cache_write, is_among
from hybridjit.schedule.classic.group import Group, make_group
from hybridjit.schedule.classic.lower import lower_classic
from hybridjit.schedule.classic.relayout import take_layout
from hybridjit.schedule.classic.rfactor import rfactor
from hybridjit.schedule.classic.stage import Inline, Stage
from hybridjit.schedule.classic.steps import SetScope
from hybridjit.tensors.reduction import Reduction
from hybridjit.tensors.scan import Scan
from hybridjit.tensors.tensor import Axis, Compute, Operation, Placeholder, Tensor

Operations = Operation | Tensor | Sequence[Operation | Tensor]

# Which operations can be inlined as a rule.
_KINDS = ("elementwise", "broadcast", "injective")


@api_edge
def create_schedule(ops: Operations, *, fastmath: Any = False) -> ClassicSchedule:
    """A schedule of the tensors that `ops` make, without steps.

    `fastmath` is what it is for scripts: rfactor of a sum of floats needs {"reassoc"}.

    >>> s = te.create_schedule(C.op)
    """
    outputs: list[Tensor] = []
    for item in _listed(ops):
        if not isinstance(item, Operation | Tensor):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise ScheduleError(f"create_schedule: expected operations or tensors, got {item!r}")
        outputs += item.outputs if isinstance(item, Operation) else item.op.outputs
    if not outputs:
        raise ScheduleError("create_schedule: there is nothing to schedule")
    return ClassicSchedule(tuple(outputs), read_fastmath(fastmath))


class ClassicSchedule:
    """Stages of tensors. `s[T]` is the stage that makes T."""

    def __init__(self, outputs: tuple[Tensor, ...], fastmath: tuple[str, ...]) -> None:
        self.graph = Graph(outputs)
        self.fastmath = fastmath
        self._stages: dict[Operation, Stage] = {}
        self._update()
        for tensor in outputs:
            self._stages[tensor.op].is_output = True

    @property
    def outputs(self) -> tuple[Tensor, ...]:
        """What the schedule was made for."""
        return self.graph.outputs

    @property
    def stages(self) -> tuple[Stage, ...]:
        """The stages, each after those that it reads."""
        return tuple(self._stages[op] for op, _ in self._operations())

    def _operations(self) -> list[tuple[Operation, Scan | None]]:
        """All operations, each after those that it reads; those of one step before their scan."""
        found: list[tuple[Operation, Scan | None]] = []
        for op in self.graph.order():
            found += [(stage, op) for stage in op.stages] if isinstance(op, Scan) else []
            found.append((op, None))
        return found

    @api_edge
    def __getitem__(self, key: Tensor | Operation) -> Stage:
        return self._find(key)

    def _find(self, key: object) -> Stage:
        if not isinstance(key, Tensor | Operation):
            raise ScheduleError(f"a stage is found by its tensor or operation, got {key!r}")
        op = key if isinstance(key, Operation) else key.op
        if op not in self._stages:
            raise _unknown_operation(op, [stage.op.name for stage in self.stages])
        return self._stages[op]

    def _update(self) -> None:
        """Give every operation of the graph a stage; one that took another's place, that one's."""
        for op, scan in self._operations():
            if op in self._stages:
                continue
            before = self._stages.get(op.outputs[0].op)
            if before is None:
                self._stages[op] = Stage(op, scan)
            else:
                before.op = op
                self._stages[op] = before

    # -- new stages --------------------------------------------------------------------------------

    @api_edge
    def cache_read(self, tensor: Tensor, scope: str, readers: Operations) -> Tensor:
        """Let some operations read a copy of a tensor; gives the copy.

        >>> AL = s.cache_read(A, "local", [C])
        """
        self._find(tensor)
        found = [self._find(reader) for reader in _listed(readers)]
        for stage in found:
            _check_not_in_scan(stage, "cache_read")
        ops = [stage.op for stage in found]
        for op in ops:
            if not is_among(tensor, op.input_tensors):
                read = ", ".join(f"'{item.name}'" for item in op.input_tensors)
                raise ScheduleError(
                    f"cache_read: '{op.name}' does not read '{tensor.name}'",
                    help=f"it reads {read}" if read else None,
                )
        self.graph, made = cache_read(self.graph, tensor, scope, ops)
        self._update()
        self._find(made).steps.append(SetScope(scope))
        return made

    @api_edge
    def cache_write(self, tensor: Any, scope: str) -> Any:
        """Let a stage write to a copy, from which the tensor is taken; gives the copy.

        The axes of the stage are those of the tensor, without steps. The copy has axes of its own,
        and the reduced ones; where those of the stage were split, fused or reordered before, they
        are the dimensions of the copy. All outputs of one operation together give a list of copies.

        >>> CL = s.cache_write(C, "local")
        """
        several = isinstance(tensor, (list, tuple))
        tensors = list(cast("Sequence[Tensor]", tensor)) if several else [cast("Tensor", tensor)]
        stage = self._find(tensors[0])
        op = _check_cache_write(stage, tensors)
        self.graph, copies = cache_write(self.graph, op, scope, take_layout(stage, op))
        self._update()
        self._find(copies[0]).steps.append(SetScope(scope))
        return copies if several else copies[0]

    @api_edge
    def rfactor(self, tensor: Tensor, axis: Axis, factor_axis: int = 0) -> Any:
        """Give each value of a reduced axis a partial result, and combine these; gives them.

        The partial results have the axis as one more dimension, at `factor_axis`; -1 is the last.

        >>> ko, ki = s[B].split(B.op.reduce_axis[0], factor=16)
        >>> BF = s.rfactor(B, ki)
        """
        stage = self._find(tensor)
        _check_not_in_scan(stage, "rfactor")
        how = factor_stage(stage, axis, factor_axis)
        assert isinstance(stage.op, Compute)
        self.graph, partials = rfactor(self.graph, stage.op, how, self.fastmath)
        self._update()
        final = stage.op
        assert isinstance(final, Compute)
        stage.leaves += final.reduce_axis
        return partials[0] if len(partials) == 1 else partials

    # -- inlining and groups -----------------------------------------------------------------------

    @api_edge
    def auto_inline(
        self, kind: Literal["elementwise", "broadcast", "injective"] = "injective"
    ) -> None:
        """Inline every stage of a kind that is no output and has no loops or place of its own yet.

        "elementwise" reads at its own indices only, "broadcast" leaves some of them out,
        "injective" is anything but a reduction. A stage that cannot be inlined is computed, as one
        that is read at indices which are not known to be inside.

        >>> s.auto_inline("elementwise")
        """
        if kind not in _KINDS:
            raise ScheduleError(
                f"auto_inline: there is no kind {kind!r}", help=f"one of {', '.join(_KINDS)}"
            )
        for stage in self.stages:
            if stage.is_free and _is_of_kind(stage.op, kind):
                stage.attached = Inline(if_possible=True)

    def normalize(self) -> ClassicSchedule:
        """The schedule itself: axes always begin where they should."""
        return self

    @api_edge
    def create_group(
        self, outputs: Operations, inputs: Operations, include_inputs: bool = False
    ) -> Group:
        """The stages between `inputs` and `outputs`, to be placed together.

        A group lies in another one, or beside it: `group.group`, and `s[C].group` of a stage.

        >>> s.create_group(D, A).compute_at(s[E], xo)
        """
        last = [self._find(item) for item in _listed(outputs)]
        first = [self._find(item) for item in _listed(inputs)]
        kept = [stage for stage in self.stages if self._is_between(stage, first, last)]
        if not include_inputs:
            kept = [stage for stage in kept if stage not in first]
        found = [stage for stage in kept if not isinstance(stage.op, Placeholder)]
        if not found:
            raise ScheduleError(
                f"create_group: nothing is computed from {_names(first)} up to {_names(last)}",
                help="name what the stages give first, then what they are computed from: "
                "s.create_group(outputs, inputs)",
            )
        return make_group(found)

    def _is_between(self, stage: Stage, first: Sequence[Stage], last: Sequence[Stage]) -> bool:
        above = Graph(tuple(stage.op.outputs), self.graph.makers).order()
        below = [
            op for end in last for op in Graph(tuple(end.op.outputs), self.graph.makers).order()
        ]
        return stage.op in below and any(begin.op in above for begin in first)

    def _repr_html_(self) -> str:
        """The program with the steps that were taken on it, or why one of them is refused."""
        inputs = [stage.op.outputs[0] for stage in self.stages if isinstance(stage.op, Placeholder)]
        try:
            opened = lower_classic(self, [*inputs, *self.outputs])
        except HybridError as error:
            witness = error.witness if isinstance(error, ScheduleError) else None
            picture = "" if witness is None else witness.draw()
            return "\n".join([heading(repr(self)), preformatted(str(error)), picture])
        return heading(repr(self)) + "\n" + opened.show_html()

    def __repr__(self) -> str:
        names = ", ".join(stage.op.name for stage in self.stages)
        return f"schedule of tensors: {names}"


def _names(stages: Sequence[Stage]) -> str:
    return ", ".join(f"'{stage.op.name}'" for stage in stages)


def _unknown_operation(op: Operation, known: Sequence[str]) -> ScheduleError:
    if op.name in known:
        return ScheduleError(
            f"this operation '{op.name}' is not part of the schedule, but another one of that name",
            help="take the tensors that the schedule was made of",
        )
    names = ", ".join(f"'{name}'" for name in known)
    return ScheduleError(
        f"operation '{op.name}' is not part of the schedule", help=f"there are {names}"
    )


def _listed(items: Operations) -> list[Operation | Tensor]:
    return list(items) if isinstance(items, Sequence) else [items]


def _check_not_in_scan(stage: Stage, step: str) -> None:
    if stage.scan is not None:
        raise ScheduleError(
            f"{step}: '{stage.op.name}' is a step of the scan '{stage.scan.name}', which cannot be "
            "taken apart"
        )


def _check_cache_write(stage: Stage, tensors: Sequence[Tensor]) -> Compute:
    op = stage.op
    _check_not_in_scan(stage, "cache_write")
    if not isinstance(op, Compute):
        kind = type(op).__name__.lower()
        article = "an" if kind == "extern" else "a"
        raise ScheduleError(
            f"cache_write: '{op.name}' is {article} {kind}, and only a te.compute can write to a "
            "copy",
            help="s.cache_read(...) lets those that read it read a copy",
        )
    for tensor in tensors:
        if not is_among(tensor, op.outputs):
            raise ScheduleError(
                f"cache_write: '{tensors[0].name}' and '{tensor.name}' are not made by one "
                "operation"
            )
    if len(tensors) != op.num_outputs:
        raise ScheduleError(
            f"cache_write: '{op.name}' has {op.num_outputs} outputs, and {len(tensors)} are given",
            help="give them all, as a list",
        )
    return op


def _is_of_kind(op: Operation, kind: str) -> bool:
    """Whether `op` is of a kind: "elementwise", "broadcast" or "injective"."""
    if not isinstance(op, Compute) or isinstance(op.body, Reduction) or op.num_outputs != 1:
        return False
    axes = [axis.var for axis in op.axis]
    indices = list(_indices(op))
    match kind:
        case "elementwise":
            return all(list(found) == axes for found in indices)
        case "broadcast":
            return all(_is_ordered(found, axes) for found in indices)
        case _:
            return True


def _indices(op: Compute) -> Iterator[tuple[Expr, ...]]:
    assert isinstance(op.body, tuple)
    for scalar in op.body:
        for node in walk(scalar.expr):
            if isinstance(node, Load):
                yield node.indices


def _is_ordered(found: tuple[Expr, ...], axes: list[Var]) -> bool:
    """Whether the indices are some of the axes, in their order, or constants."""
    places = [axes.index(index) for index in found if isinstance(index, Var) and index in axes]
    variables = sum(1 for index in found for node in walk(index) if isinstance(node, Var))
    return variables == len(places) and places == sorted(set(places))
