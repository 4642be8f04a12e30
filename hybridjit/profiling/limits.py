"""What the machine can do at best: floating-point operations and bytes per second, measured.

The roofline: a loop takes at least as long as its operations take, and as its bytes do.
"""

from __future__ import annotations

import ctypes
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any

import numpy as np
from llvmlite import ir

from hybridjit.codegen.emit.timers import read_clock
from hybridjit.codegen.engine import Library, emit_object, link, optimize
from hybridjit.codegen.llvm_types import I64
from hybridjit.ir.dtype import FLOAT64
from hybridjit.ir.expr import Expr
from hybridjit.ir.stmt import Stmt
from hybridjit.ir.visit import walk
from hybridjit.processor import current_target
from hybridjit.record import record

# As many sums at a time as hide how long each takes, and fit into registers.
_CHAINS = 12
_ROUNDS = 1 << 18
_TURNS = 7
_LEAST_BYTES, _MOST_BYTES = 1 << 14, 1 << 26
_READ_BYTES = 1 << 26  # at a time, so that the clock can tell
_BITS = {"float": 32, "double": 64}

_PEAK = """
target triple = "{triple}"
define i64 @hj_peak(i64 %count) "prefer-vector-width"="{bits}" {{
entry:
  %number = uitofp i64 %count to {kind}
  %first = insertelement {vector} poison, {kind} %number, i64 0
  %factor = shufflevector {vector} %first, {vector} poison, {zeros} zeroinitializer
  br label %body
body:
  %i = phi i64 [ 0, %entry ], [ %next, %body ]
{chains}
  %next = add i64 %i, 1
  %again = icmp ult i64 %next, %count
  br i1 %again, label %body, label %done
done:
{keep}
  ret i64 %count
}}
declare {vector} @llvm.fma.{suffix}({vector}, {vector}, {vector})
"""
_READ = """
target triple = "{triple}"
define i64 @hj_read(ptr %data, i64 %count, i64 %times) "prefer-vector-width"="{bits}" {{
entry:
  br label %outer
outer:
  %t = phi i64 [ 0, %entry ], [ %later, %done ]
  br label %body
body:
  %i = phi i64 [ 0, %outer ], [ %next, %body ]
{chains}
  %next = add i64 %i, {step}
  %again = icmp ult i64 %next, %count
  br i1 %again, label %body, label %done
done:
{keep}
  %later = add i64 %t, 1
  %more = icmp ult i64 %later, %times
  br i1 %more, label %outer, label %end
end:
  ret i64 %count
}}
"""


@record
class Limits:
    """Floating-point operations and bytes per second, on so many threads, each of which goes again
    and again over a memory of the size `footprint`.
    """

    flops: float
    bytes: float
    threads: int
    footprint: int

    def least_seconds(self, flops: float, moved: float) -> float:
        """How long so much work takes at least."""
        return max(flops / self.flops, moved / self.bytes)

    def is_memory(self, flops: float, moved: float) -> bool:
        """Whether it is memory that takes longer."""
        return moved / self.bytes > flops / self.flops


@cache
def find_limits(kind: str, footprint: int, threads: int) -> Limits:
    """Measure them: for "float" or "double", and reading so much memory again and again."""
    bandwidth = _bandwidth(footprint, threads)
    return Limits(peak_flops(kind, threads), bandwidth, threads, footprint)


def kind_of_numbers(stmt: Stmt) -> str:
    """What a statement computes in: "double" if anything is of that type, else "float"."""
    floats = [node.dtype for node in walk(stmt) if isinstance(node, Expr) and node.dtype.is_inexact]
    return "double" if any(dtype.component is FLOAT64 for dtype in floats) else "float"


@cache
def peak_flops(kind: str, threads: int) -> float:
    """Products and sums of "float" or "double" per second, at best."""
    compute = _function(_peak_text(kind), "hj_peak", 1)
    lanes = current_target().vector_bits // _BITS[kind]
    flops = 2 * lanes * _CHAINS * _ROUNDS * threads
    return flops / _best_time(lambda _: compute(_ROUNDS), threads)


