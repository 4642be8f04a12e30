"""Sum several rows of matrices at once, after fusion: see schedule/arrays/unroll_and_jam.py."""

from __future__ import annotations

from collections.abc import Collection

from hybridjit.analysis.independence import LoopProofs
from hybridjit.arith.ranges import constant
from hybridjit.ir.expr import Var
from hybridjit.ir.stmt import For, Stmt
from hybridjit.ir.visit import Mutator
from hybridjit.optimize.decisions import Decisions
from hybridjit.schedule.arrays.unroll_and_jam import find_jam_obstacle, make_unroll_and_jam

ROWS_AT_ONCE = 4  # each with four sums in vectors of 512 bits: half of the registers


def jam_rows(body: Stmt, rows: Collection[Var], decisions: Decisions) -> Stmt:
    """`body` with several iterations of the loops over `rows` of matrices run at once."""
    return _JamRows(body, rows, decisions).rewrite(body) if rows else body


class _JamRows(Mutator):
    def __init__(self, root: Stmt, rows: Collection[Var], decisions: Decisions) -> None:
        self.proofs = LoopProofs(root)
        self.rows = rows
        self.decisions = decisions

    def rewrite_For(self, node: For) -> Stmt:
        if node.var not in self.rows:
            return self.generic(node)
        known = constant(node.stop)
        is_short = known is not None and known < ROWS_AT_ONCE
        if is_short or find_jam_obstacle(self.proofs, node) is not None:
            return node
        if not self.decisions.take("unroll_and_jam", node.var, factor=ROWS_AT_ONCE):
            return node
        return make_unroll_and_jam(node, ROWS_AT_ONCE)
