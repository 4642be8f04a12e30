"""Test the testers of native code: bugs planted in lowering, code generation and the runtime.

Each must be noticed by the comparison of native code with the interpreter on a few calls.
`python -m tests.planted_native` plants them all and prints which calls notice them;
tests/test_planted_native_bugs.py does the same in the suite. Every bug is tried in a process of
its own: one that ends by a signal has been noticed too.
"""

from __future__ import annotations

import dataclasses
import faulthandler
import os
import sys
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, ExitStack, suppress
from dataclasses import dataclass
from typing import Any
from unittest.mock import patch

import ml_dtypes
import numpy as np
from llvmlite import ir as llvm_ir

from hybridjit import Kernel, config, hybrid
from hybridjit.analysis.bounds import Facts
from hybridjit.arith.linear import Linear
from hybridjit.codegen import arithmetic, casts, kernel
from hybridjit.codegen.emit_context import EmitContext
from hybridjit.codegen.emit_expressions import ExpressionEmitter
from hybridjit.codegen.emit_statements import StatementEmitter
from hybridjit.codegen.llvm_types import I8, I64
from hybridjit.codegen.memory import ArrayAddress
from hybridjit.codegen.target import host_target
from hybridjit.ir import expr
from hybridjit.ir.dtype import BOOL
from hybridjit.lower import check_bounds
from hybridjit.runtime import callbacks, kernel_cache, native, specialization
from hybridjit.runtime.native import layout_of
from tests import nasty_kernels as nasty
from tests.oracle import assert_same_outcome, run_once
from tests.poisoned import poisoned_arrays

AnyKernel = Kernel[..., Any]
Check = Callable[[], None]
Plant = Callable[[], AbstractContextManager[Any]]


@dataclass(frozen=True)
class Bug:
    """A planted bug, and the check that must notice it."""

    name: str
    plants: Sequence[Plant]
    check: Check

    def __str__(self) -> str:
        return self.name


def replaced(owner: Any, name: str, value: Any) -> Plant:
    return lambda: patch.object(owner, name, value)


def entry(table: Any, key: Any, value: Any) -> Plant:
    return lambda: patch.dict(table, {key: value})


# -- checks ----------------------------------------------------------------------------------------


def compared(kernel: AnyKernel, *calls: Sequence[Any]) -> Check:
    """Native calls of a new kernel agree with the interpreter."""

    def check() -> None:
        made: AnyKernel = Kernel(kernel.__hybrid_function__)
        for args in calls:
            expected = run_once(_interpret, kernel, args)  # `made` is to see only native calls
            for _ in range(2):
                assert_same_outcome(run_once(_run, made, args), expected)

    check.__name__ = kernel.__name__
    return check


def _interpret(kernel: AnyKernel, *args: Any) -> Any:
    return kernel.interpret(*args)


def _run(kernel: AnyKernel, *args: Any) -> Any:
    with config.scope(interpret=False), poisoned_arrays():
        return kernel(*args)


def inner(size: int = 5) -> Any:
    """An array with room around it: going too far is wrong, but harms nobody."""
    return np.arange(100.0)[40 : 40 + size]


@hybrid.script
def divide(a: Any, b: Any, out: Any) -> Any:
    for i in range(a.shape[0]):
        out[0, i] = a[i] // b[i]
        out[1, i] = a[i] % b[i]


@hybrid.script
def shift(a: Any, b: Any, out: Any) -> Any:
    for i in range(a.shape[0]):
        out[0, i] = a[i] << b[i]
        out[1, i] = a[i] >> b[i]


@hybrid.script
def falling(a: Any) -> Any:
    for i in range(9, -1, -3):
        a[i] = i + 100


@hybrid.script
def long_loop(a: Any, n: Any) -> Any:
    for i in range(n):
        a[i] = a[i] + i


@hybrid.script
def maybe_unset(n: Any) -> Any:
    if n > 3:
        x = n * 2
    return x  # pyright: ignore[reportPossiblyUnboundVariable]


@hybrid.script
def shifted(a: Any, b: Any) -> Any:
    for i in range(a.shape[0]):
        b[i] = a[i] * 2


