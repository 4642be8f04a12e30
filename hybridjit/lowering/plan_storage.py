"""Make scratch arrays fewer: share memory, make it once rather than in every iteration.

    for t in range(n):                                x = allocate((64,), ..., zero=False)
        x = allocate((64,), ..., zero=False)          for t in range(n):
        for i in range(64):                               for i in range(64):
            x[i] = a[i]                        -->            x[i] = a[i]
        y = allocate((64,), ..., zero=False)              for i in range(64):
        for i in range(64):                                   x[i] = x[i] + b[i]
            y[i] = x[i] + b[i]

An array whose last use is over gives its memory to the next of the same type and shape; also if
that is written where the other is read, element by element. Memory that is written as a whole
before it is read is not filled with zeros. Works on plain loops, on the text alone.

Why element by element is right: the nest sets each element of the new array once, in an iteration
of its own (a loop of its own along each axis, over its whole size), by the last of the statements
that touch either array. Every read of the old one, in that nest, is at that very element, and in
no loop inside: so it comes before the write that takes its place, and no other iteration reads it.
The old array is whichever lives in the memory at that time, which need not be the first one there.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import field, replace

from hybridjit.analysis.first_writes import prove_sets_all
from hybridjit.analysis.footprint import Footprint, find_footprint
from hybridjit.analysis.traffic import bytes_of
from hybridjit.ir.expr import Add, Buffer, BufferRef, Const, Expr, Load, Mul, Var
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.stmt import Allocate, For, If, Let, Stmt, Store, While, flat_stmts, seq
from hybridjit.ir.visit import substitute, walk, walk_stmts
from hybridjit.record import record

# Arrays of at most so many bytes do not share: they may live in registers, each on its own.
_SMALL_BYTES = 1024
# Arrays of at most so many bytes stay in their loops, so many bytes of them in all: they are on the
# stack anyway, and every lane may have its own (vectorize_inner.py).
_STAYING_BYTES, _ALL_STAYING_BYTES = 512, 2048


def plan_storage(func: PrimFunc) -> PrimFunc:
    """`func` with less scratch memory; the same object if there is nothing to save."""
    return find_plan(func).func


@record
class StoragePlan:
    """A function with less scratch memory, and which arrays live in that of which others."""

    func: PrimFunc
    shared: Mapping[Buffer, Buffer]


def find_plan(func: PrimFunc) -> StoragePlan:
    """How the scratch arrays of `func` are kept."""
    if not any(map(_is_array, walk_stmts(func.body))):
        return StoragePlan(func, {})
    planner = _Planner(frozenset(func.dimensions))
    body = planner.scope(func.body)
    return StoragePlan(replace(func, body=body), planner.shared)


def _is_array(stmt: Stmt) -> bool:
    return isinstance(stmt, Allocate) and not stmt.buffer.is_register


@record(frozen=False)
class _Planner:
    """`sizes` are variables that are not negative; `shared` is found on the way, as is how many
    bytes of arrays stay in loops.
    """

    sizes: Collection[Var]
    shared: dict[Buffer, Buffer] = field(default_factory=dict[Buffer, Buffer])
    staying: int = 0

    def scope(self, stmt: Stmt) -> Stmt:
        """A statement that is a scope of its own."""
        return seq(*self._list(stmt))

    def _list(self, stmt: Stmt) -> list[Stmt]:
        """The statements of a scope, with as few arrays as they need."""
        stmts = [made for inner in flat_stmts(stmt) for made in self._inside(inner)]
        if not any(map(_is_array, stmts)):
            return stmts
        stmts = _without_zeros(stmts)
        shared = _find_shared(stmts)
        self.shared.update(shared)
        kept = [s for s in stmts if not (isinstance(s, Allocate) and s.buffer in shared)]
        return [substitute(stmt, {}, shared) for stmt in kept] if shared else stmts

    def _inside(self, stmt: Stmt) -> list[Stmt]:
        """A statement with its scopes planned, after the arrays that are made before it."""
        if not any(map(_is_array, walk_stmts(stmt))):
            return [stmt]
        match stmt:
            case For() | While():
                body = self._list(stmt.body)
                moved = self._movable(stmt, body)
                rest = [inner for inner in body if inner not in moved]
                return [*moved, replace(stmt, body=seq(*rest))]
            case If(_, then, otherwise):
                other = None if otherwise is None else self.scope(otherwise)
                return [replace(stmt, then=self.scope(then), otherwise=other)]
            case _:
                return [stmt]

    def _movable(self, loop: For | While, body: Sequence[Stmt]) -> list[Stmt]:
        """The arrays of a loop that can be made once, before it: their contents are not needed."""
        if isinstance(loop, For) and loop.kind.is_concurrent:
            return []
        return [
            stmt
            for stmt in body
            if isinstance(stmt, Allocate)
            and not stmt.zero
            and self._is_invariant(stmt.buffer)
            and not self._stays(loop, stmt.buffer)
        ]

    def _stays(self, loop: For | While, buffer: Buffer) -> bool:
        """Whether a small array stays in a loop that may have lanes."""
        size = bytes_of(buffer)
        if not isinstance(loop, For) or size > _STAYING_BYTES:
            return False
        self.staying += size
        return self.staying <= _ALL_STAYING_BYTES

    def _is_invariant(self, buffer: Buffer) -> bool:
        return not buffer.is_register and all(map(self._is_size, buffer.shape))

    def _is_size(self, size: Expr) -> bool:
        """True for a size that is the same everywhere, and sure not to be negative."""
        match size:
            case Const(int(value)):
                return value >= 0
            case Var():
                return size in self.sizes
            case Add(a, b) | Mul(a, b):
                return self._is_size(a) and self._is_size(b)
            case _:
                return False


# -- zeros -----------------------------------------------------------------------------------------


def _without_zeros(stmts: list[Stmt]) -> list[Stmt]:
    """No zeros for arrays whose first use sets all of their elements."""
    done: list[Stmt] = []
    for position, stmt in enumerate(stmts):
        if isinstance(stmt, Allocate) and stmt.zero and not stmt.buffer.is_register:
            later = (s for s in stmts[position + 1 :] if find_footprint(s).touches(stmt.buffer))
            first = next(later, None)
            if first is not None and prove_sets_all(first, stmt.buffer):
                stmt = replace(stmt, zero=False)
        done.append(stmt)
    return done


def _covers(indices: Sequence[Expr], stops: dict[Var, Expr], buffer: Buffer) -> bool:
    """True if indices take all values: a loop of its own along each axis, which is its size."""
    seen: set[Var] = set()
    for index, size in zip(indices, buffer.shape, strict=True):
        if index == Const(0) and size == Const(1):
            continue
        if not isinstance(index, Var) or index in seen or stops.get(index) != size:
            return False
        seen.add(index)
    return len(seen) == len(stops)


def _nest(stmt: Stmt) -> tuple[list[For], list[Stmt]]:
    """The loops of a perfect nest that count from 0, and the statements in them."""
    loops: list[For] = []
    while isinstance(stmt, For) and (stmt.start, stmt.step) == (Const(0), Const(1)):
        loops.append(stmt)
        stmt = stmt.body
    return loops, flat_stmts(stmt)


# -- sharing ---------------------------------------------------------------------------------------


@record
class _Home:
    """The arrays that live in one memory, one after the other, and where it is used last."""

    tenants: tuple[Buffer, ...]
    last: int


def _find_shared(stmts: Sequence[Stmt]) -> dict[Buffer, Buffer]:
    """The arrays of a list that can live in the memory of others that are used no more."""
    prints = [find_footprint(stmt) for stmt in stmts]
    homes: dict[Buffer, _Home] = {}
    shared: dict[Buffer, Buffer] = {}
    for position, stmt in enumerate(stmts):
        if not isinstance(stmt, Allocate) or stmt.buffer.is_register:
            continue
        last = _last_use(prints, stmt.buffer, position)
        home = None if stmt.zero else _find_home(stmts, prints, homes, position)
        if home is None:
            homes[stmt.buffer] = _Home((stmt.buffer,), last)
        else:
            shared[stmt.buffer] = home
            # One that nothing uses is over at once, and leaves the one before where it was.
            last = max(last, homes[home].last)
            homes[home] = _Home((*homes[home].tenants, stmt.buffer), last)
    return shared


def _last_use(prints: Sequence[Footprint], buffer: Buffer, position: int) -> int:
    uses = (k for k in range(len(prints) - 1, position, -1) if prints[k].touches(buffer))
    return next(uses, position)


def _find_home(
    stmts: Sequence[Stmt], prints: Sequence[Footprint], homes: dict[Buffer, _Home], position: int
) -> Buffer | None:
    """An array of the same kind that is used no more where the one made at `position` begins."""
    made = stmts[position]
    assert isinstance(made, Allocate)
    buffer = made.buffer
    first = next(
        (k for k in range(position + 1, len(stmts)) if prints[k].touches(buffer)), len(stmts)
    )
    if is_small(buffer):
        return None
    for home, used in homes.items():
        if (home.dtype, home.shape, home.scope) != (buffer.dtype, buffer.shape, buffer.scope):
            continue
        is_last = used.last == first
        if used.last < first or (is_last and _is_in_place(stmts[first], used.tenants, buffer)):
            return home
    return None


def is_small(buffer: Buffer) -> bool:
    """True for an array of a few known elements."""
    return bytes_of(buffer) <= _SMALL_BYTES


def _is_in_place(stmt: Stmt, old: Collection[Buffer], new: Buffer) -> bool:
    """True if a nest reads each element of `old` only right before it writes that of `new`."""
    loops, body = _nest(stmt)
    touching = [inner for inner in body if _touches_any(inner, (*old, new))]
    if not touching or not all(isinstance(inner, (Let, Store)) for inner in touching):
        return False
    store = touching[-1]
    if not isinstance(store, Store) or store.buffer is not new:
        return False
    nodes = [node for inner in touching for node in walk(inner)]
    if any(isinstance(node, BufferRef) for node in nodes):  # a function is given the whole array
        return False
    accesses = [n for n in nodes if isinstance(n, (Load, Store)) and n.buffer in (*old, new)]
    stores = [node for node in accesses if isinstance(node, Store)]
    if len(stores) != 1 or any(node.indices != store.indices for node in accesses):
        return False
    return _covers(store.indices, {loop.var: loop.stop for loop in loops}, new)


def _touches_any(stmt: Stmt, buffers: Collection[Buffer]) -> bool:
    found = find_footprint(stmt)
    return any(found.touches(buffer) for buffer in buffers)
