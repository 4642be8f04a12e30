"""Loops, one iteration after the other."""

from __future__ import annotations

from typing import TYPE_CHECKING

from llvmlite import ir

from hybridjit.analysis.cost import find_quiet_work, find_work
from hybridjit.analysis.limits import (
    find_limits,
    is_innermost,
    limits_of_loop,
    loop_extent,
    quiet_extent,
)
from hybridjit.codegen.emit.emitter import Emitter, Lanes, LoopTargets
from hybridjit.codegen.emit.index_factors import loop_factor
from hybridjit.codegen.emit.loop_hints import hint_loop
from hybridjit.codegen.emit.statements import note_limits
from hybridjit.codegen.emit.vector_values import any_lane
from hybridjit.codegen.llvm_types import I1, I64, Block, Value, find_constant
from hybridjit.codegen.sites import Failure
from hybridjit.errors import place_in_script
from hybridjit.ir import stmt as tis
from hybridjit.ir.expr import Const, Var
from hybridjit.ir.stmt import UNNAMED, Stmt
from hybridjit.ir.visit import children
from hybridjit.lazy import lazy_module

if TYPE_CHECKING:
    from hybridjit.codegen.emit import prefetch
else:
    prefetch = lazy_module("hybridjit.codegen.emit.prefetch")


def run_plain_loop(emitter: Emitter, loop: tis.For) -> None:
    """Run the body once for each value of the loop variable."""
    if loop_extent(loop) == 1 and not _jumps(loop.body):
        _run_once(emitter, loop)
        return
    origin, trips = loop_bounds(emitter, loop)
    iterate(emitter, loop, origin, (ir.Constant(I64, 0), trips))


def _run_once(emitter: Emitter, loop: tis.For) -> None:
    emitter.values[loop.var] = emitter.emit(loop.start)
    note_limits(emitter, loop.var, find_limits(loop.start, emitter.limits))
    shown = named_var(loop)
    emitter.loop_vars += shown
    emitter.run(loop.body)
    del emitter.loop_vars[len(emitter.loop_vars) - len(shown) :]


def named_var(loop: tis.For) -> list[Var]:
    """The variable of a loop, if errors speak of it: not if lowering has made it up, or if the loop
    is one of a function of ours that the script calls.
    """
    if loop.span is None or loop.hint(UNNAMED):
        return []
    return [loop.var] if place_in_script(loop.span) is loop.span else []


def loop_bounds(emitter: Emitter, loop: tis.For) -> tuple[tuple[Value, Value], Value]:
    """The start and the step of a loop, and the number of its iterations."""
    start, stop, step = (emitter.emit(bound) for bound in (loop.start, loop.stop, loop.step))
    if not isinstance(loop.step, Const):
        is_valid = emitter.b.icmp_signed("!=", step, ir.Constant(I64, 0))
        emitter.check(is_valid, Failure.STEP, loop.span)
    return (start, step), _trip_count(emitter, loop, start, stop, step)


def iterate(
    emitter: Emitter, loop: tis.For, origin: tuple[Value, Value], bounds: tuple[Value, Value]
) -> None:
    """Run the iterations of a loop, counted from 0, from one bound up to the other.

    Counting keeps the counter from overflowing, whatever the bounds of the loop.
    """
    emitter.factors[loop.var] = loop_factor(loop, emitter.factors)
    done = emitter.function.append_basic_block("done")
    work = find_work(loop, emitter.limits)
    note_limits(emitter, loop.var, limits_of_loop(loop, emitter.limits))
    if work is not None and work < emitter.poll_work:
        count(emitter, loop, origin, bounds, done)
        emitter.b.position_at_end(done)
        if emitter.is_polled and quiet_extent(loop) is None:
            each = ir.Constant(I64, _work_of(emitter, loop.body) + 1)
            emitter.spend(emitter.b.mul(emitter.b.sub(bounds[1], bounds[0]), each))
        return
    outer, emitter.is_polled = emitter.is_polled, True
    if is_innermost(loop):
        _count_in_chunks(emitter, loop, origin, bounds, done)
    else:
        count(emitter, loop, origin, bounds, done, polled=True)
    emitter.is_polled = outer
    emitter.b.position_at_end(done)