@hybrid.script
def is_large(a: Any, out: Any) -> Any:
    for i in range(a.shape[0]):
        out[i] = a[i] > 2


@hybrid.script
def tripled(a: Any, out: Any) -> Any:
    for i in range(a.shape[0]):
        out[i] = a[i] * 3 + a[i]


@hybrid.script
def to_int(a: Any, out: Any) -> Any:
    for i in range(a.shape[0]):
        out[i] = np.int8(a[i])


@hybrid.script
def widened(a: Any, out: Any) -> Any:
    for i in range(a.shape[0]):
        out[i] = np.int64(a[i])


@hybrid.script
def narrowed(out: Any, n: Any) -> Any:
    out[0] = n


@hybrid.script
def rectangle(a: Any) -> Any:
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            a[i, j] = 10 * i + j


@hybrid.packed
def refuse(x: Any) -> None:
    raise LookupError("refused")


@hybrid.script
def calls_back(a: Any) -> Any:
    refuse(a[0])
    return a[0]


@hybrid.script
def scratch(n: Any) -> Any:
    b = hybrid.allocate((500_000,), "float64")
    for i in range(n):
        b[i * 7919 % 500_000] = i
    total = 0.0
    for i in range(500_000):
        total += b[499_999 - i] * i
    return total


@hybrid.script
def other_side(a: Any, n: Any) -> Any:
    if n >= 0:
        if n < a.shape[0]:
            a[0] = 7
        else:
            a[n] = 8


def overlapping() -> tuple[Any, Any]:
    memory = np.arange(40.0)
    return memory[:32], memory[1:33]


def check_aliasing() -> None:
    made: AnyKernel = Kernel(shifted.__hybrid_function__)
    a, b = overlapping()
    made.interpret(a, b)
    c, d = overlapping()
    _run(made, c, d)
    assert d.tolist() == b.tolist()


def check_memory() -> None:
    made: AnyKernel = Kernel(scratch.__hybrid_function__)
    _run(made, 9)
    before = _resident_megabytes()
    for _ in range(60):
        _run(made, 9)
    assert _resident_megabytes() - before < 60


def _resident_megabytes() -> float:
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20


def check_bytes_of_bool() -> None:
    made: AnyKernel = Kernel(is_large.__hybrid_function__)
    out = np.zeros(5, bool)
    _run(made, np.arange(5.0), out)
    assert list(out.tobytes()) == [0, 0, 0, 1, 1]


def check_keys() -> None:
    """Whatever the code depends on is in the key."""
    a, b = np.zeros((2, 3)), np.zeros((2, 3))
    keys: list[Any] = []
    for made in (rectangle, nasty.scalar_array):
        for array in (a, np.asfortranarray(a)) if made is rectangle else (np.array(1.0),):
            func = made.prim_func(array)
            for is_disjoint in (False, True):
                layout = layout_of(func.header, [array], is_disjoint=is_disjoint)
                keys.append(kernel_cache.find_key(func, layout, host_target()))
                other = dataclasses.replace(host_target(), features="+other")
                keys.append(kernel_cache.find_key(func, layout, other))
    func = shifted.prim_func(a[0], b[0])
    keys.append(
        kernel_cache.find_key(func, layout_of(func.header, [a, b], is_disjoint=True), host_target())
    )
    assert len(keys) == len(set(keys))


BYTES = np.array([-128, 127, -7, 7, -7, 7, 0, -128], np.int8)
DIVISORS = np.array([-1, -1, 2, -2, -2, 2, -3, 127], np.int8)
UNSIGNED = np.array([0, 1, 127, 128, 200, 255], np.uint8)


# -- bugs ------------------------------------------------------------------------------------------


def unchecked(self: Any, node: expr.Bounded) -> Any:
    index, extent = self.emit(node.index), self.emit(node.extent)
    is_negative = self.b.icmp_signed("<", index, llvm_ir.Constant(I64, 0))
    return self.b.select(is_negative, self.b.add(index, extent), index)


def wrapped_by_one_less(self: Any, node: expr.Bounded) -> Any:
    index = _bounded(self, node)
    original = self.emit(node.index)
    is_negative = self.b.icmp_signed("<", original, llvm_ir.Constant(I64, 0))
    return self.b.select(is_negative, self.b.sub(index, llvm_ir.Constant(I64, 1)), index)


