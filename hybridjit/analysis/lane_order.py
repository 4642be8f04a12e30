"""Prove that the iterations of a loop may take every step of its body together, as lanes do.

    for i in range(n - 1):
        a[i] = a[i] + a[i + 1]

All lanes read before any of them writes. That is the order of the program for what an iteration
reads and a later one writes, as here, though not for `a[i - 1]`: so less is asked than for
iterations that may run in any order. Loops inside take turns with each other, and need more.

Relies on: what `Independence` relies on.
"""

from __future__ import annotations

from collections.abc import Iterator

from hybridjit.analysis.accesses import Access, find_accesses
from hybridjit.analysis.distances import Order
from hybridjit.analysis.independence import Independence
from hybridjit.ir.expr import Buffer, Load
from hybridjit.ir.stmt import Allocate, For, While
from hybridjit.ir.visit import walk
from hybridjit.record import record


def prove_lane_order(independence: Independence, loop: For) -> bool:
    """True if no lane of `loop` gets to an element before an earlier lane that comes later."""
    return find_conflict(independence, loop) is None


@record
class Conflict:
    """Two accesses of an array whose lanes would get to an element in another order.

    Where it is known, `distance` tells how many iterations the first one, of the order in which an
    iteration makes them, comes after the second.
    """

    first: Access
    second: Access
    distance: int | None

    @property
    def buffer(self) -> Buffer:
        """The array."""
        return self.first.buffer


def find_conflict(independence: Independence, loop: For) -> Conflict | None:
    """What keeps the iterations of `loop` from being lanes, if anything does."""
    nodes = list(walk(loop.body))
    made = {node.buffer for node in nodes if isinstance(node, Allocate)}
    wrong = Order.AFTER
    if any(isinstance(node, For | While) for node in nodes):
        wrong |= Order.BEFORE
    for first, second in _pairs(loop):
        distances = independence.meet(first, second, [loop])
        if first.buffer in made or not distances.order() & wrong:
            continue
        if not independence.prove_never_meet(first, second):
            low, high = distances.low[loop.var], distances.high[loop.var]
            return Conflict(first, second, low if low == high else None)
    return None


def _pairs(loop: For) -> Iterator[tuple[Access, Access]]:
    """Two accesses of an element, the first of which an iteration makes first; one is a store."""
    accesses = list(_in_order(loop))
    for place, first in enumerate(accesses):
        for second in accesses[place:]:
            if first.buffer is second.buffer and (first.is_write or second.is_write):
                yield first, second


def _in_order(loop: For) -> Iterator[Access]:
    """What an iteration touches in arrays, in the order in which it happens.

    In the text, a store stands before what its indices and its value read.
    """
    waiting: list[tuple[Access, int]] = []
    for access in find_accesses(loop.body, scope=(loop,)):
        loads = sum(isinstance(node, Load) for node in walk(access.node)) if access.is_write else 0
        if loads:
            waiting.append((access, loads))
            continue
        if not access.buffer.is_register:
            yield access
        if waiting:
            store, left = waiting.pop()
            if left > 1:
                waiting.append((store, left - 1))
            elif not store.buffer.is_register:
                yield store
