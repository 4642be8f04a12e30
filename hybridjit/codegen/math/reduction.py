"""Reduction of an angle: x = k pi/2 + r with |r| <= pi/4, right for every float.

Up to LIMIT (Cody and Waite): k pi/2 is subtracted in three parts. x - k P1 is exact, since both
are multiples of the last bit of P1 and the difference is small.

Beyond (Payne and Hanek): x = M 2**q, and x 2/pi mod 4 is M times a window of the bits of 2/pi, in
integers of 192 bits. This path is a call behind a branch that is not taken when no lane needs it.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir

from hybridjit.codegen.math.values import (
    F64,
    UNDEFINED,
    Bits,
    Pair,
    Real,
    Scope,
    fma,
    quick_two_sum,
    round_scaled,
    two_product,
    two_sum,
    where,
)

LIMIT = {32: 2.0**15, 64: 2.0**38}
TWO_OVER_PI = float.fromhex("0x1.45f306dc9c883p-1")
# pi/2 in three parts, each rounded to nearest
HALF_PI = {
    32: tuple(map(float.fromhex, ("0x1.921fb6p+0", "-0x1.777a5cp-25", "-0x1.ee59dap-50"))),
    64: tuple(
        map(
            float.fromhex,
            ("0x1.921fb54442d18p+0", "0x1.1a62633145c07p-54", "-0x1.f1976b7ed8fbcp-110"),
        )
    ),
}


def reduce_angle(x: Real) -> tuple[Pair, Bits]:
    """r and k with x = k pi/2 + r; of k, only the last two bits are meant."""
    r, k = _reduce_moderate(x)
    builder = x.scope.builder
    is_large = abs(x) > LIMIT[x.format.bits]
    start = builder.block
    large, done = (builder.append_basic_block(name) for name in ("large", "done"))
    builder.cbranch(x.scope.any_lane(is_large.value), large, done)

    builder.position_at_end(large)
    exact, exact_k = _reduce_large(x)
    parts = (
        (r.hi, where(is_large, exact.hi, r.hi)),
        (r.lo, where(is_large, exact.lo, r.lo)),
        (k, where(is_large, exact_k, k)),
    )
    builder.branch(done)

    builder.position_at_end(done)
    merged: list[Any] = []
    for moderate, chosen in parts:
        phi = builder.phi(moderate.value.type)
        phi.add_incoming(moderate.value, start)
        phi.add_incoming(chosen.value, large)
        merged.append(phi)
    hi, lo = (Real(x.scope, x.format, value) for value in merged[:2])
    return Pair(hi, lo), Bits(x.scope, x.format, merged[2])


def _reduce_moderate(x: Real) -> tuple[Pair, Bits]:
    p1, p2, p3 = HALF_PI[x.format.bits]
    k, n = round_scaled(x, TWO_OVER_PI)
    second = two_product(k, -p2)
    r = two_sum(fma(k, -p1, x), second.hi)
    return Pair(r.hi, fma(k, -p3, r.lo + second.lo)), n


def _reduce_large(x: Real) -> tuple[Pair, Bits]:
    """By one call for all lanes: the caller keeps no registers for it."""
    scope, builder = x.scope, x.scope.builder
    shape = f"f{x.format.bits}" if scope.lanes == 1 else f"v{scope.lanes}f{x.format.bits}"
    number = scope.type_of(ir.IntType(x.format.bits))
    kinds: list[Any] = [x.value.type, x.value.type, number]
    function = _cold_function(builder.module, f"hj.reduce_large.{shape}", x.value.type, kinds)
    if not function.blocks:
        inside: Any = ir.IRBuilder(function.append_basic_block("entry"))
        _define_lanes(Real(scope.at(inside), x.format, function.args[0]))
    result = builder.call(function, [x.value])
    hi, lo, k = (builder.extract_value(result, place) for place in range(3))
    pair = Pair(Real(scope, x.format, hi), Real(scope, x.format, lo))
    return pair, Bits(scope, x.format, k)


def _define_lanes(x: Real) -> None:
    """The body of hj.reduce_large: lane after lane in float64, through memory."""
    scope, builder = x.scope, x.scope.builder
    source, *results = (builder.alloca(kind, scope.lanes) for kind in (F64.type, *_PARTS))
    whole = scope.type_of(F64.type).as_pointer()
    builder.store(x.to(F64).value, builder.bitcast(source, whole), align=8)
    entry = builder.block
    loop, done = (builder.append_basic_block(name) for name in ("lane", "done"))
    builder.branch(loop)

    builder.position_at_end(loop)
    lane = builder.phi(_I64)
    lane.add_incoming(ir.Constant(_I64, 0), entry)
    value = builder.load(builder.gep(source, [lane]))
    parts = builder.call(_payne_hanek_function(builder.module, scope.fma), [value])
    for number, result in enumerate(results):
        builder.store(builder.extract_value(parts, number), builder.gep(result, [lane]))
    following = builder.add(lane, ir.Constant(_I64, 1))
    lane.add_incoming(following, loop)
    last = ir.Constant(_I64, scope.lanes)
    builder.cbranch(builder.icmp_unsigned("<", following, last), loop, done)

    builder.position_at_end(done)
    hi, lo, k = (
        builder.load(builder.bitcast(result, scope.type_of(kind).as_pointer()), align=8)
        for result, kind in zip(results, _PARTS, strict=True)
    )
    pair, number = Pair(Real(scope, F64, hi), Real(scope, F64, lo)), Bits(scope, F64, k)
    if x.format is not F64:
        r = pair.hi.to(x.format)
        pair = Pair(r, (pair.hi - r.to(F64)).to(x.format))
    _return(builder, (pair.hi.value, pair.lo.value, number.resize(x.format).value))


def _return(builder: Any, parts: tuple[Any, ...]) -> None:
    value = ir.Constant(builder.function.function_type.return_type, UNDEFINED)
    for place, part in enumerate(parts):
        value = builder.insert_value(value, part, place)
    builder.ret(value)


def _cold_function(module: Any, name: str, argument: Any, results: list[Any]) -> Any:
    """The function `name`, declared on first use."""
    found = module.globals.get(name)
    if found is not None:
        return found
    kind = ir.FunctionType(ir.LiteralStructType(results), [argument])
    function: Any = ir.Function(module, kind, name)
    function.linkage = "internal"
    for attribute in ("noinline", "cold", "minsize", "optsize", "nounwind"):
        function.attributes.add(attribute)
    return function


# -- large angles ----------------------------------------------------------------------------------

# 2/pi, the first 1280 bits after the point
_POINT = 1280
_TWO_OVER_PI_BITS = int(
    "a2f9836e4e441529fc2757d1f534ddc0db6295993c439041fe5163abdebbc561"
    "b7246e3a424dd2e006492eea09d1921cfe1deb1cb129a73ee88235f52ebb4484"
    "e99c7026b45f7e413991d639835339f49c845f8bbdf9283b1ff897ffde05980f"
    "ef2f118b5a0a6d1f6d367ecf27cb09b74f463f669e5fea2d7527bac7ebe5f17b"
    "3d0739f78a5292ea6bfb5fb11f8d5d0856033046fc7b6babf0cfbc209af4361d",
    16,
)
_FRACTION = 190  # bits after the point of a product; two bits before it are the quadrant
_TABLE_BYTES = 176  # a window of 32 bytes may start at byte 139

_I8, _I32, _I64, _I192, _I256 = (ir.IntType(bits) for bits in (8, 32, 64, 192, 256))
_PARTS = (F64.type, F64.type, _I64)  # r, the rest of r, k


def _payne_hanek_function(module: Any, has_fma: bool) -> Any:
    """hj.payne_hanek(x) -> {r, the rest of r, k}, for |x| >= 2**15."""
    function = _cold_function(module, "hj.payne_hanek", F64.type, list(_PARTS))
    if not function.blocks:
        builder: Any = ir.IRBuilder(function.append_basic_block("entry"))
        r, k = _payne_hanek(Real(Scope(builder, has_fma), F64, function.args[0]))
        _return(builder, (r.hi.value, r.lo.value, k))
    return function


def _payne_hanek(x: Real) -> tuple[Pair, Any]:
    builder = x.scope.builder
    magnitude = abs(x).bits
    exponent = magnitude.logical_shift(F64.mantissa).at_most(2 * F64.bias)
    q = exponent - (F64.bias + F64.mantissa)
    hidden = 1 << F64.mantissa
    m = (magnitude & (hidden - 1)) | hidden

    product = builder.mul(builder.zext(m.value, _I192), _window(x.scope, q))
    half = ir.Constant(_I192, 1 << (_FRACTION - 1))
    point = ir.Constant(_I192, _FRACTION)
    k = builder.lshr(builder.add(product, half), point)
    fraction = builder.sub(product, builder.shl(k, point))
    turn = _to_pair(x.scope, fraction)

    r = two_product(turn.hi, HALF_PI[64][0])
    rest = fma(turn.hi, HALF_PI[64][1], fma(turn.lo, HALF_PI[64][0], r.lo))
    is_negative = x < 0.0
    number = Bits(x.scope, F64, builder.trunc(k, _I64))
    hi, lo = (where(is_negative, -part, part) for part in (r.hi, rest))
    nan = x - x  # of infinity
    return Pair(hi + nan, lo), where(is_negative, 0 - number, number).value


def _window(scope: Scope, q: Bits) -> Any:
    """The bits of 2**q 2/pi from 2**1 to 2**-190."""
    builder = scope.builder
    kind = ir.ArrayType(_I8, _TABLE_BYTES)
    table: Any = builder.module.globals.get("hj.two_over_pi")
    if table is None:
        table = ir.GlobalVariable(builder.module, kind, "hj.two_over_pi")
        table.linkage, table.global_constant = "internal", True
        content = _TWO_OVER_PI_BITS.to_bytes(_TABLE_BYTES, "little")
        table.initializer = ir.Constant(kind, bytearray(content))
    shift = (_POINT - _FRACTION) - q
    start = [ir.Constant(_I64, 0), shift.logical_shift(3).value]
    bits = builder.load(builder.gep(table, start, inbounds=True), typ=_I256, align=1)
    aligned = builder.lshr(bits, builder.zext((shift & 7).value, _I256))
    return builder.trunc(aligned, _I192)


def _to_pair(scope: Scope, fraction: Any) -> Pair:
    """A signed integer of 192 bits times 2**-190, exact in its leading 100 bits."""
    builder = scope.builder
    chunks: list[Real] = []
    for position in (160, 128, 96, 64):
        chunk = builder.trunc(builder.lshr(fraction, ir.Constant(_I192, position)), _I32)
        convert = builder.sitofp if position == 160 else builder.uitofp
        chunks.append(Real(scope, F64, convert(chunk, F64.type)) * 2.0 ** (position - _FRACTION))
    first = two_sum(chunks[0], chunks[1])
    second = two_sum(first.lo, chunks[2])
    total = quick_two_sum(first.hi, second.hi)
    return quick_two_sum(total.hi, total.lo + (second.lo + chunks[3]))
