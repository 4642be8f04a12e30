"""Run a loop inside of the nests that it is around, all of them as one.

    for k in range(n):                               for i in range(m):
        for i in range(m):                               for j in range(l):
            for j in range(l):                               for k in range(n):
                c[i, j, k] = c[i, j, k - 1] * x    -->           c[i, j, k] = c[i, j, k - 1] * x
        for i in range(m):                                       d[i, j, k] = c[i, j, k]
            for j in range(l):
                d[i, j, k] = c[i, j, k]

Legal where iterations of the loops that go outside share no element, whichever k they have, and
nothing can fail. Relies on: arguments that share no memory.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from hybridjit.analysis.accesses import Scope, scopes_of_loops
from hybridjit.analysis.bounds import Facts
from hybridjit.analysis.counting_nest import Nest, is_counting
from hybridjit.analysis.independence import Independence
from hybridjit.analysis.lower_blocks import lower_blocks
from hybridjit.analysis.plain import find_variables_read, is_plain
from hybridjit.analysis.unproved import find_unproved, has_unproved
from hybridjit.arith.failures import find_failure
from hybridjit.arith.totality import is_total
from hybridjit.ir.expr import Const, Expr, Var
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.stmt import Block, For, If, LoopKind, Stmt, flat_stmts, seq
from hybridjit.ir.visit import substitute, walk, walk_stmts
from hybridjit.kept_property import kept_property
from hybridjit.record import record

_UNPROVED = "an index in it is not proved to be inside of its array"


@record
class Sunk:
    """What becomes of a loop: the loops that were inside, around it."""

    outer: Nest
    loop: For

    def make(self) -> Stmt:
        """The loops in their new order."""
        return self.outer.over(self.loop)


def find_sunk(loop: For) -> Sunk | None:
    """What `loop` is inside of the nests that it consists of; None if it is not just nests."""
    is_plain_loop = loop.kind in (LoopKind.SERIAL, LoopKind.SCAN) and isinstance(loop.step, Const)
    if not is_plain_loop or loop.has_own_annotations:
        return None
    if not (is_total(loop.start) and is_total(loop.stop)):
        return None
    parts = [_Part.of(stmt) for stmt in flat_stmts(loop.body)]
    known = [part for part in parts if part is not None]
    if not known or len(known) < len(parts):
        return None
    depth = min(len(part.nest.loops) for part in known)
    loops = known[0].nest.loops[:depth]
    if not all(part.has_bounds_of(loops) for part in known) or _mention(loop.var, loops):
        return None
    inside = dataclasses.replace(loop, body=seq(*(part.inside(loops) for part in known)))
    return Sunk(Nest(loops, inside), inside)


@record
class _Part:
    """A nest of loops, and the condition under which it runs."""

    nest: Nest
    guard: Expr | None = None

    @staticmethod
    def of(stmt: Stmt) -> _Part | None:
        match stmt:
            case For() if is_counting(stmt):
                return _Part(Nest.of(stmt))
            case If(cond, For() as inner, None) if is_total(cond) and is_counting(inner):
                return _Part(Nest.of(inner), cond)
            case _:
                return None

    def has_bounds_of(self, loops: Sequence[For]) -> bool:
        """Whether the outermost loops run over the same ranges; none depends on another one."""
        own = self.nest.loops[: len(loops)]
        ranges = [(loop.start, loop.stop) for loop in own]
        variables = [loop.var for loop in own]
        return ranges == [(loop.start, loop.stop) for loop in loops] and not any(
            _mention(var, own) for var in variables
        )

    def inside(self, loops: Sequence[For]) -> Stmt:
        """What the nest does, for the variables of `loops` in the place of its own."""
        own = self.nest.loops
        rest = Nest(own[len(loops) :], self.nest.body)
        names = {mine.var: loop.var for mine, loop in zip(own, loops, strict=False)}
        body = (
            substitute(rest.over(rest.body), names)
            if own[0] is not loops[0]
            else rest.over(rest.body)
        )
        return body if self.guard is None else If(self.guard, body)


def _mention(var: Var, loops: Sequence[For]) -> bool:
    bounds = [bound for loop in loops for bound in (loop.start, loop.stop)]
    return any(node is var for bound in bounds for node in walk(bound))


class SinkProofs:
    """Whether loops of a program in plain loops may be sunk, or run in another order."""

    def __init__(self, func: PrimFunc, body: Stmt) -> None:
        self.func = func
        self.body = body

    @kept_property
    def _plain(self) -> Stmt:
        """The program without blocks: what they are bound to stands in their indices."""
        if not any(isinstance(stmt, Block) for stmt in walk_stmts(self.body)):
            return self.body
        return lower_blocks(dataclasses.replace(self.func, body=self.body)).body

    @kept_property
    def _loops(self) -> dict[Var, For]:
        return {stmt.var: stmt for stmt in walk_stmts(self._plain) if isinstance(stmt, For)}

    @kept_property
    def _scopes(self) -> dict[Var, Scope]:
        return scopes_of_loops(self._plain)

    @kept_property
    def _unproved(self) -> set[Var]:
        return find_unproved(self.func, self._plain)

    def without_blocks(self, sunk: Sunk) -> Sunk | None:
        """The same of the program without blocks; None if that is not just nests."""
        return sunk if self._plain is self.body else find_sunk(self._loops[sunk.loop.var])

    def find_obstacle(self, sunk: Sunk) -> str | None:
        """Why a loop must stay where it is; None if it need not."""
        found = self.without_blocks(sunk)
        if found is None:
            return _why_not_plain(sunk.loop)
        return self._obstacle(found.loop, Nest(found.outer.loops, found.loop))

    def find_obstacle_in(self, nest: Nest) -> str | None:
        """Why the iterations of a nest must run in their order; None if they need not."""
        return self._obstacle(nest.loops[0], nest)

    def find_obstacle_between(self, loop: For, first: Stmt, rest: Stmt) -> str | None:
        """Why `first` of later iterations of `loop` cannot run before `rest` of earlier ones."""
        if has_unproved(self.func, (*self._scopes[loop.var], loop), first):
            return _UNPROVED
        if not self._independence(loop).prove_first_goes_ahead(loop, first, rest):
            return "what earlier iterations set is not proved to be apart from what later ones read"
        return None

    def _obstacle(self, loop: For, nest: Nest) -> str | None:
        if not is_plain(loop) or find_variables_read(loop):
            return _why_not_plain(loop)
        if loop.var in self._unproved:
            return _UNPROVED
        if not self._independence(loop).prove_independent(nest.loops, nest.body):
            return "what its iterations touch is not proved to be apart"
        return None

    def _independence(self, loop: For) -> Independence:
        facts, around = Facts.of(self.func), self._scopes[loop.var]
        is_checked = loop.var not in self._unproved
        return Independence.within(facts, around, is_checked=is_checked)


def _why_not_plain(loop: For) -> str:
    return find_failure(loop) or "something in it is seen from outside"
