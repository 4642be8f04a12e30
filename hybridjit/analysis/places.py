"""Indices of elements that are counted row by row: places along axes that the array does not have.

    for i in range(n):
        for j in range(m):           y[i * m + j]  is like  y[i, j]:  of as many rows as there are,
            y[i * m + j] = ...       each of m elements

As j stays below m, no two pairs of i and j are the same place. That is how arrays are written to in
another shape, where m need not be known.
"""

from __future__ import annotations

from hybridjit.analysis.accesses import Scope
from hybridjit.ir.expr import Add, Const, Expr, Mul, Var
from hybridjit.ir.stmt import For, Let
from hybridjit.record import record

_ZERO, _ONE = Const(0), Const(1)


@record
class Places:
    """The indices that stand for one, and the `sizes` of all but the first of their axes."""

    indices: tuple[Expr, ...]
    sizes: tuple[Expr, ...] = ()


def find_places(index: Expr, scope: Scope) -> Places:
    """What `index` is made of, by what stands around it; itself if it is no such sum."""
    match index:
        case Add(Mul(rows, size), Var() as column) | Add(Var() as column, Mul(rows, size)):
            if any(_counts(item, column, size) for item in scope):
                found = find_places(rows, scope)
                return Places((*found.indices, column), (*found.sizes, size))
            return Places((index,))
        case Var():
            lets = (item for item in scope if isinstance(item, Let) and item.var is index)
            let = next(lets, None)
            return Places((index,)) if let is None else find_places(let.value, scope)
        case _:
            return Places((index,))


def _counts(item: For | Let | Expr, column: Var, size: Expr) -> bool:
    """Whether a loop counts the columns of rows of that size."""
    if not isinstance(item, For) or item.var is not column:
        return False
    return (item.start, item.stop, item.step) == (_ZERO, size, _ONE)
