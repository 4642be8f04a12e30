"""Stores past the caches, for vector loops that write more than these hold (see streams.py).

Lines of the cache are written whole, so that such a loop first runs up to where one begins.

    for i in vectorize(n):             for i in range(i_line):           # to the begin of a line
        c[i] = ...            -->          c[i] = ...
                                       for i_0 in range(i_line, i_end, 32):
                                           for i in vectorize(i_0, i_0 + 32):
                                               c[i] = ...                # past the caches
                                       for i in vectorize(i_end, n):
                                           c[i] = ...
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from llvmlite import ir

from hybridjit.analysis.limits import limits_of_loop
from hybridjit.analysis.traffic import bytes_of
from hybridjit.codegen.emit.casts import declare
from hybridjit.codegen.emit.memory import MAPPED_BYTES
from hybridjit.codegen.emit.prefetch import LINE
from hybridjit.codegen.emit.streams import Streamed, find_streamed
from hybridjit.codegen.emit.vectors import VectorEmitter
from hybridjit.codegen.llvm_types import I64, Function, Value
from hybridjit.ir.expr import Buffer, Const, Var
from hybridjit.ir.stmt import For, LoopKind, Store
from hybridjit.ir.visit import fresh_copy
from hybridjit.lowering.cut_loops import at_most
from hybridjit.lowering.vector_width import find_width


class StreamEmitter(VectorEmitter):
    """Code for statements; some loops write past the caches."""

    # Not every processor can, and such stores come a little later than the loop says.
    may_stream = False
    # The arrays of the caller; all others are made for this run.
    given: frozenset[Buffer] = frozenset()

    def __init__(self, function: Function, error: Value, fastmath: Sequence[str] = ()) -> None:
        super().__init__(function, error, fastmath)
        self._streamed: dict[For, Streamed] = {}

    def loop(self, loop: For) -> None:
        """Run a loop."""
        is_streamed = self.begin_stream(loop)
        super().loop(loop)
        if is_streamed:
            self.end_stream()

    def begin_stream(self, nest: For) -> bool:
        """Whether the innermost loop of `nest`, which comes next, writes past the caches."""
        if not self.may_stream or self.lanes is not None:
            return False
        found = find_streamed(nest, self.arrays, self.doubtful)
        if found is None or found.loop in self._streamed or self._is_fresh(found.store.buffer):
            return False
        self._streamed[found.loop] = found
        return True

    def _is_fresh(self, buffer: Buffer) -> bool:
        """True if the system clears the memory of an array just before: then it is in the caches.

        Past them, a new result of 70 MB took 1.1 to 1.2 times as long.
        """
        return buffer not in self.given and bytes_of(buffer) >= MAPPED_BYTES

    def end_stream(self) -> None:
        """Let what was written be in memory before anything that comes later."""
        kind = ir.FunctionType(ir.VoidType(), [])
        self.b.call(declare(self.module, "llvm.x86.sse.sfence", kind), [])

    def run_whole(self, loop: For, like: For | None = None) -> None:
        """Run a vector loop that is not cut; it is a part of another one, `like`, or all of it."""
        found = self._streamed.get(loop if like is None else like)
        if found is None:
            super().run_whole(loop, like)
            return
        loop = dataclasses.replace(loop, kind=LoopKind.VECTORIZED, annotations=())
        lanes = self._count_streamed(loop, found.store)
        bounds = self._find_lines(loop, found.store, lanes)
        line, end = (
            self._bind(*named, loop) for named in zip(("line", "end"), bounds, strict=True)
        )
        one_by_one = dataclasses.replace(loop, stop=line, kind=LoopKind.SERIAL)
        strip = Var(f"{loop.var.name}_0")
        vector = dataclasses.replace(loop, start=strip, stop=strip + lanes)
        self.run(fresh_copy(at_most(LINE - 1, one_by_one)))
        self.streamed = found.store
        self.run(For(strip, line, end, Const(lanes), vector))
        self.streamed = None
        super().run_whole(self._fresh(dataclasses.replace(loop, start=end)))

    def _count_streamed(self, loop: For, store: Store) -> int:
        """The iterations of a round, which fill lines."""
        wide = find_width(loop, self.target).wide
        return max(wide, LINE * 8 // store.buffer.dtype.bits)

    def _bind(self, suffix: str, value: Value, loop: For) -> Var:
        var = Var(f"{loop.var.name}_{suffix}")
        self.values[var] = value
        limits = limits_of_loop(loop, self.limits)
        if limits is not None:
            self.limits[var] = (limits[0], limits[1] + 1)
        return var

    def _fresh(self, loop: For) -> For:
        copy = fresh_copy(loop)
        assert isinstance(copy, For)
        return copy

    def _find_lines(self, loop: For, store: Store, lanes: int) -> tuple[Value, Value]:
        """The first iteration at the begin of a cache line, and where the last round ends.

        Both are the start of the loop if no element is at the begin of a line.
        """
        b = self.b
        first, last = (self.emit(bound) for bound in (loop.start, loop.stop))
        size = store.buffer.dtype.bits // 8
        self.values[loop.var] = first
        target = self.arrays[store.buffer].element(b, self.indices(store.indices), inside=False)
        gap = b.and_(b.neg(b.ptrtoint(target, I64)), ir.Constant(I64, LINE - 1))
        meets = b.icmp_unsigned("==", b.urem(gap, ir.Constant(I64, size)), ir.Constant(I64, 0))
        begin = b.add(first, b.udiv(gap, ir.Constant(I64, size)))
        begin = b.select(b.icmp_signed("<", begin, last), begin, last)
        end = b.sub(last, b.srem(b.sub(last, begin), ir.Constant(I64, lanes)))
        return b.select(meets, begin, first), b.select(meets, end, first)
