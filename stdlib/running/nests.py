"""The loop nests of a program as schedules see them: what runs over what, and what it reads."""

from __future__ import annotations

from math import prod

from hybridjit.arith.simplify import simplify
from hybridjit.ir.expr import Buffer, Const, Load, Sub, Var
from hybridjit.ir.printer import name_buffers
from hybridjit.ir.stmt import Block, For, IterKind, Store
from hybridjit.ir.visit import walk
from hybridjit.record import record
from hybridjit.schedule.handles import LoopHandle
from hybridjit.schedule.program import blocks_of, loops_of
from hybridjit.schedule.schedule import Schedule


@record(eq=False)
class Loop:
    """A loop around a block, and the variable of the block that it sets."""

    handle: LoopHandle
    extent: int
    is_reduced: bool
    var: Var


@record(eq=False)
class Nest:
    """A block that stores one element, the loops around it in the order of its axes, its reads."""

    block: str
    loops: tuple[Loop, ...]
    store: Store
    reads: tuple[Load, ...]
    is_scanned: bool

    @property
    def spatial(self) -> list[Loop]:
        """The loops over the elements of the result."""
        return [loop for loop in self.loops if not loop.is_reduced]

    @property
    def reduced(self) -> list[Loop]:
        """The loops over what is combined to one element."""
        return [loop for loop in self.loops if loop.is_reduced]

    @property
    def work(self) -> int:
        """How many times the block runs."""
        return prod(loop.extent for loop in self.loops)

    @property
    def sides(self) -> tuple[int, int]:
        """The rows and columns of a product: elements of the result that only one factor tells."""
        left, right = self.reads
        rows = [loop.extent for loop in self.spatial if not _uses(right, loop)]
        columns = [loop.extent for loop in self.spatial if not _uses(left, loop)]
        return prod(rows), prod(columns)

    def loop_along_rows(self) -> Loop | None:
        """The loop along the rows of what is read: those of the result, if it has them, too."""
        along = self.loop_of_last_axis(self.store)
        rows = [self.loop_of_last_axis(read) for read in self.reads]
        return along if along is not None and along in rows else rows[0]

    def loop_of_last_axis(self, access: Load | Store) -> Loop | None:
        """The loop that runs along the last axis of what is accessed, element by element."""
        last = access.indices[-1] if access.indices else None
        return next((loop for loop in self.loops if loop.var is last), None)


def _uses(access: Load, loop: Loop) -> bool:
    return any(node is loop.var for index in access.indices for node in walk(index))


def find_nests(s: Schedule) -> list[Nest]:
    """The nests of a program that is scheduled for the first time, in the order of the text."""
    extents = {loop.var: _extent(loop) for loop in loops_of(s.func)}
    found = (_read_nest(block, extents) for block in blocks_of(s.func))
    nests = [nest for nest in found if nest is not None]
    for nest in nests:
        s.loops(nest.block)  # so that the trace knows whose loops these are: names may be the same
    return nests


def _extent(loop: For) -> int | None:
    match simplify(Sub(loop.stop, loop.start)), loop.step:
        case Const(int(extent)), Const(1):
            return extent
        case _:
            return None


def _read_nest(block: Block, extents: dict[Var, int | None]) -> Nest | None:
    if not isinstance(block.body, Store):
        return None
    loops: list[Loop] = []
    for item in block.iters:
        extent = extents.get(item.value) if isinstance(item.value, Var) else None
        if extent is None or not isinstance(item.value, Var):
            return None
        is_reduced = item.kind is IterKind.REDUCE
        loops.append(Loop(LoopHandle(item.value), extent, is_reduced, item.var))
    store = block.body
    loads = (node for node in walk(store.value) if isinstance(node, Load))
    reads = tuple(load for load in loads if load.buffer is not store.buffer)
    is_scanned = any(item.kind is IterKind.SCAN for item in block.iters)
    return Nest(block.name, tuple(loops), store, reads, is_scanned)


def name_of(s: Schedule, buffer: Buffer) -> str:
    """What a buffer prints as at this moment."""
    return next(text for text, found in name_buffers(s.func).items() if found is buffer)
