"""Keep the element that a loop updates in a variable, where LLVM cannot tell that it may.

    for k in range(j):                                     if 0 < j:
        a[i, j] = a[i, j] - a[i, k] * a[k, j]                  value = a[i, j]
                                                   -->         for k in range(j):
                                                                   value = value - a[i, k] * a[k, j]
                                                               a[i, j] = value

An iteration that fails would find the element as it was before the loop: so a loop that may fail
keeps only elements of arrays that nobody sees then, and that are sure to be there: the first
iteration may fail before it gets to its element. Relies on: indices that are proved or checked;
arguments that share no memory.
"""

from __future__ import annotations

import dataclasses

from hybridjit.analysis.counting_nest import Nest
from hybridjit.arith.totality import operation_may_fail
from hybridjit.ir.expr import Const, Expr
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.stmt import For, LoopKind, Stmt, Store
from hybridjit.ir.visit import walk
from hybridjit.schedule.arrays.update_nests import AccumulateSums, find_update


def accumulate_sums(func: PrimFunc) -> PrimFunc:
    """`func` with variables for the elements that single loops update."""
    body = _AccumulateSums(func, ()).rewrite(func.body)
    return func if body is func.body else dataclasses.replace(func, body=body)


class _AccumulateSums(AccumulateSums):
    def rewrite_For(self, node: For) -> Stmt:
        if node.kind in (LoopKind.VECTORIZED, LoopKind.UNROLLED):
            return node
        nest = Nest.of(node)
        if any(loop.extent == Const(0) for loop in nest.loops):
            return node  # it never runs
        store = find_update(nest.body)
        if store is not None and _can_fail(nest.body) and not self._is_hidden(store):
            return node
        return super().rewrite_For(node)

    def _is_hidden(self, store: Store) -> bool:
        """Whether nobody sees the element after a failure: it is there, and the kernel made it."""
        return store.buffer not in self.func.buffers and not any(map(_can_fail, store.indices))


def _can_fail(part: Stmt | Expr) -> bool:
    # An index that is not checked is proved.
    return any(map(operation_may_fail, walk(part)))
