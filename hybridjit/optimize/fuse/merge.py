"""Choose loops over elements of arrays to run as one: where that keeps vectors, and is not too
much at once. What is built is in schedule/arrays/merge.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from hybridjit.analysis.cost import is_dear
from hybridjit.ir.stmt import For, Stmt, flat_stmts
from hybridjit.ir.visit import walk_stmts
from hybridjit.optimize.decisions import Decision
from hybridjit.optimize.fuse.cost import is_chain, is_innermost
from hybridjit.schedule.arrays.fusion import Fusion, perfect_nest
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
    if _loses_vectors(a, b) or _loses_vectors(b, a):
        return None
    return find_merge(fusion, stmts, first, second)


def merge_nests(fusion: Fusion, first: For, second: For) -> list[For]:
    """Two nests as one, after each of their loops, down to the innermost ones; none if some stay
    apart.
    """
    merged = merge(fusion, [first, second], 0, 1)
    if merged is None or not isinstance(merged[0], For):
        return []
    whole, inner = merged[0], (first.body, second.body)
    if not any(isinstance(body, For) for body in inner):
        return [whole]
    both = flat_stmts(whole.body)
    if len(both) != 2 or not all(fusion.is_nest(loop) for loop in both):
        return []
    ours, theirs = both
    assert isinstance(ours, For)
    assert isinstance(theirs, For)
    joined = merge_nests(fusion, ours, theirs)
    return [whole, *(replace(whole, body=inside) for inside in joined)] if joined else []


def merge_decisions(fusion: Fusion, first: For, second: For) -> list[Decision]:
    """What `merge_nests` decides, loop by loop."""
    pairs = zip(perfect_nest(fusion, first)[0], perfect_nest(fusion, second)[0], strict=True)
    return [Decision("merge", (ours.var, theirs.var)) for ours, theirs in pairs]


def _count(stmt: Stmt) -> int:
    """How many statements there are in one."""
    return sum(1 for _ in walk_stmts(stmt))


def _loses_vectors(a: For, b: For) -> bool:
    """True if functions that `a` computes in vectors would be part of a loop without them."""
    if not (is_innermost(a) and is_innermost(b)):
        return False
    return is_chain(b) and not is_chain(a) and is_dear([a.body], divisions=False)
