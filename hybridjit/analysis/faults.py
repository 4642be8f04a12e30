"""Whether, and when, a loop over the elements of an array may fail.

Loops may be put together only if the errors of a run stay the same, and what was written when
one is raised.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import field
from enum import IntEnum

from hybridjit.arith.ranges import ONE, Ranges, plus
from hybridjit.arith.totality import may_fail
from hybridjit.ir.expr import And, Const, Expr, Load, Node, Or, Select, Var
from hybridjit.ir.stmt import Allocate, For, If, Let, Seq, Stmt, Store
from hybridjit.ir.visit import children, walk, walk_stmts
from hybridjit.record import record


class Fault(IntEnum):
    """When a nest may fail: never, in its first iteration or not at all, in any iteration."""

    NEVER = 0
    FIRST = 1
    ANY = 2


@record
class Faults:
    """Finds what may fail. Indices that count along `loops` stay inside their arrays."""

    loops: Collection[Var]
    ranges: Ranges
    _inside: dict[tuple[Expr, Expr], bool] = field(default_factory=dict[tuple[Expr, Expr], bool])

    def find(self, stmt: Stmt) -> Fault:
        """When `stmt`, which may be a nest over `loops`, may fail."""
        inner = {node.var for node in walk_stmts(stmt) if isinstance(node, Let)}
        return _Finder(self, inner).stmt(stmt, is_sure=True)

    def is_inside(self, index: Expr, size: Expr) -> bool:
        """True if an index is sure to be in [0, size)."""
        found = self._inside.get((index, size))
        if found is None:
            found = self.ranges.is_natural(index) and self.ranges.is_at_most(plus(index, ONE), size)
            self._inside[index, size] = found
        return found


class _Finder:
    """`is_sure` tells that what is looked at is evaluated in the first iteration."""

    def __init__(self, faults: Faults, inner: Collection[Var]) -> None:
        self.faults = faults
        self.inner = inner

    def stmt(self, stmt: Stmt, *, is_sure: bool) -> Fault:
        match stmt:
            case Seq(stmts):
                return max((self.stmt(s, is_sure=is_sure) for s in stmts), default=Fault.NEVER)
            case For(var, _, _, _, body) if var in self.faults.loops:
                return self.stmt(body, is_sure=is_sure)
            case If(cond, then, otherwise):
                sides = [side for side in (then, otherwise) if side is not None]
                found = [self.stmt(side, is_sure=False) for side in sides]
                return max(self.expr(cond, is_sure=is_sure), *found)
            case Let(_, value):
                return self.expr(value, is_sure=is_sure)
            case Store():
                return max(
                    self._access(stmt, is_sure=is_sure),
                    self._all(children(stmt), is_sure=is_sure),
                )
            case Allocate():
                return Fault.NEVER
            case _:
                return Fault.ANY

    def _all(self, nodes: Iterable[Node], *, is_sure: bool) -> Fault:
        found = (self.expr(node, is_sure=is_sure) for node in nodes if isinstance(node, Expr))
        return max(found, default=Fault.NEVER)

    def expr(self, expr: Expr, *, is_sure: bool) -> Fault:
        match expr:
            case Var() | Const():
                return Fault.NEVER
            case Select(cond, then, otherwise):
                sides = self._all((then, otherwise), is_sure=False)
                return max(self.expr(cond, is_sure=is_sure), sides)
            case And(lhs, rhs) | Or(lhs, rhs):
                return max(self.expr(lhs, is_sure=is_sure), self.expr(rhs, is_sure=False))
            case Load(_, indices):
                own = self._access(expr, is_sure=is_sure)
                return max(own, self._all(indices, is_sure=is_sure))
            case _:
                own = Fault.ANY if may_fail(expr) else Fault.NEVER
                return max(own, self._all(children(expr), is_sure=is_sure))

    def _access(self, access: Load | Store, *, is_sure: bool) -> Fault:
        worst = Fault.NEVER
        for index, size in zip(access.indices, access.buffer.shape, strict=True):
            if self.faults.is_inside(index, size):
                continue
            nodes = list(walk(index))
            if any(isinstance(node, Load) or node in self.inner for node in nodes):
                return Fault.ANY
            if not any(node in self.faults.loops for node in nodes if isinstance(node, Var)):
                worst = max(worst, Fault.FIRST if is_sure else Fault.ANY)
        return worst
