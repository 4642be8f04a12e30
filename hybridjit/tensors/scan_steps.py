"""Which axis of a stage of a scan is the step, and proof that only earlier steps are read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from hybridjit.analysis.bounds import Facts
from hybridjit.arith.linear import Linear
from hybridjit.errors import ArgumentValueError
from hybridjit.ir.expr import Buffer, Const, Expr, Load, Var
from hybridjit.ir.printer import format_expr
from hybridjit.ir.stmt import For, seq
from hybridjit.ir.visit import walk
from hybridjit.tensors.compute import exprs_of
from hybridjit.tensors.guarded_loads import visit_loads
from hybridjit.tensors.reduction import Reduction
from hybridjit.tensors.tensor import Axis, Compute, Tensor, TensorBuffer

Times = Mapping[Compute, int | None]


def find_time_axes(stages: Sequence[Compute], update: Sequence[Tensor], dim: int) -> Times:
    """For each stage the axis that is the step: the one that is always indexed with it."""
    times: dict[Compute, int | None] = {
        stage: dim for stage in stages if any(tensor.op is stage for tensor in update)
    }
    for place in reversed(range(len(stages))):
        stage = stages[place]
        reads = [
            (load, _time_var(reader, times))
            for reader in stages[place + 1 :]
            for load in _loads_of(reader, stage)
        ]
        if stage in times:
            _check_aligned(stage, reads, dim)
        else:
            times[stage] = _time_axis(stage, reads)
    return times


def _time_var(stage: Compute, times: Times) -> Var | None:
    dim = times[stage]
    return None if dim is None else stage.axis[dim].var


def _loads_of(reader: Compute, stage: Compute) -> Iterator[Load]:
    for expr in exprs_of(reader.body):
        for node in walk(expr):
            if (
                isinstance(node, Load)
                and isinstance(node.buffer, TensorBuffer)
                and node.buffer.op is stage
            ):
                yield node


def _time_axis(stage: Compute, reads: Sequence[tuple[Load, Var | None]]) -> int | None:
    for dim in range(len(stage.axis)):
        if all(load.indices[dim] is time for load, time in reads):
            return dim
    for load, time in reads:
        if any(node is time for index in load.indices for node in walk(index)):
            raise _misaligned(stage, load)
    return None


def _check_aligned(stage: Compute, reads: Sequence[tuple[Load, Var | None]], dim: int) -> None:
    for load, time in reads:
        if load.indices[dim] is not time:
            raise _misaligned(stage, load)


def _misaligned(stage: Compute, load: Load) -> ArgumentValueError:
    return ArgumentValueError(
        f"the stage '{stage.name}' of a scan is read as {format_expr(load)}: a step sees the "
        "stages of the same step only",
        help="to look back, read the state placeholder",
    )


# -- earlier steps ---------------------------------------------------------------------------------


def check_reads(
    scan_axis: Axis,
    stages: Sequence[Compute],
    times: Times,
    states: Mapping[Buffer, int],
    sizes: frozenset[Var],
) -> None:
    """Refuse a read of a state, by its buffer and the axis of its steps, that may look ahead."""
    for stage in stages:
        dim = times[stage]
        facts = Facts(sizes, ())
        last = scan_axis.start if dim is None else stage.axis[dim].var
        for place, axis in enumerate(stage.axis):
            _enter(facts, axis, scan_axis if place == dim else axis)
        if isinstance(stage.body, Reduction):
            for axis in stage.body.axes:
                _enter(facts, axis, axis)
            if stage.body.where is not None:
                facts.assume(stage.body.where)
        for expr in exprs_of(stage.body):
            _Reads(facts, states, stage, last).visit(expr)


def _enter(facts: Facts, axis: Axis, domain: Axis) -> None:
    facts.enter_loop(For(axis.var, domain.start, domain.stop, Const(1), seq()))


class _Reads:
    """The reads of states in one stage."""

    def __init__(
        self, facts: Facts, states: Mapping[Buffer, int], stage: Compute, last: Expr
    ) -> None:
        self.facts = facts
        self.states = states
        self.stage = stage
        self.last = last  # the step that is being computed

    def visit(self, expr: Expr) -> None:
        """Check all reads of states in `expr`."""
        visit_loads(expr, self.facts, self._check)

    def _check(self, load: Load) -> None:
        if load.buffer not in self.states:
            return
        step = self.facts.form(load.indices[self.states[load.buffer]])
        last = self.facts.form(self.last)
        if step is not None and last is not None:
            gap = last.plus(step, -1).plus(Linear({}, -1))
            if self.facts.prove_non_negative(step) and self.facts.prove_non_negative(gap):
                return
        raise ArgumentValueError(
            f"'{self.stage.name}' reads {format_expr(load)}, which is not sure to be an earlier "
            f"step: from 0 up to, not including, {format_expr(self.last)}",
            help="read steps such as t - 1, as many back as the init has steps, or guard the read "
            "with te.if_then_else",
        )
