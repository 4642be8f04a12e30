"""What the fusion of array statements knows and asks: which arrays are its own, what may swap.

Fusion is a rewriting of lists of statements. Every step is checked on the text alone: it keeps,
for each element, the operations and their order, and so every bit of the result.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import field, replace

from hybridjit.analysis.faults import Fault, Faults
from hybridjit.analysis.footprint import Footprint, find_footprint
from hybridjit.arith.ranges import ONE, ZERO, Ranges
from hybridjit.errors import Span
from hybridjit.ir.expr import Buffer, Const, Expr, Load, Var
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.stmt import Allocate, For, Let, LoopKind, Stmt, Store, flat_stmts
from hybridjit.ir.visit import children, walk, walk_stmts
from hybridjit.record import record
from hybridjit.schedule.arrays.fusion_notes import Fused, FusionNotes


@record(eq=False, frozen=False)
class Fusion:
    """The arrays that may go, the loops that may be put together, and what is known of them.

    `visible` is the memory of the caller: when a run fails, he sees what was written to it.
    """

    temporaries: set[Buffer]
    loops: Collection[Var]
    visible: Collection[Buffer]
    ranges: Ranges
    # Buffers that are folded into in an order that is open.
    reassociable: set[Buffer] = field(default_factory=set[Buffer])
    # Temporaries in which each element is stored once, and none fails.
    products: Collection[Buffer] = ()
    spans: dict[Buffer, Span | None] = field(default_factory=dict[Buffer, "Span | None"])
    fused: list[Fused] = field(default_factory=list[Fused])
    # Why an array is still there: for the report.
    reasons: dict[Buffer, str] = field(default_factory=dict[Buffer, str])
    faults: Faults = field(init=False)
    _footprints: dict[Stmt, Footprint] = field(default_factory=dict[Stmt, Footprint])
    _found_faults: dict[Stmt, Fault] = field(default_factory=dict[Stmt, Fault])

    def __post_init__(self) -> None:
        self.faults = Faults(self.loops, self.ranges)

    @staticmethod
    def of(func: PrimFunc, body: Stmt, loops: Collection[Var]) -> Fusion:
        """What is known of `body`, which is that of `func` without blocks."""
        stmts = list(walk_stmts(body))
        nests = [stmt for stmt in stmts if isinstance(stmt, For) and stmt.var in loops]
        inner = {s.var for nest in nests for s in walk_stmts(nest) if isinstance(s, (For, Let))}
        values = {s.var: s.value for s in stmts if isinstance(s, Let) and s.var not in inner}
        bounds = {s.var: (s.start, s.stop, s.step) for s in stmts if isinstance(s, For)}
        made = {size for output in func.outputs for size in output.shape if isinstance(size, Var)}
        ranges = Ranges(bounds, values, made.union(func.dimensions))
        spans = {s.buffer: s.span for s in stmts if isinstance(s, Allocate)}
        temporaries = set(find_temporaries(body, ranges))
        return Fusion(temporaries, loops, func.buffers, ranges, spans=spans)

    def add_loop(self, var: Var, stop: Expr) -> None:
        """A new loop over the elements of an array, from 0 to `stop`."""
        self.loops = {*self.loops, var}
        self.ranges = self.ranges.inside([var], [stop])
        self.faults = Faults(self.loops, self.ranges)

    def fault(self, stmt: Stmt) -> Fault:
        """When a statement may fail."""
        found = self._found_faults.get(stmt)
        if found is None:
            found = self._found_faults[stmt] = self.faults.find(stmt)
        return found

    def footprint(self, stmt: Stmt) -> Footprint:
        """What a statement touches."""
        found = self._footprints.get(stmt)
        if found is None:
            found = self._footprints[stmt] = find_footprint(stmt)
        return found

    def remember_merged(self, made: Stmt, first: Stmt, second: Stmt) -> None:
        """What is known of two loops holds for the one that they became."""
        a, b = self.footprint(first), self.footprint(second)
        self._footprints[made] = a.joined(b)
        self._found_faults[made] = max(self.fault(first), self.fault(second))

    def note(self, buffer: Buffer, how: str, users: Sequence[Stmt]) -> None:
        """Remember for the report that an array needs no memory any more."""
        stores = [node for user in users for node in walk_stmts(user) if isinstance(node, Store)]
        readers = [store for store in stores if _reads(store, buffer)] or stores
        names = dict.fromkeys(store.buffer.name for store in readers)
        into = tuple(name for name in names if name != buffer.name)
        self.fused.append(Fused(buffer.name, self.spans.get(buffer), into, how))

    @property
    def notes(self) -> FusionNotes:
        """What was done and what was not."""
        reasons: dict[tuple[str, int | None], str] = {}
        for buffer, reason in self.reasons.items():
            span = self.spans.get(buffer)
            reasons[buffer.name, None if span is None else span.line] = reason
        return FusionNotes(tuple(self.fused), reasons)

    def own_arrays(self, stmts: Sequence[Stmt]) -> list[Buffer]:
        """The temporaries that a list of statements makes."""
        made = (stmt.buffer for stmt in stmts if isinstance(stmt, Allocate))
        return [buffer for buffer in made if buffer in self.temporaries]

    def is_nest(self, stmt: Stmt) -> bool:
        """True for a loop over the elements of an array."""
        return (
            isinstance(stmt, For)
            and stmt.var in self.loops
            and stmt.kind is LoopKind.SERIAL
            and (stmt.start, stmt.step) == (ZERO, ONE)
        )

    def may_swap(self, first: Stmt, second: Stmt) -> bool:
        """True if two statements, one right after the other, can run in the other order."""
        a, b = self.footprint(first), self.footprint(second)
        if a.acts or b.acts or not a.is_independent(b):
            return False
        if a.stops and any(isinstance(name, Buffer) for name in b.reads):
            return False  # the check may be what makes the reading safe
        first_fails, second_fails = self.may_fail(first), self.may_fail(second)
        if first_fails and (second_fails or self.is_seen(second)):
            return False
        return not (second_fails and self.is_seen(first))

    def may_fail(self, stmt: Stmt) -> bool:
        """True if a statement may raise an error."""
        if isinstance(stmt, Allocate):
            buffer = stmt.buffer
            is_sure = buffer in self.temporaries or buffer.is_register
            return not is_sure and not all(isinstance(size, Const) for size in buffer.shape)
        return self.footprint(stmt).stops or self.fault(stmt) is not Fault.NEVER

    def is_seen(self, stmt: Stmt) -> bool:
        """True if a statement writes to memory of the caller."""
        return any(buffer in self.footprint(stmt).writes for buffer in self.visible)


def find_temporaries(stmt: Stmt, ranges: Ranges) -> Iterator[Buffer]:
    """The arrays that `stmt` makes without a chance to fail: no size of them can be negative.

    The sizes of an array that there is are not, up to the end of the list that makes it.
    """
    for inner in flat_stmts(stmt):
        if not isinstance(inner, Allocate):
            for child in children(inner):
                if isinstance(child, Stmt):
                    yield from find_temporaries(child, ranges)
            continue
        shape = inner.buffer.shape
        if not inner.buffer.is_register and all(map(ranges.is_natural, shape)):
            yield inner.buffer
        sizes = {size for size in shape if isinstance(size, Var)}
        ranges = replace(ranges, sizes={*ranges.sizes, *sizes})


def perfect_nest(fusion: Fusion, stmt: Stmt) -> tuple[list[For], list[Stmt]]:
    """The loops over elements of arrays that a statement consists of, and what is in them."""
    loops: list[For] = []
    while isinstance(stmt, For) and fusion.is_nest(stmt):
        loops.append(stmt)
        stmt = stmt.body
    return loops, flat_stmts(stmt)


def variables_along(
    fusion: Fusion, loops: Sequence[For], indices: Sequence[Expr], buffer: Buffer
) -> tuple[Var | None, ...] | None:
    """The loop variable along each axis, None along one of size 1; all elements are set."""
    stops = {loop.var: loop.stop for loop in loops}
    found: list[Var | None] = []
    for index, size in zip(indices, buffer.shape, strict=True):
        if index == Const(0) and size == Const(1):
            found.append(None)
        elif isinstance(index, Var) and index in stops and index not in found:
            if not fusion.ranges.same(stops[index], size):
                return None
            found.append(index)
        else:
            return None
    return tuple(found) if len(stops) == sum(var is not None for var in found) else None


def _reads(store: Store, buffer: Buffer) -> bool:
    return any(isinstance(node, Load) and node.buffer is buffer for node in walk(store.value))