_bounded = vars(ExpressionEmitter)["_bounded"]


def almost_proved(self: Facts, form: Linear) -> bool:
    return _prove(self, form.plus(Linear({}, 1)))


_prove = Facts.prove_non_negative


def truncated(b: Any, x: Any, y: Any, dtype: Any) -> Any:
    return b.sdiv(x, y)


def zero_at_the_edge(b: Any, x: Any, y: Any, dtype: Any) -> Any:
    minus_one = b.icmp_signed("==", y, llvm_ir.Constant(y.type, -1))
    lowest = b.icmp_signed("==", x, llvm_ir.Constant(x.type, -(1 << (dtype.bits - 1))))
    edge = b.and_(minus_one, lowest)
    return b.select(edge, llvm_ir.Constant(x.type, 0), _floor_divide(b, x, y, dtype))


_floor_divide = vars(arithmetic)["_INTEGER"][expr.FloorDiv]


def one_trip_less(self: Any, loop: Any, start: Any, stop: Any, step: Any) -> Any:
    trips = _trip_count(self, loop, start, stop, step)
    is_falling = isinstance(loop.step, expr.Const) and loop.step.value.real < 0
    return llvm_ir.Constant(I64, trips.constant - 1) if is_falling else trips


_trip_count = vars(StatementEmitter)["_trip_count"]


def short_chunks(self: Any, loop: Any, origin: Any, bounds: Any, done: Any, **how: Any) -> None:
    first, last = bounds
    if isinstance(first, llvm_ir.PhiInstr):
        last = self.b.sub(last, llvm_ir.Constant(I64, 1))
    _count(self, loop, origin, (first, last), done, **how)


_count = vars(StatementEmitter)["_count"]


def forward_strides(buffer: Any, array: Any) -> Any:
    found = _array_layout(buffer, array)
    if found.strides is None:
        return found
    return dataclasses.replace(found, strides=tuple(abs(s) if s else s for s in found.strides))


_array_layout = vars(native)["_array_layout"]


def store_all_ones(self: ArrayAddress, b: Any, indices: Any, value: Any) -> None:
    if self.dtype is not BOOL:
        _store(self, b, indices, value)
        return
    b.store(b.sext(value, I8), self.element(b, indices), align=self.align)


_store = ArrayAddress.store


def cut_off(b: Any, value: Any, dtype: Any) -> Any:
    if dtype.name != "bfloat16":
        return _narrow(b, value, dtype)
    i32, i16 = llvm_ir.IntType(32), llvm_ir.IntType(16)
    return b.trunc(b.lshr(b.bitcast(value, i32), llvm_ir.Constant(i32, 16)), i16)


_narrow = casts.narrow


def half_cut_off(b: Any, value: Any, dtype: Any) -> Any:
    if dtype.name != "float16":
        return _narrow(b, value, dtype)
    i32 = llvm_ir.IntType(32)
    kept = b.and_(b.bitcast(value, i32), llvm_ir.Constant(i32, -(1 << 13)))
    return _narrow(b, b.bitcast(kept, llvm_ir.FloatType()), dtype)


def any_width(b: Any, x: Any, y: Any, dtype: Any) -> Any:
    return b.shl(x, b.and_(y, llvm_ir.Constant(y.type, dtype.bits - 1)))


def fits_always(self: Any, value: Any, source: Any, to: Any) -> Any:
    return self.true()


def same_condition(condition: Any) -> Any:
    return condition


def swapped_sizes(func: Any, layout: Any) -> Any:
    call = _convention(func, layout)
    return dataclasses.replace(call, dimensions=tuple(reversed(call.dimensions)))


_convention = vars(native)["convention"]


def wrapping_cast(b: Any, value: Any, to: Any) -> Any:
    wide = b.fptosi(value, llvm_ir.IntType(64))
    return wide if to.bits == 64 else b.trunc(wide, llvm_ir.IntType(to.bits))


def unchecked_divisor(self: Any, y: Any, node: Any) -> Any:
    return y


