"""Bugs planted in lowering, code generation and the runtime.

Each must be noticed by comparing native code with the interpreter on a few calls.
"""

from __future__ import annotations

import dataclasses
from contextlib import suppress
from typing import Any

import ml_dtypes
import numpy as np
from llvmlite import ir as llvm_ir

from hybridjit.analysis import scoped_facts
from hybridjit.analysis.bounds import Facts
from hybridjit.arith.linear import Linear
from hybridjit.codegen import kernel
from hybridjit.codegen.emit import arithmetic, casts, conversions, emitter, expression_facts, loops
from hybridjit.codegen.emit import expressions as emit_expressions
from hybridjit.codegen.emit.emitter import Emitter
from hybridjit.codegen.emit.language import LANGUAGE
from hybridjit.codegen.emit.memory import ArrayAddress
from hybridjit.codegen.llvm_types import I8, I64
from hybridjit.ir import expr
from hybridjit.ir.dtype import BOOL, FLOAT32, FLOAT64, UINT64
from hybridjit.runtime import callbacks, native, specialization
from hybridjit.runtime.cache import kernel_key as kernel_cache
from tests.planted import native_checks as checks
from tests.planted.bugs import Bug, always, entry, everywhere, replaced
from tests.planted.llvm import in_loops
from tests.planted.native_checks import BYTES, DIVISORS, UNSIGNED, compared, inner
from tests.support import nasty_kernels as nasty


def unchecked(self: Any, node: expr.Bounded) -> Any:
    index, extent = self.emit(node.index), self.emit(node.extent)
    is_negative = self.b.icmp_signed("<", index, llvm_ir.Constant(I64, 0))
    return self.b.select(is_negative, self.b.add(index, extent), index)


def wrapped_by_one_less(self: Any, node: expr.Bounded) -> Any:
    index = _bounded(self, node)
    original = self.emit(node.index)
    is_negative = self.b.icmp_signed("<", original, llvm_ir.Constant(I64, 0))
    return self.b.select(is_negative, self.b.sub(index, llvm_ir.Constant(I64, 1)), index)


_bounded = LANGUAGE.expressions[expr.Bounded]


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


_trip_count = vars(loops)["_trip_count"]


def short_chunks(self: Any, loop: Any, origin: Any, bounds: Any, done: Any, **how: Any) -> None:
    first, last = bounds
    if isinstance(first, llvm_ir.PhiInstr):
        last = self.b.sub(last, llvm_ir.Constant(I64, 1))
    _count(self, loop, origin, (first, last), done, **how)


_count = loops.count


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


def signed_source(b: Any, value: Any, source: Any, to: Any) -> Any:
    if source is not UINT64 or to not in (FLOAT32, FLOAT64):
        return _from_integer(b, value, source, to)
    return b.sitofp(value, casts.like(value, casts.value_type(to)))


_from_integer = vars(casts)["_from_integer"]


def always_stepped(b: Any, rest: Any, divisor: Any) -> Any:
    zero = llvm_ir.Constant(rest.type, 0)
    is_exact = b.icmp_signed("==", rest, zero)
    is_falling = b.icmp_signed("<", divisor, zero)
    return b.or_(_needs_step(b, rest, divisor), b.and_(is_exact, is_falling))


_needs_step = vars(arithmetic)["_needs_step"]


def fits_always(self: Any, value: Any, source: Any, to: Any) -> Any:
    return llvm_ir.Constant(llvm_ir.IntType(1), 1)


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


_free_from = Emitter.free_from


_ENDS = [(inner(), index) for index in (0, 4, 5, -1, -5, -6)]