@cache
def _bandwidth(footprint: int, threads: int) -> float:
    read = _function(_read_text(), "hj_read", 3)
    arrays = [np.ones(footprint // 8) for _ in range(threads)]  # ones: zeros would be one page
    times = _READ_BYTES // footprint + 1

    def run(thread: int) -> int:
        return read(arrays[thread].ctypes.data, footprint, times)

    return times * footprint * threads / _best_time(run, threads)


def rounded_footprint(touched: float) -> int:
    """A power of two, so that few sizes are measured."""
    size = _LEAST_BYTES
    while size < touched and size < _MOST_BYTES:
        size *= 2
    return size


def _best_time(run: Callable[[int], Any], threads: int) -> float:
    with ThreadPoolExecutor(threads) as pool:
        return min(_time(run, pool, threads) for _ in range(_TURNS))


def _time(run: Callable[[int], Any], pool: ThreadPoolExecutor, threads: int) -> float:
    start = time.perf_counter()
    if threads == 1:
        run(0)
    else:
        list(pool.map(run, range(threads)))
    return time.perf_counter() - start


def _peak_text(kind: str) -> str:
    target = current_target()
    bits = target.vector_bits
    lanes = bits // _BITS[kind]
    vector, suffix = f"<{lanes} x {kind}>", f"v{lanes}f{_BITS[kind]}"
    chains = [
        f"  %x{k} = phi {vector} [ zeroinitializer, %entry ], [ %y{k}, %body ]"
        for k in range(_CHAINS)
    ]
    chains += [
        # As sums do: some processors can only add to a register, not multiply it.
        f"  %y{k} = call {vector} @llvm.fma.{suffix}"
        f"({vector} %factor, {vector} %factor, {vector} %x{k})"
        for k in range(_CHAINS)
    ]
    return _PEAK.format(
        triple=target.triple,
        bits=bits,
        kind=kind,
        vector=vector,
        zeros=f"<{lanes} x i32>",
        suffix=suffix,
        chains="\n".join(chains),
        keep=_kept(vector, "y"),
    )


def _read_text() -> str:
    target = current_target()
    bits = target.vector_bits
    vector, width = f"<{bits // 64} x i64>", bits // 8
    chains = [
        f"  %x{k} = phi {vector} [ zeroinitializer, %outer ], [ %y{k}, %body ]" for k in range(8)
    ]
    for k in range(8):
        chains += [
            f"  %o{k} = add i64 %i, {k * width}",
            f"  %p{k} = getelementptr i8, ptr %data, i64 %o{k}",
            f"  %v{k} = load {vector}, ptr %p{k}, align 8",
            f"  %y{k} = xor {vector} %x{k}, %v{k}",
        ]
    return _READ.format(
        triple=target.triple,
        bits=bits,
        step=8 * width,
        chains="\n".join(chains),
        keep=_kept(vector, "y", 8),
    )


def _kept(vector: str, name: str, count: int = _CHAINS) -> str:
    """Let the results be of use, or LLVM would leave the work out."""
    return "\n".join(
        f'  call void asm sideeffect "", "x"({vector} %{name}{k})' for k in range(count)
    )


@cache
def _library(text: str, name: str) -> Library:
    target = current_target()
    return link(emit_object(optimize(text, target), target), (name,), {})


def _function(text: str, name: str, parameters: int) -> Callable[..., int]:
    kind = ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_int64] * parameters)
    return kind(_library(text, name).addresses[name])


# The clock of counters

_CALIBRATION = 0.02  # seconds


@cache
def seconds_per_tick() -> float:
    """How long the counter of the processor takes for one step."""
    clock = _function(_clock_text(), "hj_clock", 0)
    start, first = time.perf_counter(), clock()
    while time.perf_counter() - start < _CALIBRATION:
        pass
    end, last = time.perf_counter(), clock()
    return (end - start) / (last - first)


def _clock_text() -> str:
    module = ir.Module()
    module.triple = current_target().triple
    clock = ir.Function(module, ir.FunctionType(I64, []), "hj_clock")
    b: Any = ir.IRBuilder(clock.append_basic_block())
    b.ret(read_clock(b, module))
    return str(module)
