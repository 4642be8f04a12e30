"""What a schedule hands out: loops and blocks that stay valid while the program is rewritten."""

from __future__ import annotations

from hybridjit.ir.expr import Var
from hybridjit.record import record


@record
class LoopHandle:
    """A loop of a schedule. It is the loop's variable, which steps that keep the loop keep."""

    var: Var

    @property
    def name(self) -> str:
        """The name of the loop's variable."""
        return self.var.name

    def __repr__(self) -> str:
        return f"loop {self.name}"


@record
class BlockHandle:
    """A block of a schedule, by its name."""

    name: str

    def __repr__(self) -> str:
        return f"block {self.name}"


Handle = LoopHandle | BlockHandle
LoopLike = LoopHandle | str
BlockLike = BlockHandle | str
