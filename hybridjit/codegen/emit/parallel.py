"""Outline parallel loops: their bodies become functions that the threads of the pool call.

    for i in parallel(n):        status = hj_pool_run(chunk, n, grain, &{a, b, k}, ...)
        b[i] = a[i] * k     -->
                                 chunk(begin, end, {a, b, k}, error):
                                     for i in range(begin, end): b[i] = a[i] * k

A chunk gets the values of the kernel that it needs as arguments, arrays as pointers that alias
nothing: its loops are as good for LLVM as those of a kernel. What is declared inside the loop is
private to the chunk. Loops inside the chunk run one iteration after the other.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from llvmlite import ir

from hybridjit.analysis.cost import (
    AUTOMATIC_CHUNK,
    ENOUGH_WORK,
    MIN_PARALLEL_WORK,
    find_work,
    make_work,
)
from hybridjit.codegen.declarations import declare_function
from hybridjit.codegen.emit.emitter import POLL_WORK, Emitter
from hybridjit.codegen.emit.loops import iterate, loop_bounds, loop_value
from hybridjit.codegen.emit.memory import ArrayAddress, Register, make_register
from hybridjit.codegen.emit.stream_stores import begin_stream, end_stream, run_loop, run_uncut
from hybridjit.codegen.emit.vector_loops import is_whole
from hybridjit.codegen.llvm_types import I8, I32, I64, Builder, Complex, Function, Module, Value
from hybridjit.codegen.pool.names import POLL, RUN
from hybridjit.codegen.sites import Failure, Site
from hybridjit.ir.expr import Buffer, BufferRef, Const, ExternCall, Load, Node, Var
from hybridjit.ir.stmt import (
    AUTOMATIC,
    Allocate,
    Break,
    For,
    LoopKind,
    Print,
    Reserve,
    Return,
    Stmt,
    Store,
    While,
)
from hybridjit.ir.visit import children, walk
from hybridjit.lazy import lazy_module
from hybridjit.record import record

if TYPE_CHECKING:
    from hybridjit.codegen.emit import timers as loop_timers
    from hybridjit.codegen.emit.timers import Timers
else:
    loop_timers = lazy_module("hybridjit.codegen.emit.timers")


_POINTER = I8.as_pointer()
_RECORD = I64.as_pointer()


def run_parallel(emitter: Emitter, loop: For) -> None:
    """Run a parallel loop: the outermost ones of a kernel on the pool, if they can."""
    if emitter.options.runs_parallel and emitter.lanes is None and is_outlined(loop):
        _run_on_pool(emitter, loop)
    else:
        run_loop(emitter, loop)


def _run_on_pool(emitter: Emitter, loop: For) -> None:
    origin, trips = loop_bounds(emitter, loop)
    captured = _capture(emitter, loop, origin)
    chunk = _emit_chunk(emitter, loop, captured)
    context = _pack(emitter, captured.values)
    # The pool reports a signal by the first of two sites, a fork by the second.
    emitter.sites.append(Site(Failure.PYTHON, None))
    stopped = ir.Constant(I64, len(emitter.sites))
    emitter.sites.append(Site(Failure.FORKED, None))
    args = [chunk, trips, _grain(emitter, loop), context, emitter.error, stopped]
    kind = ir.FunctionType(I32, [arg.type for arg in args])
    _leave_unless_zero(emitter, emitter.b.call(declare_function(emitter.module, RUN, kind), args))


def _grain(emitter: Emitter, loop: For) -> Value:
    """So many iterations are worth a chunk; a loop with fewer runs on one thread."""
    # Who writes `parallel` around a loop of unknown length says that it is worth threads.
    worth = MIN_PARALLEL_WORK // 2
    work = make_work(loop.body, [loop.var], unknown_trips=ENOUGH_WORK)
    if AUTOMATIC in loop.annotations:
        worth, work = AUTOMATIC_CHUNK, make_work(loop.body, [loop.var])
    if isinstance(work, Const):
        return ir.Constant(I64, max(1, worth // (int(work.value.real) + 1)))
    each = emitter.b.add(emitter.emit(work), ir.Constant(I64, 1))
    return emitter.b.udiv(ir.Constant(I64, worth), each)


def _capture(emitter: Emitter, loop: For, origin: tuple[Value, Value]) -> _Captured:
    uses = _find_uses(loop)
    known = dict.fromkeys(var for var in (*emitter.loop_vars, *uses.vars) if var in emitter.values)
    registers = [buffer for buffer in uses.buffers if buffer in emitter.registers]
    return _Captured(
        origin,
        {var: emitter.values[var] for var in known},
        {
            buffer: _as_it_lies(emitter, emitter.arrays[buffer])
            for buffer in uses.buffers
            if buffer in emitter.arrays
        },
        {buffer: _contents(emitter, emitter.registers[buffer]) for buffer in registers},
    )


def _as_it_lies(emitter: Emitter, array: ArrayAddress) -> ArrayAddress:
    """An array that does not grow as long as the loop runs."""
    return replace(array, base=array.start(emitter.b), grows=False)


def _contents(emitter: Emitter, register: Register) -> _Contents:
    is_set = None if register.is_set is None else emitter.b.load(register.is_set)
    return _Contents(register.load(emitter.b), is_set)


def _pack(emitter: Emitter, values: Sequence[Value]) -> Value:
    """The address of a structure with `values`, which lives as long as the kernel runs."""
    kind = ir.LiteralStructType([value.type for value in values])
    memory = emitter.entry.alloca(kind, name="captured")
    for position, value in enumerate(values):
        emitter.b.store(value, _field(emitter.b, memory, position))
    return emitter.b.bitcast(memory, _POINTER)


def _leave_unless_zero(emitter: Emitter, status: Value) -> None:
    """Go on if `status` is 0, else leave the kernel with it."""
    passed, failed = emitter.fork(emitter.b.icmp_signed("==", status, ir.Constant(I32, 0)))
    emitter.b.position_at_end(failed)
    emitter.free_from(0)
    emitter.b.ret(status)
    emitter.b.position_at_end(passed)


# Which loops


def is_outlined(loop: For) -> bool:
    """True if the pool can run the iterations of `loop`, and there is enough to do.

    A loop that calls out of the kernel, other than reentrant functions, keeps its order, and what
    Python sees of it. So does one that assigns variables declared outside: `privatize_reductions`
    has dealt with those it can.
    """
    if loop.kind is not LoopKind.PARALLEL or _leaves(loop.body):
        return False
    work = find_work(loop)
    if work is not None and work < MIN_PARALLEL_WORK:
        return False
    declared: set[Buffer] = set()
    assigned: set[Buffer] = set()
    for node in walk(loop.body):
        match node:
            case Print() | Return() | Reserve():
                return False
            case ExternCall(callee) if not callee.is_reentrant:
                return False
            case Allocate(buffer):
                declared.add(buffer)
            case Store(buffer) if buffer.is_register:
                assigned.add(buffer)
            case _:
                pass
    return assigned <= declared


def _leaves(stmt: Stmt) -> bool:
    """True if a `break` in `stmt` leaves the loop around it."""
    inner = [child for child in children(stmt) if isinstance(child, Stmt)]
    if isinstance(stmt, For | While):
        return False
    return isinstance(stmt, Break) or any(_leaves(child) for child in inner)


# What travels


@record
class _Contents:
    """What is in a register: its value, and whether it has one, where that is tracked."""

    value: Value
    is_set: Value | None


@record
class _Captured:
    """The values of a kernel that a chunk of a loop needs."""

    origin: tuple[Value, Value]
    vars: dict[Var, Value]
    arrays: dict[Buffer, ArrayAddress]
    registers: dict[Buffer, _Contents]

    @property
    def values(self) -> list[Value]:
        """All of them, each once, in order; constants are part of the code."""
        found: list[Value] = [*self.origin, *self.vars.values()]
        for address in self.arrays.values():
            found += (address.base, *address.strides)
        for contents in self.registers.values():
            found += (contents.value, *([] if contents.is_set is None else [contents.is_set]))
        parts = [part for value in found for part in _parts(value)]
        return list({id(part): part for part in parts if not _is_constant(part)}.values())


def _parts(value: Value) -> tuple[Value, ...]:
    return tuple(value) if isinstance(value, Complex) else (value,)


def _is_constant(value: object) -> bool:
    return isinstance(value, ir.Constant | ir.GlobalValue)


@record
class _Uses:
    """What a loop mentions."""

    vars: list[Var]
    buffers: list[Buffer]


def _find_uses(loop: For) -> _Uses:
    found_vars: dict[Var, None] = {}
    buffers: dict[Buffer, None] = {}
    for node in _walk_with_shapes(loop.body):
        if isinstance(node, Var):
            found_vars.setdefault(node)
        elif isinstance(node, Load | Store | BufferRef):
            buffers.setdefault(node.buffer)
    return _Uses(list(found_vars), list(buffers))


def _walk_with_shapes(stmt: Stmt) -> Iterable[Node]:
    for node in walk(stmt):
        yield node
        if isinstance(node, Allocate | BufferRef):
            for extent in node.buffer.shape:
                yield from walk(extent)


# Functions


def _emit_chunk(kernel: Emitter, loop: For, captured: _Captured) -> Value:
    """The address of the function that runs some of the iterations of `loop`."""
    values = captured.values
    module = kernel.module
    kind = ir.FunctionType(I32, [I64, I64, _RECORD, *(value.type for value in values)])
    function: Function = ir.Function(module, kind, module.get_unique_name("hj_chunk"))
    function.linkage = "internal"
    function.attributes.add("nounwind")
    function.attributes.add("noinline")  # inlined, its arguments would lose their noalias
    begin, end, error, *arguments = function.args
    emitter = Emitter(
        kernel.language,
        # What runs on the pool already is no work for it, and threads have no counters in common.
        replace(kernel.options, runs_parallel=False, timers=None),
        function,
        error,
        poll=_poll_function,
        poll_work=POLL_WORK >> 4,
    )
    emitter.sites, emitter.callbacks = kernel.sites, kernel.callbacks
    emitter.known, emitter.functions = kernel.known, kernel.functions
    emitter.factors, emitter.limits = kernel.factors, dict(kernel.limits)
    emitter.loop_vars = list(kernel.loop_vars)
    received = {id(value): argument for value, argument in zip(values, arguments, strict=True)}
    origin = _receive(emitter, captured, received)
    for address in emitter.arrays.values():
        if not _is_constant(address.base):
            address.base.add_attribute("noalias")
    is_streamed = begin_stream(emitter, loop)
    with _timed_chunk(emitter, kernel.options.timers, loop):
        _run_some(emitter, loop, origin, (begin, end))
    if is_streamed:
        end_stream(emitter)
    emitter.leave(0)
    emitter.entry.branch(function.basic_blocks[1])
    return _emit_unpacking(module, function, values)


@contextmanager
def _timed_chunk(emitter: Emitter, timers: Timers | None, loop: For) -> Generator[None]:
    """Note how long the chunk took, and on which thread: each has an error record of its own."""
    slot = None if timers is None else timers.slots.get(loop)
    if timers is None or slot is None:
        yield
        return
    begin = loop_timers.read_clock(emitter.b, emitter.module)
    yield
    loop_timers.note_chunk(emitter.b, emitter.module, timers, slot, emitter.error, begin)


def _poll_function(module: Module) -> Function:
    """A chunk asks the pool whether to go on, which costs next to nothing."""
    return declare_function(module, POLL, ir.FunctionType(I32, [_RECORD]))


def _run_some(
    emitter: Emitter, loop: For, origin: tuple[Value, Value], bounds: tuple[Value, Value]
) -> None:
    """Run the iterations of a loop, counted from 0, from one bound up to the other."""
    if not is_whole(emitter, loop):
        iterate(emitter, loop, origin, bounds)
        return
    ends = [Var(f"{loop.var.name}_{name}") for name in ("begin", "end")]
    for var, bound in zip(ends, bounds, strict=True):
        emitter.values[var] = loop_value(emitter, bound, *origin)
    run_uncut(emitter, replace(loop, start=ends[0], stop=ends[1]), loop)


def _receive(
    emitter: Emitter, captured: _Captured, received: dict[int, Value]
) -> tuple[Value, Value]:
    """Make known in a chunk what it gets from the kernel; the start and step of its loop."""

    def of(value: Value) -> Value:
        if isinstance(value, Complex):
            return Complex(of(value.real), of(value.imag))
        return received.get(id(value), value)

    for var, value in captured.vars.items():
        emitter.values[var] = of(value)
    for buffer, there in captured.arrays.items():
        strides = tuple(of(stride) for stride in there.strides)
        base = of(there.base)
        emitter.arrays[buffer] = replace(there, base=base, strides=strides, own_shape=())
    for buffer, contents in captured.registers.items():
        tracked = contents.is_set is not None
        register = make_register(emitter.entry, buffer.dtype, buffer.name, tracked=tracked)
        register.store(emitter.b, of(contents.value))
        if register.is_set is not None:
            emitter.b.store(of(contents.is_set), register.is_set)
        emitter.registers[buffer] = register
    start, step = captured.origin
    return of(start), of(step)


def _emit_unpacking(module: Module, chunk: Function, values: Sequence[Value]) -> Value:
    """The address of `int32 body(begin, end, context, record)`, as the pool calls it."""
    kind = ir.FunctionType(I32, [I64, I64, _POINTER, _RECORD])
    function: Function = ir.Function(module, kind, module.get_unique_name("hj_body"))
    function.linkage = "internal"
    function.attributes.add("nounwind")
    begin, end, context, record = function.args
    b: Builder = ir.IRBuilder(function.append_basic_block("entry"))
    packed = ir.LiteralStructType([value.type for value in values])
    memory = b.bitcast(context, packed.as_pointer())
    fields = [
        b.load(_field(b, memory, position), typ=value.type) for position, value in enumerate(values)
    ]
    b.ret(b.call(chunk, [begin, end, record, *fields]))
    return function.bitcast(_POINTER)


def _field(b: Builder, memory: Value, position: int) -> Value:
    return b.gep(memory, [ir.Constant(I32, 0), ir.Constant(I32, position)], inbounds=True)