BUGS = (
    Bug(
        "a bounds check is dropped",
        [entry(LANGUAGE, "expressions", expr.Bounded, unchecked)],
        compared(nasty.one_element, *_ENDS),
    ),
    Bug(
        "negative indices count from before the end",
        [entry(LANGUAGE, "expressions", expr.Bounded, wrapped_by_one_less)],
        compared(nasty.one_element, *_ENDS),
    ),
    Bug(
        "the prover is off by one",
        [replaced(Facts, "prove_non_negative", almost_proved)],
        compared(nasty.off_by_one, (inner(),)),
    ),
    Bug(
        "a guard is assumed on the wrong side",
        [replaced(scoped_facts, "Not", same_condition)],
        compared(checks.other_side, *[(inner(), index) for index in (0, 4, 5)]),
    ),
    Bug(
        "guards that overflow are believed",
        [replaced(Facts, "is_exact", always(True))],
        compared(nasty.product_that_wraps, (inner(8),)),
    ),
    Bug(
        "floor division truncates",
        [entry(arithmetic, "_INTEGER", expr.FloorDiv, truncated)],
        compared(checks.divide, (BYTES[1:], DIVISORS[1:], np.zeros((2, 7), np.int8))),
    ),
    Bug(
        "MIN // -1 is 0",
        [entry(arithmetic, "_INTEGER", expr.FloorDiv, zero_at_the_edge)],
        compared(checks.divide, (BYTES, DIVISORS, np.zeros((2, 8), np.int8))),
    ),
    Bug(
        "divisors are not checked for zero",
        [everywhere(emit_expressions, "checked_divisor", unchecked_divisor)],
        compared(checks.divide, (BYTES, DIVISORS * 0, np.zeros((2, 8), np.int8))),
    ),
    Bug(
        "shifts beyond the width are left to the processor",
        [entry(arithmetic, "_INTEGER", expr.ShiftLeft, any_width)],
        compared(checks.shift, (UNSIGNED, UNSIGNED, np.zeros((2, 6), np.uint8))),
    ),
    Bug(
        "unsigned numbers are compared as signed",
        [replaced(arithmetic, "is_signed", always(True))],
        compared(checks.divide, (UNSIGNED, UNSIGNED[::-1] | 1, np.zeros((2, 6), np.uint8))),
    ),
    Bug(
        "falling loops end too early",
        [replaced(loops, "_trip_count", one_trip_less)],
        compared(checks.falling, (np.zeros(10),)),
    ),
    Bug(
        "the last iteration of a chunk is lost",
        [
            replaced(emitter, "POLL_WORK", 16),
            replaced(loops, "count", short_chunks),
        ],
        compared(checks.long_loop, (np.zeros(50), 50)),
    ),
    Bug(
        "variables may be read before they are assigned",
        [replaced(kernel, "find_unassigned_reads", always(frozenset()))],
        compared(checks.maybe_unset, (5,), (2,)),
    ),
    Bug(
        "arguments never share memory",
        [replaced(specialization, "share_memory", always(False))],
        checks.check_aliasing,
    ),
    Bug(
        "reversed arrays run forwards",
        [replaced(native, "_array_layout", forward_strides)],
        compared(checks.shifted, (np.arange(20.0)[9::-1], np.zeros(10))),
    ),
    Bug(
        "True is stored as 255",
        [replaced(ArrayAddress, "store", store_all_ones)],
        checks.check_bytes_of_bool,
    ),
    Bug(
        "bfloat16 is cut off, not rounded",
        [replaced(casts, "narrow", cut_off), replaced(arithmetic, "narrow", cut_off)],
        compared(
            checks.tripled,
            (np.arange(129, 256).astype(ml_dtypes.bfloat16), np.zeros(127, ml_dtypes.bfloat16)),
        ),
    ),
    Bug(
        "float16 is cut off, not rounded",
        [replaced(arithmetic, "narrow", half_cut_off)],
        compared(
            checks.tripled, (np.arange(1025, 2048).astype(np.float16), np.zeros(1023, np.float16))
        ),
    ),
    Bug(
        "casts to integers wrap",
        [replaced(casts, "_saturated", wrapping_cast)],
        compared(checks.to_int, (np.array([1.5, -1.5, 300.0, -300.0, 1e30]), np.zeros(5, np.int8))),
    ),
    Bug(
        "integers are extended without their sign",
        [replaced(casts, "is_signed", always(False))],
        compared(checks.widened, (BYTES, np.zeros(8, np.int64))),
    ),
    Bug(
        "uint64 is converted to floats as if it were signed",
        [replaced(casts, "_from_integer", signed_source)],
        in_loops(31),
    ),
    Bug(
        "exact quotients by negative numbers are one too small",
        [replaced(arithmetic, "_needs_step", always_stepped)],
        in_loops(3),
    ),
    Bug(
        "narrowing is not checked",
        [replaced(conversions, "_fits", fits_always)],
        compared(checks.narrowed, (np.zeros(1, np.int8), 5), (np.zeros(1, np.int8), 300)),
    ),
    Bug(
        "a conditional computes both sides",
        [everywhere(expression_facts, "is_free", always(True))],
        compared(nasty.inside_a_condition, *[(inner(), n) for n in (0, 4, 5)]),
    ),
    Bug(
        "`and` computes both sides",
        [entry(LANGUAGE, "expressions", expr.And, eager_logic)],
        compared(nasty.second_of_and, *[(inner(), n) for n in (0, 4, 5)]),
    ),
    Bug(
        "run-time sizes are swapped",
        [replaced(native, "convention", swapped_sizes)],
        compared(checks.rectangle, (np.zeros((2, 3)),), (np.zeros((3, 5)),)),
    ),
    Bug(
        "errors of callbacks are swallowed",
        [replaced(callbacks, "_packed", swallowed)],
        compared(checks.calls_back, (np.ones(1),)),
    ),
    Bug(
        "local arrays are not freed",
        [replaced(Emitter, "free_from", always(None))],
        checks.check_memory,
    ),
    Bug(
        "local arrays are freed twice",
        [replaced(Emitter, "free_from", freed_twice)],
        checks.check_memory,
    ),
    Bug(
        "the key of the cache lacks the function",
        [
            replaced(kernel_cache, "print_func", always("")),
            replaced(kernel_cache, "_spans", always(())),
        ],
        checks.check_keys,
    ),
)