def eager_logic(self: Any, node: Any) -> Any:
    x, y = self.emit(node.lhs), self.emit(node.rhs)
    return self.b.and_(x, y) if isinstance(node, expr.And) else self.b.or_(x, y)


def swallowed(*args: Any) -> None:
    with suppress(ArithmeticError, LookupError, ValueError):
        _packed(*args)


_packed = vars(callbacks)["_packed"]


def freed_twice(self: Any, live: int) -> None:
    _free_from(self, live)
    _free_from(self, live)


_free_from = EmitContext.free_from


def _always(value: Any) -> Callable[..., Any]:
    def give(*_: Any, **__: Any) -> Any:
        return value

    return give


_INTEGER = vars(arithmetic)["_INTEGER"]
_ENDS = [(inner(), index) for index in (0, 4, 5, -1, -5, -6)]

BUGS = (
    Bug(
        "a bounds check is dropped",
        [replaced(ExpressionEmitter, "_bounded", unchecked)],
        compared(nasty.one_element, *_ENDS),
    ),
    Bug(
        "negative indices count from before the end",
        [replaced(ExpressionEmitter, "_bounded", wrapped_by_one_less)],
        compared(nasty.one_element, *_ENDS),
    ),
    Bug(
        "the prover is off by one",
        [replaced(Facts, "prove_non_negative", almost_proved)],
        compared(nasty.off_by_one, (inner(),)),
    ),
    Bug(
        "a guard is assumed on the wrong side",
        [replaced(check_bounds, "Not", same_condition)],
        compared(other_side, *[(inner(), index) for index in (0, 4, 5)]),
    ),
    Bug(
        "guards that overflow are believed",
        [replaced(Facts, "is_exact", _always(True))],
        compared(nasty.product_that_wraps, (inner(8),)),
    ),
    Bug(
        "floor division truncates",
        [entry(_INTEGER, expr.FloorDiv, truncated)],
        compared(divide, (BYTES[1:], DIVISORS[1:], np.zeros((2, 7), np.int8))),
    ),
    Bug(
        "MIN // -1 is 0",
        [entry(_INTEGER, expr.FloorDiv, zero_at_the_edge)],
        compared(divide, (BYTES, DIVISORS, np.zeros((2, 8), np.int8))),
    ),
    Bug(
        "divisors are not checked for zero",
        [replaced(ExpressionEmitter, "checked_divisor", unchecked_divisor)],
        compared(divide, (BYTES, DIVISORS * 0, np.zeros((2, 8), np.int8))),
    ),
    Bug(
        "shifts beyond the width are left to the processor",
        [entry(_INTEGER, expr.ShiftLeft, any_width)],
        compared(shift, (UNSIGNED, UNSIGNED, np.zeros((2, 6), np.uint8))),
    ),
    Bug(
        "unsigned numbers are compared as signed",
        [replaced(arithmetic, "is_signed", _always(True))],
        compared(divide, (UNSIGNED, UNSIGNED[::-1] | 1, np.zeros((2, 6), np.uint8))),
    ),
    Bug(
        "falling loops end too early",
        [replaced(StatementEmitter, "_trip_count", one_trip_less)],
        compared(falling, (np.zeros(10),)),
    ),
    Bug(
        "the last iteration of a chunk is lost",
        [
            replaced(EmitContext, "poll_work", 16),
            replaced(StatementEmitter, "_count", short_chunks),
        ],
        compared(long_loop, (np.zeros(50), 50)),
    ),
    Bug(
        "variables may be read before they are assigned",
        [replaced(kernel, "find_unassigned_reads", _always(frozenset()))],
        compared(maybe_unset, (5,), (2,)),
    ),
    Bug(
        "arguments never share memory",
        [replaced(specialization, "share_memory", _always(False))],
        check_aliasing,
    ),
    Bug(
        "reversed arrays run forwards",
        [replaced(native, "_array_layout", forward_strides)],
        compared(shifted, (np.arange(20.0)[9::-1], np.zeros(10))),
    ),
    Bug(
        "True is stored as 255",
        [replaced(ArrayAddress, "store", store_all_ones)],
        check_bytes_of_bool,
    ),
    Bug(
        "bfloat16 is cut off, not rounded",
        [replaced(casts, "narrow", cut_off), replaced(arithmetic, "narrow", cut_off)],
        compared(
            tripled,
            (np.arange(129, 256).astype(ml_dtypes.bfloat16), np.zeros(127, ml_dtypes.bfloat16)),
        ),
    ),
    Bug(
        "float16 is cut off, not rounded",
        [replaced(arithmetic, "narrow", half_cut_off)],
        compared(tripled, (np.arange(1025, 2048).astype(np.float16), np.zeros(1023, np.float16))),
    ),
    Bug(
        "casts to integers wrap",
        [replaced(casts, "_saturated", wrapping_cast)],
        compared(to_int, (np.array([1.5, -1.5, 300.0, -300.0, 1e30]), np.zeros(5, np.int8))),
    ),
    Bug(
        "integers are extended without their sign",
        [replaced(casts, "is_signed", _always(False))],
        compared(widened, (BYTES, np.zeros(8, np.int64))),
    ),
    Bug(
        "narrowing is not checked",
        [replaced(ExpressionEmitter, "_fits", fits_always)],
        compared(narrowed, (np.zeros(1, np.int8), 5), (np.zeros(1, np.int8), 300)),
    ),
    Bug(
        "a conditional computes both sides",
        [replaced(ExpressionEmitter, "is_free", _always(True))],
        compared(nasty.inside_a_condition, *[(inner(), n) for n in (0, 4, 5)]),
    ),
    Bug(
        "`and` computes both sides",
        [replaced(ExpressionEmitter, "logical", eager_logic)],
        compared(nasty.second_of_and, *[(inner(), n) for n in (0, 4, 5)]),
    ),
    Bug(
        "run-time sizes are swapped",
        [replaced(native, "convention", swapped_sizes)],
        compared(rectangle, (np.zeros((2, 3)),), (np.zeros((3, 5)),)),
    ),
    Bug(
        "errors of callbacks are swallowed",
        [replaced(callbacks, "_packed", swallowed)],
        compared(calls_back, (np.ones(1),)),
    ),
    Bug(
        "local arrays are not freed",
        [replaced(EmitContext, "free_from", _always(None))],
        check_memory,
    ),
    Bug(
        "local arrays are freed twice",
        [replaced(EmitContext, "free_from", freed_twice)],
        check_memory,
    ),
    Bug(
        "the key of the cache lacks the function",
        [
            replaced(kernel_cache, "print_func", _always("")),
            replaced(kernel_cache, "_spans", _always(())),
        ],
        check_keys,
    ),
)


