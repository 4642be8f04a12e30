"""Intrinsics called in a compute: `te.compute((n, 16), lambda i: dot(A[i, 0:16], B[i, 0:16]))`.

The compute has an axis for each index that its function takes, and more for what the intrinsic
makes. It computes what the intrinsic describes; its stage begins with the step `tensorize`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

from hybridjit.arith.simplify import simplify
from hybridjit.errors import ArgumentError, ArgumentValueError
from hybridjit.ir.expr import Buffer, Expr, Load, Node, Var
from hybridjit.ir.printer import format_expr
from hybridjit.ir.visit import rewrite, substitute
from hybridjit.record import record
from hybridjit.scalars.scalar import Scalar
from hybridjit.tensors.reduction import Reduction
from hybridjit.tensors.sizes import same_size
from hybridjit.tensors.tensor import Axis, AxisKind, Compute, TensorSlice


@record(eq=False)
class IntrinsicCall:
    """An intrinsic on parts of tensors; `around` are axes that the parts are summed up over.

    `numbers` are what its scalars stand for.
    """

    name: str
    op: Compute
    parts: tuple[TensorSlice, ...]
    around: tuple[Axis, ...]
    numbers: Mapping[Var, Expr]

    @property
    def rank(self) -> int:
        """How many axes of the result the intrinsic fills."""
        return len(self.op.axis)

    def body(self, inner: Sequence[Axis]) -> tuple[Scalar, ...] | Reduction:
        """What a compute with the axes `inner` for those of the intrinsic computes."""
        axes = dict(zip(_vars(self.op.axis), inner, strict=True))
        renamed = _Described(self._places(), axes, self.numbers)
        if not isinstance(self.op.body, Reduction):
            return tuple(Scalar(renamed(item.expr), item.type) for item in self.op.body)
        summed = [Axis(Var(axis.name), *axis.dom, axis.kind) for axis in self.op.reduce_axis]
        renamed = _Described(
            renamed.places,
            {**renamed.axes, **dict(zip(_vars(self.op.reduce_axis), summed, strict=True))},
            self.numbers,
        )
        return replace(
            self.op.body,
            sources=tuple(map(renamed, self.op.body.sources)),
            where=None if self.op.body.where is None else renamed(self.op.body.where),
            axes=(*self.around, *summed),
        )

    def _places(self) -> dict[Buffer, TensorSlice]:
        inputs = [tensor.buffer for tensor in self.op.input_tensors]
        return dict(zip(inputs, self.parts, strict=True))


def call_intrinsic(
    name: str,
    op: Compute,
    parts: Sequence[Any],
    reduce_axis: Any = None,
    numbers: Mapping[Var, Expr] | None = None,
) -> IntrinsicCall:
    """The intrinsic called `name`, which computes what `op` does, on parts of tensors."""
    if len(parts) != len(op.input_tensors):
        raise ArgumentValueError(
            f"intrinsic '{name}' takes {len(op.input_tensors)} parts of tensors, found {len(parts)}"
        )
    for part, tensor in zip(parts, op.input_tensors, strict=True):
        if not isinstance(part, TensorSlice):
            raise ArgumentError(
                f"intrinsic '{name}' takes a part of a tensor for '{tensor.name}', got {part!r}",
                help="write it with slices, as in A[i, 0:16]",
            )
        _check_part(name, part, tensor.buffer)
    around = _read_axes(name, op, reduce_axis)
    return IntrinsicCall(name, op, tuple(parts), around, numbers or {})


def _read_axes(name: str, op: Compute, given: Any) -> tuple[Axis, ...]:
    """The axes around a call that it is summed up over."""
    if given is None:
        return ()
    listed = cast("Sequence[Any]", given) if isinstance(given, (tuple, list)) else [given]
    for axis in listed:
        if not isinstance(axis, Axis) or axis.kind is not AxisKind.REDUCE:
            raise ArgumentError(f"intrinsic '{name}': {axis!r} is no te.reduce_axis")
    if not isinstance(op.body, Reduction):
        raise ArgumentValueError(f"intrinsic '{name}' is no reduction, and cannot be summed up")
    return tuple(listed)


def _check_part(name: str, part: TensorSlice, wanted: Buffer) -> None:
    found = [extent for extent in part.extents if extent is not None]
    if part.tensor.dtype is not wanted.dtype:
        raise ArgumentError(
            f"intrinsic '{name}': '{part.tensor.name}' is {part.tensor.dtype}, '{wanted.name}' is "
            f"{wanted.dtype}"
        )
    if len(found) != wanted.ndim or not all(map(same_size, found, wanted.shape)):
        sizes = ["(" + ", ".join(map(format_expr, shape)) + ")" for shape in (found, wanted.shape)]
        raise ArgumentValueError(
            f"intrinsic '{name}': the part of '{part.tensor.name}' is {sizes[0]}, '{wanted.name}' "
            f"is {sizes[1]}"
        )


def _vars(axes: Sequence[Axis]) -> list[Var]:
    return [axis.var for axis in axes]


@record(eq=False)
class _Described:
    """Takes an expression of the description to the compute: other tensors, other axes."""

    places: Mapping[Buffer, TensorSlice]
    axes: Mapping[Var, Axis]
    numbers: Mapping[Var, Expr]

    def __call__(self, expr: Expr) -> Expr:
        def rule(node: Node) -> Load | None:
            if not isinstance(node, Load) or node.buffer not in self.places:
                return None
            part = self.places[node.buffer]
            return Load(part.tensor.buffer, part.indices(node.indices))

        moved = rewrite(expr, rule)
        values = {**self.numbers, **{var: axis.var for var, axis in self.axes.items()}}
        return simplify(substitute(moved, values))
