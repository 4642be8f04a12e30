"""Single instructions of AVX-512 that take a float apart, put it together, or mend special cases.

They exist for whole registers only (`Scope.fills_register`). All of them are right for subnormal
numbers, zeros, infinities and NaNs, which otherwise takes several instructions each.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum
from typing import Any

from llvmlite import ir

from hybridjit.codegen.declarations import declare_function
from hybridjit.codegen.math.values import UNDEFINED, Bits, Real

_I32 = ir.IntType(32)
_ROUNDING = ir.Constant(_I32, 4)  # as the processor is set
# The only feature that is asked for. FMA comes with it.
FEATURE = "avx512f"


class Response(IntEnum):
    """What an operand of some class is replaced by."""

    OPERAND = 1
    QUIET_NAN = 2
    NAN = 3
    MINUS_INFINITY = 4
    INFINITY = 5


class Operand(IntEnum):
    """The classes of operands that `mend` tells apart."""

    QUIET_NAN = 0
    SIGNALLING_NAN = 1
    ZERO = 2
    MINUS_INFINITY = 4
    INFINITY = 5
    NEGATIVE = 6


def exponent(x: Real) -> Real:
    """floor(log2(|x|)); -inf for zero, inf for infinity."""
    return _call("getexp", x, x.value, _undefined(x), _all_lanes(x), _ROUNDING)


def mantissa(x: Real) -> Real:
    """x / 2**exponent(x), from 1 up to 2, with the sign of x."""
    interval = ir.Constant(_I32, 0)
    return _call("getmant", x, x.value, interval, _undefined(x), _all_lanes(x), _ROUNDING)


def scale(x: Real, power: Real) -> Real:
    """x 2**power for an integral power, rounded once."""
    return _call("scalef", x, x.value, power.value, _undefined(x), _all_lanes(x), _ROUNDING)


def look_up(index: Bits, table: Sequence[float]) -> Real:
    """table[index], the index taken modulo the number of lanes, which the table has entries."""
    format, scope = index.format, index.scope
    kind = scope.type_of(format.type)
    entries = ir.Constant(kind, list(table))
    name = f"llvm.x86.avx512.permvar.{'sf' if format.bits == 32 else 'df'}.512"
    function = declare_function(
        scope.builder.module, name, ir.FunctionType(kind, [kind, index.value.type])
    )
    return Real(scope, format, scope.builder.call(function, [entries, index.value]))


def mend(y: Real, x: Real, responses: dict[Operand, Response]) -> Real:
    """y, but the response where x is an operand of the class."""
    table = sum(response << (4 * operand) for operand, response in responses.items())
    imm, kind = ir.Constant(_I32, 0), ir.IntType(x.format.bits)
    tables = x.scope.constant(kind, table)
    return _call("fixupimm", x, y.value, x.value, tables, imm, _all_lanes(x), _ROUNDING)


def _call(name: str, x: Real, *args: Any) -> Real:
    suffix = "ps" if x.format.bits == 32 else "pd"
    kind = ir.FunctionType(x.value.type, [arg.type for arg in args])
    module = x.scope.builder.module
    function = declare_function(module, f"llvm.x86.avx512.mask.{name}.{suffix}.512", kind)
    return Real(x.scope, x.format, x.scope.builder.call(function, args))


def _undefined(x: Real) -> Any:
    return ir.Constant(x.value.type, UNDEFINED)


def _all_lanes(x: Real) -> Any:
    return ir.Constant(ir.IntType(x.scope.lanes), -1)
