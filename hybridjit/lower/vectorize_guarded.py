"""Run the iterations of loops with conditions side by side, in lanes, each under its own mask.

    for j in range(m):                 for j in vectorize(m):
        if a[j] > 0.5:          -->        if a[j] > 0.5:
            b[j] = a[j]                        b[j] = a[j]

LLVM may not make vectors of such a loop (codegen/loop_labels.py), and one iteration after the other
takes up to thirty times as long. Loops without conditions are left to it. Relies on: indices that
are proved or checked before the loops; arguments that share no memory.
"""

from __future__ import annotations

import dataclasses
import math
from functools import cached_property

from hybridjit.analysis.independence import Independence
from hybridjit.analysis.initialization import find_unassigned_reads
from hybridjit.analysis.lanes import find_lanes
from hybridjit.analysis.limits import loop_extent
from hybridjit.arith.linear import linear_form
from hybridjit.ir.expr import Buffer, Expr, Load, Node, Var
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.stmt import For, If, Let, LoopKind, Seq, Stmt, Store, seq
from hybridjit.ir.visit import Mutator, walk
from hybridjit.lower.update_nests import is_counting
from hybridjit.lower.vectorize_outer import is_plain
from hybridjit.target import Target

# Loops inside, such as those over the window of a stencil, that run at most so often in all.
MAX_INSIDE = 49
# Fewer iterations are not worth a mask.
MIN_EXTENT = 8


def vectorize_guarded(func: PrimFunc, target: Target) -> PrimFunc:
    """`func` with lanes for the iterations of its innermost loops that have conditions."""
    if target.vector_bits < 256:  # without masks for loads and stores, lanes are taken apart
        return func
    body = _VectorizeGuarded(func).rewrite(func.body)
    return func if body is func.body else dataclasses.replace(func, body=body)


class _VectorizeGuarded(Mutator):
    def __init__(self, func: PrimFunc) -> None:
        self.func = func
        self.scope: list[For | Let] = []

    @cached_property
    def unset(self) -> frozenset[Buffer]:
        return find_unassigned_reads(self.func)

    def rewrite_Seq(self, node: Seq) -> Stmt:
        known = len(self.scope)
        rewritten = self.generic(node)
        del self.scope[known:]
        return rewritten if rewritten is node else seq(*rewritten.stmts)

    def rewrite_Let(self, node: Let) -> Stmt:
        self.scope.append(node)
        return node

    def rewrite_Expr(self, node: Expr) -> Expr:
        return node

    def rewrite_For(self, node: For) -> Stmt:
        if node.kind in (LoopKind.VECTORIZED, LoopKind.UNROLLED):
            return node
        if _is_wanted(node) and self._is_legal(node):
            return dataclasses.replace(node, kind=LoopKind.VECTORIZED)
        self.scope.append(node)
        rewritten = self.generic(node)
        self.scope.pop()
        return rewritten

    def _is_legal(self, loop: For) -> bool:
        if not is_plain(loop):
            return False
        lanes = find_lanes(loop, self.func.fastmath, self.unset)
        if lanes.obstacle is not None or lanes.needs_number:
            return False
        return Independence.at(self.func, tuple(self.scope)).prove_independent([loop], loop.body)


def _is_wanted(loop: For) -> bool:
    """True for a loop around conditions and little else that walks along the rows of its arrays."""
    extent = loop_extent(loop)
    if not is_counting(loop) or (extent is not None and extent < MIN_EXTENT):
        return False
    nodes = list(walk(loop.body))
    inside = [loop_extent(node) for node in nodes if isinstance(node, For)]
    if any(trips is None for trips in inside) or math.prod(t or 1 for t in inside) > MAX_INSIDE:
        return False
    accesses = [node for node in nodes if isinstance(node, Load | Store) and node.indices]
    has_conditions = any(isinstance(node, If) for node in nodes)
    return has_conditions and all(_is_along(node, loop.var) for node in accesses)


def _is_along(access: Node, var: Var) -> bool:
    """True if an access stays where it is, or goes to the next element in each iteration."""
    assert isinstance(access, Load | Store)
    forms = [linear_form(index) for index in access.indices]
    steps = [None if form is None else form.terms.get(var, 0) for form in forms]
    return steps[-1] in (0, 1) and all(step == 0 for step in steps[:-1])
