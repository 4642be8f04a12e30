"""Unroll and jam: run several iterations of a loop at once, as rows of a matrix that are summed.

    for i in range(n):                          for i in range(0, n, 4):
        for k in range(m):                          for k in range(m):
            p = p + a[i, k] * x[k]      -->             p = p + a[i, k] * x[k]
        y[i] = p                                        p_1 = p_1 + a[i + 1, k] * x[k]
                                                        ...
                                                    y[i] = p
                                                    ...

A matrix that is read once is as fast as memory is, and that is faster along several rows than
along one: what is fetched ahead ends at a page. Each sum is made as before, in the same order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from hybridjit.analysis.independence import LoopProofs
from hybridjit.analysis.limits import loop_extent
from hybridjit.arith.failures import describe_failure
from hybridjit.arith.ranges import ONE, ZERO, minus, plus, tidy, times
from hybridjit.arith.substitution import FoldingSubstitute
from hybridjit.arith.totality import operation_may_fail
from hybridjit.ir.expr import Const, Expr, FloorDiv, Load, Node, Var
from hybridjit.ir.stmt import Allocate, For, If, Let, Seq, Stmt, Store, flat_stmts, seq
from hybridjit.ir.visit import fresh_copy, substitute, walk


def find_jam_obstacle(proofs: LoopProofs, loop: For) -> str | None:
    """Why iterations of a loop over elements cannot run at once; None if they can.

    The order of its iterations is free if none can fail, and none touches what another writes.
    """
    nodes = list(walk(loop.body))
    failing = next(filter(operation_may_fail, nodes), None)
    if failing is not None:
        return describe_failure(failing)
    if _computes_indices(nodes):
        return "an index in it is read from memory"
    stmts = (node for node in nodes if isinstance(node, Stmt))
    if not all(isinstance(stmt, Allocate | For | If | Let | Seq | Store) for stmt in stmts):
        return "there is more in it than loops, choices and stores"
    if not proofs.prove_independent(loop):
        return "its iterations are not proved to be independent"
    return None


def _computes_indices(nodes: Sequence[Node]) -> bool:
    """True if an index depends on what is in memory: then it may be outside of its array."""
    computed = _read_from_memory(nodes)
    places = [place for node in nodes if isinstance(node, Load | Store) for place in node.indices]
    used = (inner for place in places for inner in walk(place))
    return any(isinstance(node, Load) or node in computed for node in used)


def _read_from_memory(nodes: Sequence[Node]) -> set[Var]:
    """The names that stand for what is read, or for what is made of it: indices may be wrong."""
    found: set[Var] = set()
    for let in (node for node in nodes if isinstance(node, Let)):
        if any(isinstance(node, Load) or node in found for node in walk(let.value)):
            found.add(let.var)
    return found


def make_unroll_and_jam(loop: For, several: int) -> Stmt:
    """The loop, of step 1, with `several` iterations at once, and what is left of it after them.

    A loop that is known to have fewer stays as it is.
    """
    known, trips = loop_extent(loop), loop.safe_extent
    if known is not None and known < several:
        return loop
    whole = tidy(times(FloorDiv(trips, Const(several)), Const(several)))
    if known is not None:
        trips, whole = Const(known), Const(known // several * several)
    end = plus(loop.start, whole)
    bodies = [_at(loop, plus(loop.var, Const(row))) for row in range(several)]
    main = replace(loop, stop=end, step=Const(several), body=_jam(bodies))
    left = minus(trips, whole)
    if left == ZERO:
        return main
    if left == ONE:
        return seq(main, _at(loop, end))
    var = Var(loop.var.name, span=loop.var.span)
    rest = replace(loop, var=var, start=ZERO, stop=left, body=_at(loop, plus(end, var)))
    return seq(main, rest)


def _at(loop: For, place: Expr) -> Stmt:
    """What one iteration does, with names of its own."""
    return fresh_copy(FoldingSubstitute({loop.var: place}).rewrite(loop.body))


def _jam(bodies: Sequence[Stmt]) -> Stmt:
    """Bodies that are alike as one: loops of the same length become one, and so do branches and
    names of the same value. What was folded away in some of them leaves nothing to compare.
    """
    lists = [flat_stmts(body) for body in bodies]
    if len(set(map(len, lists))) > 1:
        return seq(*bodies)
    made: list[Stmt] = []
    known: dict[Var, Expr] = {}
    for alike in zip(*lists, strict=True):
        first, *others = same = [substitute(stmt, known) if known else stmt for stmt in alike]
        if isinstance(first, Let) and all(_is_same_value(first, other) for other in others):
            made.append(first)
            known |= {other.var: first.var for other in others if isinstance(other, Let)}
        elif isinstance(first, For) and all(_is_same_loop(first, other) for other in same):
            inner = [substitute(s.body, {s.var: first.var}) for s in same if isinstance(s, For)]
            made.append(replace(first, body=_jam(inner)))
        elif isinstance(first, If) and all(_is_same_branch(first, other) for other in same):
            made.append(_jam_branches(first, [stmt for stmt in same if isinstance(stmt, If)]))
        else:
            made += same
    return seq(*made)


def _jam_branches(first: If, branches: Sequence[If]) -> If:
    others = [stmt.otherwise for stmt in branches if stmt.otherwise is not None]
    otherwise = _jam(others) if others else None
    return replace(first, then=_jam([stmt.then for stmt in branches]), otherwise=otherwise)


def _is_same_value(a: Let, b: Stmt) -> bool:
    is_read = any(isinstance(node, Load) for node in walk(a.value))
    return isinstance(b, Let) and a.value == b.value and not is_read


def _is_same_loop(a: For, b: Stmt) -> bool:
    return isinstance(b, For) and (
        (a.start, a.stop, a.step, a.kind) == (b.start, b.stop, b.step, b.kind)
    )


def _is_same_branch(a: If, b: Stmt) -> bool:
    return isinstance(b, If) and a.cond == b.cond
