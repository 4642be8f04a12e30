"""merge: two loops, one after the other, become one that does the work of both."""

from __future__ import annotations

import dataclasses

from hybridjit.analysis.accesses import scopes_of_loops
from hybridjit.analysis.dependence import Conflict, Dependences
from hybridjit.analysis.independence import Independence
from hybridjit.analysis.instances import Instances, Part, infer_instances, steps_down
from hybridjit.arith.simplify import simplify
from hybridjit.arith.totality import is_total
from hybridjit.ir.expr import Const, Var
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.printer import format_expr
from hybridjit.ir.stmt import Allocate, Continue, For, LoopKind, Seq, Stmt, seq
from hybridjit.schedule.nest import bounds_of, trip_count
from hybridjit.schedule.primitives.array_fusion import find_merged
from hybridjit.schedule.program import (
    is_left_early,
    jumps,
    loops_around,
    path_to,
    replace_stmt,
    substitute_loop,
    the_loop,
)
from hybridjit.schedule.refusal import refuse, refuse_conflict


def merge(func: PrimFunc, first: Var, second: Var, *, unsafe: bool = False) -> PrimFunc:
    """Run the body of the loop over `second` in the loop over `first`, right after its own.

        for i in range(n):            for i in range(n):
            a(i)                          a(i)
        for j in range(n):     -->        b(i)
            b(j)

    Legal if nothing that `b` does in an iteration depends on a later iteration of `a`. Loops around
    the two, which stand one after the other themselves, are merged first.
    """
    for outer, other in _find_pairs(func, first, second):
        func = _merge_neighbours(func, outer, other, unsafe=unsafe)
    return func


def _find_pairs(func: PrimFunc, first: Var, second: Var) -> list[tuple[Var, Var]]:
    """The loops to be merged, outermost first: those around both loops that both do not share."""
    ours, theirs = (
        [*loops_around(func, loop), loop]
        for loop in (the_loop(func, first), the_loop(func, second))
    )
    if len(ours) != len(theirs):
        return [(first, second)]
    return [(a.var, b.var) for a, b in zip(ours, theirs, strict=True) if a is not b]


def _merge_neighbours(func: PrimFunc, first: Var, second: Var, *, unsafe: bool) -> PrimFunc:
    made = None if unsafe else find_merged(func, first, second)
    if made is not None:
        return made
    func = make_arrays_first(func, first, second)
    check_merge(func, first, second, unsafe=unsafe)
    return make_merge(func, first, second)


def make_arrays_first(func: PrimFunc, first: Var, second: Var) -> PrimFunc:
    """`func` with arrays that are made between two loops, as array statements do, before both.

    The same function if more than that stands between them.
    """
    a, b = the_loop(func, first), the_loop(func, second)
    parent = _parent(func, a)
    if b not in parent.stmts or parent.stmts.index(b) < parent.stmts.index(a):
        return func
    start, stop = parent.stmts.index(a), parent.stmts.index(b)
    between = parent.stmts[start + 1 : stop]
    if not between or not all(map(_is_made_anywhere, between)):
        return func
    stmts = (*parent.stmts[:start], *between, a, *parent.stmts[stop:])
    return replace_stmt(func, parent, Seq(stmts))


def _is_made_anywhere(stmt: Stmt) -> bool:
    """True for an array that can as well be made earlier: that cannot fail."""
    return isinstance(stmt, Allocate) and all(isinstance(n, Const) for n in stmt.buffer.shape)


def make_merge(func: PrimFunc, first: Var, second: Var) -> PrimFunc:
    """`func` with one loop in the place of two, which run as many iterations."""
    a, b = the_loop(func, first), the_loop(func, second)
    parent = _parent(func, a)
    merged = dataclasses.replace(a, body=seq(a.body, _moved_body(a, b)))
    rest = [merged if stmt is a else stmt for stmt in parent.stmts if stmt is not b]
    return replace_stmt(func, parent, seq(*rest))


