"""Names for reshaped arrays, which NumPy may have to copy, and for parts of complex ones, which it
does not copy: the same to a script unless what is written through one is read through the other.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from hybridjit.errors import Span
from hybridjit.ir.expr import Buffer, BufferRef, Load, Node
from hybridjit.ir.stmt import For, Stmt, Store, While
from hybridjit.ir.visit import children, walk
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

    def may_change(
        self, body: Sequence[Stmt], *, shares_memory: bool, is_steady: bool = True
    ) -> bool:
        """True if, in the script, something is written later that may be seen by the name.

        What is shown `is_steady` if only what the script writes to it is stored there.
        """
        written = _written(self.later(body))
        return any(shares_memory or buffer is self.shown for buffer in written)

    def later(self, body: Sequence[Stmt]) -> Sequence[Stmt]:
        """The statements of the script that come after the name."""
        done = next((place for place, stmt in enumerate(body, 1) if stmt is self.last), 0)
        return body[done:]


@record
class PartAlias(Alias):
    """A name for a copy of elements of `shown`, of which NumPy has a view.

    What is shown may be written to, as long as the copy is not read afterwards. The copy itself may
    not: where it `is_made_once`, every later write is one to the view.
    """

    copy: Buffer
    is_made_once: bool

    def may_change(
        self, body: Sequence[Stmt], *, shares_memory: bool, is_steady: bool = True
    ) -> bool:
        """True if something is written that the other name would show."""
        later = self.later(body)
        if self.is_made_once and any(buffer is self.copy for buffer in _written(later)):
            return True
        if not is_steady:
            return False
        is_late = False
        for is_read, buffer in _accesses(later):
            if buffer is self.copy:
                if is_read and is_late:
                    return True
                is_late = is_late and is_read
            elif not is_read and (shares_memory or buffer is self.shown):
                is_late = True
        return False


def _written(body: Sequence[Stmt]) -> Iterator[Buffer]:
    nodes = (node for stmt in body for node in walk(stmt))
    return (node.buffer for node in nodes if isinstance(node, (Store, BufferRef)))


def _accesses(nodes: Iterable[Node]) -> Iterator[tuple[bool, Buffer]]:
    """Whether each access is a read, and of what, in order; what loops repeat comes twice.

    A loop of one store is taken for a statement on whole arrays, which reads before it writes.
    """
    for node in nodes:
        is_repeated = isinstance(node, (For, While)) and not _is_one_store(node)
        for _ in range(1 + is_repeated):
            yield from _accesses(children(node))
        if isinstance(node, (Load, BufferRef)):
            yield True, node.buffer
        if isinstance(node, (Store, BufferRef)):
            yield False, node.buffer


def _is_one_store(node: Node) -> bool:
    while isinstance(node, For):
        node = node.body
    return isinstance(node, Store)
