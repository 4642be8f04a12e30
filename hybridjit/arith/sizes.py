"""Products of sizes: what they are made of, and what is left of one that another one divides."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from hybridjit.arith.ranges import ONE, constant, times
from hybridjit.ir.expr import Const, Expr, Mul


def product(sizes: Sequence[Expr]) -> Expr:
    """All of the sizes multiplied, tidy."""
    total: Expr = ONE
    for size in sizes:
        total = times(total, size)
    return total


def factors(size: Expr) -> tuple[int, list[Expr]]:
    """What `size` is a product of: a number, and the rest."""
    parts = _parts(size)
    known = [value for part in parts if (value := constant(part)) is not None]
    return prod(known), [part for part in parts if constant(part) is None]


def _parts(size: Expr) -> list[Expr]:
    return [*_parts(size.lhs), *_parts(size.rhs)] if isinstance(size, Mul) else [size]


def quotient(total: Expr, divisor: Expr) -> Expr | None:
    """`total // divisor` where that is sure to have no remainder, whatever is not zero.

    n * m * 6  by  m * 2  is  n * 3
    """
    number, rest = factors(total)
    by, unknown = factors(divisor)
    if by == 0 or number % by:
        return None
    for factor in unknown:
        if factor not in rest:
            return None
        rest.remove(factor)
    return product([*rest, Const(number // by)])
