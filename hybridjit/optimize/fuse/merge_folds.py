"""Fold what is read once, in one pass: loops that fold the elements of one large array.

    for i in range(n):                       for i in range(n):
        total = total + a[i]                     total = total + a[i]
    for i in range(n):                -->        square = square + a[i] * a[i]
        square = square + a[i] * a[i]

The array is read once instead of twice: measured, half the time for sums and extrema from 100,000
elements on. What the first cache keeps is as quick to read again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hybridjit.ir.expr import Buffer, Load
from hybridjit.ir.stmt import For, Let, Stmt, Store
from hybridjit.ir.visit import walk
from hybridjit.optimize.decisions import Decision, Decisions
from hybridjit.optimize.fuse.cost import fits_cache
from hybridjit.optimize.fuse.lists import change_lists
from hybridjit.optimize.fuse.merge import merge_decisions, merge_nests
from hybridjit.schedule.arrays.fusion import Fusion, perfect_nest
from hybridjit.schedule.arrays.merge import part
from hybridjit.target import Target

# As many results have their partial ones in registers.
MOST_FOLDS = 4
# Fewer loops than this are looked back at: to compare all with all takes too long.
MOST_NESTS = 8


def merge_folds(body: Stmt, fusion: Fusion, target: Target, decisions: Decisions) -> Stmt:
    """`body` with folds of the same large array in one loop; the same object if there are none."""
    return change_lists(body, lambda stmts: _merge_list(stmts, fusion, target, decisions))


def _merge_list(
    stmts: Sequence[Stmt], fusion: Fusion, target: Target, decisions: Decisions
) -> list[Stmt]:
    done = list(stmts)
    place = 0
    while place < len(done) and not decisions.is_over:
        merged = _merge_with_earlier(done, place, fusion, target, decisions)
        place += merged is None
        done = done if merged is None else merged
    return done


def _merge_with_earlier(
    stmts: list[Stmt], second: int, fusion: Fusion, target: Target, decisions: Decisions
) -> list[Stmt] | None:
    """The loop at `second` as a part of one before; None if it stays."""
    if not fusion.is_nest(stmts[second]):
        return None
    earlier = [place for place in range(second) if fusion.is_nest(stmts[place])]
    for first in earlier[: -MOST_NESTS - 1 : -1]:
        stages = list(_merged(stmts, first, second, fusion, target))
        merged = decisions.take_all(stages)
        if merged is not None:
            return merged
    return None


def _merged(
    stmts: list[Stmt], first: int, second: int, fusion: Fusion, target: Target
) -> Iterator[tuple[Decision, list[Stmt]]]:
    """Two loops as one, step by step."""
    ours, theirs = stmts[first], stmts[second]
    assert isinstance(ours, For)
    assert isinstance(theirs, For)
    if not _is_worth_it(fusion, ours, theirs, target):
        return
    parted = part(fusion, stmts, first, second)
    merged = [] if parted is None else merge_nests(fusion, ours, theirs)
    if parted is None or not merged:
        return
    before, after = parted
    for decision, nest in zip(merge_decisions(fusion, ours, theirs), merged, strict=True):
        yield decision, [*stmts[:first], *before, nest, *after, *stmts[second + 1 :]]


def _is_worth_it(fusion: Fusion, first: For, second: For, target: Target) -> bool:
    """True if both do nothing but fold, and one array that both read is large."""
    bodies = [perfect_nest(fusion, nest)[1] for nest in (first, second)]
    folds = [_count_folds(body) for body in bodies]
    if not all(folds) or sum(folds) > MOST_FOLDS:
        return False
    read = _read_by(first) & _read_by(second)
    return not all(fits_cache(buffer, target) for buffer in read)


def _count_folds(body: Sequence[Stmt]) -> int:
    """How many variables are folded into in the innermost loop; none if it does anything else."""
    stores = [stmt for stmt in body if isinstance(stmt, Store)]
    is_plain = all(isinstance(stmt, (Let, Store)) for stmt in body)
    are_folds = all(store.buffer.is_register for store in stores)
    return len(stores) if is_plain and are_folds else 0


def _read_by(nest: For) -> set[Buffer]:
    """The arrays that a nest reads."""
    loads = (node for node in walk(nest) if isinstance(node, Load))
    return {load.buffer for load in loads if not load.buffer.is_register}
