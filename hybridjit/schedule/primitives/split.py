"""split: one loop becomes a nest of loops that runs the same iterations in the same order."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence

from hybridjit.arith.simplify import simplify
from hybridjit.arith.totality import is_total
from hybridjit.ir.expr import Const, Expr, FloorDiv, Lt, Max, Var
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.header import MAX_EXTENT
from hybridjit.ir.hints import part_of
from hybridjit.ir.printer import format_expr
from hybridjit.ir.stmt import For, If, LoopKind, Stmt
from hybridjit.schedule.nest import trip_count
from hybridjit.schedule.program import (
    is_left_early,
    only_stmt,
    replace_stmt,
    substitute_loop,
    the_loop,
)
from hybridjit.schedule.refusal import refuse

Factor = int | Expr | None
"""How many iterations a loop gets: a number, a size of the run, or None: as many as needed."""


def split(func: PrimFunc, var: Var, factors: Sequence[Factor]) -> tuple[PrimFunc, tuple[Var, ...]]:
    """Split the loop over `var` into one loop for each factor; at most one of them is open.

        for i in range(n):            for i_0 in range(ceil_div(n, 8)):
            body(i)            -->        for i_1 in range(8):
                                              if i_0 * 8 + i_1 < n:
                                                  body(i_0 * 8 + i_1)

    The open factor (None) is as large as it must be. A guard stands where the factors do not
    divide the number of iterations; lowering takes it out of the hot part. A factor that is known
    when the function runs counts as 1 if it is less: all iterations run, whatever it is.
    """
    check_split(func, var, factors)
    return make_split(func, var, factors)


def make_split(
    func: PrimFunc, var: Var, factors: Sequence[Factor]
) -> tuple[PrimFunc, tuple[Var, ...]]:
    """`func` with a nest in the place of a loop, and the variables of the nest."""
    loop = the_loop(func, var)
    trips = trip_count(func, loop)
    extents = _extents(factors, trips)
    loops = tuple(Var(f"{var.name}_{k}") for k in range(len(extents)))
    count = _position(loops, extents)
    value = simplify(loop.start + count * loop.step) if _is_offset(loop) else count
    body = substitute_loop(loop.body, loop, value)
    if not _divides(extents, trips):
        body = push_guard(Lt(count, trips, span=loop.span), body)
    for k in reversed(range(len(loops))):
        part = part_of(loop, k, len(loops))
        body = dataclasses.replace(
            part, var=loops[k], start=Const(0), stop=extents[k], step=Const(1), body=body
        )

    return replace_stmt(func, loop, body), loops


def check_split(func: PrimFunc, var: Var, factors: Sequence[Factor]) -> None:
    """Refuse factors that say nothing, and loops that do not run all of their iterations."""
    loop = the_loop(func, var)
    _check_factors(func, loop, factors)
    _check_loop(func, loop)
    _check_reach(func, loop, factors, trip_count(func, loop))


def _check_factors(func: PrimFunc, loop: For, factors: Sequence[Factor]) -> None:
    if not factors:
        raise refuse(func, f"split of loop '{loop.var.name}' needs at least one factor", [loop])
    if sum(factor is None for factor in factors) > 1:
        raise refuse(func, f"split of loop '{loop.var.name}': only one factor may be None", [loop])
    if any(isinstance(factor, int) and factor < 1 for factor in factors):
        raise refuse(
            func,
            f"split of loop '{loop.var.name}': factors must be at least 1, got {_listed(factors)}",
            [loop],
        )
    if math.prod(factor for factor in factors if isinstance(factor, int)) > MAX_EXTENT:
        raise refuse(
            func,
            f"split of loop '{loop.var.name}': the product of the factors is more than "
            f"{MAX_EXTENT}, got {_listed(factors)}",
            [loop],
        )


def _listed(factors: Sequence[Factor]) -> str:
    return ", ".join(format_expr(item) if isinstance(item, Expr) else str(item) for item in factors)


def _check_loop(func: PrimFunc, loop: For) -> None:
    if loop.kind not in (LoopKind.SERIAL, LoopKind.SCAN):
        raise refuse(
            func,
            f"loop '{loop.var.name}' is {loop.kind.value} already",
            [loop],
            help="split it first, then say how the new loops run; s.serial(loop) takes it back",
        )
    if is_left_early(loop):
        raise refuse(
            func,
            f"cannot split loop '{loop.var.name}': break or return may leave it early",
            [loop],
        )
    if not isinstance(loop.step, Const):
        raise refuse(
            func, f"cannot split loop '{loop.var.name}': its step is not a constant", [loop]
        )


def _check_reach(func: PrimFunc, loop: For, factors: Sequence[Factor], trips: Expr) -> None:
    """Without an open factor the new loops must run at least as many iterations as the old."""
    if any(factor is None for factor in factors):
        return
    known = [factor for factor in factors if isinstance(factor, int)]
    reach = math.prod(known)
    are_known = len(known) == len(factors)
    if not are_known or not isinstance(trips, Const) or reach < int(trips.value.real):
        runs = f"{reach} iterations" if are_known else "as many as they say"
        raise refuse(
            func,
            f"factors [{_listed(factors)}] run {runs}, loop '{loop.var.name}' runs "
            f"{format_expr(trips)}",
            [loop],
            help="leave one factor open: give None for it",
        )


def _extents(factors: Sequence[Factor], trips: Expr) -> list[Expr]:
    """The factors, with the open one filled in."""
    sizes = [factor if factor is None else extent_of_factor(factor) for factor in factors]
    product: Expr = Const(1)
    for size in sizes:
        product = product if size is None else simplify(product * size)
    rest = simplify(FloorDiv(trips + (product - 1), product))
    return [rest if size is None else size for size in sizes]


def extent_of_factor(factor: int | Expr) -> Expr:
    """How many iterations a loop of that factor has."""
    return Const(factor) if isinstance(factor, int) else simplify(Max(factor, Const(1)))


def _position(loops: Sequence[Var], extents: Sequence[Expr]) -> Expr:
    """The number of the iteration: `(i_0 * n_1 + i_1) * n_2 + i_2`, multiplied out."""
    position: Expr = loops[0]
    for var, extent in zip(loops[1:], extents[1:], strict=True):
        position = position * extent + var
    return simplify(position)


def _is_offset(loop: For) -> bool:
    return loop.start != Const(0) or loop.step != Const(1)


def _divides(extents: Sequence[Expr], trips: Expr) -> bool:
    """Whether the new loops run exactly `trips` iterations."""
    total: Expr = Const(1)
    for extent in extents:
        total = total * extent
    return simplify(total) == simplify(trips)


def push_guard(cond: Expr, body: Stmt) -> Stmt:
    """`body` under a condition, which goes inside of loops and guards that nothing else is in.

    The condition does not read memory; loop bounds on the way are evaluated without it, so they
    must be harmless.
    """
    inner = only_stmt(body)
    match inner:
        case For() if all(is_total(bound) for bound in (inner.start, inner.stop, inner.step)):
            return dataclasses.replace(inner, body=push_guard(cond, inner.body))
        case If(otherwise=None) if is_total(inner.cond):
            return dataclasses.replace(inner, then=push_guard(cond, inner.then))
        case _:
            return If(cond, body, span=cond.span)
