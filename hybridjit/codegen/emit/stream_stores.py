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

from llvmlite import ir

from hybridjit.analysis.limits import limits_of_loop
from hybridjit.analysis.traffic import bytes_of
from hybridjit.analysis.vector_width import find_width
from hybridjit.codegen.declarations import declare_function
from hybridjit.codegen.emit.elements import emit_indices
from hybridjit.codegen.emit.emitter import Emitter
from hybridjit.codegen.emit.memory import LINE, MAPPED_BYTES
from hybridjit.codegen.emit.streams import find_streamed
from hybridjit.codegen.emit.vector_loops import count_lanes, is_whole, run_vector_loop, run_whole
from hybridjit.codegen.llvm_types import I64, Value
from hybridjit.ir.expr import Buffer, Const, Var
from hybridjit.ir.stmt import For, LoopKind, Store
from hybridjit.ir.visit import fresh_copy
from hybridjit.lowering.cut_loops import at_most


def run_loop(emitter: Emitter, loop: For) -> None:
    """Run a loop; what it writes goes past the caches if that pays."""
    is_streamed = begin_stream(emitter, loop)
    if count_lanes(loop) is None and is_whole(emitter, loop):
        run_uncut(emitter, loop, loop)
    else:
        run_vector_loop(emitter, loop)
    if is_streamed:
        end_stream(emitter)


def begin_stream(emitter: Emitter, nest: For) -> bool:
    """Whether the innermost loop of `nest`, which comes next, writes past the caches."""
    if not emitter.options.may_stream or emitter.lanes is not None:
        return False
    found = find_streamed(nest, emitter.arrays, emitter.options.doubtful)
    if found is None or found.loop in emitter.streams or _is_fresh(emitter, found.store.buffer):
        return False
    emitter.streams[found.loop] = found
    return True


def _is_fresh(emitter: Emitter, buffer: Buffer) -> bool:
    """True if the system clears the memory of an array just before: then it is in the caches.

    Past them, a new result of 70 MB took 1.1 to 1.2 times as long.
    """
    return buffer not in emitter.options.given and bytes_of(buffer) >= MAPPED_BYTES


def end_stream(emitter: Emitter) -> None:
    """Let what was written be in memory before anything that comes later."""
    kind = ir.FunctionType(ir.VoidType(), [])
    emitter.b.call(declare_function(emitter.module, "llvm.x86.sse.sfence", kind), [])


def run_uncut(emitter: Emitter, loop: For, whole: For) -> None:
    """Run a vector loop that is not cut; it is `whole` or a part of it."""
    found = emitter.streams.get(whole)
    if found is None:
        run_whole(emitter, loop)
        return
    loop = dataclasses.replace(loop, kind=LoopKind.VECTORIZED, annotations=())
    lanes = _count_streamed(emitter, loop, found.store)
    bounds = _find_lines(emitter, loop, found.store, lanes)
    line, end = (
        _bind(emitter, *named, loop) for named in zip(("line", "end"), bounds, strict=True)
    )
    one_by_one = dataclasses.replace(loop, stop=line, kind=LoopKind.SERIAL)
    strip = Var(f"{loop.var.name}_0")
    vector = dataclasses.replace(loop, start=strip, stop=strip + lanes)
    emitter.run(fresh_copy(at_most(LINE - 1, one_by_one)))
    emitter.streamed = found.store
    emitter.run(For(strip, line, end, Const(lanes), vector))
    emitter.streamed = None
    run_whole(emitter, _fresh(dataclasses.replace(loop, start=end)))


def _count_streamed(emitter: Emitter, loop: For, store: Store) -> int:
    """The iterations of a round, which fill lines."""
    wide = find_width(loop, emitter.options.target).wide
    return max(wide, LINE * 8 // store.buffer.dtype.bits)


def _bind(emitter: Emitter, suffix: str, value: Value, loop: For) -> Var:
    var = Var(f"{loop.var.name}_{suffix}")
    emitter.values[var] = value
    limits = limits_of_loop(loop, emitter.limits)
    if limits is not None:
        emitter.limits[var] = (limits[0], limits[1] + 1)
    return var


def _fresh(loop: For) -> For:
    copy = fresh_copy(loop)
    assert isinstance(copy, For)
    return copy


def _find_lines(emitter: Emitter, loop: For, store: Store, lanes: int) -> tuple[Value, Value]:
    """The first iteration at the begin of a cache line, and where the last round ends.

    Both are the start of the loop if no element is at the begin of a line.
    """
    b = emitter.b
    first, last = (emitter.emit(bound) for bound in (loop.start, loop.stop))
    size = store.buffer.dtype.bits // 8
    emitter.values[loop.var] = first
    target = emitter.arrays[store.buffer].element(
        b, emit_indices(emitter, store.indices), inside=False
    )
    gap = b.and_(b.neg(b.ptrtoint(target, I64)), ir.Constant(I64, LINE - 1))
    meets = b.icmp_unsigned("==", b.urem(gap, ir.Constant(I64, size)), ir.Constant(I64, 0))
    begin = b.add(first, b.udiv(gap, ir.Constant(I64, size)))
    begin = b.select(b.icmp_signed("<", begin, last), begin, last)
    end = b.sub(last, b.srem(b.sub(last, begin), ir.Constant(I64, lanes)))
    return b.select(meets, begin, first), b.select(meets, end, first)
