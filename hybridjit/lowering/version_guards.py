"""Take the guards of split loops out of the hot part: test once whether all of them hold.

    for i_0 in range(k):                     for i_0 in range(k):
        for i_1 in range(8):                     if i_0 * 8 + 7 < n:
            if i_0 * 8 + i_1 < n:    -->             for i_1 in range(8):
                body                                     body
                                                 else:
                                                     for i_1 in range(8):
                                                         if i_0 * 8 + i_1 < n:
                                                             body

The test stands in the outermost loop that the guard mentions. Relies on: indices are checked
already, so that a body without its guard is as safe as with it wherever the guard holds.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from hybridjit.arith.linear import Linear, linear_form
from hybridjit.ir.dtype import INT64
from hybridjit.ir.expr import Add, And, Const, Expr, Ge, Gt, Le, Lt, Mul, Var
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.stmt import For, If, Let, Stmt
from hybridjit.ir.visit import Mutator, children, fresh_copy, walk, walk_stmts
from hybridjit.lowering.small_sums import SmallSums

# A slow copy of a larger loop costs more to compile than its guards cost to run.
MAX_NODES = 4000


def version_guards(func: PrimFunc) -> PrimFunc:
    """`func` with a version without guards of every loop whose guards nearly always hold."""
    body = _VersionGuards(func).rewrite(func.body)
    return func if body is func.body else dataclasses.replace(func, body=body)


class _VersionGuards(Mutator):
    """Outer loops first; the version that keeps its guards is left alone."""

    def __init__(self, func: PrimFunc) -> None:
        self.sums = SmallSums.of(func)

    def rewrite_Let(self, node: Let) -> Stmt:
        self.sums.bind(node)
        return node

    def rewrite_For(self, node: For) -> Stmt:
        self.sums.enter_loop(node)
        guards = _Guards(self.sums, node).found
        if not guards or sum(1 for _ in walk(node.body)) > MAX_NODES:
            return self.generic(node)
        fast = self.rewrite(_DropGuards(frozenset(guards)).rewrite(node.body))
        conditions = dict.fromkeys(guards.values())
        versions = If(_all(list(conditions)), fast, fresh_copy(node.body), span=node.span)
        return dataclasses.replace(node, body=versions)


class _DropGuards(Mutator):
    def __init__(self, guards: frozenset[If]) -> None:
        self.guards = guards

    def rewrite_If(self, node: If) -> Stmt:
        return self.rewrite(node.then) if node in self.guards else self.generic(node)


class _Guards:
    """The guards in a loop that hold for all inner iterations if a condition does."""

    def __init__(self, sums: SmallSums, outer: For) -> None:
        self.sums, self.outer = sums, outer
        self.found: dict[If, Expr] = {}
        self._collect(outer.body, [])

    def _collect(self, stmt: Stmt, inner: list[For]) -> None:
        match stmt:
            case For():
                self.sums.enter_loop(stmt)
                self._collect(stmt.body, [*inner, stmt])
            case If(cond, then, None):
                condition = self._sufficient(cond, inner) if inner else None
                if condition is not None:
                    self.found[stmt] = condition
                self._collect(then, inner)
            case If(_, then):  # guards of what is run otherwise are those of a last, partial tile
                self._collect(then, inner)
            case _:
                for child in children(stmt):
                    if isinstance(child, Stmt):
                        self._collect(child, inner)

    def _sufficient(self, cond: Expr, inner: Sequence[For]) -> Expr | None:
        """A condition on variables outside of `inner` under which `cond` holds everywhere."""
        match cond:
            case And(x, y):
                left, right = self._sufficient(x, inner), self._sufficient(y, inner)
                return None if left is None or right is None else And(left, right)
            case Lt(x, y):
                return self._bound(x, y, 1, inner)
            case Le(x, y):
                return self._bound(x, y, 0, inner)
            case Gt(x, y):
                return self._bound(y, x, 1, inner)
            case Ge(x, y):
                return self._bound(y, x, 0, inner)
            case _:
                return None

    def _bound(self, low: Expr, high: Expr, gap: int, inner: Sequence[For]) -> Expr | None:
        """The condition that `low + gap <= high` where `low - high` is largest."""
        left, right = linear_form(low), linear_form(high)
        if left is None or right is None or low.dtype is not INT64:
            return None
        difference = left.plus(right, -1).plus(Linear({}, gap))
        if not _is_tiled(difference, self.outer, inner):
            return None
        for loop in reversed(inner):
            largest = _largest(difference, loop)
            if largest is None:
                return None
            difference = largest
        last = _not_positive(difference)
        small = self.sums.find(low, high, last.lhs, last.rhs)
        return None if small is None else self._if_known_outside(_all([*small, last]))

    def _if_known_outside(self, condition: Expr) -> Expr | None:
        inside = {node.var for node in walk_stmts(self.outer.body) if isinstance(node, For | Let)}
        used = {node for node in walk(condition) if isinstance(node, Var)}
        return condition if inside.isdisjoint(used) else None


def _is_tiled(form: Linear, outer: For, inner: Sequence[For]) -> bool:
    """Whether one step of `outer` outweighs all of `inner`, as in `i_0 * 8 + i_1` and not `i - j`.

    Then the guard holds in all but the last iterations of `outer`.
    """
    reach = 0
    for loop in inner:
        extent, factor = loop.extent, abs(form.terms.get(loop.var, 0))
        if factor == 0:
            continue
        if not isinstance(extent, Const):
            return False
        reach += factor * (int(extent.value.real) - 1)
    return 0 < reach <= abs(form.terms.get(outer.var, 0))


def _largest(form: Linear, loop: For) -> Linear | None:
    """`form` with the value of the variable of `loop` that makes it largest, or a larger one."""
    coefficient = form.terms.get(loop.var, 0)
    if coefficient == 0:
        return form
    if not isinstance(loop.step, Const) or not isinstance(loop.step.value, int):
        return None
    ascending = loop.step.value > 0
    at_start = (coefficient < 0) is ascending
    end = linear_form(loop.start if at_start else loop.stop)
    if end is None:
        return None
    inside = 0 if at_start else (-1 if ascending else 1)
    return form.replace(loop.var, end.plus(Linear({}, inside)))


def _not_positive(form: Linear) -> Le:
    """The condition `form <= 0`, with what is subtracted on the right."""
    sides = [
        Linear({var: abs(c) for var, c in form.terms.items() if (c > 0) is positive})
        for positive in (True, False)
    ]
    constant = Linear({}, abs(form.constant))
    left, right = (
        sides
        if form.constant == 0
        else (
            (sides[0].plus(constant), sides[1])
            if form.constant > 0
            else (sides[0], sides[1].plus(constant))
        )
    )
    return Le(_sum(left), _sum(right))


def _sum(form: Linear) -> Expr:
    terms = [_term(var, factor) for var, factor in form.terms.items()]
    if form.constant != 0 or not terms:
        terms.append(Const(form.constant))
    total = terms[0]
    for term in terms[1:]:
        total = Add(total, term)
    return total


def _term(var: Var, factor: int) -> Expr:
    return var if factor == 1 else Mul(var, Const(factor))


def _all(conditions: Sequence[Expr]) -> Expr:
    result = conditions[0]
    for condition in conditions[1:]:
        result = And(result, condition)
    return result
