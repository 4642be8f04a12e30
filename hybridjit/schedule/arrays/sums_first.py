"""Sums first: of a group of rows, compute the sums before what is done with them.

    for i in range(n):                          for i_0 in range(0, n, 8):
        s = 0.0                                     s_values = allocate((8,), ...)
        for j in range(m):                          for i in range(8):
            s = s + a[i, j]                             s = 0.0
        for j in range(m):                              for j in range(m):
            b[j] = b[j] + s * a[i, j]     -->               s = s + a[i_0 + i, j]
                                                        s_values[i] = s
                                                    for i in range(8):
                                                        s = s_values[i]
                                                        for j in range(m):
                                                            b[j] = b[j] + s * a[i_0 + i, j]

The sums of a group run side by side, if possible, by a mark on their loop (sum_tiles.py); one sum
alone waits for each of its additions. What they have read is still in the cache when the rest needs
it. Rows that make no whole group run as they did. Every sum has its terms, and the rest its rows,
in their order.

Legal where the sums set nothing but variables of their own, cannot fail, and read nothing that the
rest of an earlier row sets. Relies on: arguments that share no memory.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from hybridjit.analysis.counting_nest import is_counting
from hybridjit.analysis.limits import loop_extent
from hybridjit.analysis.plain import is_plain
from hybridjit.arith.ranges import ZERO, plus, tidy, times
from hybridjit.arith.substitution import FoldingSubstitute
from hybridjit.arith.totality import is_total
from hybridjit.ir.expr import Buffer, Const, Expr, FloorDiv, Load, Var
from hybridjit.ir.stmt import (
    IF_POSSIBLE,
    SUMS_IN_LANES,
    Allocate,
    Block,
    For,
    Let,
    Stmt,
    Store,
    flat_stmts,
    seq,
)
from hybridjit.ir.visit import fresh_copy, walk, walk_stmts
from hybridjit.record import record
from hybridjit.schedule.arrays.sum_tiles import find_sums
from hybridjit.schedule.program import is_left_early, variables_in, variables_used


@record
class SumsFirst:
    """A loop whose iterations begin with sums: these, the rest, and what the rest takes from them,
    names and variables.
    """

    loop: For
    sums: tuple[Stmt, ...]
    rest: tuple[Stmt, ...]
    taken: tuple[Let | Allocate, ...]

    @property
    def sum_loop(self) -> For:
        """The loop over the sums alone."""
        return dataclasses.replace(self.loop, body=seq(*self.sums))

    def make(self, group: int) -> Stmt:
        """The loop in groups of so many iterations, and what is left of it after them."""
        known = loop_extent(self.loop)
        if known is not None and known < group:
            return self.loop
        trips = self.loop.safe_extent if known is None else Const(known)
        end = plus(self.loop.start, tidy(times(FloorDiv(trips, Const(group)), Const(group))))
        first = Var(f"{self.loop.var.name}_0", span=self.loop.var.span)
        body = self._in_group(first, group)
        groups = dataclasses.replace(self.loop, var=first, stop=end, step=Const(group), body=body)
        if known is not None and known % group == 0:
            return groups
        return seq(groups, fresh_copy(dataclasses.replace(self.loop, start=end)))

    def _in_group(self, first: Var, group: int) -> Stmt:
        """What is done for the iterations from `first` on."""
        row = Var(self.loop.var.name, span=self.loop.var.span)
        arrays: list[Stmt] = []
        keep: list[Stmt] = []
        take: list[Stmt] = []
        for stmt in self.taken:
            if isinstance(stmt, Let) and is_total(stmt.value):
                take.append(stmt)  # an index, say: it is computed once more
                continue
            array = _array_for(stmt, group)
            arrays.append(Allocate(array, zero=False, span=stmt.span))
            keep.append(_keep(stmt, array, row))
            take += _take(stmt, array, row)
        rows = For(row, ZERO, Const(group), Const(1), self.loop.body, span=self.loop.span)
        in_lanes = ((SUMS_IN_LANES, group), (IF_POSSIBLE[SUMS_IN_LANES], True))
        place: dict[Var, Expr] = {self.loop.var: plus(first, row)}
        sums = dataclasses.replace(rows, body=seq(*self.sums, *keep), annotations=in_lanes)
        rest = dataclasses.replace(rows, body=seq(*take, *self.rest))
        copies = [fresh_copy(FoldingSubstitute(place).rewrite(loop)) for loop in (sums, rest)]
        return seq(*arrays, *copies)


def _array_for(stmt: Let | Allocate, group: int) -> Buffer:
    value = stmt.var if isinstance(stmt, Let) else stmt.buffer
    return Buffer(f"{value.name}_values", value.dtype, (Const(group),))


def _keep(stmt: Let | Allocate, array: Buffer, row: Var) -> Stmt:
    value = stmt.var if isinstance(stmt, Let) else Load(stmt.buffer)
    return Store(array, (row,), value, span=stmt.span)


def _take(stmt: Let | Allocate, array: Buffer, row: Var) -> list[Stmt]:
    kept = Load(array, (row,), span=stmt.span)
    if isinstance(stmt, Let):
        return [dataclasses.replace(stmt, value=kept)]
    return [stmt, Store(stmt.buffer, (), kept, span=stmt.span)]


def find_sums_first(loop: For) -> SumsFirst | None:
    """`loop` as sums, up to the last one, and a rest; None if it does not begin with sums."""
    if not is_counting(loop) or loop.hints or is_left_early(loop):
        return None
    stmts = flat_stmts(loop.body)
    cut = _find_cut(stmts)
    if cut in (0, len(stmts)) or any(isinstance(stmt, Block) for stmt in walk_stmts(loop)):
        return None
    taken = _find_taken(stmts[:cut], stmts[cut:])
    if not all(_can_keep(stmt, stmts[:cut]) for stmt in taken):
        return None
    return SumsFirst(loop, tuple(stmts[:cut]), tuple(stmts[cut:]), tuple(taken))


def _find_cut(stmts: Sequence[Stmt]) -> int:
    """Where the last of the sums ends that `stmts` begin with; 0 if there is none."""
    own: set[Buffer] = set()
    cut = 0
    for place, stmt in enumerate(stmts):
        if isinstance(stmt, Allocate):
            own.add(stmt.buffer)
        if not _sets_only(stmt, own):
            break
        if isinstance(stmt, For) and find_sums(stmt):
            cut = place + 1
    return cut


def _sets_only(stmt: Stmt, own: set[Buffer]) -> bool:
    """True if all that is left of `stmt` is in variables, its `own`."""
    stores = (inner for inner in walk_stmts(stmt) if isinstance(inner, Store))
    return all(store.buffer.is_register for store in stores) and is_plain(stmt, own)


def _find_taken(sums: Sequence[Stmt], rest: Sequence[Stmt]) -> list[Let | Allocate]:
    """The names and variables of `sums` that `rest` needs."""
    used = {var for stmt in rest for var in variables_used(stmt)}
    touched = {node.buffer for node in walk(seq(*rest)) if isinstance(node, Load | Store)}
    taken: list[Let | Allocate] = []
    for stmt in reversed(sums):
        match stmt:
            case Let(var, value) if var in used:
                taken.append(stmt)
                used |= set(variables_in(value)) if is_total(value) else set()
            case Allocate(buffer) if buffer in touched:
                taken.append(stmt)
            case _:
                pass
    return taken[::-1]


def _can_keep(stmt: Let | Allocate, sums: Sequence[Stmt]) -> bool:
    """True for names that can be computed again, and for values that are there after `sums`.

    What an index is made of is no such value: in an array, nothing is known of it any more.
    """
    if isinstance(stmt, Let):
        return is_total(stmt.value) or stmt.var.dtype.is_inexact
    return any(isinstance(other, Store) and other.buffer is stmt.buffer for other in sums)
