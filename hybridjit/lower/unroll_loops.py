"""Replace each loop marked UNROLLED by one loop of a single iteration for each of its own.

    for i in unroll(2):            for i in range(1):
        a[i] = 1.0         -->         a[i] = 1.0
                                   for i_1 in range(1, 2):
                                       a[i_1] = 1.0

Such a loop is no loop in the code; it says which iteration is meant, in the text and in errors.
A loop that gives many plain statements stays: LLVM, told to unroll it, copies faster. Loops
with a `break`, and those whose range is only known at run time, become a `range`, which LLVM
unrolls as it sees fit. Relies on: no blocks; vector loops that are cut; `check_kinds`, which
refuses what is too long.

Short plain loops inside of another one, such as those over the window of a stencil, are unrolled
without being asked to: the loop around them is a straight line then, and only of those may LLVM
make vectors (codegen/loop_labels.py).
"""

from __future__ import annotations

import dataclasses

from hybridjit.analysis.limits import loop_extent
from hybridjit.analysis.unrolling import MAX_STATEMENTS, count_copies, count_statements
from hybridjit.arith.simplify import simplify
from hybridjit.ir.expr import Bounded, Const, Expr, ExternCall
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.stmt import For, Let, LoopKind, Seq, Stmt, Store, seq
from hybridjit.ir.visit import Mutator, fresh_copy, walk

# Statements that are copied here. A tile of 12 by 2 vectors takes 0.5 s so, and 0.1 s in LLVM.
MAX_COPIES = 16
# Statements that short loops may become: a window of 5 by 5. LLVM by itself unrolls about as many.
MAX_SHORT = 25


def unroll_loops(func: PrimFunc) -> PrimFunc:
    """`func` with copies in the place of its unrolled loops."""
    body = _UnrollLoops().rewrite(func.body)
    return func if body is func.body else dataclasses.replace(func, body=body)


class _UnrollLoops(Mutator):
    in_vectors = False
    depth = 0

    def rewrite_Seq(self, node: Seq) -> Stmt:
        rewritten = self.generic(node)
        return rewritten if rewritten is node else seq(*rewritten.stmts)

    def rewrite_For(self, node: For) -> Stmt:
        outside, self.in_vectors = self.in_vectors, node.kind is LoopKind.VECTORIZED
        self.in_vectors |= outside
        self.depth += 1
        loop = self.generic(node)  # inner loops first: their copies count
        self.depth -= 1
        self.in_vectors = outside
        if loop.kind is LoopKind.UNROLLED:
            return self._unroll(loop)
        return _copies(loop) if self.depth > 0 and _is_short(loop) else loop

    def _unroll(self, unrolled: For) -> Stmt:
        loop = dataclasses.replace(unrolled, kind=LoopKind.SERIAL)
        trips = count_copies(loop)
        if trips is None:
            return loop
        copies = trips * count_statements(loop.body)
        if copies > MAX_STATEMENTS:  # not as written, which is checked, but as other passes left it
            return loop
        if copies > MAX_COPIES and not self.in_vectors and _is_plain(loop.body):
            return unrolled
        return _copies(loop)


def _is_short(loop: For) -> bool:
    """Whether a loop becomes a few plain statements, one after the other."""
    trips = loop_extent(loop)
    if trips is None or trips == 1 or loop.kind is not LoopKind.SERIAL:
        return False
    if not (isinstance(loop.step, Const) and isinstance(loop.start, Const)):
        return False
    return trips * _count_stores(loop.body) <= MAX_SHORT and _is_plain(loop.body)


def _count_stores(body: Stmt) -> int:
    return max(1, sum(isinstance(node, Store) for node in walk(body)))


def _copies(loop: For) -> Stmt:
    return seq(*(_iteration(loop, number) for number in range(loop_extent(loop) or 0)))


def _is_plain(body: Stmt) -> bool:
    """Whether LLVM is sure to unroll a loop of this; where it does not, it prints a warning."""
    return all(
        node.kind in (LoopKind.UNROLLED, LoopKind.VECTORIZED) or loop_extent(node) == 1
        if isinstance(node, For)
        else isinstance(node, Seq | Store | Let | Expr)
        and not isinstance(node, Bounded | ExternCall)
        for node in walk(body)
    )


def _iteration(loop: For, number: int) -> Stmt:
    assert isinstance(loop.step, Const)
    step = int(loop.step.value.real)
    start = simplify(loop.start + number * step)
    stop = simplify(loop.start + (number + 1) * step)
    return fresh_copy(dataclasses.replace(loop, start=start, stop=stop))
