"""Integer functions: bit counts, powers, and sums of products of bytes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from llvmlite import ir

from hybridjit.codegen.declarations import declare_function
from hybridjit.codegen.llvm_types import Module
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


def emit_dot_bytes(builder: Any, x: Any, y: Any, total: Any = None) -> Any:
    """The sum of the products of four signed bytes of x and y each, added to a total."""
    lanes: int = getattr(x.type, "count", 1)
    is_divided = lanes >= _SHORTEST and lanes & (lanes - 1) == 0
    longest = _longest_unsigned(builder.module)
    if longest and is_divided:
        start = ir.Constant(x.type, None) if total is None else total
        return _dot_with_unsigned(builder, (x, y, start), longest)
    if is_divided and has_feature(builder.module, "dotprod"):
        found = _dot_by_instruction(builder, x, y)
    elif lanes == 1:
        found = _dot_by_shifts(builder, x, y)
    else:
        found = _dot_by_halves(builder, x, y)
    return found if total is None else builder.add(found, total)


_SHORTEST = 4  # words: vectors of 128 bits


def _longest_unsigned(module: Module) -> int:
    """For how many words x86 has an instruction (VNNI); 0 if it has none."""
    if has_feature(module, "avx512vnni") and has_feature(module, "avx512vl"):
        return 16
    return 8 if has_feature(module, "avxvnni") else 0


def _dot_with_unsigned(builder: Any, operands: Sequence[Any], longest: int) -> Any:
    """x86's, which adds products of unsigned and signed bytes to a sum: x y = (x + 128) y - 128 y.

    What is taken off depends on y alone: in a tile of products it is computed once for all rows.
    """
    x, y, total = operands
    lanes = x.type.count
    if lanes > longest:
        sides = [_places(range(start, start + lanes // 2)) for start in (0, lanes // 2)]
        halves = [[builder.shuffle_vector(it, it, side) for it in operands] for side in sides]
        sums = [_dot_with_unsigned(builder, half, longest) for half in halves]
        return builder.shuffle_vector(*sums, _places(range(lanes)))
    kind = ir.FunctionType(x.type, [x.type] * 3)
    function = declare_function(builder.module, f"llvm.x86.avx512.vpdpbusd.{32 * lanes}", kind)
    ends = ir.Constant(x.type, [_FIRST_BITS] * lanes)
    more = builder.call(function, [ir.Constant(x.type, None), ends, y])
    return builder.call(function, [builder.sub(total, more), builder.xor(x, ends), y])


_FIRST_BITS = 0x80808080 - (1 << 32)


def _dot_by_instruction(builder: Any, x: Any, y: Any) -> Any:
    """ARM's, which adds to a sum: LLVM gives it the one that this is added to."""
    lanes = x.type.count
    if lanes > _SHORTEST:
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
