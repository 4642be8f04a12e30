"""Stores past the caches, for loops that write more than these hold (see streams.py).

    c[i] = ...    -->    piece[i - start] = ...         # a few cache lines, as any other store
                         c[start : start + n] = piece   # line by line, to memory

Lines of the cache are written whole, so that the loop first runs up to where one begins. What is
read is asked for a page ahead: the processor's own prefetching ends at the end of a page.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from llvmlite import ir

from hybridjit.codegen.casts import declare
from hybridjit.codegen.emit_vector_indices import IndexEmitter
from hybridjit.codegen.llvm_types import (
    I8,
    I32,
    I64,
    Block,
    Function,
    Value,
    find_constant,
    memory_type,
)
from hybridjit.codegen.memory import MAPPED_BYTES, ArrayAddress, stack_array
from hybridjit.codegen.prefetch import LINE, PAGE, call_prefetch
from hybridjit.codegen.streams import Streamed, bytes_of, find_step, find_streamed, is_row
from hybridjit.ir.expr import Buffer, Const, Expr, Load, Var
from hybridjit.ir.stmt import For, Store
from hybridjit.ir.visit import walk

_PIECE = 8 * LINE
_LINE_TYPE = ir.VectorType(I64, LINE // 8)
Bounds = tuple[Value, Value]


@dataclass(frozen=True, slots=True)
class _Piece:
    """Where a store goes for now: the element at index `start` of the loop is the first."""

    store: Store
    memory: ArrayAddress
    var: Var
    start: Value


class StreamEmitter(IndexEmitter):
    """Code for statements; some loops write past the caches."""

    # Not every processor can, and such stores come a little later than the loop says.
    may_stream = False
    # The arrays of the caller; all others are made for this run.
    given: frozenset[Buffer] = frozenset()
    _piece: _Piece | None = None
    # The innermost loop that counts.
    _counting: For | None = None

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

    def store(self, stmt: Store) -> None:
        """Set an element or a variable."""
        piece = self._piece
        if piece is None or stmt is not piece.store:
            super().store(stmt)
            return
        place = self.b.sub(self.values[piece.var], piece.start)
        piece.memory.store(self.b, [place], self.emit(stmt.value))

    def count(
        self, loop: For, origin: Bounds, bounds: Bounds, done: Block, *, polled: bool = False
    ) -> None:
        """Run the body for each count from the first bound up to the last, then go to `done`."""
        if loop not in self._streamed or self._piece is not None:
            outside, self._counting = self._counting, loop
            super().count(loop, origin, bounds, done, polled=polled)
            self._counting = outside
            return
        found = self._streamed[loop]
        first, last = bounds
        names = ("aligned", "pieces", "rest")
        aligned, pieces, rest = (self.function.append_basic_block(name) for name in names)
        begin = self._find_line(found, origin, bounds)
        super().count(loop, origin, (first, begin), aligned)
        self.b.position_at_end(aligned)
        length = ir.Constant(I64, _PIECE * 8 // found.store.buffer.dtype.bits)
        left = self.b.sub(last, begin)
        end = self.b.sub(last, self.b.urem(left, length))
        self.b.cbranch(self.b.icmp_unsigned("<", begin, end), pieces, rest)
        self._write_pieces(found, origin, (begin, end), length, (pieces, rest))
        self.b.position_at_end(rest)
        super().count(loop, origin, (end, last), done)

    def _find_line(self, found: Streamed, origin: Bounds, bounds: Bounds) -> Value:
        """The first count whose element is at the begin of a cache line; the last bound if none."""
        b, (first, last) = self.b, bounds
        size = found.store.buffer.dtype.bits // 8
        address = b.ptrtoint(self._target(found, origin, first), I64)
        gap = b.and_(b.neg(address), ir.Constant(I64, LINE - 1))
        meets = b.icmp_unsigned("==", b.urem(gap, ir.Constant(I64, size)), ir.Constant(I64, 0))
        begin = b.add(first, b.udiv(gap, ir.Constant(I64, size)))
        is_inside = b.icmp_unsigned("<", begin, last)
        return b.select(b.and_(meets, is_inside), begin, last)

    def _target(self, found: Streamed, origin: Bounds, counter: Value) -> Value:
        """The address of the element that is stored in an iteration."""
        self.values[found.loop.var] = self.loop_value(counter, *origin)
        indices = self.indices(found.store.indices)
        return self.arrays[found.store.buffer].element(self.b, indices, inside=False)

    def _write_pieces(
        self,
        found: Streamed,
        origin: Bounds,
        bounds: Bounds,
        length: Value,
        blocks: tuple[Block, Block],
    ) -> None:
        """Run whole pieces, from the first of two blocks on, and go to the second."""
        pieces, rest = blocks
        begin, end = bounds
        before = self.b.block
        self.b.position_at_end(pieces)
        counter = self.b.phi(I64)
        counter.add_incoming(begin, before)
        target = self._target(found, origin, counter)
        self._ask_ahead(found, length)
        memory = self._piece_memory(found.store)
        written = self.function.append_basic_block("written")
        following = self.b.add(counter, length, flags=["nuw", "nsw"])
        start = self.values[found.loop.var]
        self._piece = _Piece(found.store, memory, found.loop.var, start)
        super().count(found.loop, origin, (counter, following), written)
        self._piece = None
        self.b.position_at_end(written)
        self._copy(memory.base, target)
        counter.add_incoming(following, self.b.block)
        self.b.cbranch(self.b.icmp_unsigned("<", following, end), pieces, rest)

    def _piece_memory(self, store: Store) -> ArrayAddress:
        dtype = store.buffer.dtype
        memory = stack_array(self.entry, _PIECE, f"{store.buffer.name}.piece")
        base = self.entry.bitcast(memory, memory_type(dtype).as_pointer())
        return ArrayAddress(base, dtype, (ir.Constant(I64, dtype.bits // 8),), LINE)

    def _copy(self, source: Value, target: Value) -> None:
        """Write a piece to memory."""
        hint = self.module.add_metadata([ir.Constant(I32, 1)])
        lines, targets = (
            self.b.bitcast(pointer, _LINE_TYPE.as_pointer()) for pointer in (source, target)
        )
        for number in range(_PIECE // LINE):
            place = [ir.Constant(I64, number)]
            line = self.b.load(
                self.b.gep(lines, place, source_etype=_LINE_TYPE), align=LINE, typ=_LINE_TYPE
            )
            to = self.b.gep(targets, place, source_etype=_LINE_TYPE)
            self.b.store(line, to, align=LINE).set_metadata("nontemporal", hint)

    # -- reading -------------------------------------------------------------------------------

    def goes_along(self, array: ArrayAddress, indices: Sequence[Expr]) -> bool:
        """True if the loop around goes from one line of an array to the next, or a few further."""
        loop = self._counting
        if loop is None or not isinstance(loop.step, Const):
            return False
        step = find_step(array, indices, loop.var)
        return step is not None and 0 < step * loop.step.value.real <= _PIECE

    def _ask_ahead(self, found: Streamed, length: Value) -> None:
        """Prefetch what the piece a page from now reads."""
        for load in self._rows(found):
            array = self.arrays[load.buffer]
            address = array.element(self.b, self.indices(load.indices), inside=False)
            first = self.b.bitcast(address, I8.as_pointer())
            size = (find_constant(length) or 0) * load.buffer.dtype.bits // 8
            for offset in range(PAGE, PAGE + size, LINE):
                call_prefetch(self.b, self.b.gep(first, [ir.Constant(I64, offset)]))

    def _rows(self, found: Streamed) -> Iterator[Load]:
        """For each array that the loop reads one element after the other, a read of it."""
        loads = [node for node in walk(found.loop.body) if isinstance(node, Load)]
        arrays = [load for load in loads if load.buffer in self.arrays]
        rows = [load for load in arrays if is_row(load, found.loop, self.arrays)]
        yield from {load.buffer: load for load in rows}.values()
