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
"""

from __future__ import annotations

import dataclasses
from typing import TypeGuard

from hybridjit.analysis.limits import loop_extent
from hybridjit.analysis.unrolling import MAX_STATEMENTS, count_copies, count_statements
from hybridjit.arith.simplify import simplify
from hybridjit.ir.expr import Bounded, Const, Expr, ExternCall
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.stmt import UNROLL, For, Let, LoopKind, Seq, Stmt, Store, seq
from hybridjit.ir.visit import Mutator, fresh_copy, walk, walk_stmts

# Statements that are copied here. A tile of 12 by 2 vectors takes 0.5 s so, and 0.1 s in LLVM.
MAX_COPIES = 16
# Loops in all copies that LLVM may unroll in its turn: 289 of them, of 33 rounds, took minutes.
MAX_LOOPS = 32
_KEPT = (UNROLL, False)


def unroll_loops(func: PrimFunc) -> PrimFunc:
    """`func` with copies in the place of its unrolled loops."""
    body = _UnrollLoops().rewrite(func.body)
    return func if body is func.body else dataclasses.replace(func, body=body)


class _UnrollLoops(Mutator):
    in_vectors = False

    def rewrite_For(self, node: For) -> Stmt:
        outside, self.in_vectors = self.in_vectors, node.kind is LoopKind.VECTORIZED
        self.in_vectors |= outside
        loop = self.generic(node)  # inner loops first: their copies count
        self.in_vectors = outside
        return self._unroll(loop) if loop.kind is LoopKind.UNROLLED else loop

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


def _copies(loop: For) -> Stmt:
    trips = loop_extent(loop) or 0
    if trips * sum(map(_is_loop, walk_stmts(loop.body))) > MAX_LOOPS:
        loop = dataclasses.replace(loop, body=_KeepLoops().rewrite(loop.body))
    return seq(*(_iteration(loop, number) for number in range(trips)))


def _is_loop(stmt: Stmt) -> TypeGuard[For]:
    """Whether a statement is a loop to LLVM, which it may unroll."""
    if not isinstance(stmt, For) or stmt.kind is not LoopKind.SERIAL:
        return False
    return loop_extent(stmt) != 1 and _KEPT not in stmt.annotations


class _KeepLoops(Mutator):
    """Loops stay loops."""

    def rewrite_For(self, node: For) -> Stmt:
        loop = self.generic(node)
        is_open = _is_loop(loop)
        kept = (*loop.annotations, _KEPT)
        return dataclasses.replace(loop, annotations=kept) if is_open else loop


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
