"""Keep the element that a loop updates in a variable, where LLVM cannot tell that it may.

    for k in range(j):                                     if 0 < j:
        a[i, j] = a[i, j] - a[i, k] * a[k, j]                  value = a[i, j]
                                                   -->         for k in range(j):
                                                                   value = value - a[i, k] * a[k, j]
                                                               a[i, j] = value

An iteration that fails would find the element as it was before the loop: so a loop that may fail
keeps only elements of arrays that nobody sees then. Relies on: indices that are proved or checked;
arguments that share no memory.
"""

from __future__ import annotations

import dataclasses

from hybridjit.arith.totality import may_fail
from hybridjit.ir.expr import Buffer, Const, Expr, Load, Node
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.stmt import For, LoopKind, Stmt
from hybridjit.ir.visit import walk
from hybridjit.lower.update_nests import AccumulateSums, Nest, find_update


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
        if store is not None and not self._is_hidden(store.buffer) and _can_fail(nest.body):
            return node
        return super().rewrite_For(node)

    def _is_hidden(self, buffer: Buffer) -> bool:
        """Whether nobody sees `buffer` after a failure: the kernel has made it."""
        return buffer not in self.func.buffers


def _can_fail(body: Stmt) -> bool:
    return any(map(_node_can_fail, walk(body)))


def _node_can_fail(node: Node) -> bool:
    # An index that is not checked is proved.
    return isinstance(node, Expr) and not isinstance(node, Load) and may_fail(node)
