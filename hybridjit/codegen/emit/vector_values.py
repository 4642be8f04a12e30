"""Values with lanes: LLVM vectors, and the ramps that indices in a vector loop are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from llvmlite import ir

from hybridjit.arith.fold import wrap
from hybridjit.codegen.declarations import declare_function
from hybridjit.codegen.llvm_types import (
    I1,
    I32,
    I64,
    Builder,
    Complex,
    LLVMType,
    Value,
    find_constant,
    lanes_of,
)
from hybridjit.ir.dtype import INT64
from hybridjit.record import record

_ir: Any = ir
_UNDEFINED = _ir.Undefined
_CONSTANT: Any = ir.Constant


@record
class Ramp:
    """`base + stride * lane`: an index that takes equal steps from lane to lane.

    Indices are kept in this form as long as they have it: it tells which accesses are contiguous.
    """

    base: Value
    stride: int

    def whole(self, b: Builder, lanes: int) -> Value:
        """The vector."""
        kind = ir.VectorType(I64, lanes)
        steps = ir.Constant(kind, [wrap(self.stride * lane, INT64) for lane in range(lanes)])
        return steps if find_constant(self.base) == 0 else b.add(splat(b, self.base, lanes), steps)

    def lane(self, b: Builder, lane: Value) -> Value:
        """The index in one lane."""
        return b.add(self.base, b.mul(lane, ir.Constant(I64, self.stride)))


Index = Any  # an int64 Value, with or without lanes, or a Ramp


def has_lanes(value: Value) -> bool:
    """Whether a value may differ from lane to lane."""
    return isinstance(value, Ramp) or lanes_of(value) > 1


def zeros(kind: LLVMType) -> Value:
    """What lanes hold that are not active.

    An undefined value is no good there: functions branch on what some lane holds.
    """
    return ir.Constant(kind, None)


def splat(b: Builder, value: Value, lanes: int) -> Value:
    """The same value in every lane."""
    if isinstance(value, Complex):
        return Complex(*(splat(b, part, lanes) for part in value))
    kind = ir.VectorType(value.type, lanes)
    if isinstance(value, _CONSTANT):
        return ir.Constant(kind, value)
    first = b.insert_element(ir.Constant(kind, _UNDEFINED), value, ir.Constant(I32, 0))
    return shuffle(b, first, [0] * lanes)


def shuffle(b: Builder, vector: Value, places: Sequence[int], other: Value = None) -> Value:
    """The lanes of `vector`, and after them those of `other`, at `places`."""
    mask = ir.Constant(ir.VectorType(I32, len(places)), list(places))
    unused = ir.Constant(vector.type, _UNDEFINED)
    return b.shuffle_vector(vector, unused if other is None else other, mask)


def reverse(b: Builder, vector: Value) -> Value:
    """The lanes in the opposite order."""
    return shuffle(b, vector, range(lanes_of(vector) - 1, -1, -1))


def any_lane(b: Builder, flags: Value) -> Value:
    """Whether a flag is set in some lane."""
    bits = _as_bits(b, flags)
    return b.icmp_unsigned("!=", bits, ir.Constant(bits.type, 0))


def first_lane(b: Builder, flags: Value) -> Value:
    """The number of the first lane with a flag set; there is one."""
    bits = _as_bits(b, flags)
    kind = ir.FunctionType(bits.type, [bits.type, I1])
    function = declare_function(b.module, f"llvm.cttz.i{bits.type.width}", kind)
    return _as_index(b, b.call(function, [bits, ir.Constant(I1, 0)]))


def count_flags(b: Builder, flags: Value) -> Value:
    """In how many lanes a flag is set."""
    bits = _as_bits(b, flags)
    kind = ir.FunctionType(bits.type, [bits.type])
    function = declare_function(b.module, f"llvm.ctpop.i{bits.type.width}", kind)
    return _as_index(b, b.call(function, [bits]))


def flags_as_number(b: Builder, flags: Value) -> Value:
    """The number whose bits are the flags: the first lane is the lowest bit."""
    return _as_index(b, _as_bits(b, flags))


def _as_index(b: Builder, number: Value) -> Value:
    width = number.type.width
    return number if width == I64.width else (b.zext if width < I64.width else b.trunc)(number, I64)


def _as_bits(b: Builder, flags: Value) -> Value:
    return b.bitcast(flags, ir.IntType(lanes_of(flags)))


def take_lane(b: Builder, value: Value, lane: Value) -> Value:
    """The value in one lane; a value without lanes is the same in all of them."""
    if isinstance(value, Ramp):
        return value.lane(b, lane)
    if isinstance(value, Complex):
        return Complex(*(take_lane(b, part, lane) for part in value))
    return b.extract_element(value, lane) if has_lanes(value) else value
