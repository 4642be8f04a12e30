"""Take loops apart in which arrays are read in another shape, and join those over short rows.

What becomes of them is in schedule/arrays/ravel.py.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from operator import is_

from hybridjit.analysis.reduction import find_reduction
from hybridjit.arith.ranges import constant
from hybridjit.ir.expr import Buffer, Expr, Load, Var
from hybridjit.ir.stmt import For, Let, Seq, Stmt, Store, flat_stmts, seq
from hybridjit.ir.visit import StmtMutator, walk
from hybridjit.optimize.decisions import Decisions
from hybridjit.optimize.reduce_rows import MIN_LANE_TERMS
from hybridjit.schedule.arrays.ravel import Raveled, find_raveled, find_unraveled


def ravel_loops(
    body: Stmt,
    loops: set[Var],
    reassociable: Collection[Buffer],
    decisions: Decisions,
    *,
    joins_rows: bool,
) -> Stmt:
    """`body` with a loop for each axis, or one for two if that `joins_rows` that lie side by side.

    `loops`, those over elements, are told of new ones. Rows are joined for the sake of folds into
    `reassociable` buffers, which will have lanes.
    """
    return _RavelLoops(loops, reassociable, decisions, joins_rows).rewrite(body)


class _RavelLoops(StmtMutator):
    def __init__(
        self,
        loops: set[Var],
        reassociable: Collection[Buffer],
        decisions: Decisions,
        joins_rows: bool,
    ) -> None:
        self.loops = loops
        self.reassociable = reassociable
        self.decisions = decisions
        self.joins_rows = joins_rows
        self.before: Sequence[Stmt] = ()

    def rewrite_Seq(self, node: Seq) -> Stmt:
        stmts, made = flat_stmts(node), list[Stmt]()
        for number, stmt in enumerate(stmts):
            self.before = stmts[:number] if isinstance(stmt, For) else ()
            made.append(self.rewrite(stmt))
        return node if all(map(is_, made, stmts)) else seq(*made)

    def rewrite_For(self, node: For) -> Stmt:
        if node.var not in self.loops:
            self.before = ()
            return self.generic(node)
        return self._unraveled(node) or self._raveled(node) or self.generic(node)

    def _unraveled(self, loop: For) -> Stmt | None:
        before, self.before = self.before, ()
        found = find_unraveled(loop, before)
        if found is None:
            return None
        if _is_short(found.columns) and self._folds(loop.body, [loop.var]) and self._joins():
            return None
        if not self.decisions.take("unravel", loop.var):
            return None
        rows = found.make()
        assert isinstance(rows.body, For)
        self.loops |= {rows.var, rows.body.var}
        return self.rewrite(rows)

    def _joins(self) -> bool:
        """Whether short rows are better off as one: they are if they lie side by side."""
        self.decisions.minds_strides = True
        return self.joins_rows

    def _raveled(self, loop: For) -> Stmt | None:
        found = find_raveled(loop)
        if found is None or found.columns.var not in self.loops or not self._is_gain(found):
            return None
        if not self._joins() or not self.decisions.take("ravel", loop.var):
            return None
        made = found.make()
        self.loops.add(made.var)
        return made

    def _folds(self, body: Stmt, variables: Sequence[Var]) -> bool:
        """Whether floats are folded, each to the same place in all iterations, and that is all.

        Integers have lanes where they stand.
        """
        stmts = flat_stmts(body)
        stores = [stmt for stmt in stmts if isinstance(stmt, Store)]
        folds = [store for store in stores if find_reduction(store) is not None]
        are_open = all(f.buffer in self.reassociable and f.buffer.dtype.is_inexact for f in folds)
        places = [index for store in stores for index in store.indices]
        is_plain = bool(folds) and are_open and all(isinstance(s, Store | Let) for s in stmts)
        return is_plain and not any(_mentions(place, variables) for place in places)

    def _is_gain(self, found: Raveled) -> bool:
        """Whether short rows are folded one after the other, and are all there is in memory."""
        row, column, body = found.rows.var, found.columns.var, found.columns.body
        if not _is_short(found.columns.stop) or not self._folds(body, [row, column]):
            return False
        loads = [node for node in walk(body) if isinstance(node, Load)]
        varying = [load for load in loads if any(_mentions(i, [row, column]) for i in load.indices)]
        return bool(varying) and all(
            load.indices[-2:] == (row, column) and load.buffer.shape[-1] == found.columns.stop
            for load in varying
        )


def _is_short(columns: Expr) -> bool:
    """True for rows that are known to be too short for lanes."""
    known = constant(columns)
    return known is not None and known < MIN_LANE_TERMS


def _mentions(expr: Expr, variables: Sequence[Var]) -> bool:
    return any(node in variables for node in walk(expr))
