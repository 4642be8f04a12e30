"""Keep the element that a loop updates in a variable, where the loop is marked so.

    for k in serial(j, annotations={"in_register": True}):     if 0 < j:
        a[i, j] = a[i, j] - a[i, k] * a[k, j]                      value = a[i, j]
                                                       -->         for k in range(j):
                                                                       value = value - a[i, k] * ...
                                                                   a[i, j] = value

Which loops is decided before (optimize/promote_sums.py), or by a schedule; here it is proved, and
built. An iteration that fails would find the element as it was before the loop: so a loop that may
fail keeps only elements of arrays that nobody sees then, and that are sure to be there: the first
iteration may fail before it gets to its element. That is why it is not built before: which checks
are left, in which version of a loop, is known after hoist_checks only. What is marked to run in
lanes (sum_in_lanes.py) and does not is kept in variables as well. Relies on: indices that are
proved or checked; arguments that share no memory.
"""

from __future__ import annotations

import dataclasses

from hybridjit.analysis.counting_nest import Nest
from hybridjit.arith.totality import operation_may_fail
from hybridjit.ir.expr import Const, Expr
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.stmt import IN_REGISTER, SUMS_IN_LANES, SUMS_IN_ROWS, For, LoopKind, Stmt, Store
from hybridjit.ir.visit import walk, walk_stmts
from hybridjit.schedule.arrays.update_nests import AccumulateSums, find_update

_WANTED = (IN_REGISTER, SUMS_IN_LANES, SUMS_IN_ROWS)


def keep_in_registers(func: PrimFunc) -> PrimFunc:
    """`func` with variables for the elements that loops update, as these say."""
    if not any(isinstance(stmt, For) and _is_wanted(stmt) for stmt in walk_stmts(func.body)):
        return func
    body = _KeepInRegisters(func, ()).rewrite(func.body)
    return func if body is func.body else dataclasses.replace(func, body=body)


class _KeepInRegisters(AccumulateSums):
    def rewrite_For(self, node: For) -> Stmt:
        if node.kind in (LoopKind.VECTORIZED, LoopKind.UNROLLED):
            return node
        nest = Nest.of(node)
        if any(loop.extent == Const(0) for loop in nest.loops):
            return node  # it never runs
        store = find_update(nest.body)
        if store is not None and _can_fail(nest.body) and not self._is_hidden(store):
            return node
        if node.hint(IN_REGISTER) is False or not self._is_wanted_here(node):
            return self.go_inside(node)
        return super().rewrite_For(node)

    def _is_wanted_here(self, loop: For) -> bool:
        around = (item for item in self.scope if isinstance(item, For))
        return any(map(_is_wanted, (loop, *around)))

    def _is_hidden(self, store: Store) -> bool:
        """Whether nobody sees the element after a failure: it is there, and the kernel made it."""
        return store.buffer not in self.func.buffers and not any(map(_can_fail, store.indices))


def _is_wanted(loop: For) -> bool:
    return any(loop.hint(name) for name in _WANTED)


def _can_fail(part: Stmt | Expr) -> bool:
    # An index that is not checked is proved.
    return any(map(operation_may_fail, walk(part)))
