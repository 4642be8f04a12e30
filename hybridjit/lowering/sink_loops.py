"""Run the loop along contiguous elements inside of those that jump from row to row.

    for k in range(n):                               for i in range(m):
        for i in range(m):                               for j in range(l):
            for j in range(l):                               for k in range(n):
                c[i, j, k] = c[i, j, k - 1] * x    -->           c[i, j, k] = c[i, j, k - 1] * x
        for i in range(m):                                       d[i, j, k] = c[i, j, k]
            for j in range(l):
                d[i, j, k] = c[i, j, k]

Code in NumPy style that goes through planes `c[:, :, k]` is so: every element is in a cache line of
its own. Legal where iterations of the loops that go outside share no element, whichever k they
have. Relies on: indices that are proved or checked; arguments that share no memory.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass

from hybridjit.analysis.accesses import find_accesses
from hybridjit.analysis.limits import loop_extent
from hybridjit.arith.linear import linear_form
from hybridjit.arith.totality import is_total, may_fail
from hybridjit.ir.expr import Buffer, Const, Expr, Load, Node, Var
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.stmt import Allocate, For, If, Let, LoopKind, Seq, Stmt, Store, flat_stmts, seq
from hybridjit.ir.visit import substitute, walk
from hybridjit.lowering.loop_mutator import LoopMutator
from hybridjit.lowering.update_nests import Nest, is_counting

# A plane that is read along its rows costs more when it is not than one line of the others gains.
_GAIN = 2
_SHORTEST = 4  # iterations along a row that are worth it


def sink_loops(func: PrimFunc) -> PrimFunc:
    """`func` with loops along the last axis of arrays inside of others."""
    body = _SinkLoops(func).rewrite(func.body)
    return func if body is func.body else dataclasses.replace(func, body=body)


class _SinkLoops(LoopMutator):
    def rewrite_For(self, node: For) -> Stmt:
        sunk = _sink(node)
        if sunk is not None and self._is_legal(sunk):
            return sunk.over(sunk.body)
        return self.go_inside(node)

    def _is_legal(self, sunk: Nest) -> bool:
        if not _is_plain(sunk.body):
            return False
        return self.independence().prove_independent(sunk.loops, sunk.body)


def _sink(loop: For) -> Nest | None:
    """The loops inside `loop`, around `loop`; None if that is not possible or no gain."""
    is_serial = loop.kind is LoopKind.SERIAL and isinstance(loop.step, Const)
    if not is_serial or loop.has_own_annotations:
        return None
    if not (is_total(loop.start) and is_total(loop.stop)):
        return None
    extent = loop_extent(loop)
    if extent is not None and extent < _SHORTEST:
        return None
    parts = [_Part.of(stmt) for stmt in flat_stmts(loop.body)]
    known = [part for part in parts if part is not None]
    if not known or len(known) < len(parts):
        return None
    depth = min(len(part.nest.loops) for part in known)
    loops = known[0].nest.loops[:depth]
    if not all(part.has_bounds_of(loops) for part in known) or _mention(loop.var, loops):
        return None
    body = dataclasses.replace(loop, body=seq(*(part.inside(loops) for part in known)))
    return Nest(loops, body) if _is_gain(body, loops[-1].var) else None


@dataclass(frozen=True, slots=True)
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


def _is_gain(body: For, innermost: Var) -> bool:
    """Whether more accesses go along rows with the variable of `body` than with the other one."""
    steps = [_last_step(access.indices) for access in find_accesses(body)]
    sunk = sum(step.get(body.var, 0) in (1, -1) and innermost not in step for step in steps)
    other = sum(innermost in step for step in steps)
    return sunk > _GAIN * other


def _last_step(indices: Sequence[Expr]) -> dict[Var, int]:
    """How the last index, that along a row, depends on variables."""
    form = linear_form(indices[-1]) if indices else None
    return {} if form is None else dict(form.terms)


def _is_plain(stmt: Stmt) -> bool:
    """True if nothing in `stmt` can fail, leave it, or be seen from outside but for arrays."""
    nodes = list(walk(stmt))
    made = {node.buffer for node in nodes if isinstance(node, Allocate)}
    return all(_is_plain_node(node, made) for node in nodes)


def _is_plain_node(node: Node, made: set[Buffer]) -> bool:
    match node:
        case Load(buffer) | Store(buffer):
            return buffer in made or not buffer.is_register
        case Seq() | Let() | If():
            return True
        case For(step=step):
            return isinstance(step, Const)
        case Allocate(buffer):
            return buffer.is_register
        case Expr():
            return not may_fail(node)
        case _:
            return False