def _work_of(emitter: Emitter, body: Stmt) -> int:
    """The work of one iteration, other than what looks for signals itself."""
    return find_quiet_work(body, emitter.poll_work, emitter.limits)


def count(
    emitter: Emitter,
    loop: tis.For,
    origin: tuple[Value, Value],
    bounds: tuple[Value, Value],
    done: Block,
    *,
    polled: bool = False,
) -> None:
    """Run the body for each count from the first bound up to the last, then go to `done`."""
    outside, emitter.counting = emitter.counting, loop
    first, last = bounds
    body, again = (emitter.function.append_basic_block(name) for name in ("body", "again"))
    before = emitter.b.block
    emitter.b.cbranch(emitter.b.icmp_unsigned("<", first, last), body, done)
    emitter.b.position_at_end(body)
    counter = emitter.b.phi(I64, name=loop.var.name)
    counter.add_incoming(first, before)
    emitter.values[loop.var] = loop_value(emitter, counter, *origin)
    shown = named_var(loop)
    emitter.loop_vars += shown
    outer = emitter.prefetches
    if loop.annotations:
        emitter.prefetches = (*outer, *prefetch.find_requests(emitter, loop, origin[1]))
    if emitter.prefetches:
        prefetch.emit_prefetches(emitter, loop)
    _round(emitter, loop.body, _exit_of(emitter, done), again)
    emitter.prefetches = outer
    del emitter.loop_vars[len(emitter.loop_vars) - len(shown) :]
    if polled:
        emitter.spend(ir.Constant(I64, _work_of(emitter, loop.body) + 1))
    following = emitter.b.add(counter, ir.Constant(I64, 1), flags=["nuw", "nsw"])
    counter.add_incoming(following, emitter.b.block)
    goes_on = emitter.b.icmp_unsigned("<", following, last)
    jump_back = emitter.b.cbranch(goes_on, body, done)
    hint_loop(emitter.module, jump_back, loop)
    emitter.counting = outside


def _round(emitter: Emitter, body: Stmt, leave: Block, again: Block) -> None:
    """The body of a loop; go on where `continue` goes."""
    emitter.loops.append(LoopTargets(leave, again, len(emitter.heap)))
    emitter.run(body)
    emitter.loops.pop()
    emitter.jump(again)
    emitter.b.position_at_end(again)


