"""What a program looks like to the cost model: numbers that tell fast loops from slow ones.

    for i in range(64):                      iterations 2**12, 16 lanes, no unrolling,
        for j in vectorize(64):       -->    3 of 4 accesses along the lanes, 1 that stays,
            c[i, j] += a[i, k] * b[k, j]     bytes that the inner loops touch: 64, 16 K, ...

Each statement that stores counts by its share of the iterations, so that the numbers mean the same
for large programs and small ones, and what was learned of one says something about another. Scores
are relative to what the compiler does by itself; so the model sees in what a program differs from
that, too.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from operator import sub

from hybridjit.analysis.lower_blocks import lower_blocks
from hybridjit.ir.expr import Const, Expr, Load, Node, Var
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.stmt import IN_LANES, Allocate, For, LoopKind, Stmt, Store, While
from hybridjit.ir.visit import children, walk, walk_stmts
from hybridjit.record import record

_UNKNOWN = 64  # iterations of a loop whose length is not known
_LEVELS = 4  # inner loops whose memory is looked at

NAMES = (
    "iterations",
    "lanes",
    "unrolled",
    "threads",
    "depth",
    "innermost",
    "side by side",
    "staying",
    "scattered",
    "accesses",
    "operations",
    *(f"bytes {level}" for level in range(1, _LEVELS + 1)),
    "local arrays",
    "statements",
)


@record(eq=False)
class _Place:
    """A statement that stores, and the loops around it, outermost first."""

    store: Store
    loops: tuple[For, ...]

    @property
    def iterations(self) -> float:
        return math.prod(map(_trips, self.loops))


def features_of(func: PrimFunc) -> tuple[float, ...]:
    """One number for each of NAMES."""
    places = list(_places(lower_blocks(func).body, ()))
    total = sum(place.iterations for place in places) or 1.0
    rows = [(place.iterations / total, _features(place)) for place in places]
    sums = [sum(share * row[k] for share, row in rows) for k in range(len(NAMES) - 2)]
    local = sum(_local_bytes(node) for node in walk_stmts(func.body) if isinstance(node, Allocate))
    sums[0] = math.log2(total)
    return (*sums, math.log2(1 + local), math.log2(1 + len(places)))


def features_beside(func: PrimFunc, origin: Sequence[float]) -> tuple[float, ...]:
    """The features of a program, and their differences from those that are the `origin`."""
    features = features_of(func)
    return (*features, *map(sub, features, origin))


def _places(node: Node, loops: tuple[For, ...]) -> Iterator[_Place]:
    if isinstance(node, Store):
        yield _Place(node, loops)
    elif isinstance(node, For):
        yield from _places(node.body, (*loops, node))
    elif isinstance(node, While):
        yield from _places(node.body, loops)
    else:
        for child in children(node):
            if isinstance(child, Stmt):
                yield from _places(child, loops)


def _features(place: _Place) -> list[float]:
    loops = place.loops
    kinds = {kind: _product(loops, kind) for kind in LoopKind}
    lanes = max([kinds[LoopKind.VECTORIZED], *(_hinted(loop) for loop in loops)])
    inner = loops[-1].var if loops else None
    loads = [node for node in walk(place.store.value) if isinstance(node, Load)]
    moves = [_move(indices, inner) for indices in _indices(place.store, loads)]
    operations = sum(1 for _ in walk(place.store.value)) - len(loads)
    return [
        0.0,
        math.log2(lanes),
        math.log2(kinds[LoopKind.UNROLLED]),
        math.log2(kinds[LoopKind.PARALLEL]),
        float(len(loops)),
        math.log2(1 + _trips(loops[-1])) if loops else 0.0,
        moves.count("side by side") / len(moves),
        moves.count("staying") / len(moves),
        moves.count("scattered") / len(moves),
        float(len(moves)),
        math.log2(1 + operations),
        *(_bytes_touched(place, loads, level) for level in range(1, _LEVELS + 1)),
    ]


def _indices(store: Store, loads: Sequence[Load]) -> list[Sequence[Expr]]:
    return [store.indices, *(load.indices for load in loads)]


def _move(indices: Sequence[Expr], inner: Var | None) -> str:
    """How the place of an access moves from one iteration of the innermost loop to the next."""
    used = [inner is not None and inner in walk(index) for index in indices]
    if not any(used):
        return "staying"
    return "side by side" if used[-1] and not any(used[:-1]) else "scattered"


def _bytes_touched(place: _Place, loads: Sequence[Load], level: int) -> float:
    """About how many bytes one run of the innermost `level` loops reads and writes."""
    inner = {loop.var: _trips(loop) for loop in place.loops[-level:]}
    total = 0.0
    for buffer, indices in (
        (place.store.buffer, place.store.indices),
        *((load.buffer, load.indices) for load in loads),
    ):
        moved = {var for index in indices for var in walk(index) if isinstance(var, Var)}
        total += buffer.dtype.bits / 8 * math.prod(inner[var] for var in moved if var in inner)
    return math.log2(1 + total)


def _product(loops: Sequence[For], kind: LoopKind) -> float:
    return math.prod((_trips(loop) for loop in loops if loop.kind is kind), start=1.0)


def _hinted(loop: For) -> float:
    return float(loop.hint(IN_LANES) or 1)


def _trips(loop: For) -> float:
    if isinstance(loop.stop, Const) and isinstance(loop.start, Const):
        return max(float(loop.stop.value.real - loop.start.value.real), 1.0)
    return float(_UNKNOWN)


def _local_bytes(made: Allocate) -> float:
    sizes = (float(n.value.real) if isinstance(n, Const) else _UNKNOWN for n in made.buffer.shape)
    return made.buffer.dtype.bits / 8 * math.prod(sizes)
