"""Whether two expressions are sure to have the same value, names compared by what they stand for.

    t = n / 2                 the number in `dx > n / 2`, evaluated once
    t_1 = n / 2               the same in another mask that says so

What a name stands for may have been read from memory: then nothing may have been written to it
since the first of the names was bound, in the block that is being built.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field

from hybridjit.analysis.footprint import find_footprint
from hybridjit.ir.expr import Buffer, Expr, ExternCall, Load, Node, Var
from hybridjit.ir.stmt import Let, Stmt
from hybridjit.ir.visit import rewrite, walk
from hybridjit.record import record


def prove_same(x: Expr, y: Expr, values: Mapping[Var, Expr], block: Sequence[Stmt]) -> bool:
    """True if `x` and `y` are the same; `values` are what names stand for."""
    if x == y:
        return True
    sides = _Meaning(values), _Meaning(values)
    if sides[0].of(x) != sides[1].of(y):
        return False
    differing = sides[0].used ^ sides[1].used
    return all(map(_is_pure, (values[var] for var in differing))) or _is_kept(differing, block)


@record(frozen=False)
class _Meaning:
    """Puts what names stand for in their place, and notes which were."""

    values: Mapping[Var, Expr]
    used: set[Var] = field(default_factory=set[Var])

    def of(self, expr: Expr) -> Expr:
        return rewrite(expr, self._meaning)

    def _meaning(self, node: Node) -> Node | None:
        if not isinstance(node, Var) or node not in self.values:
            return None
        self.used.add(node)
        return self.of(self.values[node])


def _is_pure(value: Expr) -> bool:
    return not any(isinstance(node, Load | ExternCall) for node in walk(value))


def _is_kept(names: set[Var], block: Sequence[Stmt]) -> bool:
    """True if all `names` are bound in `block`, and nothing that they read changes from then on."""
    places = [k for k, stmt in enumerate(block) if isinstance(stmt, Let) and stmt.var in names]
    if len(places) < len(names):
        return False
    prints = [find_footprint(stmt) for stmt in block[places[0] :]]
    bound = [find_footprint(block[place]) for place in places]
    read = {name for found in bound for name in found.reads if isinstance(name, Buffer)}
    return not any(found.acts or not found.writes.isdisjoint(read) for found in prints)
