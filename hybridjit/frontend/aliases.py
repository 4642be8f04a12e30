"""Names for reshaped arrays, which NumPy may have to copy, and for parts of complex ones, which it
does not copy: the same to a script as long as nothing is written.
"""

from __future__ import annotations

from collections.abc import Sequence

from hybridjit.errors import Span
from hybridjit.ir.expr import Buffer, BufferRef
from hybridjit.ir.stmt import Stmt, Store
from hybridjit.ir.visit import walk
from hybridjit.record import record


@record
class Alias:
    """A name for elements of `shown`, made after the statement `last` of the script, if any.

    In a loop, that is the last one before it: what comes first in the loop is run again.
    """

    shown: Buffer
    name: str
    span: Span
    last: Stmt | None
    copy: Buffer | None = None  # what the name has instead, if writing to that is what matters

    def may_change(self, body: Sequence[Stmt], *, shares_memory: bool) -> bool:
        """True if, in the script, something is written later that may be seen by the name."""
        done = next((place for place, stmt in enumerate(body, 1) if stmt is self.last), 0)
        nodes = (node for stmt in body[done:] for node in walk(stmt))
        written = (node.buffer for node in nodes if isinstance(node, (Store, BufferRef)))
        if self.copy is not None:
            return any(buffer is self.copy for buffer in written)
        return any(shares_memory or buffer is self.shown for buffer in written)
