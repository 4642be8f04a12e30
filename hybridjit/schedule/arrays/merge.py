"""Put two loops over the elements of arrays together.

    for i in range(n):              for i in range(n):
        t[i] = a[i] * 2                 t[i] = a[i] * 2
    s = 0.0                  -->        c[i] = t[i] + t[i]
    for i in range(n):
        c[i] = t[i] + t[i]

What stands between them moves to one side or the other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from hybridjit.analysis.accesses import find_accesses
from hybridjit.analysis.distances import Order
from hybridjit.analysis.faults import Fault
from hybridjit.analysis.order import Iterations
from hybridjit.ir.expr import Var
from hybridjit.ir.stmt import For, Let, Stmt, seq
from hybridjit.ir.visit import substitute, walk_stmts
from hybridjit.schedule.arrays.fusion import Fusion


def find_merge(fusion: Fusion, stmts: Sequence[Stmt], first: int, second: int) -> list[Stmt] | None:
    """`stmts` with the loop at `second` run as part of the one at `first`; None if that differs."""
    a, b = stmts[first], stmts[second]
    if not isinstance(a, For) or not isinstance(b, For) or not fusion.ranges.same(a.stop, b.stop):
        return None
    body = substitute(b.body, {b.var: a.var})
    if not _fails_alike(fusion, a, b) or not _keeps_order(fusion, a, body):
        return None
    parted = part(fusion, stmts, first, second)
    if parted is None:
        return None
    before, after = parted
    merged = replace(a, body=seq(a.body, body))
    fusion.remember_merged(merged, a, b)
    return [*stmts[:first], *before, merged, *after, *stmts[second + 1 :]]


def _fails_alike(fusion: Fusion, a: For, b: For) -> bool:
    """True if the errors of a run, and what the caller sees then, stay the same.

    An error of `a` in its first iteration comes before anything that `b` does.
    """
    prints = fusion.footprint(a), fusion.footprint(b)
    if any(found.acts or found.stops for found in prints):
        return False
    faults = fusion.fault(a), fusion.fault(b)
    if faults[1] is not Fault.NEVER and fusion.is_seen(a):
        return False
    return faults[0] is not Fault.ANY or (faults[1] is Fault.NEVER and not fusion.is_seen(b))


def _keeps_order(fusion: Fusion, a: For, body: Stmt) -> bool:
    """True if no iteration of `a` touches what an earlier one of `body`, over the same variable,
    touches, one of them writing.
    """
    iterations = Iterations((a.var,), bound_in(a.body, body), fusion.ranges)
    later = find_accesses(body)
    for ours in find_accesses(a.body):
        for theirs in later:
            if ours.buffer is theirs.buffer and (ours.is_write or theirs.is_write):
                order = iterations.meet(ours.node.indices, theirs.node.indices)
                if Order.AFTER in order:
                    return False
    return True


def bound_in(*roots: Stmt) -> set[Var]:
    """The variables that statements bind."""
    stmts = [stmt for root in roots for stmt in walk_stmts(root)]
    return {stmt.var for stmt in stmts if isinstance(stmt, (For, Let))}


def part(
    fusion: Fusion, stmts: Sequence[Stmt], first: int, second: int
) -> tuple[list[Stmt], list[Stmt]] | None:
    """What stands between two loops: what can go before both, and after them the rest."""
    before: list[Stmt] = []
    after: list[Stmt] = []
    for stmt in stmts[first + 1 : second]:
        if all(fusion.may_swap(other, stmt) for other in (stmts[first], *after)):
            before.append(stmt)
        else:
            after.append(stmt)
    if all(fusion.may_swap(other, stmts[second]) for other in after):
        return before, after
    return None
