"""Tensors that scripts write to: in place, or in a copy where the graph needs what was there.

    def scaled(a):                     # A is a placeholder: the array that is passed is written
        for i in range(a.shape[0]):
            a[i] *= 2
        ...

Whoever else reads a tensor reads what it was made with, whenever that happens. So a script writes
to the memory of its tensor only if nobody else reads it, and to a copy otherwise. The copy of an
argument is stored back in the end, when all have read it.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from hybridjit.errors import ArgumentValueError
from hybridjit.ir.expr import Buffer
from hybridjit.ir.stmt import Allocate, Stmt
from hybridjit.ir.visit import substitute
from hybridjit.record import record
from hybridjit.tensors.block_map import BlockMap
from hybridjit.tensors.inlined import Inlined, make_copy
from hybridjit.tensors.tensor import Operation, Placeholder, Tensor


@record(eq=False)
class WrittenCopies:
    """The copies that operations write to in the place of tensors."""

    copies: dict[Operation, dict[Tensor, Buffer]]

    def redirect(self, op: Inlined, stmts: Sequence[Stmt], places: BlockMap) -> list[Stmt]:
        """The statements of `op` on its copies, which are made first."""
        copies = self.copies.get(op, {})
        buffers: dict[Buffer, Buffer] = {tensor.buffer: copies[tensor] for tensor in copies}
        begin = [
            stmt
            for source, copy in buffers.items()
            for stmt in (Allocate(copy, zero=False), make_copy(op, source, copy, places))
        ]
        return [*begin, *(substitute(stmt, {}, buffers) for stmt in stmts)]

    def store_back(self, places: BlockMap) -> list[Stmt]:
        """Give arguments what was written to their copies."""
        return [
            make_copy(op, copy, tensor.buffer, places)
            for op, copies in self.copies.items()
            if isinstance(op, Inlined)
            for tensor, copy in copies.items()
            if isinstance(tensor.op, Placeholder)
        ]


def plan_copies(order: Sequence[Operation], params: Collection[object]) -> WrittenCopies:
    """Which operations write to copies of which tensors; `params` are given by the caller."""
    copies: dict[Operation, dict[Tensor, Buffer]] = {}
    for op in order:
        for tensor in op.written_inputs if isinstance(op, Inlined) else ():
            others = [other for other in order if other is not op and _reads(other, tensor)]
            is_argument = isinstance(tensor.op, Placeholder)
            if is_argument:
                _check_writers(tensor, [op, *others])
            if others or (tensor.buffer in params and not is_argument):
                copy = Buffer(f"{tensor.name}_written", tensor.dtype, tensor.buffer.shape)
                copies.setdefault(op, {})[tensor] = copy
    return WrittenCopies(copies)


def _reads(op: Operation, tensor: Tensor) -> bool:
    return any(tensor is other for other in op.input_tensors)


def _check_writers(tensor: Tensor, readers: Sequence[Operation]) -> None:
    """Refuse an argument that two operations would leave something else in."""
    writers = [op for op in readers if isinstance(op, Inlined) and tensor in op.written_inputs]
    if len(writers) > 1:
        raise ArgumentValueError(
            f"'{writers[0].name}' and '{writers[1].name}' both write to the argument "
            f"'{tensor.name}'",
            help=f"give one of them a copy, a te.compute of '{tensor.name}'",
        )
