"""Integer functions: bit counts, powers, and sums of products of bytes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from llvmlite import ir

from hybridjit.codegen.declarations import declare_function
from hybridjit.codegen.math.values import UNDEFINED
from hybridjit.codegen.module_features import has_feature


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


def emit_dot_bytes(builder: Any, x: Any, y: Any) -> Any:
    """The sum of the products of four signed bytes of x and y each."""
    lanes: int = getattr(x.type, "count", 1)
    if lanes in _DOT_LANES and has_feature(builder.module, "dotprod"):
        return _dot_by_instruction(builder, x, y)
    if lanes == 1:
        return _dot_by_shifts(builder, x, y)
    return _dot_by_halves(builder, x, y)


_DOT_LANES = (4, 8, 16, 32)


def _dot_by_instruction(builder: Any, x: Any, y: Any) -> Any:
    """ARM's, which adds to a sum: LLVM gives it the one that this is added to."""
    lanes = x.type.count
    if lanes > _DOT_LANES[0]:
        sides = [_places(range(start, start + lanes // 2)) for start in (0, lanes // 2)]
        halves = [[builder.shuffle_vector(it, it, side) for it in (x, y)] for side in sides]
        sums = [_dot_by_instruction(builder, *half) for half in halves]
        return builder.shuffle_vector(*sums, _places(range(lanes)))
    parts = ir.VectorType(ir.IntType(8), 4 * lanes)
    kind = ir.FunctionType(x.type, [x.type, parts, parts])
    name = f"llvm.aarch64.neon.sdot.v{lanes}i32.v{4 * lanes}i8"
    function = declare_function(builder.module, name, kind)
    zero = ir.Constant(x.type, None)
    return builder.call(function, [zero, builder.bitcast(x, parts), builder.bitcast(y, parts)])


def _dot_by_shifts(builder: Any, x: Any, y: Any) -> Any:
    total: Any = None
    for byte in range(4):
        left, right = (ir.Constant(x.type, bits) for bits in (24 - 8 * byte, 24))
        pair = [builder.ashr(builder.shl(word, left), right) for word in (x, y)]
        product = builder.mul(*pair)
        total = product if total is None else builder.add(total, product)
    return total


def _dot_by_halves(builder: Any, x: Any, y: Any) -> Any:
    """By products of 16 bits, two of which are added at once: x86 has an instruction for that."""
    lanes = x.type.count
    halves = ir.VectorType(ir.IntType(16), 2 * lanes)
    wide = ir.VectorType(ir.IntType(32), 2 * lanes)
    eight = ir.Constant(halves, [8] * (2 * lanes))
    x, y = (builder.bitcast(word, halves) for word in (x, y))
    total: Any = None
    for first in (True, False):
        parts = [builder.shl(half, eight) if first else half for half in (x, y)]
        signed = [builder.sext(builder.ashr(part, eight), wide) for part in parts]
        products = builder.mul(*signed)
        pair = [
            builder.shuffle_vector(products, products, _places(range(start, 2 * lanes, 2)))
            for start in (0, 1)
        ]
        summed = builder.add(*pair)
        total = summed if total is None else builder.add(total, summed)
    return total


def _places(numbers: Iterable[int]) -> Any:
    listed = list(numbers)
    return ir.Constant(ir.VectorType(ir.IntType(32), len(listed)), listed)


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
