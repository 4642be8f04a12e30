"""partition and peel: a loop becomes two that run the same iterations one after the other."""

from __future__ import annotations

import dataclasses

from hybridjit.arith.simplify import simplify
from hybridjit.arith.totality import is_total
from hybridjit.ir.expr import Const, Expr, Max, Min, Var
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.stmt import Block, For, Iter, IterKind, LoopKind, seq
from hybridjit.ir.visit import walk
from hybridjit.schedule.copies import copy_beside
from hybridjit.schedule.program import is_left_early, replace_stmt, the_loop
from hybridjit.schedule.refusal import refuse


def partition(func: PrimFunc, var: Var, at: int) -> tuple[PrimFunc, tuple[Var, Var]]:
    """Cut the loop over `var` in two, before the iteration where the variable is `at`.

    for i in range(n):            for i in range(min(at, n)):
        body(i)            -->        body(i)
                                  for i in range(max(at, 0), n):
                                      body(i)
    """
    check_cut(func, var, "partition")
    return make_cut(func, var, Const(at))


def peel(func: PrimFunc, var: Var, count: int, *, last: bool) -> tuple[PrimFunc, tuple[Var, Var]]:
    """Take the first or the last `count` iterations out of the loop over `var`.

    for i in range(n):            for i in range(min(count, n)):
        body(i)            -->        body(i)
                                  for i in range(count, n):
                                      body(i)
    """
    check_cut(func, var, "peel")
    loop = the_loop(func, var)
    if count < 1:
        raise refuse(
            func, f"peel: the number of iterations must be at least 1, got {count}", [loop]
        )
    at = loop.stop - count if last else loop.start + count
    return make_cut(func, var, simplify(at))


def make_cut(func: PrimFunc, var: Var, at: Expr) -> tuple[PrimFunc, tuple[Var, Var]]:
    """`func` with two loops in the place of one, the second from `at` on, and their variables."""
    loop = the_loop(func, var)
    middle = _middle(loop, at)
    copy = copy_beside(func, loop)
    assert isinstance(copy, For)
    first = dataclasses.replace(loop, stop=middle)
    second = dataclasses.replace(copy, start=middle)
    return replace_stmt(func, loop, seq(first, second)), (first.var, second.var)


def _middle(loop: For, at: Expr) -> Expr:
    """`at`, kept inside of the range. Of an empty range it is such that both parts are empty."""
    match at, loop.start:
        case Const(cut), Const(start) if cut.real <= start.real:
            return loop.start
        case Const(), Const():
            return simplify(Min(loop.stop, at))
        case _:
            return simplify(Min(Max(at, loop.start), loop.stop))


def check_cut(func: PrimFunc, var: Var, step: str) -> None:
    """Refuse a loop that does not count up to its end, or whose blocks would start over."""
    loop, name = the_loop(func, var), var.name
    if loop.step != Const(1):
        raise refuse(func, f"{step}: loop '{name}' does not count up by 1", [loop])
    if loop.kind not in (LoopKind.SERIAL, LoopKind.SCAN):
        raise refuse(func, f"loop '{name}' is {loop.kind.value} already", [loop])
    if not all(is_total(bound) for bound in (loop.start, loop.stop)):
        raise refuse(func, f"{step}: the bounds of loop '{name}' read memory or may fail", [loop])
    if is_left_early(loop):
        raise refuse(func, f"{step}: break or return may leave loop '{name}' early", [loop])
    if any(_starts_over(node, loop) for node in walk(loop.body)):
        raise refuse(
            func,
            f"{step}: loop '{name}' is part of a reduction with an init, which would start over",
            [loop],
            help="s.decompose_reduction takes the init out of the loop",
        )


def _starts_over(node: object, loop: For) -> bool:
    """Whether a block would run its init again at the start of the second loop."""
    if not isinstance(node, Block) or node.init is None:
        return False
    return any(item.kind is IterKind.REDUCE and _is_bound(item, loop) for item in node.iters)


def _is_bound(item: Iter, loop: For) -> bool:
    return item.domain is None and item.value is loop.var
