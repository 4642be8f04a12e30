"""The thread pool: the code that runs the iterations of a parallel loop.

    status = hj_pool_run(body, count, grain, context, error record, stopped)
    body(begin, end, context, ticket)      runs the iterations from begin up to end

The caller offers its loop to the workers by opening the gate with some free seats, and takes
chunks of iterations itself, as does every worker that gets a seat. When no iterations are left it
closes the gate and waits for the workers that got in; one that comes late finds the gate closed
and never sees the loop. Idle workers look at the gate for a moment, then sleep.

There is one gate. A caller that finds it in use, by another thread or by a kernel around this one,
runs its loop alone: nobody ever waits for a thread that waits for somebody else.

At exit, Python ends threads of its own (daemons) wherever they ask for its lock, and a caller's
loop lives on its stack. So the pool is closed first: chunks that look for signals end, nobody takes
another one, and the caller, whose workers are out of its loop then, waits for the end. Loops that
run later, of whatever Python does at exit, run on their own thread.

The loop lives on the stack of its caller, which must stay where it is meanwhile: a signal handler
that switches to another greenlet, whose stack takes that place, is not supported inside of it.
Kernels without parallel loops do not mind: what lies on their stack is looked at by nobody else.

A chunk that fails ends the chunks behind it. Those before it were taken earlier and run on, so
that the failure of the lowest iteration is the one reported, whatever the number of threads.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir

from hybridjit.codegen.dispatcher.words import Word
from hybridjit.codegen.emit.interrupt import poll_function
from hybridjit.codegen.llvm_types import I32, I64
from hybridjit.codegen.pool.layout import MAX_THREADS, Pool, Ticket
from hybridjit.codegen.pool.names import POLL, RUN
from hybridjit.codegen.pool.words import VOID, PoolWords, declare_state, pointer_word
from hybridjit.codegen.sites import MAX_WORDS as ERROR_WORDS
from hybridjit.target import Target

Function = Any  # ir.Function

# A thread takes so many chunks of a loop, if all threads are equally fast.
_CHUNKS_PER_THREAD = 8
# Longer chunks are a multiple of this: neighbours then share few cache lines.
_CHUNK_UNIT = 64
# Every thread takes one chunk beyond the end, each shorter than the loop: NEXT stays below
# (MAX_THREADS + 1) times this, and that below 2**63. Longer loops, which nobody sees the end of,
# run on their own thread.
_MOST_ITERATIONS = 1 << 54
_SEATS = (1 << 32) - 1
_NOWHERE = (1 << 63) - 1
_EVERYWHERE = -1
# The caller looks for signals so often, in milliseconds.
_POLL_EVERY = 10
_SIG_SETMASK = 2
_SIGNAL_SET_WORDS = 16


def emit_pool(target: Target) -> str:
    """The LLVM text of the pool."""
    module = ir.Module(name="pool")
    module.triple = target.triple
    declare_state(module)
    fail = _emit_fail(module)
    look = _emit_look(module, fail)
    _emit_poll(module, look)
    work = _emit_work(module, fail, look)
    worker = _emit_worker(module, work)
    start = _emit_start(module, worker)
    share = _emit_share(module, work, look)
    _emit_run(module, start, share)
    return str(module)


# Failures and signals


def _emit_fail(module: ir.Module) -> Function:
    """`fail(at, status, record)`: note a failure, if it is the one of the lowest iteration."""
    w = PoolWords(module, "fail", 3, VOID)
    at, status, record = w.args
    # Held for the few instructions below, which neither wait nor call anything; a fork frees it in
    # the child. So nobody spins for long, unless the holder is not running: then it may run here.
    with w.forever() as locked:
        w.leave_if(w.replace(Pool.LOCK, 0, 1), locked)
        w.libc("sched_yield", I32)
    with w.b.if_then(w.is_less(at, w.get(Pool.FAILED_AT))):
        w.copy(record, w.state(Pool.ERROR), ERROR_WORDS)
        w.set(status, Pool.STATUS)
        w.set(at, Pool.FAILED_AT)
    w.write(0, Pool.LOCK)
    w.b.ret_void()
    return w.keep()


def _emit_look(module: ir.Module, fail: Function) -> Function:
    """`look(ticket)`: the caller lets Python handle signals; 1 if the loop is to end.

    Once a handler has raised, no other one runs: there is room for one exception. Python runs it
    when the kernel has ended.
    """
    w = PoolWords(module, "look", 1)
    ticket = w.args[0]
    w.put(w.now(), ticket, Ticket.POLLED_AT)
    with w.b.if_then(_is_shared(w, ticket)):
        w.return_if(w.is_equal(w.get(Pool.FAILED_AT), _EVERYWHERE), 1)
    record = w.b.inttoptr(ticket, I64.as_pointer())
    raised = w.b.zext(w.b.call(poll_function(module), [record]), I64)
    w.return_if(w.b.not_(_is_shared(w, ticket)), raised)
    with w.b.if_then(_is_orphan(w, ticket), likely=False):
        stopped = w.at(ticket, Ticket.STOPPED)
        _end_orphan(w, ticket, w.b.select(w.is_zero(raised), w.word(0), stopped))
        w.b.ret(w.word(1))
    w.return_if(w.is_zero(raised), 0)
    # Below every iteration: this is the failure that counts.
    w.b.call(fail, [w.word(_EVERYWHERE), w.at(ticket, Ticket.STOPPED), ticket])
    w.b.ret(w.word(1))
    return w.keep()


def _emit_poll(module: ir.Module, look: Function) -> None:
    """`poll(ticket)`, called by chunks that run for long: 1 if the chunk is to end."""
    w = PoolWords(module, POLL, 1, I32)
    ticket = w.args[0]
    with w.b.if_then(_is_shared(w, ticket)):
        with w.b.if_then(_is_orphan(w, ticket), likely=False):
            _end_orphan(w, ticket, 0)
            w.b.ret(ir.Constant(I32, 1))
        failed = w.is_less(w.get(Pool.FAILED_AT), w.at(ticket, Ticket.BEGIN))
        w.return_if(w.b.or_(failed, _is_closed(w)), ir.Constant(I32, 1))
    w.return_if(w.is_zero(w.at(ticket, Ticket.IS_CALLER)), ir.Constant(I32, 0))
    w.return_unless(_is_due(w, ticket), ir.Constant(I32, 0))
    w.b.ret(w.b.trunc(w.b.call(look, [ticket]), I32))


# Working on a loop


def _emit_work(module: ir.Module, fail: Function, look: Function) -> Function:
    """`work(ticket)`: take chunks of the loop until there are none left."""
    w = PoolWords(module, "work", 1, VOID)
    ticket = w.args[0]
    body, context = w.get(Pool.BODY), w.get(Pool.CONTEXT)
    count, grain = w.get(Pool.COUNT), w.get(Pool.GRAIN)
    with w.forever() as done:
        begin = w.add(Pool.NEXT, grain)
        w.leave_if(w.b.not_(w.is_less(begin, count)), done)
        w.leave_if(w.is_less(w.get(Pool.FAILED_AT), begin), done)
        w.leave_if(_is_closed(w), done)
        w.put(begin, ticket, Ticket.BEGIN)
        end = w.least(w.b.add(begin, grain), count)
        status = w.b.zext(w.call_address(body, begin, end, context, ticket, result=I32), I64)
        with w.b.if_then(_is_orphan(w, ticket), likely=False):
            _end_orphan(w, ticket, status)
            w.b.branch(done)
        with w.b.if_then(w.b.not_(w.is_zero(status)), likely=False):
            w.b.call(fail, [begin, status, ticket])
        with w.b.if_then(w.b.not_(w.is_zero(w.at(ticket, Ticket.IS_CALLER)))):
            _look_now_and_then(w, ticket, look)
        w.leave_if(_is_orphan(w, ticket), done)
    w.b.ret_void()
    return w.keep()


def _is_shared(w: PoolWords, ticket: Word) -> Any:
    return w.b.not_(w.is_zero(w.at(ticket, Ticket.IS_SHARED)))


def _is_orphan(w: PoolWords, ticket: Word) -> Any:
    """Whether a handler or a callback forked inside of the loop, and this is the child."""
    return w.b.not_(w.is_equal(w.get(Pool.GENERATION), w.at(ticket, Ticket.GENERATION)))


def _end_orphan(w: PoolWords, ticket: Word, status: Word) -> None:
    """Note how the loop ends in a child: with `status` or, where that is 0, with one of its own.

    The words of the pool are for loops that the child itself began, perhaps in another thread.
    """
    of_fork = w.b.add(w.at(ticket, Ticket.STOPPED), w.word(1))
    with w.b.if_then(w.is_zero(w.at(ticket, Ticket.STATUS))):
        w.put(w.b.select(w.is_zero(status), of_fork, w.word(status)), ticket, Ticket.STATUS)


def _is_closed(w: PoolWords) -> Any:
    return w.b.not_(w.is_zero(w.get(Pool.CLOSED)))


def _look_now_and_then(w: PoolWords, ticket: Word, look: Function) -> None:
    with w.b.if_then(_is_due(w, ticket), likely=False):
        w.b.call(look, [ticket])


def _is_due(w: PoolWords, ticket: Word) -> Any:
    """Whether the last look for signals was some time ago."""
    passed = w.b.sub(w.now(), w.at(ticket, Ticket.POLLED_AT))
    return w.b.not_(w.is_less(passed, _POLL_EVERY))


def _make_ticket(w: PoolWords, *, is_caller: bool, is_shared: bool) -> Word:
    ticket = w.room(int(Ticket.SIZE))
    w.put(int(is_caller), ticket, Ticket.IS_CALLER)
    w.put(int(is_shared), ticket, Ticket.IS_SHARED)
    w.put(0, ticket, Ticket.HELD)
    w.put(0, ticket, Ticket.BEGIN)
    w.put(w.get(Pool.GENERATION), ticket, Ticket.GENERATION)
    w.put(0, ticket, Ticket.STOPPED)
    w.put(0, ticket, Ticket.STATUS)
    w.put(w.now(), ticket, Ticket.POLLED_AT)
    return ticket


# Workers


def _emit_worker(module: ir.Module, work: Function) -> Function:
    """`worker(nothing)`: the life of a thread of the pool."""
    w = PoolWords(module, "worker", 1)
    ticket = _make_ticket(w, is_caller=False, is_shared=True)
    looks = w.room(1)
    w.put(0, looks)
    with w.forever():
        seen, gate = w.get(Pool.SIGNAL), w.get(Pool.GATE)
        is_open = w.b.not_(w.is_zero(w.b.and_(gate, w.word(_SEATS))))
        with w.b.if_else(is_open) as (inside, outside):
            with inside:
                seated = w.replace(Pool.GATE, gate, w.b.sub(gate, w.word(1)))
                with w.b.if_then(seated):
                    _take_part(w, work, ticket)
                w.put(0, looks)
            with outside:
                w.put(w.b.add(w.at(looks), w.word(1)), looks)
                w.pause()
                is_tired = w.b.not_(w.is_less(w.at(looks), w.get(Pool.SPINS)))
                with w.b.if_then(is_tired):
                    _rest(w, seen)
                    w.put(0, looks)
    w.b.ret(w.word(0))
    return w.keep()


def _take_part(w: PoolWords, work: Function, ticket: Word) -> None:
    w.b.call(work, [ticket])
    w.add(Pool.FINISHED, 1)
    with w.b.if_then(w.b.not_(w.is_zero(w.get(Pool.WAITING)))):
        w.wake(Pool.FINISHED, 1)


def _rest(w: PoolWords, seen: Word) -> None:
    """Sleep until the next loop. A caller that does not see the sleeper opened the gate before."""
    w.add(Pool.SLEEPERS, 1)
    is_closed = w.is_zero(w.b.and_(w.get(Pool.GATE), w.word(_SEATS)))
    with w.b.if_then(is_closed):
        w.sleep(Pool.SIGNAL, seen)
    w.add(Pool.SLEEPERS, -1)


def _emit_start(module: ir.Module, worker: Function) -> Function:
    """`start(wanted)`: see to it that there are so many workers, if the system lets us.

    They handle no signals: those are for the threads of the program.
    """
    w = PoolWords(module, "start", 1, VOID)
    everything, before = w.room(_SIGNAL_SET_WORDS), w.room(_SIGNAL_SET_WORDS)
    thread = w.room(1)
    mode = ir.Constant(I32, _SIG_SETMASK)
    w.libc("sigfillset", I32, everything)
    w.libc("pthread_sigmask", I32, mode, everything, before)
    with w.forever() as done:
        w.leave_if(w.b.not_(w.is_less(w.get(Pool.WORKERS), w.args[0])), done)
        status = w.libc("pthread_create", I32, thread, 0, pointer_word(w, worker), 0)
        w.leave_if(w.b.icmp_signed("!=", status, ir.Constant(I32, 0)), done)
        w.libc("pthread_detach", I32, w.at(thread))
        w.add(Pool.WORKERS, 1)
    w.libc("pthread_sigmask", I32, mode, before, 0)
    w.b.ret_void()
    return w.keep()


# Callers


def _emit_run(module: ir.Module, start: Function, share: Function) -> None:
    w = PoolWords(module, RUN, 6, I32)
    body, count, least, context, error, stopped = w.args
    own = w.libc("pthread_getspecific", I64, w.b.trunc(w.get(Pool.KEY), I32))
    limit = w.b.select(w.is_zero(own), w.get(Pool.LIMIT), own)
    threads = w.greatest(w.least(limit, MAX_THREADS), 1)
    grain = _grain(w, count, threads, least)
    is_worth_it = w.b.and_(w.is_less(1, threads), w.is_less(grain, count))
    is_countable = w.is_less(count, _MOST_ITERATIONS)
    can_share = w.b.and_(w.b.and_(is_worth_it, is_countable), w.b.not_(_is_closed(w)))
    with w.b.if_then(can_share), w.b.if_then(w.replace(Pool.BUSY, 0, 1)):
        wanted = w.b.sub(threads, w.word(1))
        with w.b.if_then(w.is_less(w.get(Pool.WORKERS), wanted), likely=False):
            w.b.call(start, [wanted])
        places = (Pool.BODY, Pool.CONTEXT, Pool.COUNT, Pool.GRAIN)
        for place, value in zip(places, (body, context, count, grain), strict=True):
            w.write(value, place)
        w.b.ret(w.b.trunc(w.b.call(share, [wanted, error, stopped]), I32))
    _run_alone(w, body, count, context, error)


def _grain(w: PoolWords, count: Word, threads: Word, least: Word) -> Word:
    """How many iterations a chunk has."""
    chunks = w.b.mul(threads, w.word(_CHUNKS_PER_THREAD))
    even = w.b.add(w.b.udiv(w.b.sub(count, w.word(1)), chunks), w.word(1))
    grain = w.greatest(w.b.select(w.is_less(0, count), even, w.word(1)), least)
    rounded = w.b.and_(w.b.add(grain, w.word(_CHUNK_UNIT - 1)), w.word(-_CHUNK_UNIT))
    return w.b.select(w.is_less(grain, 4 * _CHUNK_UNIT), grain, rounded)


def _run_alone(w: PoolWords, body: Word, count: Word, context: Word, error: Word) -> None:
    ticket = _make_ticket(w, is_caller=True, is_shared=False)
    status = w.call_address(body, 0, count, context, ticket, result=I32)
    with w.b.if_then(w.b.icmp_signed("!=", status, ir.Constant(I32, 0)), likely=False):
        w.copy(ticket, error, ERROR_WORDS)
    w.b.ret(status)


def _emit_share(module: ir.Module, work: Function, look: Function) -> Function:
    """`share(wanted, error, stopped)`: run the loop in the state with up to so many workers.

    A child that was forked inside of the loop has none of them: it leaves, and the state alone.
    """
    w = PoolWords(module, "share", 3)
    wanted, error, stopped = w.args
    ticket = _make_ticket(w, is_caller=True, is_shared=True)
    w.put(stopped, ticket, Ticket.STOPPED)
    for place in (Pool.NEXT, Pool.FINISHED, Pool.STATUS, Pool.WAITING):
        w.write(0, place)
    w.write(_NOWHERE, Pool.FAILED_AT)
    seats = _free_seats(w, wanted)
    _open_gate(w, seats)
    w.b.call(work, [ticket])
    with w.b.if_then(w.b.not_(_is_orphan(w, ticket)), likely=True):
        left = w.b.and_(w.mask(Pool.GATE, ~_SEATS), w.word(_SEATS))
        _wait(w, w.b.sub(seats, left), ticket, look)
    with w.b.if_then(_is_orphan(w, ticket), likely=False):
        w.copy(ticket, error, ERROR_WORDS)
        w.b.ret(w.at(ticket, Ticket.STATUS))
    with w.b.if_then(_is_closed(w), likely=False):
        _park(w)
    status = w.get(Pool.STATUS)
    with w.b.if_then(w.b.not_(w.is_zero(status)), likely=False):
        w.copy(w.state(Pool.ERROR), error, ERROR_WORDS)
    w.write(0, Pool.BUSY)
    w.b.ret(status)
    return w.keep()


def _park(w: PoolWords) -> None:
    """Wait for the end of the process, without Python's lock."""
    has_lock = w.libc("PyGILState_Check", I32)
    with w.b.if_then(w.b.icmp_signed("!=", has_lock, ir.Constant(I32, 0))):
        w.libc("PyEval_SaveThread", I64)
    w.set(1, Pool.PARKED)
    with w.forever():
        w.libc("pause", I32)


