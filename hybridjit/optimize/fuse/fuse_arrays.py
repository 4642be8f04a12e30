"""Fuse the statements on whole arrays of a script: chains of operations become one loop nest.

    t = allocate((n,), ...)
    for i in range(n):
        t[i] = a[i] * 2                      for i in range(n):
    for i in range(n):            -->            total = total + (a[i] * 2 + b[i])
        u[i] = t[i] + b[i]
    for i in range(n):
        total = total + u[i]

Only loops of array statements are put together: what is written by hand stays as it is written.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import replace

from hybridjit.analysis.cost import calls_function
from hybridjit.analysis.limits import loop_extent
from hybridjit.analysis.traffic import bytes_touched
from hybridjit.ir.expr import Buffer
from hybridjit.ir.header import MAX_EXTENT
from hybridjit.ir.stmt import Allocate, For, If, Seq, Stmt, While, flat_stmts, seq
from hybridjit.ir.visit import children, walk_stmts
from hybridjit.optimize.decisions import BlockOf, Decision, Decisions
from hybridjit.optimize.fuse.cost import fits_cache
from hybridjit.optimize.fuse.inline import inline
from hybridjit.optimize.fuse.merge import merge
from hybridjit.optimize.fuse.reasons import explain
from hybridjit.optimize.fuse.unpack import unpack
from hybridjit.schedule.arrays.contract import contract
from hybridjit.schedule.arrays.epilogue import find_epilogue, make_epilogue
from hybridjit.schedule.arrays.fusion import Fusion
from hybridjit.target import Target

# Fusion compares statements with each other: of a long list, only those that are near.
MOST_NESTS = 24
FAR_APART = "the statements that write and read it are far apart"


def fuse_arrays(body: Stmt, fusion: Fusion, target: Target, decisions: Decisions) -> Stmt:
    """`body` with fewer arrays and fewer loops; the same object if nothing can be done."""
    if not any(isinstance(stmt, Allocate) for stmt in walk_stmts(body)):
        return body
    return _fuse(fusion, target, decisions, body)


def _fuse(fusion: Fusion, target: Target, decisions: Decisions, stmt: Stmt) -> Stmt:
    """A statement that is a scope of its own, fused."""

    def fused(body: Stmt) -> Stmt:
        return _fuse_list(fusion, target, decisions, flat_stmts(body))

    match stmt:
        case _ if decisions.is_over:
            return stmt
        case For() if fusion.is_nest(stmt) and not isinstance(stmt.body, Seq):
            return stmt
        case For() | While():
            body = fused(stmt.body)
            is_done = isinstance(body, Seq) and not body.stmts and fusion.is_nest(stmt)
            return body if is_done else replace(stmt, body=body)
        case If(_, then, otherwise):
            other = None if otherwise is None else fused(otherwise)
            return replace(stmt, then=fused(then), otherwise=other)
        case Seq():
            return fused(stmt)
        case _:
            return stmt


def _fuse_list(fusion: Fusion, target: Target, decisions: Decisions, stmts: list[Stmt]) -> Stmt:
    """A list of statements: its arrays first, then what is inside of each statement."""

    def fused(stmt: Stmt) -> Stmt:
        return _fuse(fusion, target, decisions, stmt)

    stmts = [stmt if fusion.is_nest(stmt) else fused(stmt) for stmt in stmts]
    windows = _windows(fusion, stmts)
    shared = _shared(fusion, windows)
    made: list[Stmt] = []
    for window in windows:
        made += _fuse_window(fusion, target, decisions, window, shared)
    return seq(*(fused(s) if fusion.is_nest(s) else s for s in made))


def _windows(fusion: Fusion, stmts: Sequence[Stmt]) -> list[list[Stmt]]:
    """A list of statements in parts, of at most so many nests each, in which to look for pairs."""
    windows: list[list[Stmt]] = [[]]
    nests = 0
    for stmt in stmts:
        if nests == MOST_NESTS:
            windows.append([])
            nests = 0
        windows[-1].append(stmt)
        nests += fusion.is_nest(stmt)
    return windows


def _shared(fusion: Fusion, windows: Sequence[Sequence[Stmt]]) -> set[Buffer]:
    """The arrays that more than one window uses: they stay."""
    if len(windows) == 1:
        return set()
    used = [{n for s in window for n in fusion.footprint(s).names} for window in windows]
    counts = Counter(name for names in used for name in names if isinstance(name, Buffer))
    return {buffer for buffer, count in counts.items() if count > 1}


def _fuse_window(
    fusion: Fusion,
    target: Target,
    decisions: Decisions,
    stmts: list[Stmt],
    shared: Collection[Buffer],
) -> list[Stmt]:
    """Some statements of a list, without those of their arrays that need no memory."""

    def own_arrays() -> list[Buffer]:
        return [buffer for buffer in fusion.own_arrays(stmts) if buffer not in shared]

    for allocation in [stmt for stmt in stmts if isinstance(stmt, Allocate)]:
        unpacked = unpack(fusion, stmts, allocation, decisions)
        stmts = stmts if unpacked is None else unpacked
    for again in (False, True):
        if decisions.is_over:
            return stmts
        for buffer in own_arrays():
            inlined = inline(fusion, stmts, _allocation(stmts, buffer), decisions, again=again)
            stmts = stmts if inlined is None else inlined
        for buffer in own_arrays():
            merged = _merge_uses(fusion, target, decisions, stmts, buffer)
            stmts = stmts if merged is None else merged
    for buffer in own_arrays():
        fused = _fuse_epilogue(fusion, target, decisions, stmts, _allocation(stmts, buffer))
        stmts = stmts if fused is None else fused
    for buffer in fusion.own_arrays(stmts):
        is_far = buffer in shared
        fusion.reasons[buffer] = FAR_APART if is_far else explain(fusion, stmts, buffer)
    return stmts


def _allocation(stmts: Sequence[Stmt], buffer: Buffer) -> Allocate:
    found = (stmt for stmt in stmts if isinstance(stmt, Allocate))
    return next(stmt for stmt in found if stmt.buffer is buffer)


def _fuse_epilogue(
    fusion: Fusion,
    target: Target,
    decisions: Decisions,
    stmts: list[Stmt],
    allocation: Allocate,
) -> list[Stmt] | None:
    """What is made of a product stored in its place; None if it stays."""
    epilogue = find_epilogue(fusion, stmts, allocation)
    if epilogue is None:
        return None
    reader = stmts[epilogue.reader]
    if calls_function(reader) and not fits_cache(allocation.buffer, target):
        # LLVM gives the registers of the sums to the constants of the function (exp of a product,
        # 1024 x 2048 x 1024: 67 ms); a pass of its own costs next to nothing (42 ms).
        return None
    loop = reader.var if isinstance(reader, For) else None
    if not decisions.take("reverse_compute_inline", BlockOf(epilogue.consumer.store.buffer, loop)):
        return None
    fusion.note(allocation.buffer, "computed where it is stored", [reader])
    return make_epilogue(stmts, epilogue)


def _merge_uses(
    fusion: Fusion, target: Target, decisions: Decisions, stmts: list[Stmt], buffer: Buffer
) -> list[Stmt] | None:
    """All loops that use an array as one, in which the array is smaller; None if it stays."""
    if decisions.is_over:
        return None
    allocation = _allocation(stmts, buffer)
    places = _users(fusion, stmts, allocation)
    users = [stmts[place] for place in places]
    stages: list[tuple[Decision, list[Stmt]]] = []
    while len(places) > 1:
        merged = _merge_next(fusion, stmts, places[0], places[1])
        if merged is None:
            return None
        stages.append(merged)
        stmts = merged[1]
        places = _users(fusion, stmts, allocation)
    if not places:
        return None
    loop = stmts[places[0]]
    if not isinstance(loop, For) or not fusion.is_nest(loop):
        return None
    found = contract(fusion, stmts, allocation, loop)
    if isinstance(found, str):
        return None
    made, small = found
    stages.append((Decision("contract", (BlockOf(buffer),)), made))
    if fits_cache(buffer, target) and _read_apart(fusion, target, users):
        return None
    if small is None:
        fusion.note(buffer, "kept in a variable", users)
        return decisions.take_all(stages)
    fusion.temporaries.add(small)
    fusion.spans[small] = fusion.spans.get(buffer)
    is_worth_it = not fits_cache(buffer, target) or _goes(fusion, target, made, small)
    return decisions.take_all(stages) if is_worth_it else None


def _read_apart(fusion: Fusion, target: Target, users: Sequence[Stmt]) -> bool:
    """True if two loops come from memory with arrays of their own: better one after the other.

    A @ x + B @ x, 2000 by 2000: rows of A and of B in turns take 4.2 ms, A and then B 3.6. Loops
    over a small part of large arrays are better fused (columns of NPBench's vadv: half the time).
    """
    if any(_touched(user) <= target.caches.own for user in users):
        return False
    large = [
        {
            name
            for name in fusion.footprint(user).reads
            if isinstance(name, Buffer) and not fits_cache(name, target)
        }
        for user in users
    ]
    found = [names for names in large if names]
    return any(a.isdisjoint(b) for k, a in enumerate(found) for b in found[:k])


def _touched(stmt: Stmt, around: tuple[For, ...] = ()) -> int:
    """The bytes that the largest nest in a statement goes through; more than any if unknown."""
    if not isinstance(stmt, For):
        return max(
            (_touched(child, around) for child in children(stmt) if isinstance(child, Stmt)),
            default=0,
        )
    if loop_extent(stmt) is None:
        return MAX_EXTENT
    loops = (*around, stmt)
    return max(bytes_touched(loops, stmt.body), _touched(stmt.body, loops))


def _goes(fusion: Fusion, target: Target, stmts: Sequence[Stmt], small: Buffer) -> bool:
    """True if an array that a loop uses goes altogether once the loop is fused inside, too.

    Only what concerns this array is tried: all of the loop would be, for each of its arrays.
    """
    trial = replace(fusion, fused=[], reasons={}, temporaries=set(fusion.temporaries))
    loop = next(stmt for stmt in stmts if fusion.footprint(stmt).touches(small))
    assert isinstance(loop, For)
    inner = flat_stmts(loop.body)
    allocation = _allocation(inner, small)
    tried = Decisions()
    if any(inline(trial, inner, allocation, tried, again=k) is not None for k in (False, True)):
        return True
    merged = _merge_uses(trial, target, tried, inner, small)
    left = [] if merged is None else [s for m in merged for s in walk_stmts(m)]
    arrays = [stmt.buffer for stmt in left if isinstance(stmt, Allocate) and stmt.buffer.ndim]
    return merged is not None and all(buffer.name != small.name for buffer in arrays)


def _merge_next(
    fusion: Fusion, stmts: Sequence[Stmt], first: int, second: int
) -> tuple[Decision, list[Stmt]] | None:
    """Two loops as one; if what stands between keeps them apart, the first with a loop there."""
    between = (k for k in range(first + 1, second) if fusion.is_nest(stmts[k]))
    for other in (second, *between):
        merged = merge(fusion, stmts, first, other)
        if merged is not None:
            pair = [loop.var for loop in (stmts[first], stmts[other]) if isinstance(loop, For)]
            return Decision("merge", tuple(pair)), merged
    return None


def _users(fusion: Fusion, stmts: Sequence[Stmt], allocation: Allocate) -> list[int]:
    """Where an array is used; none if one of the places is not a loop over an array."""
    users = [
        position
        for position, stmt in enumerate(stmts)
        if stmt is not allocation and fusion.footprint(stmt).touches(allocation.buffer)
    ]
    return users if all(fusion.is_nest(stmts[position]) for position in users) else []
