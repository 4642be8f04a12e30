"""The functions of ir/intrinsics.py on values."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from llvmlite import ir

from hybridjit.codegen.arithmetic import emit_compare
from hybridjit.codegen.casts import declare
from hybridjit.codegen.llvm_types import I1, Builder, Complex, Value, is_signed, mangled
from hybridjit.codegen.math.complexes import emit_complex_abs, emit_complex_math
from hybridjit.codegen.math.integers import emit_clz, emit_popcount
from hybridjit.codegen.math.library import emit_math
from hybridjit.ir.dtype import DType
from hybridjit.ir.expr import Gt, Lt

Intrinsic = Callable[[Builder, Sequence[Value], DType], Value]


def emit_intrinsic(b: Builder, name: str, args: Sequence[Value], dtype: DType) -> Value:
    """The intrinsic `name` of arguments of type `dtype`."""
    if dtype.is_complex:
        own = _COMPLEX.get(name)
        return (
            Complex(*emit_complex_math(b, name, dtype, args))
            if own is None
            else own(b, args, dtype)
        )
    if dtype.is_integer:
        return _INTEGER[name](b, args, dtype)
    return Complex(*args) if name == "complex" else emit_math(b, name, dtype, args)


# -- integers --------------------------------------------------------------------------------------


def _abs(b: Builder, args: Sequence[Value], dtype: DType) -> Value:
    (x,) = args
    if not is_signed(dtype):
        return x
    name, kind = f"llvm.abs.{mangled(x.type)}", ir.FunctionType(x.type, [x.type, I1])
    function = declare(b.module, name, kind)
    return b.call(function, [x, ir.Constant(I1, 0)])


def _sign(b: Builder, args: Sequence[Value], dtype: DType) -> Value:
    (x,) = args
    zero, one = ir.Constant(x.type, 0), ir.Constant(x.type, 1)
    positive = b.select(emit_compare(b, Gt, x, zero, dtype), one, zero)
    if not is_signed(dtype):
        return positive
    return b.select(emit_compare(b, Lt, x, zero, dtype), ir.Constant(x.type, -1), positive)


def _fmod(b: Builder, args: Sequence[Value], dtype: DType) -> Value:
    """The rest of the truncated division. The divisor is not zero."""
    x, y = args
    if not is_signed(dtype):
        return b.urem(x, y)
    # MIN / -1 overflows, which LLVM leaves undefined; every rest of a division by 1 is 0 too.
    is_minus_one = b.icmp_signed("==", y, ir.Constant(y.type, -1))
    return b.srem(x, b.select(is_minus_one, ir.Constant(y.type, 1), y))


def _extremum(op: type[Lt] | type[Gt]) -> Intrinsic:
    def emit(b: Builder, args: Sequence[Value], dtype: DType) -> Value:
        x, y = args
        return b.select(emit_compare(b, op, x, y, dtype), x, y)

    return emit


_INTEGER: dict[str, Intrinsic] = {
    "abs": _abs,
    "sign": _sign,
    "fmod": _fmod,
    "fma": lambda b, args, dtype: b.add(b.mul(args[0], args[1]), args[2]),
    "minimum": _extremum(Lt),
    "maximum": _extremum(Gt),
    "popcount": lambda b, args, dtype: emit_popcount(b, args[0]),
    "clz": lambda b, args, dtype: emit_clz(b, args[0]),
}


# -- complex ---------------------------------------------------------------------------------------


def _either_part(name: str) -> Intrinsic:
    """A test of a complex value: of one of its parts, or of both for `isfinite`."""

    def emit(b: Builder, args: Sequence[Value], dtype: DType) -> Value:
        real, imag = (emit_math(b, name, dtype.component, [part]) for part in args[0])
        return b.and_(real, imag) if name == "isfinite" else b.or_(real, imag)

    return emit


_COMPLEX: dict[str, Intrinsic] = {
    "real": lambda b, args, dtype: args[0].real,
    "imag": lambda b, args, dtype: args[0].imag,
    "conj": lambda b, args, dtype: Complex(args[0].real, b.fneg(args[0].imag)),
    "abs": lambda b, args, dtype: emit_complex_abs(b, dtype, *args[0]),
    **{name: _either_part(name) for name in ("isnan", "isinf", "isfinite")},
}
