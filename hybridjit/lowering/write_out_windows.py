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

from hybridjit.analysis.cost import find_work
from hybridjit.analysis.limits import loop_extent
from hybridjit.analysis.plain import is_plain
from hybridjit.analysis.unrolling import count_statements
from hybridjit.arith.simplify import simplify
from hybridjit.arith.substitution import FoldingSubstitute
from hybridjit.ir.expr import Buffer, Const, Expr, Load, Var
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.stmt import HINTS, Allocate, For, LoopKind, Stmt, Store, seq
from hybridjit.ir.visit import StmtMutator, fresh_copy, walk, walk_stmts

# Statements of one vector. LLVM takes 0.2 s for 300 of them, 0.5 s for 600, and 1.5 s for 1,200.
MAX_STATEMENTS = 640
# So many times more are there at most, before it is known how often the loops of a triangle run.
_TRIANGLES = 4


def write_out_windows(func: PrimFunc) -> PrimFunc:
    """`func` without the loops over arrays that lanes can keep in registers."""
    arrays = {
        stmt.buffer
        for stmt in walk_stmts(func.body)
        if isinstance(stmt, Allocate) and not stmt.buffer.is_register and _is_known(stmt.buffer)
    }
    if not arrays:
        return func
    body = _WriteOutWindows(arrays).rewrite(func.body)
    return func if body is func.body else dataclasses.replace(func, body=body)


def _is_known(buffer: Buffer) -> bool:
    return all(isinstance(size, Const) for size in buffer.shape)


class _WriteOutWindows(StmtMutator):
    def __init__(self, arrays: set[Buffer]) -> None:
        self.arrays = arrays

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
        """True if loops inside say which elements of an array every lane is at."""
        loops = [stmt for stmt in walk_stmts(vector.body) if isinstance(stmt, For)]
        variables = {loop.var for loop in loops}
        return all(map(_is_open, loops)) and any(
            isinstance(node, Load | Store)
            and node.buffer in self.arrays
            and any(_mentions(index, variables) for index in node.indices)
            for node in walk(vector.body)
        )


def _mentions(index: Expr, variables: set[Var]) -> bool:
    return any(node in variables for node in walk(index) if isinstance(node, Var))


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
