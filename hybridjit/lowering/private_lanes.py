"""Give every lane what its iteration makes or updates: its own arrays, its own partial results.

    for j in vectorize(n):          total_lanes = allocate((16,), "int64", "local", zero=False)
        total = total + a[j]        for lane in vectorize(16):
                                        total_lanes[lane] = 0
                             -->    for j in vectorize(...):           # cut into vectors
                                        total_lanes[j - ...] = total_lanes[j - ...] + a[j]
                                    for lane in vectorize(8):          # then 4, 2, 1
                                        total_lanes[lane] = (
                                            total_lanes[lane] + total_lanes[lane + 8]
                                        )
                                    total = total + total_lanes[0]

The order in which partial results are combined depends only on how many there are. Of an extremum
of floats that is zero, the sign is that of the first zero: then the loop runs again, one by one.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from functools import reduce
from typing import TypeVar

from hybridjit.analysis.lanes import Lanes
from hybridjit.analysis.limits import loop_extent
from hybridjit.analysis.private_reduction import PrivateReduction
from hybridjit.ir.expr import Buffer, Const, Eq, Expr, Ge, Load, Or, Var, const
from hybridjit.ir.stmt import Allocate, For, If, Let, LoopKind, Seq, Stmt, Store, seq
from hybridjit.ir.visit import Mutator, fresh_copy, walk_stmts
from hybridjit.lowering.cut_loops import Cut, at_most, lane_number

Access = TypeVar("Access", Load, Store)


def private_lanes(lanes: Lanes, parts: Cut, fastmath: tuple[str, ...]) -> Stmt:
    """The loops of `parts` with what lanes own laid out by lane."""
    count = Const(max(_find_extents(parts.loops)))
    begin: list[Stmt] = []
    end: list[Stmt] = []
    zeros: list[Expr] = []
    halves: list[Stmt] = []
    one_by_one = dataclasses.replace(lanes.loop, kind=LoopKind.SERIAL)
    loops = parts.loops
    for reduction in lanes.shared:
        name, dtype = reduction.buffer.name, reduction.buffer.dtype
        partial = Buffer(f"{name}_lanes", dtype, (count,), "local")
        begin += _begin(partial, reduction.identity(fastmath))
        loops = [_Redirect(reduction, partial).rewrite(loop) for loop in loops]
        halves.append(_halves(partial, reduction))
        first = Load(partial, (Const(0),))
        end.append(reduction.combine(first))
        if reduction in lanes.first_zeros:
            zeros.append(Eq(first, const(0, dtype)))
    if zeros:
        saved = {each.buffer: Var("before", each.buffer.dtype) for each in lanes.shared}
        begin += [Let(before, Load(buffer)) for buffer, before in saved.items()]
        back = [Store(buffer, (), before) for buffer, before in saved.items()]
        end = [If(reduce(Or, zeros), seq(*back, fresh_copy(one_by_one)), seq(*end))]
    made = seq(*begin, *(_WidenArrays().rewrite(loop) for loop in loops), *halves, *end)
    if not end or isinstance(parts.trips, Const):
        return seq(*parts.names, made)
    # Where there is nothing to combine, the variable may not even be set; and where there is
    # little, one after the other is quicker.
    least = min(_find_extents(parts.loops))
    few = fresh_copy(at_most(least - 1, one_by_one))
    return seq(*parts.names, If(Ge(parts.trips, Const(least)), made, few))


def _find_extents(loops: Sequence[Stmt]) -> list[int]:
    return [
        loop_extent(node) or 0
        for loop in loops
        for node in walk_stmts(loop)
        if isinstance(node, For) and node.kind is LoopKind.VECTORIZED
    ]


def _begin(partial: Buffer, identity: Expr) -> list[Stmt]:
    lane = Var("lane")
    start = Store(partial, (lane,), identity)
    loop = For(lane, Const(0), partial.shape[0], Const(1), start, LoopKind.VECTORIZED)
    return [Allocate(partial, zero=False), loop]


def _halves(partial: Buffer, reduction: PrivateReduction) -> Stmt:
    """Halves are combined until one value is left: a tree that depends on the width only."""
    lanes = int(partial.shape[0].value.real)  # type: ignore[attr-defined]
    stmts: list[Stmt] = []
    while lanes > 1:
        lanes //= 2
        lane = Var("lane")
        joined = reduction.join(Load(partial, (lane,)), Load(partial, (lane + lanes,)))
        store = Store(partial, (lane,), joined)
        stmts.append(For(lane, Const(0), Const(lanes), Const(1), store, LoopKind.VECTORIZED))
    return seq(*stmts)


class _Redirect(Mutator):
    """In vector loops: updates go to the partial result of the lane."""

    def __init__(self, reduction: PrivateReduction, partial: Buffer) -> None:
        self.reduction, self.partial = reduction, partial

    def rewrite_For(self, node: For) -> Stmt:
        if node.kind is not LoopKind.VECTORIZED:
            return self.generic(node)
        body = self.reduction.redirect(node.body, self.partial, (lane_number(node),))
        return dataclasses.replace(node, body=body)


class _WidenArrays(Mutator):
    """In vector loops: arrays are made before the loop, for all lanes at once."""

    def __init__(self) -> None:
        self.wide: dict[Buffer, Buffer] = {}
        self.made: list[Stmt] = []
        self.vector: For | None = None

    def rewrite_For(self, node: For) -> Stmt:
        if node.kind is not LoopKind.VECTORIZED:
            return self.generic(node)
        self.vector, self.made = node, []
        loop = dataclasses.replace(node, body=self.rewrite(node.body))
        self.vector = None
        return seq(*self.made, loop)

    def rewrite_Allocate(self, node: Allocate) -> Stmt:
        if node.buffer.is_register or self.vector is None:
            return node
        lanes = Const(loop_extent(self.vector) or 0)
        wide = dataclasses.replace(node.buffer, shape=(*node.buffer.shape, lanes))
        self.wide[node.buffer] = wide
        self.made.append(dataclasses.replace(node, buffer=wide))
        return Seq(())

    def rewrite_Load(self, node: Load) -> Expr:
        return self._by_lane(self.generic(node))

    def rewrite_Store(self, node: Store) -> Stmt:
        return self._by_lane(self.generic(node))

    def _by_lane(self, access: Access) -> Access:
        wide = self.wide.get(access.buffer)
        if wide is None or self.vector is None:
            return access
        indices = (*access.indices, lane_number(self.vector))
        return dataclasses.replace(access, buffer=wide, indices=indices)
