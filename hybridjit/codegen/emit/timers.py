"""Counters in code that is profiled: how long each loop took, and each thread's part of it.

    begin = clock()
    for i in range(n): ...
    times[3] += clock() - begin;  runs[3] += 1

The numbers are in memory that the profiler gives, under one name; see `Recording`.
"""

from __future__ import annotations

from collections.abc import Mapping

from llvmlite import ir

from hybridjit.codegen.declarations import declare_function
from hybridjit.codegen.llvm_types import I64, Builder, Module, Value
from hybridjit.ir.stmt import For
from hybridjit.record import record

RECORDING = "hj_recording"
WHOLE = 0  # the slot of the kernel itself
# Chunks of parallel loops that are noted one by one; more than any loop is cut into.
MAX_CHUNKS = 1 << 14
CHUNK_WORDS = 3  # slot, thread, time


@record(eq=False)
class Timers:
    """Which loops are timed, each by its slot; several may share one."""

    slots: Mapping[For, int]

    @property
    def slot_count(self) -> int:
        """How many slots there are, with that of the kernel."""
        return max(self.slots.values(), default=WHOLE) + 1

    @property
    def words(self) -> int:
        """How much memory is needed: times, runs, the number of chunks, and chunks."""
        return 2 * self.slot_count + 1 + CHUNK_WORDS * MAX_CHUNKS


def read_clock(b: Builder, module: Module) -> Value:
    """The counter of the processor that goes on steadily."""
    if not module.triple.startswith(("aarch64", "arm64")):
        return b.call(
            declare_function(module, "llvm.readcyclecounter", ir.FunctionType(I64, [])), []
        )
    # LLVM 22 has llvm.readsteadycounter, which is always zero there.
    kind = ir.FunctionType(I64, [ir.MetaDataType()])
    read = declare_function(module, "llvm.read_volatile_register.i64", kind)
    return b.call(read, [module.add_metadata(["cntvct_el0"])])


def note_time(b: Builder, module: Module, timers: Timers, slot: int, begin: Value) -> None:
    """Add the time since `begin` to a slot."""
    taken = b.sub(read_clock(b, module), begin)
    for place, value in ((slot, taken), (timers.slot_count + slot, ir.Constant(I64, 1))):
        address = _word(b, module, ir.Constant(I64, place))
        b.store(b.add(b.load(address, typ=I64), value), address)


def note_chunk(
    b: Builder, module: Module, timers: Timers, slot: int, thread: Value, begin: Value
) -> None:
    """Note the time since `begin` of a chunk of a loop, which `thread` ran; several may at once."""
    taken = b.sub(read_clock(b, module), begin)
    first = 2 * timers.slot_count
    counter = _word(b, module, ir.Constant(I64, first))
    number = b.atomic_rmw("add", counter, ir.Constant(I64, 1), "monotonic")
    with b.if_then(b.icmp_unsigned("<", number, ir.Constant(I64, MAX_CHUNKS))):
        start = b.add(b.mul(number, ir.Constant(I64, CHUNK_WORDS)), ir.Constant(I64, first + 1))
        values = (ir.Constant(I64, slot), b.ptrtoint(thread, I64), taken)
        for place, value in enumerate(values):
            b.store(value, _word(b, module, b.add(start, ir.Constant(I64, place))))


def _word(b: Builder, module: Module, place: Value) -> Value:
    memory = module.globals.get(RECORDING)
    if memory is None:
        memory = ir.GlobalVariable(module, ir.ArrayType(I64, 1), RECORDING)
    words = b.bitcast(memory, I64.as_pointer())
    return b.gep(words, [place], source_etype=I64)
