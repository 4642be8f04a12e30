"""Loops that stand alone, in tiles: what people try first by hand.

    for i in range(n):               for i_0, j_0, k_0:         (each cut, or whole)
        for j in range(m):      -->      for k, i, j_1:         (in any legal order)
            for k in range(l):               for j_2 in vectorize(16):
                c[i, j] += ...

Sums are kept in a small array while a tile is worked on, operands copied to one, loops unrolled, or
not. A step that is refused is left out; a tile that does not fit the caches or the registers is not
tried at all.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any

from hybridjit.errors import ArgumentError, ScheduleError
from hybridjit.ir.expr import Buffer, Const, Load, Var
from hybridjit.ir.printer import name_buffers
from hybridjit.ir.stmt import Allocate, Block, For, IterKind, LoopKind, Store
from hybridjit.ir.visit import walk, walk_stmts
from hybridjit.record import record
from hybridjit.schedule.handles import LoopHandle
from hybridjit.schedule.nest import trip_count
from hybridjit.schedule.program import blocks_of, loops_around, loops_of, the_block, the_loop
from hybridjit.schedule.schedule import Schedule
from hybridjit.target import Target
from hybridjit.tuning.budgets import require_fit
from hybridjit.tuning.receipts import pick

_FACTORS = (2, 4, 6, 8, 12, 16, 32, 64, 128, 256, 512)
_MOST_LOOPS = 4  # that are cut and reordered: the innermost ones
_MOST_UNROLLED = 16


def find_nests(schedule: Schedule) -> list[str]:
    """The blocks that stand alone in loops of the program as it is written, two or more."""
    written = {loop.var for loop in loops_of(schedule.original)}
    found: list[str] = []
    for block in blocks_of(schedule.func):
        loops = loops_around(schedule.func, block)
        if len(loops) < 2 or not all(_is_plain(loop, written) for loop in loops):
            continue
        if sum(isinstance(stmt, Block) for stmt in walk_stmts(loops[0])) == 1:
            found.append(block.name)
    return found


def _is_plain(loop: For, written: set[Var]) -> bool:
    return loop.var in written and loop.kind is LoopKind.SERIAL


@record(eq=False)
class Tiling:
    """Cuts the nest around a block, or leaves it as it is."""

    schedule: Schedule
    block: str
    target: Target
    parallel: bool

    def choose(self) -> bool:
        """True if the nest was cut."""
        if pick(self.schedule, [0.51, 0.49]) == 0:
            return False
        loops = self.schedule.loops(self.block)[-_MOST_LOOPS:]
        local = self._local_bytes()
        outer, inner = self._cut(loops)
        outer, inner = self._permuted(outer), self._permuted(inner)
        if not self._try(lambda: self.schedule.reorder(*outer, *inner)):
            return True
        self._keep_sums(outer)
        self._copy_operands(outer)
        require_fit(
            self._local_bytes() - local, self.target.caches.own, "bytes", "the own cache of a core"
        )
        self._in_lanes(inner)
        if self.parallel and outer and pick(self.schedule, [0.7, 0.3]) == 0:
            self._try(lambda: self.schedule.parallel(outer[0]))
        return True

    def _cut(self, loops: Sequence[LoopHandle]) -> tuple[list[LoopHandle], list[LoopHandle]]:
        outer: list[LoopHandle] = []
        inner: list[LoopHandle] = []
        for loop in loops:
            factors = self._factors(loop)
            # Whole outside, whole inside, or cut.
            place = pick(self.schedule, [1.0, 1.0, *[4.0 / max(len(factors), 1)] * len(factors)])
            if place < 2:
                (outer, inner)[place].append(loop)
                continue
            around, inside = self.schedule.split(loop, factors[place - 2])
            outer.append(around)
            inner.append(inside)
        return outer, inner

    def _factors(self, loop: LoopHandle) -> list[int]:
        trips = trip_count(self.schedule.func, the_loop(self.schedule.func, loop.var))
        most = int(trips.value.real) if isinstance(trips, Const) else _FACTORS[-1] + 1
        return [factor for factor in _FACTORS if factor < most]

    def _permuted(self, loops: list[LoopHandle]) -> list[LoopHandle]:
        orders = list(itertools.permutations(loops))
        return list(orders[pick(self.schedule, [1.0] * len(orders))]) if len(orders) > 1 else loops

    def _keep_sums(self, outer: Sequence[LoopHandle]) -> None:
        block = the_block(self.schedule.func, self.block)
        is_sum = any(iter.kind is IterKind.REDUCE for iter in block.iters)
        places = outer if is_sum else ()
        place = pick(self.schedule, [1.0, *[1.0] * len(places)])
        if place > 0:
            (stored,) = {node.buffer for node in walk_stmts(block) if isinstance(node, Store)}
            name = self._name(stored)
            at = places[place - 1]
            self._try(lambda: self.schedule.cache_write(self.block, name, "local", at=at))

    def _copy_operands(self, outer: Sequence[LoopHandle]) -> None:
        block = the_block(self.schedule.func, self.block)
        stored = {node.buffer for node in walk_stmts(block) if isinstance(node, Store)}
        loaded = dict.fromkeys(node.buffer for node in walk(block) if isinstance(node, Load))
        for buffer in loaded if outer else ():
            if buffer in stored or buffer.ndim < 2:
                continue
            place = pick(self.schedule, [3.0, *[1.0] * len(outer)])
            if place > 0:
                name, at = self._name(buffer), outer[place - 1]
                self._try(
                    lambda n=name, at=at: self.schedule.cache_read(self.block, n, "local", at=at)
                )

    def _in_lanes(self, inner: list[LoopHandle]) -> None:
        """The innermost loop in lanes, if it can be, and short ones around it unrolled."""
        if not inner:
            return
        block = the_block(self.schedule.func, self.block)
        bits = max(node.buffer.dtype.bits for node in walk_stmts(block) if isinstance(node, Store))
        width = max(self.target.vector_bits // bits, 2)
        lanes = [width, 2 * width, 4 * width]
        place = pick(self.schedule, [1.0] * (len(lanes) + 1))
        rest = list(inner)
        vectors = 1
        if place > 0:
            *rest, last = inner
            vectors = lanes[place - 1] // width
            rest.append(self._vectorized(last, lanes[place - 1]))
        for loop in reversed(rest):
            trips = trip_count(self.schedule.func, the_loop(self.schedule.func, loop.var))
            if not isinstance(trips, Const) or int(trips.value.real) > _MOST_UNROLLED:
                break
            if pick(self.schedule, [1.0, 1.0]) == 0:
                break
            if self._try(lambda loop=loop: self.schedule.unroll(loop)) and self._holds_sums(loop):
                vectors *= int(trips.value.real)
        require_fit(vectors, self.target.vector_registers, "vectors", "a register file")

    def _holds_sums(self, loop: LoopHandle) -> bool:
        """True if each iteration of a loop has sums of its own, all of which stay in registers."""
        iters = the_block(self.schedule.func, self.block).iters
        is_sum = any(iter.kind is IterKind.REDUCE for iter in iters)
        own = (iter.value for iter in iters if iter.kind is IterKind.SPATIAL)
        return is_sum and any(loop.var in walk(value) for value in own)

    def _local_bytes(self) -> int:
        """The bytes of the program's own arrays, as far as they are known."""
        made = (stmt for stmt in walk_stmts(self.schedule.func.body) if isinstance(stmt, Allocate))
        return sum(_bytes_of(stmt.buffer) for stmt in made)

    def _vectorized(self, loop: LoopHandle, lanes: int) -> LoopHandle:
        """Run a loop in lanes; the loop around them."""
        around, inside = self.schedule.split(loop, lanes)
        self._try(lambda: self.schedule.vectorize(inside))
        return around

    def _name(self, buffer: Buffer) -> str:
        names = name_buffers(self.schedule.func).items()
        return next(name for name, found in names if found is buffer)

    def _try(self, step: Callable[[], Any]) -> bool:
        try:
            step()
        except (ScheduleError, ArgumentError):
            return False
        return True


def _bytes_of(buffer: Buffer) -> int:
    sizes = (int(n.value.real) if isinstance(n, Const) else 1 for n in buffer.shape)
    return math.prod(sizes) * buffer.dtype.bits // 8
