"""abs(z) <= c of a complex z, without a root unless the two are very close.

    re**2 + im**2 <= c**2 (1 - margin)      surely smaller: the roundings of the sum, and of the
                                            root that it spares, are far less than the margin
    re**2 + im**2 >= c**2 (1 + margin)      surely larger
    otherwise, NaN included                 abs(z) itself is compared

The loops that ask whether a point escapes ask nothing else.
"""

from __future__ import annotations

from llvmlite import ir

from hybridjit.codegen.llvm_types import DOUBLE, FLOAT, Builder, Complex, LLVMType, Value
from hybridjit.ir.expr import Binary, Call, Const, Expr, Ge, Gt, Le, Lt

# By the type of a part: 2**6 times the errors of a sum of squares, or more.
_MARGINS: dict[LLVMType, float] = {FLOAT: 2.0**-16, DOUBLE: 2.0**-40}
# Squares of bounds in here are normal numbers, and so is their sum.
_LARGEST = {32: 2.0**60, 64: 2.0**500}


def find_magnitude(expr: Expr) -> Expr | None:
    """z of `abs(z) < c`, or >, <=, >=, for a complex z and a bound of moderate size, perhaps."""
    if not isinstance(expr, Lt | Le | Gt | Ge):
        return None
    match expr.lhs, expr.rhs:
        case Call(name="abs", args=(z,)), bound if z.dtype.is_complex:
            is_moderate = not isinstance(bound, Const) or _is_moderate(bound, z)
            return z if is_moderate else None
        case _:
            return None


def _is_moderate(bound: Const, z: Expr) -> bool:
    largest = _LARGEST[z.dtype.component.bits]
    return 1.0 / largest <= bound.value.real <= largest


def emit_sure_answers(b: Builder, expr: Binary, z: Complex, bound: Value) -> tuple[Value, Value]:
    """Whether the squares decide `expr`, a test of z, and the answer if they do."""
    part = z.real.type
    low, high = (
        _scaled_square(b, expr.rhs, bound, 1.0 + side * _MARGINS[part]) for side in (-1, 1)
    )
    total = b.fadd(b.fmul(z.real, z.real), b.fmul(z.imag, z.imag))
    is_smaller, is_larger = b.fcmp_ordered("<=", total, low), b.fcmp_ordered(">=", total, high)
    is_sure = b.or_(is_smaller, is_larger)
    if not isinstance(expr.rhs, Const):
        largest = _LARGEST[32 if part == FLOAT else 64]
        least, most = (ir.Constant(part, largest**sign) for sign in (-1, 1))
        is_moderate = b.and_(b.fcmp_ordered(">=", bound, least), b.fcmp_ordered("<=", bound, most))
        is_sure = b.and_(is_sure, is_moderate)
    return is_sure, is_smaller if isinstance(expr, Lt | Le) else is_larger


def _scaled_square(b: Builder, expr: Expr, bound: Value, factor: float) -> Value:
    """The square of a bound, times a factor: roundings are far less than the margin in it."""
    if isinstance(expr, Const):
        return ir.Constant(bound.type, expr.value.real**2 * factor)
    return b.fmul(b.fmul(bound, bound), ir.Constant(bound.type, factor))
