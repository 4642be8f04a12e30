"""Statements, and the kernel function around them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from llvmlite import ir

from hybridjit.analysis.cost import find_quiet_work, find_work
from hybridjit.analysis.limits import (
    Limits,
    find_limits,
    is_innermost,
    limits_of_loop,
    loop_extent,
    quiet_extent,
)
from hybridjit.codegen.emit.casts import declare
from hybridjit.codegen.emit.context import LoopTargets
from hybridjit.codegen.emit.expressions import ExpressionEmitter
from hybridjit.codegen.emit.loop_hints import hint_loop
from hybridjit.codegen.emit.memory import (
    MAX_STACK_BYTES,
    ArrayAddress,
    ask_for_huge_pages,
    call_malloc,
    call_zero,
    make_register,
    stack_array,
    usual_strides,
)
from hybridjit.codegen.emit.prefetch import Request, emit_prefetches, find_requests
from hybridjit.codegen.llvm_types import I1, I8, I64, Block, Value, find_constant, memory_type
from hybridjit.codegen.sites import Failure
from hybridjit.errors import InternalError, Span
from hybridjit.ir import stmt as tis
from hybridjit.ir.dtype import INT64, DType
from hybridjit.ir.expr import Buffer, Const, Expr, ExternCall, Var
from hybridjit.ir.stmt import Stmt, flat_stmts
from hybridjit.ir.visit import children


class StatementEmitter(ExpressionEmitter):
    """Code for statements."""

    stack_bytes = 0
    doubtful: frozenset[Buffer] = frozenset()
    results: Sequence[ArrayAddress] = ()
    prefetches: tuple[Request, ...] = ()
    is_polled = False  # whether a loop around looks for signals now and then

    def run(self, stmt: Stmt) -> None:
        """Emit a statement that is a scope of its own."""
        live = len(self.heap)
        for inner in flat_stmts(stmt):
            if self.is_closed:
                break
            self.statement(inner)
        if not self.is_closed:
            self.free_from(live)
        del self.heap[live:]

    def statement(self, stmt: Stmt) -> None:
        """Emit one statement of a sequence."""
        match stmt:
            case tis.Store():
                self.store(stmt)
                self.forget_pairs(stmt.buffer)
            case tis.Let():
                self._note_limits(stmt.var, find_limits(stmt.value, self.limits))
                self.let(stmt)
            case tis.Allocate():
                self.allocate(stmt)
            case tis.For():
                self.loop(stmt)
            case tis.While():
                self._while(stmt)
            case tis.If():
                self.choose(self.emit(stmt.cond), stmt)
            case tis.Break() | tis.Continue():
                self._leave_loop(stmt)
            case _:
                self._other_statement(stmt)

    def _other_statement(self, stmt: Stmt) -> None:
        match stmt:
            case tis.Return(values):
                self._return(values)
            case tis.Evaluate(value):
                self._evaluate(value)
            case tis.Assert(cond):
                self.require(self.emit(cond), stmt)
            case tis.Raise(error):
                self.fail_with(error, stmt)
            case tis.Print():
                self._print(stmt)
            case _:
                raise InternalError(f"no code for {type(stmt).__name__}", "codegen", stmt.span)

    def _note_limits(self, var: Var, limits: Limits | None) -> None:
        if limits is not None:
            self.limits[var] = limits

    # -- memory --------------------------------------------------------------------------------

    def let(self, stmt: tis.Let) -> None:
        """Give a name to a value."""
        self.values[stmt.var] = self.emit(stmt.value)

    def store(self, stmt: tis.Store) -> None:
        """Set an element or a variable."""
        value = self.emit(stmt.value)
        register = self.registers.get(stmt.buffer)
        if register is not None:
            register.store(self.b, value)
            return
        self.arrays[stmt.buffer].store(self.b, self.indices(stmt.indices), value)

    def allocate(self, stmt: tis.Allocate) -> None:
        """Make a variable or an array."""
        buffer = stmt.buffer
        if buffer.is_register:
            self.make_variable(buffer)
            return
        shape = [self._size(extent, stmt.span) for extent in buffer.shape]
        size = self._bytes(shape, buffer.dtype)
        memory = self._memory(size, buffer.name, stmt.span)
        if stmt.zero:
            call_zero(self.b, memory, size)
        array = self.contiguous(memory, buffer, shape)
        own = find_constant(shape[0]) if len(shape) == 1 else None
        self.arrays[buffer] = replace(array, own_elements=own or 0)

    def clear(self, buffer: Buffer) -> None:
        """Fill an array that lies in C order with zeros."""
        shape = [self._size(extent, None) for extent in buffer.shape]
        memory = self.b.bitcast(self.arrays[buffer].base, I8.as_pointer())
        call_zero(self.b, memory, self._bytes(shape, buffer.dtype))

    def make_variable(self, buffer: Buffer, lanes: int = 1) -> None:
        """Make a scalar variable, one for each lane."""
        tracked = buffer in self.doubtful
        register = make_register(
            self.entry, buffer.dtype, buffer.name, tracked=tracked, lanes=lanes
        )
        register.forget(self.b)
        self.registers[buffer] = register

    def _size(self, extent: Expr, span: Span | None) -> Value:
        size = self.emit(extent)
        if not isinstance(extent, Const):
            is_valid = self.b.icmp_signed(">=", size, ir.Constant(I64, 0))
            self.check(is_valid, Failure.SIZE, span, [(size, INT64)])
        return size

    def _bytes(self, shape: Sequence[Value], dtype: DType) -> Value:
        itemsize = dtype.bits // 8
        known = [extent for value in shape if (extent := find_constant(value)) is not None]
        if len(known) == len(shape):
            size_in_all = itemsize * math.prod(known)
            if size_in_all > INT64.bounds[1]:
                self.check(ir.Constant(I1, 0), Failure.TOO_LARGE, None)
                return ir.Constant(I64, 0)
            return ir.Constant(I64, size_in_all)
        size: Value = ir.Constant(I64, itemsize)
        for extent in shape:
            size = self._checked_product(size, extent)
        return size

    def _checked_product(self, x: Value, y: Value) -> Value:
        pair = ir.LiteralStructType([I64, ir.IntType(1)])
        function_type = ir.FunctionType(pair, [I64, I64])
        name = "llvm.smul.with.overflow.i64"
        both = self.b.call(declare(self.module, name, function_type), [x, y])
        self.check(self.b.not_(self.b.extract_value(both, 1)), Failure.TOO_LARGE, None)
        return self.b.extract_value(both, 0)

    def _memory(self, size: Value, name: str, span: Span | None) -> Value:
        known = find_constant(size)
        if known is not None and self.stack_bytes + known <= MAX_STACK_BYTES:
            self.stack_bytes += known
            return stack_array(self.entry, max(1, known), name)
        memory = call_malloc(self.b, size)
        null = ir.Constant(memory.type, None)
        self.check(self.b.icmp_unsigned("!=", memory, null), Failure.MEMORY, span)
        ask_for_huge_pages(self.b, memory, size)
        self.heap.append(memory)
        return memory

    def contiguous(self, memory: Value, buffer: Buffer, shape: Sequence[Value]) -> ArrayAddress:
        """An array in C order."""
        base = self.b.bitcast(memory, memory_type(buffer.dtype).as_pointer())
        strides = usual_strides(self.b, buffer.dtype, shape)
        return ArrayAddress(base, buffer.dtype, strides, buffer.dtype.component.bits // 8)

    # -- control -------------------------------------------------------------------------------

    def loop(self, loop: tis.For) -> None:
        """Run the body once for each value of the loop variable."""
        if loop_extent(loop) == 1 and not _jumps(loop.body):
            self._run_once(loop)
            return
        origin, trips = self.loop_bounds(loop)
        self.iterate(loop, origin, (ir.Constant(I64, 0), trips))

    def _run_once(self, loop: tis.For) -> None:
        self.values[loop.var] = self.emit(loop.start)
        self.loop_vars.append(loop.var)
        self.run(loop.body)
        self.loop_vars.pop()

    def loop_bounds(self, loop: tis.For) -> tuple[tuple[Value, Value], Value]:
        """The start and the step of a loop, and the number of its iterations."""
        start, stop, step = (self.emit(bound) for bound in (loop.start, loop.stop, loop.step))
        if not isinstance(loop.step, Const):
            is_valid = self.b.icmp_signed("!=", step, ir.Constant(I64, 0))
            self.check(is_valid, Failure.STEP, loop.span)
        return (start, step), self._trip_count(loop, start, stop, step)

    def iterate(
        self, loop: tis.For, origin: tuple[Value, Value], bounds: tuple[Value, Value]
    ) -> None:
        """Run the iterations of a loop, counted from 0, from one bound up to the other.

        Counting keeps the counter from overflowing, whatever the bounds of the loop.
        """
        done = self.function.append_basic_block("done")
        work = find_work(loop, self.limits)
        self._note_limits(loop.var, limits_of_loop(loop, self.limits))
        if work is not None and work < self.poll_work:
            self.count(loop, origin, bounds, done)
            self.b.position_at_end(done)
            if self.is_polled and quiet_extent(loop) is None:
                each = ir.Constant(I64, self._work_of(loop.body) + 1)
                self.spend(self.b.mul(self.b.sub(bounds[1], bounds[0]), each))
            return
        outer, self.is_polled = self.is_polled, True
        if is_innermost(loop):
            self._count_in_chunks(loop, origin, bounds, done)
        else:
            self.count(loop, origin, bounds, done, polled=True)
        self.is_polled = outer
        self.b.position_at_end(done)

    def _work_of(self, body: Stmt) -> int:
        """The work of one iteration, other than what looks for signals itself."""
        return find_quiet_work(body, self.poll_work, self.limits)

    def count(
        self,
        loop: tis.For,
        origin: tuple[Value, Value],
        bounds: tuple[Value, Value],
        done: Block,
        *,
        polled: bool = False,
    ) -> None:
        """Run the body for each count from the first bound up to the last, then go to `done`."""
        first, last = bounds
        body, again = (self.function.append_basic_block(name) for name in ("body", "again"))
        before = self.b.block
        self.b.cbranch(self.b.icmp_unsigned("<", first, last), body, done)
        self.b.position_at_end(body)
        counter = self.b.phi(I64, name=loop.var.name)
        counter.add_incoming(first, before)
        self.values[loop.var] = self.loop_value(counter, *origin)
        # What no source text says, lowering has made: an error does not speak of it.
        shown = [loop.var] if loop.span is not None else []
        self.loop_vars += shown
        outer = self.prefetches
        self.prefetches = (*outer, *find_requests(self, loop, origin[1]))
        emit_prefetches(self, loop)
        self._round(loop.body, self._exit_of(done), again)
        self.prefetches = outer
        del self.loop_vars[len(self.loop_vars) - len(shown) :]
        if polled:
            self.spend(ir.Constant(I64, self._work_of(loop.body) + 1))
        following = self.b.add(counter, ir.Constant(I64, 1), flags=["nuw", "nsw"])
        counter.add_incoming(following, self.b.block)
        goes_on = self.b.icmp_unsigned("<", following, last)
        jump_back = self.b.cbranch(goes_on, body, done)
        hint_loop(self.module, jump_back, loop)

    def _round(self, body: Stmt, leave: Block, again: Block) -> None:
        """The body of a loop; go on where `continue` goes."""
        self.loops.append(LoopTargets(leave, again, len(self.heap)))
        self.run(body)
        self.loops.pop()
        self.jump(again)
        self.b.position_at_end(again)

    def _count_in_chunks(
        self,
        loop: tis.For,
        origin: tuple[Value, Value],
        bounds: tuple[Value, Value],
        done: Block,
    ) -> None:
        """An innermost loop that may be long: look for signals between chunks, not inside them.

        So the loop itself stays plain.
        """
        chunk = ir.Constant(I64, max(1, self.poll_work // (self._work_of(loop.body) + 1)))
        names = ("chunk", "between")
        outer, between = (self.function.append_basic_block(name) for name in names)
        before = self.b.block
        first, last = bounds
        self.b.cbranch(self.b.icmp_unsigned("<", first, last), outer, done)
        self.b.position_at_end(outer)
        base = self.b.phi(I64)
        base.add_incoming(first, before)
        rest = self.b.sub(last, base, flags=["nuw"])
        is_last = self.b.icmp_unsigned("<=", rest, chunk)
        end = self.b.select(is_last, last, self.b.add(base, chunk))
        self._leaves[between] = done
        self.count(loop, origin, (base, end), between)
        self.b.position_at_end(between)
        self.spend(self.b.sub(end, base, flags=["nuw"]))
        base.add_incoming(end, self.b.block)
        self.b.cbranch(self.b.icmp_unsigned("<", end, last), outer, done)

    def _exit_of(self, done: Block) -> Block:
        """Where `break` goes: out of all chunks."""
        return self._leaves.get(done, done)

    def _trip_count(self, loop: tis.For, start: Value, stop: Value, step: Value) -> Value:
        extent = loop.extent
        if isinstance(extent, Const):
            return ir.Constant(I64, int(extent.value.real))
        b, zero, one = self.b, ir.Constant(I64, 0), ir.Constant(I64, 1)
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

    def loop_value(self, counter: Value, start: Value, step: Value) -> Value:
        """The value of a loop variable in an iteration."""
        scaled = counter if find_constant(step) == 1 else self.b.mul(counter, step)
        return scaled if find_constant(start) == 0 else self.b.add(start, scaled)

    def _while(self, loop: tis.While) -> None:
        names = ("test", "body", "done")
        test, body, done = (self.function.append_basic_block(name) for name in names)
        self.b.branch(test)
        self.b.position_at_end(test)
        self.b.cbranch(self.emit(loop.cond), body, done)
        self.b.position_at_end(body)
        again = self.function.append_basic_block("again")
        outer, self.is_polled = self.is_polled, True
        self._round(loop.body, done, again)
        self.is_polled = outer
        self.spend(ir.Constant(I64, self._work_of(loop.body) + 1))
        self.b.branch(test)
        self.b.position_at_end(done)

    def choose(self, cond: Value, stmt: tis.If) -> None:
        """Run one side of `stmt`, whose condition has the value `cond`."""
        then, otherwise, join = (
            self.function.append_basic_block(name) for name in ("then", "else", "join")
        )
        self.b.cbranch(cond, then, otherwise)
        for block, side in ((then, stmt.then), (otherwise, stmt.otherwise)):
            self.b.position_at_end(block)
            if side is not None:
                self.run(side)
            self.jump(join)
        self.b.position_at_end(join)

    def _leave_loop(self, stmt: tis.Break | tis.Continue) -> None:
        target = self.loops[-1]
        self.free_from(target.live)
        self.b.branch(target.leave if isinstance(stmt, tis.Break) else target.again)

    def _return(self, values: Sequence[Expr]) -> None:
        for value, address in zip(values, self.results, strict=True):
            address.store(self.b, [], self.emit(value))
        self.leave(0)

    # -- messages ------------------------------------------------------------------------------

    def _evaluate(self, value: Expr) -> None:
        if isinstance(value, ExternCall):
            self.forget_pairs()
            self.extern(value)
        else:
            self.emit(value)

    def message(self, message: Sequence[str | Expr]) -> list[str | tuple[Value, DType]]:
        """The parts of a message, computed."""
        return [
            part if isinstance(part, str) else (self.emit(part), part.dtype) for part in message
        ]

    def require(self, holds: Value, check: tis.Assert) -> None:
        """An assertion: the values of its message are computed only when they are needed."""
        passed, failed = self.fork(holds)
        self.b.position_at_end(failed)
        self.fail_with("AssertionError", check)
        self.b.position_at_end(passed)

    def fail_with(self, error: str, stmt: tis.Assert | tis.Raise) -> None:
        """Leave the kernel with an exception that the script raises."""
        failure = Failure.RAISE_TUPLE if stmt.is_tuple else Failure.RAISE
        if isinstance(stmt, tis.Raise) and stmt.is_text:
            failure = Failure.RAISE_TEXT
        self.fail(failure, stmt.span, [error, *self.message(stmt.message)])

    def _print(self, stmt: tis.Print) -> None:
        values = [part for part in self.message(stmt.message) if isinstance(part, tuple)]
        self.call_python(stmt, values, ir.Constant(I64.as_pointer(), None))


def _jumps(stmt: Stmt) -> bool:
    """True if `stmt` has a `break` or `continue` of the loop around it."""
    if isinstance(stmt, tis.For | tis.While):
        return False
    inner = [child for child in children(stmt) if isinstance(child, Stmt)]
    return isinstance(stmt, tis.Break | tis.Continue) or any(_jumps(child) for child in inner)
