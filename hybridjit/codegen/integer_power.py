"""x ** y on integers, by repeated squaring; the result wraps."""

from __future__ import annotations

from llvmlite import ir

from hybridjit.codegen.llvm_types import Builder, Function, Module, Value, value_type
from hybridjit.ir.dtype import DType


def integer_power(module: Module, dtype: DType) -> Function:
    """The function that raises a value of `dtype` to a power that is not negative."""
    name = f"hj_power_{dtype.name}"
    known = module.globals.get(name)
    if known is not None:
        return known
    kind = value_type(dtype)
    function: Function = ir.Function(module, ir.FunctionType(kind, [kind, kind]), name)
    function.linkage = "internal"
    _emit_body(function, ir.Constant(kind, 0), ir.Constant(kind, 1))
    return function


def _emit_body(function: Function, zero: Value, one: Value) -> None:
    entry, loop, done = (function.append_basic_block(label) for label in ("entry", "loop", "done"))
    b: Builder = ir.IRBuilder(entry)
    b.cbranch(b.icmp_unsigned("==", function.args[1], zero), done, loop)
    b.position_at_end(loop)
    base, exponent, result = (b.phi(one.type) for _ in range(3))
    is_odd = b.icmp_unsigned("!=", b.and_(exponent, one), zero)
    product = b.select(is_odd, b.mul(result, base), result)
    square, rest = b.mul(base, base), b.lshr(exponent, one)
    b.cbranch(b.icmp_unsigned("==", rest, zero), done, loop)
    for phi, start, again in (
        (base, function.args[0], square),
        (exponent, function.args[1], rest),
        (result, one, product),
    ):
        phi.add_incoming(start, entry)
        phi.add_incoming(again, loop)
    b.position_at_end(done)
    final = b.phi(one.type)
    final.add_incoming(one, entry)
    final.add_incoming(product, loop)
    b.ret(final)