# -- trying ----------------------------------------------------------------------------------------


def notices(check: Check, plants: Sequence[Plant] = ()) -> str | None:
    """What a check says of the compiler with these bugs in it; None if it is content."""
    sys.stdout.flush()
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        _try_in_child(check, plants, writer)
    os.close(writer)
    with os.fdopen(reader) as pipe:
        said = pipe.read()
    status = os.waitpid(child, 0)[1]
    if os.WIFSIGNALED(status):
        return f"signal {os.WTERMSIG(status)}"
    return said or None


def _try_in_child(check: Check, plants: Sequence[Plant], writer: int) -> None:
    faulthandler.disable()
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    said = ""
    try:
        with ExitStack() as stack:
            # Code of a sound compiler must not come from the disk, nor that of this one get there.
            if check is not check_keys:
                stack.enter_context(config.scope(cache_enabled=False))
            for plant in plants:
                stack.enter_context(plant())
            check()
    except BaseException as error:
        said = f"{type(error).__name__}: {error}".splitlines()[0]
    os.write(writer, said.encode())
    os._exit(0)


def main(bugs: Sequence[Bug] = BUGS) -> int:
    missed = 0
    for bug in bugs:
        found = notices(bug.check, bug.plants)
        missed += found is None
        name = getattr(bug.check, "__name__", "")
        print(f"{bug!s:50} {name:28} {'MISSED' if found is None else found[:90]}", flush=True)
    print(f"{len(bugs) - missed} of {len(bugs)} bugs noticed")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
