"""rfactor on a graph of tensors: partial results of a reduction, and a reduction of these."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence

from hybridjit.analysis.bounds import Facts
from hybridjit.errors import ScheduleError
from hybridjit.ir.expr import And, Binary, Compare, Const, Expr, Load, Max, Min, Select, Var
from hybridjit.ir.visit import substitute, walk
from hybridjit.record import record
from hybridjit.schedule.classic.graph import (
    Body,
    Graph,
    fresh_axes,
    make_compute,
    make_copies,
    rebuild,
    scalar_of,
    substitute_body,
)
from hybridjit.tensors.reduction import Reduction
from hybridjit.tensors.tensor import Axis, AxisKind, Compute, Tensor


@record(eq=False)
class Factoring:
    """How a reduction is taken apart.

    Each value of `factor`, which starts at 0, has a partial result over the axes `kept`. `values`
    gives the axes that were reduced before in terms of these, `guards` says where they are inside
    their ranges. `position` is that of the new axis among those of the partial results.
    """

    factor: Axis
    kept: tuple[Axis, ...]
    values: Mapping[Var, Expr]
    guards: tuple[Expr, ...]
    position: int


def rfactor(
    graph: Graph, op: Compute, how: Factoring, fastmath: Sequence[str]
) -> tuple[Graph, list[Tensor]]:
    """Give each value of an axis a partial result, and combine these.

    C = sum(A[i, k], k)    -->    C_rf = sum(A[i, ko * 4 + ki], ko) for each ki and i
                                  C = sum(C_rf[ki, i], ki)
    """
    reduction = op.body
    assert isinstance(reduction, Reduction)
    _check_rounding(op, reduction, fastmath)
    (first,) = fresh_axes([how.factor])
    first.kind = AxisKind.DATA
    data = fresh_axes(op.axis)
    inside: dict[Var, Expr] = {old.var: new.var for old, new in zip(op.axis, data, strict=True)}
    inside[how.factor.var] = first.var
    values = {var: substitute(value, inside) for var, value in how.values.items()}
    moved = substitute_body(reduction, {**inside, **values})
    assert isinstance(moved, Reduction)
    guards = [substitute(guard, inside) for guard in how.guards]
    kept = [_renamed(axis, inside) for axis in how.kept]
    axes = (*data[: how.position], first, *data[how.position :])
    partial = make_compute(f"{op.name}_rf", axes, _partial(moved, kept, guards))
    sizes = _known_sizes(op)
    copies = make_copies(partial, op.outputs, tuple(_size(axis.stop, sizes) for axis in axes))
    final = rebuild(op, _final(op, reduction, how, copies))
    return graph.replace(partial, final), copies


def _renamed(axis: Axis, variables: Mapping[Var, Expr]) -> Axis:
    """`axis` with a range of these variables."""
    start, stop = (substitute(bound, variables) for bound in axis.dom)
    return Axis(axis.var, start, stop, axis.kind)


def _known_sizes(op: Compute) -> Facts:
    """What is known of sizes: that they are not negative."""
    tensors = (*op.input_tensors, *op.outputs)
    extents = [extent for tensor in tensors for extent in tensor.buffer.shape]
    return Facts(frozenset(extent for extent in extents if isinstance(extent, Var)), ())


def _size(extent: Expr, sizes: Facts) -> Expr:
    """An extent as the size of an array: a range that ends before it starts has no elements."""
    form = sizes.exact(extent)
    if form is not None and sizes.prove_non_negative(form):
        return extent
    return Max(extent, Const(0))


def _check_rounding(op: Compute, reduction: Reduction, fastmath: Sequence[str]) -> None:
    """Floats are rounded otherwise when they are combined in another order."""
    exact = (Min, Max, Compare)
    rounds = any(
        isinstance(node, Binary)
        and not isinstance(node, exact)
        and not node.dtype.is_integer
        and node.dtype.name != "bool"
        for value in reduction.combined
        for node in walk(value)
    )
    if rounds and "reassoc" not in fastmath:
        raise ScheduleError(
            f"rfactor: partial results of '{op.name}' would be rounded otherwise",
            help='allow it: te.create_schedule(ops, fastmath={"reassoc"})',
        )


def _partial(reduction: Reduction, kept: Sequence[Axis], guards: Sequence[Expr]) -> Body:
    where = reduction.where
    for guard in reversed(guards):
        where = guard if where is None else And(guard, where)
    if kept:
        return dataclasses.replace(
            reduction, axes=tuple(kept), where=where, init=reduction.identity
        )
    if where is None:
        return tuple(map(scalar_of, reduction.sources))
    return tuple(
        scalar_of(Select(where, source, identity))
        for source, identity in zip(reduction.sources, reduction.identity, strict=True)
    )


def _final(op: Compute, reduction: Reduction, how: Factoring, partials: Sequence[Tensor]) -> Body:
    (axis,) = fresh_axes([how.factor])
    axis.kind = AxisKind.REDUCE
    indices: list[Expr] = [other.var for other in op.axis]
    indices.insert(how.position, axis.var)
    sources = tuple(Load(partial.buffer, tuple(indices)) for partial in partials)
    return dataclasses.replace(reduction, sources=sources, axes=(axis,), where=None)
