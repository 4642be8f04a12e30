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
    """z of `abs(z) < c`, or >, <=, >=, for a complex z and a constant of moderate size."""
    if not isinstance(expr, Lt | Le | Gt | Ge):
        return None
    match expr.lhs, expr.rhs:
        case Call(name="abs", args=(z,)), Const(value=float(bound)) if z.dtype.is_complex:
            largest = _LARGEST[z.dtype.component.bits]
            return z if 1.0 / largest <= bound <= largest else None
        case _:
            return None


def emit_sure_answers(b: Builder, expr: Binary, z: Complex) -> tuple[Value, Value]:
    """Whether the squares decide `expr`, a test of z, and the answer if they do."""
    assert isinstance(expr.rhs, Const)
    square, margin = expr.rhs.value.real**2, _MARGINS[z.real.type]
    low, high = (ir.Constant(z.real.type, square * (1.0 + side)) for side in (-margin, margin))
    total = b.fadd(b.fmul(z.real, z.real), b.fmul(z.imag, z.imag))
    is_smaller, is_larger = b.fcmp_ordered("<=", total, low), b.fcmp_ordered(">=", total, high)
    answer = is_smaller if isinstance(expr, Lt | Le) else is_larger
    return b.or_(is_smaller, is_larger), answer
