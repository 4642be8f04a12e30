"""Choose the packed arrays that need no memory: those that are folded a few times, and at little
cost for the elements that are not in them. What is built is in schedule/arrays/unpack.py.
"""

from __future__ import annotations

from collections.abc import Sequence

from hybridjit.analysis.cost import is_dear
from hybridjit.ir.stmt import Allocate, Stmt
from hybridjit.optimize.decisions import BlockOf, Decisions
from hybridjit.schedule.arrays.fusion import Fusion
from hybridjit.schedule.arrays.unpack import find_packed, make_unpacked

# To pack costs as much as so many folds over all elements, at least.
_MOST_FOLDS = 2


def unpack(
    fusion: Fusion, stmts: Sequence[Stmt], allocation: Allocate, decisions: Decisions
) -> list[Stmt] | None:
    """`stmts` without a packed array; None if it stays."""
    is_candidate = not decisions.is_over and allocation.buffer not in fusion.temporaries
    packed = find_packed(fusion, stmts, allocation) if is_candidate else None
    if packed is None or len(packed.users) > _MOST_FOLDS:
        return None
    if is_dear([*packed.roots, *packed.users], divisions=True):
        return None
    made = make_unpacked(fusion, stmts, packed)
    if made is None or not decisions.take("compute_inline", BlockOf(packed.buffer)):
        return None
    fusion.note(packed.buffer, "folded where it would be packed", packed.users)
    return made
