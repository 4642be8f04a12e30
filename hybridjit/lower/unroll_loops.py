"""Replace each loop marked UNROLLED by one loop of a single iteration for each of its own.

    for i in unroll(2):            for i in range(1):
        a[i] = 1.0         -->         a[i] = 1.0
                                   for i_1 in range(1, 2):
                                       a[i_1] = 1.0

Such a loop is no loop in the code; it says which iteration is meant, in the text and in errors.
Loops with a `break`, and those whose range is only known at run time, become a `range`, which
LLVM unrolls as it sees fit. Relies on: no blocks.
"""

from __future__ import annotations

import dataclasses

from hybridjit.analysis.work import loop_extent
from hybridjit.arith.simplify import simplify
from hybridjit.errors import ScheduleError
from hybridjit.ir.expr import Const, Var
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.stmt import Break, For, LoopKind, Seq, Stmt, While, seq
from hybridjit.ir.visit import Mutator, children, fresh_copy, walk

# Statements that unrolling may make of one loop: LLVM takes 0.1 s for 1,000, and 6 s for 10,000.
MAX_STATEMENTS = 4096


def unroll_loops(func: PrimFunc) -> PrimFunc:
    """`func` with copies in the place of its unrolled loops."""
    body = _UnrollLoops().rewrite(func.body)
    return func if body is func.body else dataclasses.replace(func, body=body)


class _UnrollLoops(Mutator):
    def rewrite_Seq(self, node: Seq) -> Stmt:
        rewritten = self.generic(node)
        return rewritten if rewritten is node else seq(*rewritten.stmts)

    def rewrite_For(self, node: For) -> Stmt:
        loop = self.generic(node)  # inner loops first: their copies count
        if loop.kind is not LoopKind.UNROLLED:
            return loop
        loop = dataclasses.replace(loop, kind=LoopKind.SERIAL)
        trips = loop_extent(loop)
        is_simple = isinstance(loop.step, Const) and isinstance(loop.start, Const | Var)
        if trips is None or not is_simple or _breaks(loop.body):
            return loop
        _check_size(loop, trips)
        return seq(*(_iteration(loop, number) for number in range(trips)))


def _iteration(loop: For, number: int) -> Stmt:
    assert isinstance(loop.step, Const)
    step = int(loop.step.value.real)
    start = simplify(loop.start + number * step)
    stop = simplify(loop.start + (number + 1) * step)
    return fresh_copy(dataclasses.replace(loop, start=start, stop=stop))


def _check_size(loop: For, trips: int) -> None:
    size = sum(isinstance(node, Stmt) and not isinstance(node, Seq) for node in walk(loop.body))
    if trips * size > MAX_STATEMENTS:
        raise ScheduleError(
            f"cannot unroll loop '{loop.var.name}': {trips} copies of {size} statements are more "
            f"than {MAX_STATEMENTS}",
            loop.span,
            help="write range, or split the loop and unroll the inner one",
        )


def _breaks(stmt: Stmt) -> bool:
    """True if `stmt` breaks out of the loop around it."""
    if isinstance(stmt, For | While):
        return False
    inner = [child for child in children(stmt) if isinstance(child, Stmt)]
    return isinstance(stmt, Break) or any(_breaks(child) for child in inner)
