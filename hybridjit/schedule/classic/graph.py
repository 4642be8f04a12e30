"""The graph of a classic schedule: which operation makes each tensor, now that some are replaced.

`cache_read`, `cache_write` and `rfactor` put new operations into the graph. Tensors stay what they
are: a tensor whose operation is replaced is made by another one from then on.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from functools import reduce
from typing import Protocol

from hybridjit.arith.substitution import FoldingSubstitute
from hybridjit.errors import ScheduleError
from hybridjit.ir.dtype import ScalarType
from hybridjit.ir.expr import And, Buffer, Const, Expr, Load, Select, Var, const
from hybridjit.ir.visit import Substitute, substitute
from hybridjit.record import record
from hybridjit.scalars.scalar import Scalar
from hybridjit.tensors.compute import find_inputs, make_outputs
from hybridjit.tensors.inlined import Inlined
from hybridjit.tensors.reduction import Reduction
from hybridjit.tensors.tensor import (
    Axis,
    AxisKind,
    Compute,
    Operation,
    Tensor,
    TensorizedAxes,
)

Body = tuple[Scalar, ...] | Reduction


class Layout(Protocol):
    """The dimensions of a copy, as `relayout` finds them."""

    @property
    def leaves(self) -> tuple[Axis, ...]: ...
    @property
    def values(self) -> Mapping[Var, Expr]: ...
    @property
    def guards(self) -> tuple[Expr, ...]: ...
    @property
    def indices(self) -> tuple[Expr, ...]: ...


@record(eq=False)
class Graph:
    """The operations behind `outputs`; `makers` says who makes a tensor, if not its own."""

    outputs: tuple[Tensor, ...]
    makers: Mapping[Buffer, Operation] = field(default_factory=dict[Buffer, Operation])

    def maker(self, tensor: Tensor) -> Operation:
        """The operation that makes `tensor` now."""
        return self.makers.get(tensor.buffer, tensor.op)

    def order(self, tensors: Sequence[Tensor] = ()) -> list[Operation]:
        """All operations behind the outputs and `tensors`, each after its inputs."""
        order: dict[Operation, None] = {}
        wanted = [self.maker(tensor) for tensor in (*tensors, *self.outputs)]
        stack = [(op, False) for op in reversed(wanted)]
        while stack:
            op, is_ready = stack.pop()
            if op in order:
                continue
            if is_ready:
                order[op] = None
                continue
            stack.append((op, True))
            stack += [(self.maker(tensor), False) for tensor in reversed(op.input_tensors)]
        return list(order)

    def readers(self, tensor: Tensor) -> list[Operation]:
        """The operations that read `tensor`."""
        return [op for op in self.order() if is_among(tensor, op.input_tensors)]

    def replace(self, *ops: Operation) -> Graph:
        """The graph in which `ops` make their outputs."""
        made = {tensor.buffer: op for op in ops for tensor in op.outputs}
        return dataclasses.replace(self, makers={**self.makers, **made})


def is_among(tensor: Tensor, tensors: Iterable[Tensor]) -> bool:
    """Whether `tensor` is one of `tensors`; `==` may be about elements."""
    return any(tensor is other for other in tensors)


# -- cache_read ------------------------------------------------------------------------------------


def cache_read(
    graph: Graph, tensor: Tensor, scope: str, readers: Sequence[Operation]
) -> tuple[Graph, Tensor]:
    """Let `readers` read a copy of `tensor`.

    B = compute(A[i] + 1)    -->    A_local = compute(A[ax0]);  B = compute(A_local[i] + 1)
    """
    axes = tuple(
        Axis(Var(f"ax{place}"), Const(0), extent, AxisKind.DATA)
        for place, extent in enumerate(tensor.buffer.shape)
    )
    value = Load(tensor.buffer, tuple(axis.var for axis in axes))
    copy = make_compute(f"{tensor.name}_{scope}", axes, (scalar_of(value),))
    made = make_copies(copy, [tensor])[0]
    return graph.replace(copy, *(_redirect(op, tensor, made) for op in readers)), made


def _redirect(op: Operation, old: Tensor, new: Tensor) -> Operation:
    buffers: dict[Buffer, Buffer] = {old.buffer: new.buffer}
    match op:
        case Compute():
            return rebuild(op, substitute_body(op.body, {}, buffers))
        case Inlined():
            if is_among(old, op.written_inputs):
                raise ScheduleError(f"cache_read: '{op.name}' writes to '{old.name}'")
            inputs = [new if tensor is old else tensor for tensor in op.inputs]
            body = substitute(op.body, {}, buffers)
            copied = {made: buffers.get(source, source) for made, source in op.copied.items()}
            return dataclasses.replace(
                op, body=body, inputs=inputs, outputs=op.outputs, copied=copied
            )
        case _:
            raise ScheduleError(
                f"cache_read: '{op.name}' is a scan, and what it reads cannot be replaced",
                help=f"make a te.compute that copies '{old.name}', and let the scan read that",
            )


# -- cache_write -----------------------------------------------------------------------------------


def cache_write(
    graph: Graph, op: Compute, scope: str, layout: Layout
) -> tuple[Graph, list[Tensor]]:
    """Let `op` write to copies of its outputs, from which another operation takes them.

    C = compute(A[i] + 1)    -->    C_local = compute(A[i] + 1);  C = compute(C_local[i])

    The operation that makes C keeps its axes; the one that computes keeps the reduced ones, and has
    the dimensions of `layout`. What of these is no element of C is zero.
    """
    axes = fresh_axes(layout.leaves)
    renamed = {old.var: new.var for old, new in zip(layout.leaves, axes, strict=True)}
    inside: dict[Var, Expr] = {axis.var: axis.var for axis in op.axis} | dict(layout.values)
    inside = {var: substitute(value, renamed) for var, value in inside.items()}
    guards = [substitute(guard, renamed) for guard in layout.guards]
    body = restrict_body(substitute_body(op.body, inside), guards)
    computing = make_compute(f"{op.name}_{scope}", axes, body)
    computing = dataclasses.replace(computing, intrinsic=_renamed_intrinsic(op, renamed))
    copies = make_copies(computing, op.outputs, tuple(axis.stop for axis in axes))
    values = tuple(scalar_of(Load(copy.buffer, layout.indices)) for copy in copies)
    copying = dataclasses.replace(rebuild(op, values), intrinsic=None, outputs=op.outputs)
    return graph.replace(computing, copying), copies


def _renamed_intrinsic(op: Compute, renamed: Mapping[Var, Var]) -> TensorizedAxes | None:
    if op.intrinsic is None:
        return None
    axes = (
        Axis(renamed.get(axis.var, axis.var), axis.start, axis.stop, axis.kind)
        for axis in op.intrinsic.axes
    )
    return TensorizedAxes(op.intrinsic.name, tuple(axes))


def restrict_body(body: Body, guards: Sequence[Expr]) -> Body:
    """A body that is zero, or what a reduction starts with, where the guards do not hold."""
    if not guards:
        return body
    guard = reduce(And, guards)
    if not isinstance(body, Reduction):
        return tuple(
            Scalar(Select(guard, scalar.expr, const(0, scalar.type.dtype)), scalar.type)
            for scalar in body
        )
    where = guard if body.where is None else And(guard, body.where)
    starts = zip(body.init, body.identity, strict=True)
    init = tuple(first if first == none else Select(guard, first, none) for first, none in starts)
    return dataclasses.replace(body, where=where, init=init)


# -- arguments that are inlined --------------------------------------------------------------------


def compute_apart(graph: Graph, op: Compute) -> tuple[Graph, Tensor]:
    """Let those that read the output of `op` read a copy, which is computed by itself.

    B = compute(A[i] + 1);  C = compute(B[i])   -->   B_apart = compute(A[i] + 1);  B as before;
                                                      C = compute(B_apart[i])

    So an argument is written, and is inlined where it is read.
    """
    axes = fresh_axes(op.axis)
    inside = {old.var: new.var for old, new in zip(op.axis, axes, strict=True)}
    copy = make_compute(f"{op.name}_apart", axes, substitute_body(op.body, inside))
    made = make_copies(copy, op.outputs)[0]
    readers = graph.readers(op.outputs[0])
    redirected = [_redirect(reader, op.outputs[0], made) for reader in readers]
    return graph.replace(copy, *redirected), made


# -- new operations --------------------------------------------------------------------------------


def make_compute(name: str, axes: tuple[Axis, ...], body: Body) -> Compute:
    """A compute that makes nothing yet."""
    return Compute(name, "", {}, axes, body, _inputs(body))


def rebuild(op: Compute, body: Body) -> Compute:
    """The compute that makes the outputs of `op` otherwise."""
    return dataclasses.replace(op, body=body, inputs=_inputs(body), outputs=op.outputs)


def make_copies(
    op: Compute, originals: Sequence[Tensor], shape: tuple[Expr, ...] | None = None
) -> list[Tensor]:
    """The outputs of `op`: tensors like `originals`, or of another shape."""
    names = [op.name] if len(originals) == 1 else [f"{op.name}_v{t.value_index}" for t in originals]
    dtypes = [tensor.dtype for tensor in originals]
    return make_outputs(op, names, dtypes, originals[0].buffer.shape if shape is None else shape)


def fresh_axes(axes: Sequence[Axis]) -> tuple[Axis, ...]:
    """Axes like these, for another operation."""
    return tuple(Axis(Var(axis.name), axis.start, axis.stop, axis.kind) for axis in axes)


def substitute_body(
    body: Body, variables: Mapping[Var, Expr], buffers: Mapping[Buffer, Buffer] | None = None
) -> Body:
    """The body of a compute with variables and buffers replaced."""

    # The one value of an axis of length 1 is a constant.
    folds = any(isinstance(value, Const) for value in variables.values())
    replacing = (FoldingSubstitute if folds else Substitute)(variables, buffers)

    def changed(expr: Expr) -> Expr:
        return replacing.rewrite(expr)

    if not isinstance(body, Reduction):
        return tuple(Scalar(changed(scalar.expr), scalar.type) for scalar in body)
    return dataclasses.replace(
        body,
        sources=tuple(map(changed, body.sources)),
        where=None if body.where is None else changed(body.where),
        init=tuple(map(changed, body.init)),
        axes=tuple(
            Axis(axis.var, changed(axis.start), changed(axis.stop), axis.kind) for axis in body.axes
        ),
    )


def scalar_of(expr: Expr) -> Scalar:
    """A value of the type that the expression has."""
    return Scalar(expr, ScalarType(expr.dtype))


def _inputs(body: Body) -> list[Tensor]:
    if not isinstance(body, Reduction):
        return find_inputs([scalar.expr for scalar in body])
    bounds = [bound for axis in body.axes for bound in axis.dom]
    where = [] if body.where is None else [body.where]
    return find_inputs([*body.sources, *body.init, *body.combined, *where, *bounds])
