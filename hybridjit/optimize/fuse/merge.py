"""Choose loops over elements of arrays to run as one: where that keeps vectors, and is not too
much at once. What is built is in schedule/arrays/merge.py.
"""

from __future__ import annotations

from collections.abc import Sequence

from hybridjit.analysis.cost import is_dear
from hybridjit.ir.stmt import For, Stmt
from hybridjit.ir.visit import walk_stmts
from hybridjit.optimize.fuse.cost import is_chain, is_innermost, is_unrolled
from hybridjit.schedule.arrays.fusion import Fusion
from hybridjit.schedule.arrays.merge import find_merge

# Loops that do more are not put together: what they share is in the caches still, and to ask
# whether they may be takes longer the more they do.
MOST_STATEMENTS = 48


def merge(fusion: Fusion, stmts: Sequence[Stmt], first: int, second: int) -> list[Stmt] | None:
    """`stmts` with two loops as one, if that may be and is worth it."""
    a, b = stmts[first], stmts[second]
    if not isinstance(a, For) or not isinstance(b, For) or not fusion.ranges.same(a.stop, b.stop):
        return None
    if _count(a) + _count(b) > MOST_STATEMENTS:
        return None
    if _loses_vectors(a, b) or _loses_vectors(b, a) or is_unrolled(a, b):
        return None
    return find_merge(fusion, stmts, first, second)


def _count(stmt: Stmt) -> int:
    """How many statements there are in one."""
    return sum(1 for _ in walk_stmts(stmt))


def _loses_vectors(a: For, b: For) -> bool:
    """True if functions that `a` computes in vectors would be part of a loop without them."""
    if not (is_innermost(a) and is_innermost(b)):
        return False
    return is_chain(b) and not is_chain(a) and is_dear([a.body], divisions=False)