def _free_seats(w: PoolWords, wanted: Word) -> Word:
    """As many as there are workers and chunks for them, besides the caller's."""
    count, grain = w.get(Pool.COUNT), w.get(Pool.GRAIN)
    others = w.b.udiv(w.b.sub(count, w.word(1)), grain)
    return w.least(w.least(wanted, w.get(Pool.WORKERS)), others)


def _open_gate(w: PoolWords, seats: Word) -> None:
    number = w.b.and_(w.b.add(w.get(Pool.GATE), w.word(_SEATS + 1)), w.word(~_SEATS))
    w.set(w.b.or_(number, seats), Pool.GATE)
    w.add(Pool.SIGNAL, 1)
    sleepers = w.get(Pool.SLEEPERS)
    with w.b.if_then(w.b.not_(w.is_zero(sleepers))):
        w.wake(Pool.SIGNAL, seats)


def _wait(w: PoolWords, workers: Word, ticket: Word, look: Function) -> None:
    """Wait for the workers that took a seat; look for signals if that takes long."""
    patience = w.room(1)
    w.put(w.get(Pool.SPINS), patience)
    with w.forever() as done:
        finished = w.get(Pool.FINISHED)
        w.leave_if(w.is_equal(finished, workers), done)
        w.leave_if(_is_orphan(w, ticket), done)
        left = w.b.sub(w.at(patience), w.word(1))
        with w.b.if_else(w.is_less(0, left)) as (spinning, sleeping):
            with spinning:
                w.put(left, patience)
                w.pause()
            with sleeping:
                w.set(1, Pool.WAITING)
                w.sleep(Pool.FINISHED, finished, _POLL_EVERY)
                _look_now_and_then(w, ticket, look)
