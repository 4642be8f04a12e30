"""fuse: two or more nested loops become one."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from hybridjit.arith.simplify import simplify
from hybridjit.arith.totality import is_total
from hybridjit.ir.expr import Const, Expr, FloorDiv, Mod, Var
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.hints import joined_hints
from hybridjit.ir.stmt import For, LoopKind
from hybridjit.ir.visit import walk_stmts
from hybridjit.schedule.nest import bounds_of, the_nest, trip_count
from hybridjit.schedule.program import is_left_early, replace_stmt, substitute_loop, variables_in
from hybridjit.schedule.refusal import check_concurrent, names, refuse


def fuse(func: PrimFunc, variables: Sequence[Var]) -> tuple[PrimFunc, Var]:
    """Make one loop of nested ones; it runs the same iterations in the same order.

    for i in range(n):            for i_j in range(n * m):
        for j in range(m):   -->      body(i_j // m, i_j % m)
            body(i, j)
    """
    check_fuse(func, variables)
    made, fused = make_fuse(func, variables)
    # Where an extent is not known, indices divide by it: what a loop inside sums up at such an
    # index cannot be kept apart for each thread any more.
    body = the_nest(func, variables, "fuse").root.body
    inside = [stmt for stmt in walk_stmts(body) if isinstance(stmt, For)]
    check_concurrent(made, inside, "fuse")
    return made, fused


def make_fuse(func: PrimFunc, variables: Sequence[Var]) -> tuple[PrimFunc, Var]:
    """`func` with one loop in the place of a nest, and the variable of the loop."""
    nest = the_nest(func, variables, "fuse")
    fused = Var("_".join(loop.var.name for loop in nest.loops))
    extents = [trip_count(func, loop) for loop in nest.loops]
    body = nest.rebuild(())
    for loop, count in zip(nest.loops, _counts(fused, extents), strict=True):
        body = substitute_loop(body, loop, _value(loop, count))
    total: Expr = Const(1)
    for extent in extents:
        total = total * extent
    root = dataclasses.replace(nest.root, annotations=joined_hints(nest.loops))
    made = dataclasses.replace(
        root, var=fused, start=Const(0), stop=simplify(total), step=Const(1), body=body
    )

    return replace_stmt(func, nest.root, made), fused


def check_fuse(func: PrimFunc, variables: Sequence[Var]) -> None:
    """Refuse loops that are no rectangle, or that do not run all of their iterations."""
    nest = the_nest(func, variables, "fuse")
    if [loop.var for loop in nest.loops] != list(variables):
        raise refuse(
            func,
            f"fuse: give the loops outermost first, with none left out between them: "
            f"{names(nest.loops)}",
            nest.loops,
        )
    for position, loop in enumerate(nest.loops):
        outer = {other.var for other in nest.loops[:position]}
        needed = [var for bound in bounds_of(loop) for var in variables_in(bound) if var in outer]
        if needed:
            raise refuse(
                func,
                f"fuse: the bounds of loop '{loop.var.name}' depend on loop {names(needed)}",
                [loop, *needed],
            )
        _check_loop(func, loop)


def _check_loop(func: PrimFunc, loop: For) -> None:
    if loop.kind not in (LoopKind.SERIAL, LoopKind.SCAN):
        raise refuse(
            func,
            f"loop '{loop.var.name}' is {loop.kind.value} already",
            [loop],
            help="fuse first, then say how the new loop runs; s.serial(loop) takes it back",
        )
    if not all(is_total(bound) for bound in bounds_of(loop)):
        raise refuse(
            func, f"fuse: the bounds of loop '{loop.var.name}' read memory or may fail", [loop]
        )
    if is_left_early(loop):
        raise refuse(func, f"fuse: break or return may leave loop '{loop.var.name}' early", [loop])


def _counts(fused: Var, extents: Sequence[Expr]) -> list[Expr]:
    """The number of the iteration of each loop: `f // (m * l)`, `f // l % m`, `f % l`."""
    counts: list[Expr] = []
    rest: Expr = fused
    for extent in reversed(extents[1:]):
        counts.append(simplify(Mod(rest, extent)))
        rest = simplify(FloorDiv(rest, extent))
    return [rest, *reversed(counts)]


def _value(loop: For, count: Expr) -> Expr:
    return simplify(loop.start + count * loop.step)
