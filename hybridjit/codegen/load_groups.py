"""Loads of a vector loop that lie between each other: `a[2 * i]` and `a[2 * i + 1]`.

They are picked from the same rows of the array, each of which is loaded once.
"""

from __future__ import annotations

from collections.abc import Iterable

from hybridjit.arith.linear import linear_form
from hybridjit.ir.expr import Buffer, Expr, Load, Var
from hybridjit.ir.stmt import Let, Stmt, Store, flat_stmts
from hybridjit.ir.visit import walk

Key = tuple[Buffer, tuple[Expr, ...], frozenset[tuple[Var, int]]]
Groups = dict[Key, tuple[int, int]]


def find_groups(body: Stmt) -> Groups:
    """For what the simple statements of `body` load along last axes: the least and largest offset.

    All of them run each time, so that what lies between two elements may be loaded, too.
    """
    groups: Groups = {}
    for load in _sure_loads(body):
        found = _key(load.buffer, load.indices)
        if found is not None:
            key, offset = found
            low, high = groups.get(key, (offset, offset))
            groups[key] = min(low, offset), max(high, offset)
    return groups


def _sure_loads(body: Stmt) -> Iterable[Load]:
    for stmt in flat_stmts(body):
        if isinstance(stmt, Let | Store):
            yield from (node for node in walk(stmt) if isinstance(node, Load) and node.indices)


def elements_beside(groups: Groups, load: Load, var: Var) -> tuple[int, int]:
    """How many elements lie before and after that of `load` in its group, if it is a close one."""
    found = _key(load.buffer, load.indices)
    if found is None:
        return 0, 0
    key, offset = found
    low, high = groups.get(key, (offset, offset))
    step = dict(key[2]).get(var, 0)
    return (offset - low, high - offset) if high - low < step else (0, 0)


def _key(buffer: Buffer, indices: tuple[Expr, ...]) -> tuple[Key, int] | None:
    form = linear_form(indices[-1]) if indices else None
    if form is None:
        return None
    return (buffer, indices[:-1], frozenset(form.terms.items())), form.constant
