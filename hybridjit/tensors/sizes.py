"""Sizes of tensors: when two are equal, and how a script sees them."""

from __future__ import annotations

from collections.abc import Sequence

from hybridjit.arith.simplify import simplify
from hybridjit.ir.expr import Buffer, Const, Expr, Sub, Var
from hybridjit.scalars.specs import ArraySpec
from hybridjit.tensors.tensor import Tensor, operations_of


def same_size(a: Expr, b: Expr) -> bool:
    """True if two sizes are surely equal."""
    return a == b or simplify(Sub(a, b)) == Const(0)


def run_time_sizes(tensors: Sequence[Tensor]) -> frozenset[Var]:
    """The variables that are the length of an axis, of these tensors or of what they are made of.

    They are never negative, nor larger than an axis can be; so much is not known of the `n` of an
    axis of length n + 2 alone.
    """
    made = (tensor for op in operations_of(tensors) for tensor in op.outputs)
    lengths = (extent for tensor in (*tensors, *made) for extent in tensor.buffer.shape)
    return frozenset(extent for extent in lengths if isinstance(extent, Var))


class SizeNames:
    """Names for the sizes that are known when the program runs: equal ones have one name."""

    def __init__(self) -> None:
        self._known: dict[Expr, str] = {}

    def spec(self, buffer: Buffer) -> ArraySpec:
        """What a script is specialised for, given this buffer."""
        return ArraySpec(buffer.dtype, tuple(map(self._entry, buffer.shape)))

    def _entry(self, extent: Expr) -> int | str:
        if isinstance(extent, Const):
            return int(extent.value.real)
        for known, name in self._known.items():
            if same_size(known, extent):
                return name
        base = extent.name if isinstance(extent, Var) else "size"
        name, count = base, 0
        while name in self._known.values():
            count += 1
            name = f"{base}_{count}"
        self._known[extent] = name
        return name
