"""The functions of ir/intrinsics.py on values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import TYPE_CHECKING

from llvmlite import ir

from hybridjit.codegen.declarations import declare_function
from hybridjit.codegen.emit.arithmetic import emit_compare
from hybridjit.codegen.emit.casts import emit_cast
from hybridjit.codegen.llvm_text import parse_llvm
from hybridjit.codegen.llvm_types import (
    I1,
    Builder,
    Complex,
    Value,
    is_signed,
    lanes_of,
    mangled,
    shaped,
    value_type,
)
from hybridjit.errors import InternalError, TypeMismatch
from hybridjit.ir.dtype import FLOAT16, FLOAT64, DType
from hybridjit.ir.expr import Gt, Lt
from hybridjit.ir.intrinsics import CUSTOM_INTRINSICS, CustomIntrinsic, LLVMIntrinsic
from hybridjit.lazy import lazy_module

if TYPE_CHECKING:
    from hybridjit.codegen.math import complexes, integers
    from hybridjit.codegen.math import library as math_library
else:
    complexes = lazy_module("hybridjit.codegen.math.complexes")
    integers = lazy_module("hybridjit.codegen.math.integers")
    math_library = lazy_module("hybridjit.codegen.math.library")

Intrinsic = Callable[[Builder, Sequence[Value], DType], Value]


def emit_intrinsic(b: Builder, name: str, args: Sequence[Value], dtype: DType) -> Value:
    """The intrinsic `name` of arguments of type `dtype`."""
    custom = CUSTOM_INTRINSICS.get(name)
    if custom is not None:
        return _emit_custom(b, custom, args, dtype)
    if dtype.is_complex:
        own = _COMPLEX.get(name)
        return (
            Complex(*complexes.emit_complex_math(b, name, dtype, args))
            if own is None
            else own(b, args, dtype)
        )
    if dtype.is_integer:
        return _INTEGER[name](b, args, dtype)
    return Complex(*args) if name == "complex" else math_library.emit_math(b, name, dtype, args)


def _emit_custom(b: Builder, custom: CustomIntrinsic, args: Sequence[Value], dtype: DType) -> Value:
    """An intrinsic of LLVM's. `expand_intrinsics` has put others in their place."""
    if not isinstance(custom.rule, LLVMIntrinsic):
        raise InternalError(f"the intrinsic '{custom.name}' was not expanded")
    if dtype is FLOAT16:
        return _emit_wide(b, custom, args)
    kind = args[0].type
    result = shaped(value_type(custom.result_dtype(dtype)), lanes_of(args[0]))
    name = f"{custom.rule.name}.{mangled(kind)}"
    if not _is_known(name, str(result), str(kind), len(args)):
        raise TypeMismatch(
            f"the rule of intrinsic '{custom.name}': LLVM has no {custom.rule.name} from "
            f"{len(args)} {dtype} to {custom.result_dtype(dtype)}"
        )
    function = declare_function(b.module, name, ir.FunctionType(result, [kind] * len(args)))
    return b.call(function, args)


def _emit_wide(b: Builder, custom: CustomIntrinsic, args: Sequence[Value]) -> Value:
    """An intrinsic of LLVM's on float16, in float64, whose values are exact enough to be rounded.

    Where the processor has no instruction, LLVM itself would call a function that is not there.
    """
    wide = [emit_cast(b, arg, FLOAT16, FLOAT64) for arg in args]
    found = _emit_custom(b, custom, wide, FLOAT64)
    is_number = custom.result_dtype(FLOAT16) is FLOAT16
    return emit_cast(b, found, FLOAT64, FLOAT16) if is_number else found


@cache
def _is_known(name: str, result: str, kind: str, arity: int) -> bool:
    """Whether LLVM has an intrinsic of this name and type: a call of it must pass its verifier."""
    kinds = ", ".join([kind] * arity)
    args = ", ".join(f"{kind} %x{place}" for place in range(arity))
    text = (
        f"declare {result} @{name}({kinds})\n"
        f"define {result} @f({args}) {{ %r = call {result} @{name}({args}) ret {result} %r }}"
    )
    try:
        module = parse_llvm(text)
    except RuntimeError:
        return False
    return "Unknown intrinsic" not in str(module)


# -- integers --------------------------------------------------------------------------------------


def _abs(b: Builder, args: Sequence[Value], dtype: DType) -> Value:
    (x,) = args
    if not is_signed(dtype):
        return x
    name, kind = f"llvm.abs.{mangled(x.type)}", ir.FunctionType(x.type, [x.type, I1])
    function = declare_function(b.module, name, kind)
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
    "popcount": lambda b, args, dtype: integers.emit_popcount(b, args[0]),
    "clz": lambda b, args, dtype: integers.emit_clz(b, args[0]),
    "dot_bytes": lambda b, args, dtype: integers.emit_dot_bytes(b, *args),
}


# -- complex ---------------------------------------------------------------------------------------


def _either_part(name: str) -> Intrinsic:
    """A test of a complex value: of one of its parts, or of both for `isfinite`."""

    def emit(b: Builder, args: Sequence[Value], dtype: DType) -> Value:
        real, imag = (math_library.emit_math(b, name, dtype.component, [part]) for part in args[0])
        return b.and_(real, imag) if name == "isfinite" else b.or_(real, imag)

    return emit


_COMPLEX: dict[str, Intrinsic] = {
    "real": lambda b, args, dtype: args[0].real,
    "imag": lambda b, args, dtype: args[0].imag,
    "conj": lambda b, args, dtype: Complex(args[0].real, b.fneg(args[0].imag)),
    "abs": lambda b, args, dtype: complexes.emit_complex_abs(b, dtype, *args[0]),
    **{name: _either_part(name) for name in ("isnan", "isinf", "isfinite")},
}
