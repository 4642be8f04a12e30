"""Integer functions: bit counts and powers."""

from __future__ import annotations

from typing import Any

from llvmlite import ir

from hybridjit.codegen.declarations import declare_function
from hybridjit.codegen.math.values import UNDEFINED


def emit_popcount(builder: Any, x: Any) -> Any:
    """The number of one bits."""
    kind = ir.FunctionType(x.type, [x.type])
    return builder.call(declare_function(builder.module, f"llvm.ctpop.{_shape(x)}", kind), [x])


def emit_clz(builder: Any, x: Any) -> Any:
    """The number of leading zeros; the width for zero."""
    flag = ir.IntType(1)
    kind = ir.FunctionType(x.type, [x.type, flag])
    function = declare_function(builder.module, f"llvm.ctlz.{_shape(x)}", kind)
    return builder.call(function, [x, ir.Constant(flag, 0)])


def emit_integer_power(builder: Any, x: Any, y: Any) -> Any:
    """x**y of integers of one type, y >= 0, wrapping: by squaring."""
    lanes: int = getattr(x.type, "count", 1)  # of a vector
    if lanes == 1:
        return builder.call(_power_function(builder.module, x.type), [x, y])
    result: Any = ir.Constant(x.type, UNDEFINED)
    for lane in range(lanes):  # each takes as many steps as its exponent has bits
        place = ir.Constant(ir.IntType(32), lane)
        base, exponent = (builder.extract_element(value, place) for value in (x, y))
        power = emit_integer_power(builder, base, exponent)
        result = builder.insert_element(result, power, place)
    return result


def _shape(x: Any) -> str:
    """How LLVM spells the type: i64, or v4i64."""
    lanes: int | None = getattr(x.type, "count", None)
    return f"i{x.type.width}" if lanes is None else f"v{lanes}i{x.type.element.width}"


def _power_function(module: Any, kind: Any) -> Any:
    """hj.pow.i64: internal, emitted on first use."""
    name = f"hj.pow.i{kind.width}"
    found = module.globals.get(name)
    if found is not None:
        return found
    function: Any = ir.Function(module, ir.FunctionType(kind, [kind, kind]), name)
    function.linkage = "internal"
    function.attributes.add("alwaysinline")
    entry, loop, done = (function.append_basic_block(label) for label in ("entry", "loop", "done"))
    start: Any = ir.IRBuilder(entry)
    start.branch(loop)

    b: Any = ir.IRBuilder(loop)
    result, base, exponent = (b.phi(kind) for _ in range(3))
    one = ir.Constant(kind, 1)
    is_odd = b.trunc(exponent, ir.IntType(1))
    new_result = b.select(is_odd, b.mul(result, base), result)
    new_base, new_exponent = b.mul(base, base), b.lshr(exponent, one)
    for phi, first, following in (
        (result, one, new_result),
        (base, function.args[0], new_base),
        (exponent, function.args[1], new_exponent),
    ):
        phi.add_incoming(first, entry)
        phi.add_incoming(following, loop)
    b.cbranch(b.icmp_unsigned("==", new_exponent, ir.Constant(kind, 0)), done, loop)
    end: Any = ir.IRBuilder(done)
    end.ret(new_result)
    return function
