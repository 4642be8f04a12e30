"""Run a copy of a kernel that has counters, in turns with the kernel itself, and read them."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from hybridjit.codegen.emit.timers import CHUNK_WORDS, MAX_CHUNKS, RECORDING, WHOLE, Timers
from hybridjit.codegen.engine import emit_object, optimize
from hybridjit.codegen.kernel import Extras, emit_kernel
from hybridjit.codegen.layout import Layout
from hybridjit.errors import ArgumentError
from hybridjit.fresh_stack import on_fresh_stack
from hybridjit.ir.expr import Var
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.stmt import For, While
from hybridjit.ir.visit import walk_stmts
from hybridjit.lowering.choices import lower_numbered
from hybridjit.processor import current_target
from hybridjit.profiling.choose import choose_loops
from hybridjit.profiling.limits import seconds_per_tick
from hybridjit.profiling.profile import LoopTime, Profile, outermost
from hybridjit.profiling.roofline import with_reach, with_shared_rows
from hybridjit.record import record
from hybridjit.runtime.arguments import flatten, has_types
from hybridjit.runtime.callbacks import Callbacks
from hybridjit.runtime.generators import LentGenerators
from hybridjit.runtime.native import Code, NativeKernel, load_native
from hybridjit.runtime.report import LoopReport, find_loops, known_values
from hybridjit.runtime.specialization import Specialization
from hybridjit.scalars.contents import fresh_copies
from hybridjit.scalars.specs import Spec

SECONDS = 0.5  # to measure for, about
LEAST_TURNS, MOST_TURNS = 5, 200

Words = Any  # an array of int64, whose methods checkers do not follow
MakeArguments = Callable[[], Sequence[Any]]


@record(eq=False)
class Counted:
    """A kernel with counters: where they are, and the number of the loop that each slot is of."""

    native: NativeKernel
    memory: Words
    timers: Timers
    numbers: Mapping[int, int]


def profile_call(
    made: Specialization,
    bound: tuple[Sequence[Spec], Sequence[Any]],
    run: Callable[..., object],
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
) -> Profile:
    """Where the time of `run(*args, **kwargs)` goes, a call that runs `made` on what is `bound`:
    types, and the values for them. What would be written to are copies.
    """
    specs, values = bound
    if has_types(specs, values):
        raise ArgumentError(
            f"{made.header.name}.profile(): a profile is of a run, which types do not give",
            help="pass arrays and numbers",
        )

    def copied() -> Sequence[Any]:
        with LentGenerators(fresh_copies(values)) as lent:
            return flatten(specs, lent)

    def call() -> float:
        given = [*args, *kwargs.values()]
        given = fresh_copies(given) if made.summary.written else given
        named = dict(zip(kwargs, given[len(args) :], strict=True))
        start = time.perf_counter()
        run(*given[: len(args)], **named)
        return time.perf_counter() - start

    always = copied()
    arguments = copied if made.summary.written else lambda: always
    return _measure(made, always, arguments, call)


def _measure(
    made: Specialization, given: Sequence[Any], arguments: MakeArguments, call: Callable[[], float]
) -> Profile:
    """Where the time of a call with `given` goes; `arguments` are the same, for each turn. `call`
    gives the time of a usual call.
    """
    layout, _ = made.prepare(given)
    func = made.compiled_func(layout)
    known = known_values(func, given)
    counted = make_counted(made, layout, known)
    usual, best, around = _race(call, counted, arguments)
    loops = find_loops(func, layout, known, may_reorder=made.may_reorder(layout))
    times = _read_loops(counted, best, loops, func)
    whole = float(best[WHOLE]) * seconds_per_tick()
    inside = sum(each.seconds or 0.0 for each in outermost(times))
    # Two times that differ by more than what is around a call were disturbed.
    entering = min(max(0.0, usual - whole), around)
    return Profile(func.name, times, whole + entering, whole - inside, entering, usual)


def make_counted(made: Specialization, layout: Layout, known: Mapping[Var, float]) -> Counted:
    """The code of a kernel once more, with counters."""
    target, func = current_target(), made.compiled_func(layout)

    def emit() -> tuple[Any, Timers, dict[int, int]]:
        numbered = lower_numbered(
            func,
            target,
            may_reorder=made.may_reorder(layout),
            may_vectorize=layout.is_disjoint,
        )
        plain, chosen = choose_loops(numbered, known, target.caches.shared)
        numbers = {number: k for k, number in enumerate(sorted({*chosen.values()}), WHOLE + 1)}
        timers = Timers({loop: numbers[number] for loop, number in chosen.items()})
        return emit_kernel(plain, layout, target, extras=Extras(timers=timers)), timers, numbers

    module, timers, numbers = on_fresh_stack(emit)
    memory = np.zeros(timers.words, np.int64)
    callbacks = Callbacks(module.callbacks, frozenset(array.buffer for array in func.constants))
    imports = {**callbacks.addresses, RECORDING: memory.ctypes.data}
    image = emit_object(optimize(module.text, target), target)
    set_outputs = made.compile(layout).code.set_outputs
    code = Code(
        image,
        module.sites,
        set_outputs,
        known=module.known,
        imports=imports,
        callbacks=callbacks,
    )
    native = load_native(made.header, layout, code)
    return Counted(native, memory, timers, {slot: number for number, slot in numbers.items()})


def _race(
    call: Callable[[], float], counted: Counted, arguments: MakeArguments
) -> tuple[float, Words, float]:
    """The best time of a usual call, the best turn with counters, in turns, as ever, and the least
    that a turn took around its kernel.
    """
    without: list[float] = []
    turns: list[Words] = []
    around: list[float] = []
    end = time.perf_counter() + SECONDS
    while len(turns) < MOST_TURNS and (len(turns) < LEAST_TURNS or time.perf_counter() < end):
        without.append(call())
        given = arguments()
        counted.memory[:] = 0
        start = time.perf_counter()
        counted.native(given)
        taken = time.perf_counter() - start
        turns.append(counted.memory.copy())
        around.append(taken - float(counted.memory[WHOLE]) * seconds_per_tick())
    return min(without), min(turns, key=lambda turn: turn[WHOLE]), max(0.0, min(around))


def _read_loops(
    counted: Counted, turn: Words, loops: Sequence[LoopReport], func: PrimFunc
) -> tuple[LoopTime, ...]:
    slots = {number: slot for slot, number in counted.numbers.items()}
    # `while` has no counters, nor a number: its time counts to what is around it.
    stmts = [stmt for stmt in walk_stmts(func.body) if isinstance(stmt, For | While)]
    numbers = itertools.accumulate((isinstance(stmt, For) for stmt in stmts), initial=0)
    times = [
        _read_loop(counted, turn, slots.get(number), loop)
        if isinstance(stmt, For)
        else LoopTime(loop)
        for loop, stmt, number in zip(with_shared_rows(loops), stmts, numbers, strict=False)
    ]
    return with_reach(times, stmts)


def _read_loop(counted: Counted, turn: Words, slot: int | None, loop: LoopReport) -> LoopTime:
    """The counters of a loop; inside of parallel ones, and where nothing ran, there are none."""
    runs = 0 if slot is None else int(turn[counted.timers.slot_count + slot])
    if slot is None or runs == 0:
        return LoopTime(loop)
    tick = seconds_per_tick()
    threads = tuple(ticks * tick for ticks in _thread_ticks(counted.timers, turn, slot))
    return LoopTime(loop, float(turn[slot]) * tick, runs, threads)


def _thread_ticks(timers: Timers, memory: Words, slot: int) -> list[float]:
    """How long each thread was at the chunks of a loop, the busiest first."""
    first = 2 * timers.slot_count
    count = min(int(memory[first]), MAX_CHUNKS)
    chunks = memory[first + 1 : first + 1 + CHUNK_WORDS * count].reshape(count, CHUNK_WORDS)
    ticks: dict[int, float] = {}
    for number, thread, taken in chunks.tolist():
        if number == slot:
            ticks[thread] = ticks.get(thread, 0.0) + taken
    return sorted(ticks.values(), reverse=True)