def _moved_body(a: For, b: For) -> Stmt:
    """What `b` does, for the variable of `a`."""
    value = a.var if _same_range(a, b) else simplify(b.start + (a.var - a.start))
    return substitute_loop(b.body, b, value)


def _parent(func: PrimFunc, loop: For) -> Seq:
    parent = path_to(func, loop)[-2:][0]
    return parent if isinstance(parent, Seq) else Seq((loop,))


def check_merge(func: PrimFunc, first: Var, second: Var, *, unsafe: bool = False) -> None:
    """Refuse loops that are no neighbours, and those that depend on each other, unless `unsafe`."""
    a, b = the_loop(func, first), the_loop(func, second)
    _check_neighbours(func, a, b)
    _check_alike(func, a, b)
    conflict = None if unsafe else _find_conflict(func, a, b)
    if conflict is not None:
        raise refuse_conflict(
            func, "merge would run a step before one that it depends on", conflict, [a, b]
        )


def _check_neighbours(func: PrimFunc, a: For, b: For) -> None:
    stmts = _parent(func, a).stmts
    if b in stmts and stmts.index(b) == stmts.index(a) + 1:
        return
    raise refuse(
        func,
        f"merge: loop '{b.var.name}' does not come right after loop '{a.var.name}'",
        [a, b],
        help="merge takes two loops side by side, the first one first",
    )


def _check_alike(func: PrimFunc, a: For, b: For) -> None:
    if a.step != b.step or not isinstance(a.step, Const):
        raise refuse(func, "merge: the loops have different steps", [a, b])
    if a.step != Const(1) and a.start != b.start:
        raise refuse(func, "merge: loops with a step must start at the same value", [a, b])
    trips, others = trip_count(func, a), trip_count(func, b)
    if trips != others:
        raise refuse(
            func,
            f"merge: loop '{a.var.name}' runs {format_expr(trips)} iterations, loop "
            f"'{b.var.name}' {format_expr(others)}",
            [a, b],
            help="s.partition cuts the longer loop in two",
        )
    for loop in (a, b):
        if not all(is_total(bound) for bound in bounds_of(loop)):
            raise refuse(
                func, f"merge: the bounds of loop '{loop.var.name}' read memory or may fail", [loop]
            )
        if loop.kind not in (LoopKind.SERIAL, LoopKind.SCAN):
            raise refuse(func, f"loop '{loop.var.name}' is {loop.kind.value} already", [loop])
        if is_left_early(loop):
            raise refuse(
                func, f"merge: break or return may leave loop '{loop.var.name}' early", [loop]
            )
    if jumps(a.body, Continue):
        raise refuse(
            func, f"merge: continue in loop '{a.var.name}' would skip the body of the other", [a]
        )


def _same_range(a: For, b: For) -> bool:
    return simplify(a.start) == simplify(b.start)


def _find_conflict(func: PrimFunc, a: For, b: For) -> Conflict | None:
    independence = Independence.at(func, scopes_of_loops(func.body)[a.var])
    if independence.prove_first_goes_ahead(a, a.body, _moved_body(a, b)):
        return None
    parent = _parent(func, a)
    part = infer_instances(func, parent, products=True)
    if not _same_range(a, b) and not all(part.names.affine(loop.start) for loop in (a, b)):
        raise refuse(func, "merge: where the loops start is not known well enough", [a, b])
    position = str(parent.stmts.index(a))

    def merged(statement: Instances) -> tuple[str, ...]:
        if not statement.loops or statement.loops[0] not in (a, b):
            return statement.time
        which = "0" if statement.loops[0] is a else "1"
        return (position, _count(part, statement), which, *statement.time)

    return Dependences(part, func.fastmath).find_reversed(lambda found: found.time, merged)


def _count(part: Part, statement: Instances) -> str:
    """The number of the iteration; loops with equal steps need no more than the distance."""
    loop, dim = statement.loops[0], statement.dims[0]
    start = part.names.affine(loop.start)
    distance = dim if start is None else f"({dim} - {start})"
    return f"-{distance}" if steps_down(loop) else distance
