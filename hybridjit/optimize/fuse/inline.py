"""Choose the arrays whose elements are computed where they are read: where that costs nothing, an
element being read once, or hardly anything. What is built is in schedule/arrays/inline.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

from hybridjit.analysis.cost import is_dear
from hybridjit.ir.expr import Const, Var
from hybridjit.ir.stmt import Allocate, Stmt
from hybridjit.ir.visit import walk
from hybridjit.optimize.decisions import BlockOf, Decisions
from hybridjit.optimize.fuse.cost import is_chain
from hybridjit.schedule.arrays.fusion import Fusion
from hybridjit.schedule.arrays.inline import Elements, find_elements, make_inline, may_inline

# Up to how many operations in all are done again, rather than an array kept in memory.
_MOST_AGAIN = 12
# An element of more operations is not put into another expression. It can still be a name in the
# loop that reads it: chains of statements do not become one deep expression.
MOST_OPERATIONS = 100


def inline(
    fusion: Fusion,
    stmts: Sequence[Stmt],
    allocation: Allocate,
    decisions: Decisions,
    *,
    again: bool = False,
    packed: Stmt | None = None,
) -> list[Stmt] | None:
    """`stmts` without an array whose elements are computed where they are read; None if it stays.

    With `again`, elements that cost little are computed more than once. A product that is `packed`
    reads its factors few times.
    """
    elements = None if decisions.is_over else find_elements(fusion, stmts, allocation)
    if elements is None or _is_long(elements):
        return None
    if not (
        elements.are_read_once
        or (again and _is_cheap(elements))
        or (packed is not None and _is_packed(elements, stmts.index(packed)))
    ):
        return None
    if not _keeps_vectors(elements) or not may_inline(fusion, stmts, elements):
        return None
    if not decisions.take("compute_inline", BlockOf(elements.buffer)):
        return None
    users = [stmts[position] for position in elements.users]
    fusion.note(elements.buffer, "computed where it is read", users)
    return make_inline(fusion, stmts, elements)


def _is_cheap(elements: Elements) -> bool:
    nodes = [node for root in elements.roots for node in walk(root)]
    work = sum(not isinstance(node, (Const, Var)) for node in nodes)
    is_little = work * len(elements.uses) <= _MOST_AGAIN
    return is_little and not is_dear(elements.roots, divisions=True)


def _is_packed(elements: Elements, position: int) -> bool:
    """True if only the packing of a product reads elements, and they cost little."""
    is_only = elements.users in ([], [position])
    return is_only and not is_dear(elements.roots, divisions=True)


def _is_long(elements: Elements) -> bool:
    nodes = (node for root in elements.roots for node in walk(root))
    return sum(1 for _ in islice(nodes, MOST_OPERATIONS + 1)) > MOST_OPERATIONS


def _keeps_vectors(elements: Elements) -> bool:
    """False if functions of many instructions would no longer be computed in vectors."""
    is_slow = any(map(is_chain, elements.inner_loops))
    return not is_slow or not is_dear(elements.roots, divisions=False)
