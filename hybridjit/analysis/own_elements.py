"""A quick proof that the iterations of a loop are independent, for what most vector loops do.

    for j in vectorize(n):
        c[i, j] = c[i, j] + a[i, k] * b[k, j]

Every access of an array that the loop writes to has the same index along one axis, and that index
moves with the loop: no two iterations meet. What needs more thought is left to isl, which takes
longer to import than such a loop takes to compile.

Relies on: arrays that share no memory; every variable bound once in the root. Indices need not be
checked: only those count that cannot be negative, and one past the end is an error. Whether
an iteration may fail or leave the loop is not looked at: callers see to that.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from hybridjit.arith.linear import Linear, linear_form
from hybridjit.ir.expr import Buffer, Const, Expr, ExternCall, Load, Node, Var
from hybridjit.ir.stmt import Allocate, Block, For, Let, Print, Stmt, Store, While
from hybridjit.ir.visit import walk, walk_stmts


def prove_own_elements(root: Stmt, loop: For) -> bool:
    """True if each iteration of `loop`, in `root`, only writes to what no other one touches."""
    return OwnElements(root).prove(loop)


class OwnElements:
    """Proofs about several loops of one root, which is looked through once."""

    def __init__(self, root: Stmt) -> None:
        self._root = root

    @cached_property
    def _bound(self) -> tuple[dict[Var, For], dict[Var, Expr]]:
        """The loops of the root by their variables, and the values of the iterations of blocks."""
        stmts = list(walk_stmts(self._root))
        loops = {stmt.var: stmt for stmt in stmts if isinstance(stmt, For)}
        blocks = [stmt for stmt in stmts if isinstance(stmt, Block)]
        return loops, {item.var: item.value for block in blocks for item in block.iters}

    def prove(self, loop: For) -> bool:
        """True if each iteration of `loop` only writes to what no other one touches."""
        nodes = list(walk(loop.body))
        if any(isinstance(node, ExternCall | Print | While) for node in nodes):
            return False
        made = {node.buffer for node in nodes if isinstance(node, Allocate)}
        written = {node.buffer for node in nodes if isinstance(node, Store)} - made
        if not written:
            return True
        inner = frozenset(node.var for node in nodes if isinstance(node, For | Let))
        indices = _Indices(loop.var, *self._bound, inner)
        return all(indices.prove_apart(buffer, nodes) for buffer in written)


@dataclass(frozen=True, slots=True)
class _Indices:
    """What the variables in indices stand for: loops around, and iterations of blocks."""

    var: Var
    loops: dict[Var, For]
    values: dict[Var, Expr]
    inside: frozenset[Var]

    def prove_apart(self, buffer: Buffer, nodes: list[Node]) -> bool:
        """True if all accesses of `buffer` have one index in common that moves with the loop."""
        accesses = [
            node.indices
            for node in nodes
            if isinstance(node, Load | Store) and node.buffer is buffer
        ]
        return any(
            self._moves([indices[axis] for indices in accesses]) for axis in range(buffer.ndim)
        )

    def _moves(self, indices: list[Expr]) -> bool:
        first, *others = (self._form(index) for index in indices)
        if first is None or self.var not in first.terms or self.inside & first.terms.keys():
            return False
        is_same = all(
            other is not None and other.terms == first.terms and other.constant == first.constant
            for other in others
        )
        return is_same and self._is_natural(first)  # a negative index would count from the end

    def _form(self, index: Expr) -> Linear | None:
        return linear_form(index, self._inline)

    def _inline(self, var: Var) -> Linear | None:
        return self._form(self.values[var]) if var in self.values else Linear({var: 1})

    def _is_natural(self, form: Linear) -> bool:
        return form.constant >= 0 and all(
            factor > 0 and var in self.loops and self._counts_up(self.loops[var])
            for var, factor in form.terms.items()
        )

    def _counts_up(self, loop: For) -> bool:
        start = self._form(loop.start)
        step = loop.step.value.real if isinstance(loop.step, Const) else 0
        return step > 0 and start is not None and self._is_natural(start)
