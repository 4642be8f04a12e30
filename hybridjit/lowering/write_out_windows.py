"""Write out the loops inside of vectors that go over small arrays of their own.

    for i in vectorize(i_0, i_0 + 8):                  for i in vectorize(i_0, i_0 + 8):
        for k in range(2):                                 t[0, i - i_0] = a[i]
            t[k, i - i_0] = a[i + k]            -->        t[1, i - i_0] = a[i + 1]
        for l in range(1):                                 if t[0, i - i_0] > t[1, i - i_0]:
            if t[l, i - i_0] > t[l + 1, i - i_0]:              ...
                ...

Every index of such an array is a constant then, and LLVM keeps its rows in registers: a median of
nine takes 70 us instead of 300. For that, all loops are to be written out, and what comes of it is
not to be too long. Relies on: vector loops that are cut; `private_lanes`, which makes the arrays of
lanes before the loop.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Collection

from hybridjit.analysis.cost import find_work
from hybridjit.analysis.limits import loop_extent
from hybridjit.analysis.plain import is_plain
from hybridjit.analysis.unrolling import count_statements
from hybridjit.arith.simplify import simplify
from hybridjit.arith.substitution import FoldingSubstitute
from hybridjit.ir.expr import Buffer, Const, Load
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.stmt import HINTS, Allocate, For, LoopKind, Stmt, Store, seq
from hybridjit.ir.visit import StmtMutator, fresh_copy, walk, walk_stmts
from hybridjit.lowering.lane_cost import fit_in_lanes

# Statements of one vector. LLVM takes 0.2 s for 300 of them, 0.5 s for 600, and 1.5 s for 1,200.
MAX_STATEMENTS = 640
# So many times more are there at most, before it is known how often the loops of a triangle run.
_TRIANGLES = 4


def write_out_windows(func: PrimFunc) -> PrimFunc:
    """`func` without the loops over arrays that lanes can keep in registers."""
    made = (stmt.buffer for stmt in walk_stmts(func.body) if isinstance(stmt, Allocate))
    arrays = {buffer for buffer in made if not buffer.is_register and fit_in_lanes([buffer], 1)}
    if not arrays:
        return func
    body = _WriteOutWindows(_count_accesses(func.body, arrays)).rewrite(func.body)
    return func if body is func.body else dataclasses.replace(func, body=body)


def _count_accesses(stmt: Stmt, arrays: Collection[Buffer]) -> Counter[Buffer]:
    accesses = (node for node in walk(stmt) if isinstance(node, Load | Store))
    return Counter(node.buffer for node in accesses if node.buffer in arrays)


class _WriteOutWindows(StmtMutator):
    """Knows how many accesses of small arrays the function has."""

    def __init__(self, accesses: Counter[Buffer]) -> None:
        self.accesses = accesses

    def rewrite_For(self, node: For) -> Stmt:
        if node.kind is not LoopKind.VECTORIZED:
            return self.generic(node)
        if not self._is_window(node) or not is_plain(node.body):
            return node
        work = find_work(node.body)
        if work is None or work > _TRIANGLES * MAX_STATEMENTS:
            return node
        body = _WriteOut().rewrite(node.body)
        has_loops = any(isinstance(stmt, For) for stmt in walk_stmts(body))
        if has_loops or count_statements(body) > MAX_STATEMENTS:
            return node
        return dataclasses.replace(node, body=body)

    def _is_window(self, vector: For) -> bool:
        """True if loops inside go over an array that nothing else uses."""
        loops = [stmt for stmt in walk_stmts(vector.body) if isinstance(stmt, For)]
        if not loops or not all(map(_is_open, loops)):
            return False
        inside = _count_accesses(vector.body, self.accesses)
        own = {buffer for buffer, count in inside.items() if count == self.accesses[buffer]}
        return any(_count_accesses(loop.body, own) for loop in loops)


def _is_open(loop: For) -> bool:
    """True for a loop of which nobody has said how it is to run."""
    is_plain_loop = loop.kind is LoopKind.SERIAL and isinstance(loop.step, Const)
    return is_plain_loop and all(name in HINTS for name, _ in loop.annotations)


class _WriteOut(StmtMutator):
    """A copy of the body of a loop for each of its iterations, outermost first."""

    def rewrite_For(self, node: For) -> Stmt:
        trips = loop_extent(node)
        if trips is None or not isinstance(simplify(node.start), Const):
            return node
        return seq(*(self._copy(node, number) for number in range(trips)))

    def _copy(self, loop: For, number: int) -> Stmt:
        value = simplify(loop.start + number * loop.step)
        return self.rewrite(fresh_copy(FoldingSubstitute({loop.var: value}).rewrite(loop.body)))
