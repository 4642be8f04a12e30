"""te.gradient: reverse mode, from an output back to the tensors that it is computed from.

The adjoint of a tensor says how the output, weighted with a head, changes with each element. What
an operation gives to the adjoint of a tensor that it reads at `X[e(i)]` is

    adjoint_X[j] += sum over i with e(i) == j of adjoint[i] * (d body / d X[e(i)])

The equations e(i) == j are solved for as many axes as possible; sums are left over the others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, cast

from hybridjit.config import api_edge
from hybridjit.errors import ArgumentError, ArgumentValueError
from hybridjit.ir.expr import Const, Expr, Load, Var
from hybridjit.ir.visit import substitute, walk
from hybridjit.scalars.scalar import index
from hybridjit.tensors.compute import compute, reduce_axis
from hybridjit.tensors.derivative import derivative, typed
from hybridjit.tensors.expression import Expression
from hybridjit.tensors.functions import if_then_else
from hybridjit.tensors.guarded_loads import condition_of
from hybridjit.tensors.index_equations import Solution, from_start, solve
from hybridjit.tensors.reduction import all as all_of
from hybridjit.tensors.reduction import sum as sum_of
from hybridjit.tensors.reduction_terms import Term, terms_of
from hybridjit.tensors.scan import Scan
from hybridjit.tensors.scan_gradient import ScanAdjoint
from hybridjit.tensors.sizes import run_time_sizes, same_size
from hybridjit.tensors.tensor import Axis, Compute, Operation, Tensor, operations_of


@api_edge
def gradient(output: Tensor, inputs: Tensor | Sequence[Tensor], head: Tensor | None = None) -> Any:
    """The derivatives of `output` by each of `inputs`, a list of tensors.

    `head` has the shape of the output, maybe after dimensions of its own, P: the results have the
    shape P + input.shape and are summed over the output. Without a head, P is the shape of the
    output: the results are whole Jacobians.
    """
    wanted = [inputs] if isinstance(inputs, Tensor) else list(_each(inputs))
    given = [output, *wanted] if head is None else [output, *wanted, head]
    for tensor in given:
        if not isinstance(tensor, Tensor):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise ArgumentError(f"te.gradient is about tensors, got {tensor!r}")
        if not tensor.dtype.is_float:
            raise ArgumentError(f"te.gradient needs floats, '{tensor.name}' is {tensor.dtype}")
    first = _identity(output) if head is None else head
    _check_head(output, first)
    adjoints = _Adjoints(output, wanted, first)
    adjoints.run()
    return [adjoints.result(tensor) for tensor in wanted]


def _each(inputs: Any) -> Iterable[Tensor]:
    if not isinstance(inputs, Iterable):
        raise ArgumentError(f"te.gradient is about tensors, got {inputs!r}")
    return cast("Iterable[Tensor]", inputs)


def _identity(output: Tensor) -> Tensor:
    count = output.ndim

    def body(*indices: Any) -> Any:
        one, zero = (typed(Const(value, output.dtype)) for value in (1.0, 0.0))
        pairs = [a == b for a, b in zip(indices[:count], indices[count:], strict=True)]
        return if_then_else(all_of(*pairs), one, zero) if pairs else one

    return compute((*output.shape, *output.shape), body, name=f"{output.name}_identity")


def _check_head(output: Tensor, head: Tensor) -> None:
    extra = head.ndim - output.ndim
    sizes = zip(head.buffer.shape[max(extra, 0) :], output.buffer.shape, strict=False)
    if extra < 0 or not all(same_size(a, b) for a, b in sizes):
        raise ArgumentValueError(
            f"the head {head!r} must end in the shape of the output {output!r}"
        )
    if head.dtype is not output.dtype:
        raise ArgumentError(f"the head is {head.dtype}, the output is {output.dtype}")


class _Adjoints:
    """The adjoints of all tensors between an output and inputs, as sums of parts."""

    def __init__(self, output: Tensor, inputs: Sequence[Tensor], head: Tensor) -> None:
        self.prefix = head.shape[: head.ndim - output.ndim]
        self.order = operations_of([output])
        self.sizes = run_time_sizes([output, *inputs])
        self.needed = self._find_needed(inputs)
        self.parts: dict[Tensor, list[Tensor]] = {output: [head]}

    def _find_needed(self, inputs: Sequence[Tensor]) -> set[Tensor]:
        """The tensors that depend on an input."""
        needed = set(inputs)
        for op in self.order:
            if any(tensor in needed for tensor in _sources(op)):
                needed.update(op.outputs)
        return needed

    def run(self) -> None:
        """Go from the output back to the inputs."""
        for op in reversed(self.order):
            sources = [tensor for tensor in _sources(op) if tensor in self.needed]
            if isinstance(op, Scan):
                if sources and any(output in self.parts for output in op.outputs):
                    self._pass_on_steps(op, sources)
                continue
            for output in op.outputs:
                if sources and output in self.parts:
                    self._pass_on(op, output, sources)

    def result(self, tensor: Tensor) -> Tensor:
        """The adjoint of a tensor: the sum of its parts."""
        parts = self.parts.get(tensor, [])
        if len(parts) == 1:
            return parts[0]

        def total(*indices: Any) -> Any:
            found: Any = typed(Const(0.0, tensor.dtype))
            for place, part in enumerate(parts):
                found = part[indices] if place == 0 else found + part[indices]
            return found

        shape = (*self.prefix, *tensor.shape)
        self.parts[tensor] = [compute(shape, total, name=f"{tensor.name}_grad")]
        return self.parts[tensor][0]

    def _pass_on(self, op: Operation, output: Tensor, sources: Sequence[Tensor]) -> None:
        if not isinstance(op, Compute):
            raise ArgumentError(
                f"te.gradient goes through te.compute and te.scan only, found {op!r}"
            )
        if op.num_outputs > 1:
            raise ArgumentError(
                f"te.gradient goes through one output at a time, '{op.name}' has {op.num_outputs}",
                help="compute the tensors separately",
            )
        self._pass_through(op, self.result(output), sources)

    def _pass_on_steps(self, op: Scan, sources: Sequence[Tensor]) -> None:
        """Go through a scan: to its first steps, and to what its stages read."""
        inner = [tensor for tensor in sources if tensor in op.inner_tensors]
        if inner:
            raise ArgumentError(
                f"'{inner[0].name}' is known inside of the scan '{op.name}' only",
                help="ask for the gradient by a tensor that the scan reads",
            )
        heads = {output: self.result(output) for output in op.outputs if output in self.parts}
        steps = ScanAdjoint(op, self.prefix, heads, _elements, self._contribution, self.sizes)
        first, stages = steps.run()
        for init, adjoint in first.items():
            if init in sources:
                self.parts.setdefault(init, []).append(adjoint)
        for stage, adjoint in stages.items():
            assert isinstance(stage.op, Compute)
            self._pass_through(stage.op, adjoint, sources)

    def _pass_through(self, op: Compute, adjoint: Tensor, sources: Sequence[Tensor]) -> None:
        """Give what the adjoint of a compute means for those of the tensors that it reads."""
        for term in terms_of(op):
            for source in sources:
                for element in _elements(term.value, source):
                    part = self._part(op, term, adjoint, source, element)
                    if part is not None:
                        self.parts.setdefault(source, []).append(part)

    def _part(
        self, op: Compute, term: Term, adjoint: Tensor, source: Tensor, element: Load
    ) -> Tensor | None:
        """What one read of `source` gives to its adjoint."""
        count = len(self.prefix)
        found: list[Any] = []

        def body(*indices: Any) -> Any:
            def read(at: Sequence[Expr]) -> Expression:
                return adjoint[(*indices[:count], *map(_index, at))]

            found.append(self._contribution(op, term, element, indices[count:], read))
            return typed(Const(0.0, source.dtype)) if found[-1] is None else found[-1]

        made = compute((*self.prefix, *source.shape), body, name=f"{source.name}_grad")
        return None if found[-1] is None else made

    def _contribution(
        self,
        op: Compute,
        term: Term,
        element: Load,
        target: Sequence[Axis],
        read: Callable[[Sequence[Expr]], Expression],
        places: Mapping[Var, Expr] | None = None,
    ) -> Any:
        """What one read of an element gives to its adjoint at `target`, the sum over all points
        that read it; None if nothing. `read` gives the adjoint of `op`; `places` are targets that
        stand for expressions.
        """
        slope = derivative(term.value, element)
        if slope is None:
            return None
        weighted = slope if term.weight is None else slope * term.weight
        axes = (*op.axis, *term.axes)
        indices = from_start(term.value, element, axes, term.where, self.sizes)
        solution = solve(indices, target, axes, self.sizes)
        solution = solution if places is None else solution.placed(places)
        adjoint = read([solution.apply(axis.var) for axis in op.axis])
        value = adjoint * typed(solution.apply(weighted.expr))
        if value.dtype is not element.dtype:  # what is read was converted
            value = value.astype(element.dtype)
        return _summed(value, solution, _conditions(solution, term, element))


def _sources(op: Operation) -> list[Tensor]:
    """What the outputs of `op` depend on."""
    return [*op.input_tensors, *(op.inner_tensors if isinstance(op, Scan) else ())]


def _index(expr: Expr) -> Expression:
    return Expression(index(expr))


def _elements(value: Expr, source: Tensor) -> list[Load]:
    """The different elements of `source` that an expression reads."""
    found: dict[Load, None] = {}
    for node in walk(value):
        if isinstance(node, Load) and node.buffer is source.buffer:
            found[node] = None
    return list(found)


def _conditions(solution: Solution, term: Term, element: Load) -> list[Expr]:
    """When `element` is read, each after those without which it must not be asked."""
    reads = any(
        isinstance(node, Load) for equation in solution.equations for node in walk(equation)
    )
    guards = [condition_of(element, term.value)] if reads else []
    guards = [guard for guard in guards if not isinstance(guard, Const)]
    guards += [] if term.where is None else [term.where]
    return [*solution.ranges, *map(solution.apply, reversed(guards)), *solution.equations]


def _summed(value: Expression, solution: Solution, conditions: Sequence[Expr]) -> Any:
    """`value` where the conditions hold, summed over the axes that are left open."""
    axes: list[Axis] = []
    renamed: dict[Var, Expr] = {}
    for axis in solution.open:  # which range to those before them only
        bounds = (substitute(solution.apply(bound), renamed) for bound in axis.dom)
        axes.append(reduce_axis(tuple(map(_index, bounds)), axis.name))
        renamed[axis.var] = axes[-1].var
    value = typed(substitute(value.expr, renamed))
    held = [typed(substitute(condition, renamed)) for condition in conditions]
    if axes:
        return sum_of(value, axis=axes, where=all_of(*held) if held else None)
    return if_then_else(all_of(*held), value, typed(Const(0.0, value.dtype))) if held else value
