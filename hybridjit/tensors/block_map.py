"""Where the operations of a graph are in its function: their blocks and their loops."""

from __future__ import annotations

from dataclasses import field

from hybridjit.ir.expr import Var
from hybridjit.ir.printer_names import make_identifier
from hybridjit.record import record
from hybridjit.tensors.tensor import Axis, Operation


@record(frozen=False)
class BlockMap:
    """The blocks of each operation, by name, and the variable of the loop over each of its axes.

    Two operations may share an axis, but never a loop.
    """

    blocks: dict[Operation, list[str]] = field(default_factory=dict["Operation", list[str]])
    loops: dict[tuple[Operation, Var], Var] = field(
        default_factory=dict[tuple["Operation", Var], Var]
    )
    _taken: set[str] = field(default_factory=set[str])

    def name_block(self, op: Operation, suffix: str = "", base: str | None = None) -> str:
        """A new name for a block of `op`: `base`, or the first of `base_1` ... that is free.

        The base is the name of the operation, with the suffix of a block that helps the main one,
        such as one that sets starting values.
        """
        wanted = make_identifier(base or (f"{op.name}_{suffix}" if suffix else op.name))
        name, count = wanted, 0
        while name in self._taken:
            count += 1
            name = f"{wanted}_{count}"
        self._taken.add(name)
        self.blocks.setdefault(op, []).append(name)
        return name

    def note_loop(self, op: Operation, axis: Axis, var: Var) -> None:
        """The loop of `var` runs over `axis` in `op`."""
        self.loops[op, axis.var] = var

    def main_block(self, op: Operation) -> str:
        """The block that computes the outputs of `op`."""
        return self.blocks[op][0]

    def loop(self, op: Operation, axis: Axis) -> Var:
        """The variable of the loop over `axis` in `op`."""
        return self.loops[op, axis.var]
