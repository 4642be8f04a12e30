"""The adjoint of a scan: a scan that goes from the last step back to the first.

    Y[t] = f(Y[t - 1], X[t])                 adjoint of Y[t] = head[t] + adjoint of f[t + 1] * df/dY
                                             adjoint of f[t] = adjoint of Y[t]

The values of all steps are known by then, so every stage of a step is computed once more for all
steps at once, with the results of the scan in the place of its states. The adjoints of the results
and of these stages are the states of the new scan, in which step r is step T - 1 - r of the old
one. Steps come first in all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from typing import Any

from hybridjit.arith.linear import linear_form
from hybridjit.arith.simplify import simplify
from hybridjit.errors import ArgumentError
from hybridjit.ir.expr import And, Buffer, Const, Expr, Ge, Load, Sub, Var
from hybridjit.ir.visit import substitute
from hybridjit.record import record
from hybridjit.scalars.scalar import index
from hybridjit.tensors.compute import compute, placeholder, reduce_axis
from hybridjit.tensors.derivative import typed
from hybridjit.tensors.expression import Expression
from hybridjit.tensors.functions import if_then_else
from hybridjit.tensors.reduction import Reduction
from hybridjit.tensors.reduction_terms import Term, terms_of
from hybridjit.tensors.scan import Scan, make_scan_of
from hybridjit.tensors.tensor import Axis, AxisKind, Compute, Tensor

Read = Callable[[Sequence[Expr]], Expression]
Contribute = Callable[[Compute, Term, Load, Sequence[Axis], Read, Mapping[Var, Expr]], Any]
"""What one read of an element gives to its adjoint, in gradient.py."""


@record(eq=False, frozen=False)
class ScanAdjoint:
    """Makes the adjoints of a scan, from those of its results that there are."""

    op: Scan
    prefix: tuple[Any, ...]
    heads: Mapping[Tensor, Tensor]
    elements: Callable[[Expr, Tensor], list[Load]]
    contribute: Contribute
    sizes: frozenset[Var]  # known at run time
    stages: dict[Compute, Tensor] = field(default_factory=dict[Compute, Tensor])
    dims: dict[Tensor, int] = field(default_factory=dict[Tensor, int])
    states: dict[Tensor, Tensor] = field(default_factory=dict[Tensor, Tensor])
    updates: dict[Tensor, Tensor] = field(default_factory=dict[Tensor, Tensor])

    def run(self) -> tuple[dict[Tensor, Tensor], dict[Tensor, Tensor]]:
        """The adjoints of the first steps, and those of the stages, computed once more."""
        for result in self.op.outputs:
            self.dims[result] = self.op.dim
        for stage in self.op.stages:
            self.stages[stage] = self._once_more(stage)
        tensors = [*self.op.outputs, *reversed(self.stages.values())]
        for tensor in tensors:
            name = f"{tensor.name}_back"
            self.states[tensor] = placeholder(self._shape(tensor), tensor.dtype, name)
        for tensor in tensors:
            self.updates[tensor] = self._update(tensor)
        found = self._scan(tensors)
        pairs = zip(self.op.init, self.op.outputs, strict=True)
        first = {init: self._forwards(found[result], result, init) for init, result in pairs}
        again = self.stages.values()
        return first, {stage: self._forwards(found[stage], stage, stage) for stage in again}

    # -- steps ---------------------------------------------------------------------------------

    @property
    def _steps(self) -> Expr:
        return self.op.state[0].buffer.shape[self.op.dim]

    def _back(self, step: Expr) -> Expr:
        """The step of one scan as that of the other."""
        last = simplify(Sub(Sub(self._steps, Const(1)), step))
        form = linear_form(last)
        if form is not None and form.constant == 0 and list(form.terms.values()) == [1]:
            return next(iter(form.terms))  # a step that is the same on both sides is one variable
        return last

    def _is_step(self, step: Expr) -> Expr | None:
        """Whether a step is not one of the first, which are given; None if none are."""
        start = self.op.scan_axis.start
        return None if start == Const(0) else Ge(step, start)

    def _shape(self, tensor: Tensor) -> tuple[Any, ...]:
        dim, shape = self.dims[tensor], tensor.shape
        return (shape[dim], *self.prefix, *shape[:dim], *shape[dim + 1 :])

    def _place(self, tensor: Tensor, before: Sequence[Any], indices: Sequence[Expr]) -> Any:
        """Where the adjoint of an element is, steps first and backwards."""
        dim = self.dims[tensor]
        rest = (*indices[:dim], *indices[dim + 1 :])
        return (_at(self._back(indices[dim])), *before, *map(_at, rest))

    # -- stages --------------------------------------------------------------------------------

    def _once_more(self, stage: Compute) -> Tensor:
        """A stage for all steps at once. Of the first steps, which have none, it is zero."""
        dim = self.op.times[stage]
        if dim is None or stage.num_outputs > 1:
            raise ArgumentError(
                f"te.gradient goes through stages of a scan that have one result and a step, "
                f"'{stage.name}' has not",
                help="compute the tensors separately",
            )
        buffers: dict[Buffer, Buffer] = {
            state.buffer: result.buffer
            for state, result in zip(self.op.state, self.op.outputs, strict=True)
        }
        buffers |= {old.outputs[0].buffer: new.buffer for old, new in self.stages.items()}

        def body(*indices: Any) -> Any:
            renamed = {axis.var: given.var for axis, given in zip(stage.axis, indices, strict=True)}
            is_step = self._is_step(indices[dim].var)
            if isinstance(stage.body, Reduction):
                return _copied(stage.body, renamed, buffers, is_step)
            value = typed(substitute(stage.body[0].expr, renamed, buffers))
            zero = typed(Const(0.0, value.dtype))
            return value if is_step is None else if_then_else(typed(is_step), value, zero)

        output = stage.outputs[0]
        made = compute(output.shape, body, name=f"{output.name}_again")
        self.dims[made] = dim
        return made

    # -- adjoints ------------------------------------------------------------------------------

    def _update(self, tensor: Tensor) -> Tensor:
        """The adjoint of a result or a stage in one step: a sum of parts."""
        parts = [
            part
            for stage, reader in self.stages.items()
            for part in self._parts(tensor, stage, reader)
        ]
        updated = [
            result
            for update, result in zip(self.op.update, self.op.outputs, strict=True)
            if self.stages[_compute_of(update)] is tensor
        ]
        count = len(self.prefix)

        def total(step: Any, *rest: Any) -> Any:
            found: Any = typed(Const(0.0, tensor.dtype))
            if tensor in self.heads:
                inner = [*rest[count:]]
                inner.insert(self.dims[tensor], _at(self._back(step.var)))
                found = self.heads[tensor][(*rest[:count], *inner)]
            for part in parts:
                found = found + part[(step, *rest)]
            for result in updated:
                value = self.updates[result][(step, *rest)]
                is_step = self._is_step(self._back(step.var))
                zero = typed(Const(0.0, tensor.dtype))
                found += value if is_step is None else if_then_else(typed(is_step), value, zero)
            return found

        return compute(self._shape(tensor), total, name=f"{tensor.name}_adjoint")

    def _parts(self, tensor: Tensor, stage: Compute, reader: Tensor) -> list[Tensor]:
        """What the reads of a tensor in one stage give to its adjoint."""
        op = _compute_of(reader)
        # Of stages, adjoints of the same step are made before; of results, steps later on are read.
        known = self.states if tensor in self.op.outputs else self.updates
        made = [
            self._part(tensor, op, term, element, known[reader])
            for term in terms_of(op)
            for element in self.elements(term.value, tensor)
            if reader in known
        ]
        return [part for part in made if part is not None]

    def _part(
        self, tensor: Tensor, op: Compute, term: Term, element: Load, adjoint: Tensor
    ) -> Tensor | None:
        count, dim = len(self.prefix), self.dims[tensor]
        reader = op.outputs[0]
        missing: list[bool] = []

        def body(step: Any, *rest: Any) -> Any:
            time = Axis(Var("t"), Const(0), self._steps, AxisKind.DATA)
            target = [*rest[count:]]
            target.insert(dim, time)
            place = {time.var: self._back(step.var)}

            def read(indices: Sequence[Expr]) -> Expression:
                at = self._place(reader, rest[:count], [substitute(i, place) for i in indices])
                return adjoint[at]

            found = self.contribute(op, term, element, target, read, place)
            missing.append(found is None)
            return typed(Const(0.0, tensor.dtype)) if found is None else found

        made = compute(self._shape(tensor), body, name=f"{tensor.name}_part")
        return None if missing[-1] else made

    def _scan(self, tensors: Sequence[Tensor]) -> dict[Tensor, Tensor]:
        def nothing(tensor: Tensor) -> Tensor:
            shape = (0, *self._shape(tensor)[1:])

            def zero(*indices: Any) -> Any:
                return typed(Const(0.0, tensor.dtype))

            return compute(shape, zero, name=f"{tensor.name}_none")

        init = [nothing(tensor) for tensor in tensors]
        updates = [self.updates[tensor] for tensor in tensors]
        states = [self.states[tensor] for tensor in tensors]
        name = f"{self.op.name}_back"
        made = make_scan_of([init, updates, states], 0, (name, "", {}), self.sizes)
        return dict(zip(tensors, made, strict=True))

    def _forwards(self, found: Tensor, tensor: Tensor, like: Tensor) -> Tensor:
        """An adjoint in the order of `tensor`, of as many steps as another tensor has."""
        count = len(self.prefix)

        def body(*indices: Any) -> Any:
            inner = [axis.var for axis in indices[count:]]
            return found[self._place(tensor, indices[:count], inner)]

        return compute((*self.prefix, *like.shape), body, name=f"{like.name}_grad")


def _compute_of(tensor: Tensor) -> Compute:
    assert isinstance(tensor.op, Compute)
    return tensor.op


def _at(expr: Any) -> Any:
    return Expression(index(expr)) if isinstance(expr, Expr) else expr


def _copied(
    old: Reduction, renamed: dict[Var, Var], buffers: Mapping[Buffer, Buffer], also: Expr | None
) -> Reduction:
    """A reduction over axes of its own, of other tensors, where another condition holds, too."""
    variables: dict[Var, Expr] = {**renamed}
    axes: list[Axis] = []
    for axis in old.axes:
        bounds = tuple(typed(substitute(bound, variables, buffers)) for bound in axis.dom)
        axes.append(reduce_axis(bounds, axis.name))
        variables[axis.var] = axes[-1].var

    def other(expr: Expr) -> Expr:
        return substitute(expr, variables, buffers)

    held = [*([] if also is None else [also]), *([] if old.where is None else [other(old.where)])]
    where = None if not held else held[0] if len(held) == 1 else And(*held)
    sources, init = (tuple(map(other, exprs)) for exprs in (old.sources, old.init))
    return replace(old, sources=sources, axes=tuple(axes), where=where, init=init)
