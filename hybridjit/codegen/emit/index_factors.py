"""What is known of indices without their values: numbers that divide them, fused axes in them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from hybridjit.ir.expr import Add, Const, Expr, ExternCall, FloorDiv, Load, Mod, Mul, Sub, Var
from hybridjit.ir.stmt import For
from hybridjit.ir.visit import walk


def find_factor(expr: Expr, factors: Mapping[Var, int]) -> int:
    """A number that divides `expr`, the larger the better; 0 if `expr` is 0."""
    match expr:
        case Const(int(value)):
            return abs(value)
        case Var():
            return factors.get(expr, 1)
        case Add(x, y) | Sub(x, y):
            return math.gcd(find_factor(x, factors), find_factor(y, factors))
        case Mul(x, y):
            return find_factor(x, factors) * find_factor(y, factors)
        case _:
            return 1


def loop_factor(loop: For, factors: Mapping[Var, int]) -> int:
    """A number that divides every value of a loop variable."""
    return math.gcd(find_factor(loop.start, factors), find_factor(loop.step, factors))


def join_fused(
    indices: Sequence[Expr], strides: Sequence[int | None], meanings: Mapping[Var, Expr]
) -> list[Expr]:
    """Indices of the same element, without the division where two axes lie as one.

        a[x // 14, x % 14]    -->    a[0, x]    if a row has 14 elements

    `meanings` are the values of names.
    """
    joined = list(indices)
    for axis in range(len(joined) - 1):
        outer, inner = (_meaning(index, meanings) for index in joined[axis : axis + 2])
        match outer, inner:
            case FloorDiv(x, Const(int(size))), Mod(y, Const(int(other))) if _same(x, y):
                step = strides[axis + 1]
                if size == other and step is not None and strides[axis] == size * step:
                    joined[axis : axis + 2] = [Const(0), x]
            case _:
                pass
    return joined


def _same(x: Expr, y: Expr) -> bool:
    """Whether two values are equal, now and later: memory may change."""
    return x == y and not any(isinstance(node, Load | ExternCall) for node in walk(x))


def _meaning(index: Expr, meanings: Mapping[Var, Expr]) -> Expr:
    return meanings.get(index, index) if isinstance(index, Var) else index
