"""The body of a compute as terms that a gradient can go through one by one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hybridjit.errors import ArgumentError
from hybridjit.ir.expr import Add, Call, Const, Eq, Expr, Load, Max, Min, Mul, Var
from hybridjit.ir.visit import substitute
from hybridjit.record import record
from hybridjit.tensors.compute import compute, reduce_axis
from hybridjit.tensors.derivative import typed
from hybridjit.tensors.expression import Expression, condition
from hybridjit.tensors.functions import if_then_else
from hybridjit.tensors.reduction import Reduction
from hybridjit.tensors.reduction import any as any_of
from hybridjit.tensors.reduction import prod as prod_of
from hybridjit.tensors.reduction import sum as sum_of
from hybridjit.tensors.tensor import Axis, Compute


@record(eq=False)
class Term:
    """A change of `value`, at any point of `axes` where `where` holds, is one of the result.

    It counts `weight` times, if there is a weight.
    """

    value: Expr
    weight: Expression | None = None
    axes: tuple[Axis, ...] = ()
    where: Expr | None = None


def terms_of(op: Compute) -> list[Term]:
    """What the result of a compute depends on. Equal extrema count the same, as one together."""
    if not isinstance(op.body, Reduction):
        return [Term(op.body[0].expr)]
    reduction = op.body
    source, start = reduction.sources[0], reduction.init[0]
    match reduction.combined[0]:
        case Add(Var(), Var()):
            term = Term(source, None, reduction.axes, reduction.where)
            return [term] if isinstance(start, Const) else [term, Term(start)]
        case (
            Min(Var(), Var()) | Max(Var(), Var()) | Call("minimum" | "maximum", (Var(), Var()))
        ) if isinstance(start, Const):
            share = _share_of_extremum(op, reduction)
            return [Term(source, share, reduction.axes, reduction.where)]
        case Mul(Var(), Var()) if isinstance(start, Const):
            others = _product_of_others(op, reduction)
            return [Term(source, others, reduction.axes, reduction.where)]
        case _:
            raise ArgumentError(
                f"te.gradient knows sum, min, max and prod, '{op.name}' is a te.{reduction.name}"
            )


def _share_of_extremum(op: Compute, reduction: Reduction) -> Expression:
    """One, divided by how many elements are the extremum, where the source is it; else zero."""
    output = op.outputs[0]
    one, zero = (typed(Const(value, output.dtype)) for value in (1.0, 0.0))

    def is_extreme(renamed: Mapping[Var, Expr]) -> Expression:
        found = Load(output.buffer, tuple(axis.var for axis in op.axis))
        return condition(substitute(Eq(reduction.sources[0], found), renamed))

    def count(*indices: Any) -> Any:
        renamed = dict(zip([axis.var for axis in op.axis], [i.expr for i in indices], strict=True))
        again: list[Axis] = []
        for axis in reduction.axes:
            bounds = tuple(typed(substitute(bound, renamed)) for bound in axis.dom)
            again.append(reduce_axis(bounds, axis.name))
            renamed[axis.var] = again[-1].var
        where = None if reduction.where is None else typed(substitute(reduction.where, renamed))
        return sum_of(if_then_else(is_extreme(renamed), one, zero), axis=again, where=where)

    counted = compute(output.shape, count, name=f"{op.name}_extrema")
    return if_then_else(is_extreme({}), one / counted[op.axis], zero)


def _product_of_others(op: Compute, reduction: Reduction) -> Expression:
    """The product without the factor at the point: correct where a factor is zero, too."""
    axes = (*op.axis, *reduction.axes)
    for axis in reduction.axes:
        if axis.start != Const(0) or not isinstance(axis.stop, Const):
            raise ArgumentError(
                f"te.gradient of the product '{op.name}' needs axes from 0 to a constant"
            )

    def body(*indices: Any) -> Any:
        again = [
            reduce_axis((0, typed(axis.stop)), f"{axis.name}_other") for axis in reduction.axes
        ]
        point = dict(zip([axis.var for axis in axes], [i.expr for i in indices], strict=True))
        other: dict[Var, Expr] = {**point}
        other.update({a.var: b.var for a, b in zip(reduction.axes, again, strict=True)})
        here = indices[len(op.axis) :]
        is_other = any_of(*(a != b for a, b in zip(again, here, strict=True)))
        if reduction.where is not None:
            is_other = is_other & typed(substitute(reduction.where, other))
        value = typed(substitute(reduction.sources[0], other))
        return prod_of(value, axis=again, where=is_other, init=typed(reduction.init[0]))

    shape = [typed(axis.stop) for axis in axes]
    others = compute(shape, body, name=f"{op.name}_others")
    return others[tuple(axes)]
