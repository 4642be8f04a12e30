"""Move what only the first iteration of a loop does in front of the loop.

    for k in range(n):                 if 0 < n:
        if k == 0:                         s = 0.0
            s = 0.0             -->    for k in range(n):
        s = s + a[k]                       s = s + a[k]

Reductions are written so. The loop is a straight line then, without a condition in every lane
(vectorize_inner.py). Relies on: no blocks; bounds that cannot fail.
"""

from __future__ import annotations

import dataclasses
from functools import reduce

from hybridjit.analysis.limits import loop_extent
from hybridjit.arith.simplify import simplify
from hybridjit.arith.substitution import FoldingSubstitute
from hybridjit.arith.totality import is_total, operation_may_fail
from hybridjit.ir.expr import And, Const, Eq, Expr, Gt, Load, Lt
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.stmt import Break, Continue, For, If, LoopKind, Stmt, flat_stmts, seq
from hybridjit.ir.visit import StmtMutator, walk


def hoist_inits(func: PrimFunc) -> PrimFunc:
    """`func` with the first steps of its loops in front of them."""
    body = _HoistInits().rewrite(func.body)
    return func if body is func.body else dataclasses.replace(func, body=body)


class _HoistInits(StmtMutator):
    def rewrite_For(self, node: For) -> Stmt:
        loop = self.generic(node)  # inner loops first: what they leave in front may go on
        stmts = list(flat_stmts(loop.body))
        if len(stmts) < 2 or loop.kind is not LoopKind.SERIAL or not _has_plain_bounds(loop):
            return loop
        if loop_extent(loop) == 0:
            return loop
        first, rest = stmts[0], stmts[1:]
        if not isinstance(first, If) or first.otherwise is not None or _leaves(first.then):
            return loop
        others = _without_start(first.cond, loop)
        if others is None:
            return loop
        init = _guarded(others, first, loop)
        return seq(init, dataclasses.replace(loop, body=seq(*rest)))


def _leaves(stmt: Stmt) -> bool:
    """Whether `stmt` may leave an iteration: outside of the loop it would leave another one, and an
    error would not say which one it was in.
    """
    return any(
        isinstance(node, Break | Continue) or operation_may_fail(node) for node in walk(stmt)
    )


def _has_plain_bounds(loop: For) -> bool:
    """Whether the bounds are the same after what the first iteration does, and cannot fail."""
    bounds = (loop.start, loop.stop)
    return (
        isinstance(loop.step, Const)
        and all(is_total(bound) for bound in bounds)
        and not any(isinstance(node, Load) for bound in bounds for node in walk(bound))
    )


def _without_start(cond: Expr, loop: For) -> list[Expr] | None:
    """The other conditions, if one of those that are joined by `and` is `var == start`."""
    parts = list(_joined(cond))
    is_start = [part == Eq(loop.var, loop.start) for part in parts]
    if sum(is_start) != 1:
        return None
    others = [part for part, found in zip(parts, is_start, strict=True) if not found]
    # What stands before `var == start` is evaluated in all iterations, so it may not fail.
    return others if all(is_total(part) and loop.var not in walk(part) for part in others) else None


def _joined(cond: Expr) -> list[Expr]:
    return [*_joined(cond.lhs), *_joined(cond.rhs)] if isinstance(cond, And) else [cond]


def _guarded(others: list[Expr], first: If, loop: For) -> Stmt:
    """The first step, if there is a first iteration and the other conditions hold."""
    then = FoldingSubstitute({loop.var: loop.start}).rewrite(first.then)
    if loop_extent(loop) is None:
        assert isinstance(loop.step, Const)
        goes_on = Lt if loop.step.value.real > 0 else Gt
        others = [simplify(goes_on(loop.start, loop.stop)), *others]
    return dataclasses.replace(first, cond=reduce(And, others), then=then) if others else then
