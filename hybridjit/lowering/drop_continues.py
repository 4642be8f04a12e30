"""Say with `if` alone what the body of a loop says with `continue`.

    if a[j] < 0.0:                 if not a[j] < 0.0:
        continue            -->        b[j] = sqrt(a[j])
    b[j] = sqrt(a[j])

Only a `continue` at the end of a branch is taken out; others stay.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from hybridjit.arith.simplify import simplify
from hybridjit.ir.expr import Not
from hybridjit.ir.stmt import Continue, If, Seq, Stmt, flat_stmts, seq


def drop_continues(body: Stmt) -> Stmt:
    """`body`, that of a loop, with fewer `continue`s; the same object if there are none."""
    stmts = flat_stmts(body)
    for place, stmt in enumerate(stmts):
        if isinstance(stmt, Continue):
            return seq(*stmts[:place])
        if isinstance(stmt, If) and (_continues(stmt.then) or _continues(stmt.otherwise)):
            return seq(*stmts[:place], _join(stmt, stmts[place + 1 :]))
    return body


def _continues(side: Stmt | None) -> bool:
    stmts = flat_stmts(side)
    return bool(stmts) and isinstance(stmts[-1], Continue)


def _join(branch: If, following: Sequence[Stmt]) -> Stmt:
    """`branch` with what follows it in the sides that get there."""
    sides = [
        flat_stmts(side)[:-1] if _continues(side) else [*flat_stmts(side), *following]
        for side in (branch.then, branch.otherwise)
    ]
    then, otherwise = (drop_continues(Seq(tuple(stmts))) for stmts in sides)
    if flat_stmts(then):
        last = otherwise if flat_stmts(otherwise) else None
        return dataclasses.replace(branch, then=then, otherwise=last)
    if not flat_stmts(otherwise):
        return Seq(())
    negated = simplify(Not(branch.cond, span=branch.cond.span))
    return dataclasses.replace(branch, cond=negated, then=otherwise, otherwise=None)
