"""Sums of products, each product rounded together with the sum that it is added to.

    s = s + x * y     -->     s = fma(x, y, s)

That is one instruction in place of two, on machines that have it, and as good a sum where the
order is open.
"""

from __future__ import annotations

from hybridjit.ir.dtype import FLOAT32, FLOAT64
from hybridjit.ir.expr import Add, Call, Expr, Load, Mul, Neg, Var
from hybridjit.target import Target


def has_fma(target: Target) -> bool:
    """Whether a machine rounds `x * y + z` once, in one instruction."""
    return target.has("fma") or target.is_arm


def multiplies_by_element(target: Target) -> bool:
    """Whether a machine multiplies a vector by an element of another one, in any of its lanes."""
    return target.is_arm


def multiply_add(x: Expr, y: Expr, total: Expr, *, fuse: bool, of_bytes: bool = False) -> Expr:
    """`x * y + total`, rounded once if that is wanted and makes sense; of four bytes each, the sum
    of their products.
    """
    if of_bytes:
        return Add(Call("dot_bytes", (x, y)), total)
    if fuse and total.dtype in (FLOAT32, FLOAT64):
        return Call("fma", (x, y, total))
    if fuse and total.dtype.is_complex and all(isinstance(each, Load | Var) for each in (x, y)):
        return _complex_multiply_add(x, y, total)
    return Add(Mul(x, y), total)


def _complex_multiply_add(x: Expr, y: Expr, total: Expr) -> Expr:
    (a, b), (c, d), (real, imag) = map(_parts, (x, y, total))
    real = Call("fma", (a, c, Call("fma", (Neg(b), d, real))))
    imag = Call("fma", (a, d, Call("fma", (b, c, imag))))
    return Call("complex", (real, imag))


def _parts(number: Expr) -> tuple[Expr, Expr]:
    return Call("real", (number,)), Call("imag", (number,))


def fused_sum(value: Expr, total: Expr) -> Expr:
    """`value` as an fma if it is `total` plus a product; else as it is."""
    match value:
        case Add(old, Mul(x, y)) | Add(Mul(x, y), old) if old == total:
            return multiply_add(x, y, total, fuse=True)
        case _:
            return value
