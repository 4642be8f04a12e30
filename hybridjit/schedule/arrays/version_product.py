"""Let a nest be a product of matrices where its sizes turn out to be those of one.

    for i in range(n):                         if n <= c.shape[0] and ... and 0 < l:
        for j in range(m):                         for i in range(n): ...
            for k in range(l):           -->   else:
                c[i, j] += a[i, k] * b[k, j]       for i in range(n): ...

Inside of the condition, steps on array statements know that all indices are inside of their arrays.
The other nest is as it was: errors come from the same iteration, after the same effects.
"""

from __future__ import annotations

from dataclasses import replace
from functools import reduce

from hybridjit.analysis.accesses import find_accesses, scope_of
from hybridjit.analysis.inside import facts_in, prove_inside
from hybridjit.analysis.lower_blocks import lower_blocks
from hybridjit.arith.ranges import ONE, ZERO
from hybridjit.ir.expr import Add, And, Const, Expr, Le, Lt, Max, Min, Mul, Not, Sub, Var
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.stmt import Block, For, If, IterKind
from hybridjit.ir.visit import walk, walk_stmts
from hybridjit.schedule.copies import copy_beside
from hybridjit.schedule.program import replace_stmt

_SIZES = (Var, Const, Add, Sub, Mul, Min, Max)  # what loops run to, if it never fails


def find_doubts(func: PrimFunc, block: Block, nest: For) -> list[Expr] | None:
    """What must hold for all indices in the loops around a block to be inside of their arrays, and
    for its sums to have terms; None if that cannot be told before the outermost loop, the `nest`.
    """
    loops = [stmt for stmt in walk_stmts(nest) if isinstance(stmt, For)]
    stops = {loop.var: loop.stop for loop in loops if (loop.start, loop.step) == (ZERO, ONE)}
    nodes = [node for stop in stops.values() for node in walk(stop)]
    if len(stops) < len(loops) or not all(isinstance(node, _SIZES) for node in nodes):
        return None
    if not stops.keys().isdisjoint(nodes):
        return None
    terms = [item.value for item in block.iters if item.kind is IterKind.REDUCE]
    wanted: list[Expr] = [Lt(ZERO, stop) for var, stop in stops.items() if var in terms]
    around = scope_of(func.body, nest)
    for access in find_accesses(lower_blocks(replace(func, body=nest)).body):
        if prove_inside(func, around, access):
            continue
        for index, size in zip(access.indices, access.buffer.shape, strict=True):
            match index:
                case Var() if index in stops:
                    wanted.append(Le(stops[index], size))
                case Const(int(value)) if value >= 0:
                    wanted.append(Lt(index, size))
                case _:
                    return None
    facts = facts_in(func, around)
    doubts = [doubt for doubt in dict.fromkeys(wanted) if not facts.prove(doubt)]
    return None if any(facts.prove(Not(doubt)) for doubt in doubts) else doubts


def with_version(func: PrimFunc, nest: For, conditions: list[Expr]) -> PrimFunc:
    """`func` with `nest` where all conditions hold, and a copy of it where they do not."""
    condition = reduce(And, conditions)
    return replace_stmt(func, nest, If(condition, nest, copy_beside(func, nest), span=nest.span))
