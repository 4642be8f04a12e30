"""A quick proof that the iterations of a loop are independent, for what most vector loops do.

    for j in vectorize(n):
        c[i, j] = c[i, j] + a[i, k] * b[k, j]

Every access of an array that the loop writes to has the same index along one axis, and that index
moves with the loop: no two iterations meet. What needs more thought is left to isl, which takes
longer to import than such a loop takes to compile.
"""

from __future__ import annotations

from dataclasses import dataclass

from hybridjit.arith.linear import Linear, linear_form
from hybridjit.ir.expr import Buffer, Const, Expr, ExternCall, Load, Node, Var
from hybridjit.ir.stmt import Allocate, Block, For, Let, Print, Stmt, Store, While
from hybridjit.ir.visit import walk


def prove_own_elements(root: Stmt, loop: For) -> bool:
    """True if each iteration of `loop`, in `root`, only writes to what no other one touches."""
    nodes = list(walk(loop.body))
    if any(isinstance(node, ExternCall | Print | While) for node in nodes):
        return False
    made = {node.buffer for node in nodes if isinstance(node, Allocate)}
    written = {node.buffer for node in nodes if isinstance(node, Store)} - made
    if not written:
        return True
    indices = _Indices.of(root, loop, nodes)
    return all(indices.prove_apart(buffer, nodes) for buffer in written)


@dataclass(frozen=True, slots=True)
class _Indices:
    """What the variables in indices stand for: loops around, and iterations of blocks."""

    var: Var
    loops: dict[Var, For]
    values: dict[Var, Expr]
    inside: frozenset[Var]

    @staticmethod
    def of(root: Stmt, loop: For, nodes: list[Node]) -> _Indices:
        loops: dict[Var, For] = {}
        values: dict[Var, Expr] = {}
        for node in walk(root):
            if isinstance(node, For):
                loops[node.var] = node
            elif isinstance(node, Block):
                values.update((item.var, item.value) for item in node.iters)
        inner = [node.var for node in nodes if isinstance(node, For | Let)]
        return _Indices(loop.var, loops, values, frozenset(inner))

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