def _count_in_chunks(
    emitter: Emitter,
    loop: tis.For,
    origin: tuple[Value, Value],
    bounds: tuple[Value, Value],
    done: Block,
) -> None:
    """An innermost loop that may be long: look for signals between chunks, not inside them.

    So the loop itself stays plain.
    """
    each = _work_of(emitter, loop.body) + 1
    chunk = ir.Constant(I64, max(1, emitter.poll_work // each))
    names = ("chunk", "between")
    outer, between = (emitter.function.append_basic_block(name) for name in names)
    before = emitter.b.block
    first, last = bounds
    emitter.b.cbranch(emitter.b.icmp_unsigned("<", first, last), outer, done)
    emitter.b.position_at_end(outer)
    base = emitter.b.phi(I64)
    base.add_incoming(first, before)
    rest = emitter.b.sub(last, base, flags=["nuw"])
    is_last = emitter.b.icmp_unsigned("<=", rest, chunk)
    end = emitter.b.select(is_last, last, emitter.b.add(base, chunk))
    emitter.leaves[between] = done
    count(emitter, loop, origin, (base, end), between)
    emitter.b.position_at_end(between)
    done_now = emitter.b.sub(end, base, flags=["nuw"])
    emitter.spend(emitter.b.mul(done_now, ir.Constant(I64, each)))
    base.add_incoming(end, emitter.b.block)
    emitter.b.cbranch(emitter.b.icmp_unsigned("<", end, last), outer, done)


def _exit_of(emitter: Emitter, done: Block) -> Block:
    """Where `break` goes: out of all chunks."""
    return emitter.leaves.get(done, done)


def _trip_count(emitter: Emitter, loop: tis.For, start: Value, stop: Value, step: Value) -> Value:
    extent = loop.extent
    if isinstance(extent, Const):
        return ir.Constant(I64, int(extent.value.real))
    b, zero, one = emitter.b, ir.Constant(I64, 0), ir.Constant(I64, 1)
    if isinstance(loop.step, Const) and loop.step.value == 1:
        runs = b.icmp_signed("<", start, stop)
        return b.select(runs, b.sub(stop, start), zero)
    ascending = b.icmp_signed(">", step, zero)
    low, high = b.select(ascending, start, stop), b.select(ascending, stop, start)
    stride = b.select(ascending, step, b.neg(step))
    # ceil(distance / stride), unsigned, so that no distance overflows
    distance = b.sub(b.sub(high, low), one)
    trips = b.add(b.udiv(distance, stride), one)
    return b.select(b.icmp_signed("<", low, high), trips, zero)


def loop_value(emitter: Emitter, counter: Value, start: Value, step: Value) -> Value:
    """The value of a loop variable in an iteration."""
    scaled = counter if find_constant(step) == 1 else emitter.b.mul(counter, step)
    return scaled if find_constant(start) == 0 else emitter.b.add(start, scaled)


def run_while(emitter: Emitter, loop: tis.While) -> None:
    """Run the body as long as the condition holds: in some lane, and then in those alone."""
    if emitter.lanes is not None:
        _run_while_in_lanes(emitter, loop, emitter.lanes)
        return
    names = ("test", "body", "done")
    test, body, done = (emitter.function.append_basic_block(name) for name in names)
    emitter.b.branch(test)
    emitter.b.position_at_end(test)
    emitter.b.cbranch(emitter.emit(loop.cond), body, done)
    emitter.b.position_at_end(body)
    again = emitter.function.append_basic_block("again")
    outer, emitter.is_polled = emitter.is_polled, True
    _round(emitter, loop.body, done, again)
    emitter.is_polled = outer
    emitter.spend(ir.Constant(I64, _work_of(emitter, loop.body) + 1))
    emitter.b.branch(test)
    emitter.b.position_at_end(done)


def _run_while_in_lanes(emitter: Emitter, loop: tis.While, lanes: Lanes) -> None:
    """Lanes whose condition fails once are off, until that of all of them has failed."""
    b, outside = emitter.b, lanes.mask
    kind = ir.VectorType(I1, lanes.count)
    slot = emitter.entry.alloca(kind, name="running")
    b.store(ir.Constant(kind, [1] * lanes.count) if outside is None else outside, slot)
    names = ("test", "body", "done")
    test, body, done = (emitter.function.append_basic_block(name) for name in names)
    b.branch(test)
    b.position_at_end(test)
    lanes.mask = b.load(slot)
    goes_on = emitter.whole(emitter.emit(loop.cond))
    running = b.and_(lanes.mask, goes_on)
    b.store(running, slot)
    b.cbranch(any_lane(b, running), body, done)
    b.position_at_end(body)
    lanes.mask = running
    again = emitter.function.append_basic_block("again")
    outer, emitter.is_polled = emitter.is_polled, True
    _round(emitter, loop.body, done, again)
    emitter.is_polled = outer
    emitter.spend(ir.Constant(I64, _work_of(emitter, loop.body) + 1))
    b.branch(test)
    b.position_at_end(done)
    lanes.mask = outside


def _jumps(stmt: Stmt) -> bool:
    """True if `stmt` has a `break` or `continue` of the loop around it."""
    if isinstance(stmt, tis.For | tis.While):
        return False
    inner = [child for child in children(stmt) if isinstance(child, Stmt)]
    return isinstance(stmt, tis.Break | tis.Continue) or any(_jumps(child) for child in inner)
