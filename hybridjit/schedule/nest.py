"""A nest: loops one inside the other with nothing but guards between them."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from hybridjit.analysis.bounds import Facts
from hybridjit.arith.simplify import simplify
from hybridjit.arith.totality import is_total
from hybridjit.ir.expr import Const, Expr, Max, Sub, Var
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.stmt import Block, For, If, Stmt
from hybridjit.record import record
from hybridjit.schedule.program import loops_around, only_stmt, path_to, the_loop
from hybridjit.schedule.refusal import names, refuse


@record(eq=False)
class Nest:
    """`loops`, outermost first, around `body`; `guards` are the conditions between them."""

    loops: tuple[For, ...]
    guards: tuple[If, ...]
    body: Stmt

    @property
    def root(self) -> For:
        """The outermost loop, with everything in it."""
        return self.loops[0]

    def rebuild(self, loops: Sequence[For]) -> Stmt:
        """The nest with `loops` in the place of its own, and the guards inside of them all."""
        body = self.body
        for guard in reversed(self.guards):
            body = dataclasses.replace(guard, then=body)
        for loop in reversed(loops):
            body = dataclasses.replace(loop, body=body)
        return body


def the_nest(func: PrimFunc, variables: Sequence[Var], step: str) -> Nest:
    """The nest from the outermost to the innermost of the loops over `variables`."""
    chain = _chain(func, variables, step)
    loops: list[For] = []
    guards: list[If] = []
    stmt: Stmt = chain[0]
    while len(loops) < len(chain):
        match only_stmt(stmt):
            case For() as loop if loop is chain[len(loops)]:
                loops.append(loop)
                stmt = loop.body
            case If(otherwise=None) as guard if is_total(guard.cond):
                guards.append(guard)
                stmt = guard.then
            case _:
                outer, inner = loops[-1], chain[len(loops)]
                raise refuse(
                    func,
                    f"{step}: loop '{inner.var.name}' is not the only statement in loop "
                    f"'{outer.var.name}'",
                    [outer, inner],
                    help="s.fission separates the statements of a loop",
                )
    return Nest(tuple(loops), tuple(guards), stmt)


def _chain(func: PrimFunc, variables: Sequence[Var], step: str) -> list[For]:
    """All the loops from the outermost to the innermost of `variables`."""
    if not variables:
        raise refuse(func, f"{step} needs at least one loop")
    if len(set(variables)) != len(variables):
        raise refuse(func, f"{step}: a loop is named twice", variables)
    loops = [the_loop(func, var) for var in variables]
    innermost = max(loops, key=lambda loop: len(loops_around(func, loop)))
    chain = [*loops_around(func, innermost), innermost]
    if missing := [loop for loop in loops if loop not in chain]:
        raise refuse(
            func,
            f"{step}: loops {names([*missing, innermost])} are not one inside the other",
            [*missing, innermost],
        )
    return chain[min(chain.index(loop) for loop in loops) :]


def bounds_of(loop: For) -> tuple[Expr, Expr, Expr]:
    """Start, stop and step."""
    return loop.start, loop.stop, loop.step


def trip_count(func: PrimFunc, loop: For) -> Expr:
    """The number of iterations of `loop`; what is sure not to be negative has no `max(..., 0)`."""
    facts = _facts_at(func, loop)
    is_small = facts.exact(Sub(loop.stop, loop.start)) is not None
    match simplify(loop.extent if is_small else loop.safe_extent):
        case Max(size, Const(0)) if _is_positive(func, size):
            return size
        case extent:
            return extent


def _facts_at(func: PrimFunc, loop: For) -> Facts:
    """What is known before the first iteration of `loop`."""
    facts = Facts.of(func)
    for stmt in path_to(func, loop)[:-1]:
        if isinstance(stmt, For):
            facts.enter_loop(stmt)
        elif isinstance(stmt, Block):
            for item in stmt.iters:
                facts.bind(item.var, item.value)
    return facts


def _is_positive(func: PrimFunc, size: Expr) -> bool:
    """Whether `size` is never negative, not even where the loops around it would not run."""
    facts = Facts.of(func)
    form = facts.exact(size)
    return form is not None and facts.interval(form)[0] >= 0
