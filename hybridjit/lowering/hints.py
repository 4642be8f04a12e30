"""Hints of loops: they go with the loops through the passes, and are gone in the end.

    for j in serial(n, annotations={"in_lanes": 8}):           for j_0 in range(0, n // 8 * 8, 8):
        b[j] = a[j] + 1.0                              -->         for j in vectorize(j_0, j_0 + 8):
                                                                       b[j] = a[j] + 1.0

Each is read by the pass that it is for, in the place of a decision of its own; whether that is
legal is proved there, as ever. To find out what was decided (choices.py), loops are numbered.
"""

from __future__ import annotations

import dataclasses

from hybridjit.ir.expr import Expr
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.stmt import HAS_LANES, HINTS, IN_LANES, For, Stmt
from hybridjit.ir.visit import Mutator, walk_stmts


def with_lanes(loop: For, lanes: int) -> For:
    """`loop`, which gets so many lanes: a hint that asked for them has done its work."""
    if not loop.hints:
        return loop
    others = tuple(item for item in loop.annotations if item[0] not in (IN_LANES, HAS_LANES))
    return dataclasses.replace(loop, annotations=(*others, (HAS_LANES, lanes)))


def drop_hints(func: PrimFunc) -> PrimFunc:
    """`func` without hints."""
    if not any(isinstance(stmt, For) and stmt.hints for stmt in walk_stmts(func.body)):
        return func
    return dataclasses.replace(func, body=_DropHints().rewrite(func.body))


class _DropHints(Mutator):
    def rewrite_Expr(self, node: Expr) -> Expr:
        return node

    def rewrite_For(self, node: For) -> Stmt:
        left = tuple(item for item in node.annotations if item[0] not in HINTS)
        same = len(left) == len(node.annotations)
        return self.generic(node if same else dataclasses.replace(node, annotations=left))
