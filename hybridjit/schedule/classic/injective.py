"""Which operations can be inlined as a rule: elementwise, broadcast, injective ones."""

from __future__ import annotations

from collections.abc import Iterator

from hybridjit.ir.expr import Expr, Load, Var
from hybridjit.ir.visit import walk
from hybridjit.tensors.reduction import Reduction
from hybridjit.tensors.tensor import Compute, Operation

KINDS = ("elementwise", "broadcast", "injective")


def is_inlined(op: Operation, kind: str) -> bool:
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
