"""reorder: run the loops of a nest in another order."""

from __future__ import annotations

from collections.abc import Sequence

from hybridjit.analysis.accesses import scopes_of_loops
from hybridjit.analysis.dependence import Dependences
from hybridjit.analysis.independence import Independence
from hybridjit.analysis.instances import Instances, infer_instances
from hybridjit.arith.totality import is_total
from hybridjit.ir.expr import Var
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.stmt import For
from hybridjit.schedule.nest import Nest, bounds_of, the_nest
from hybridjit.schedule.program import is_left_early, replace_stmt, variables_in
from hybridjit.schedule.refusal import check_concurrent, names, refuse, refuse_conflict


def reorder(func: PrimFunc, variables: Sequence[Var], *, unsafe: bool = False) -> PrimFunc:
    """Put the loops over `variables` in this order, in the places that they take up now.

        for i in range(n):            for j in range(m):
            for j in range(m):   -->      for i in range(n):
                body(i, j)                    body(i, j)

    Legal if every two iterations that depend on each other still run one after the other.
    """
    check_reorder(func, variables, unsafe=unsafe)
    return make_reorder(func, variables)


def make_reorder(func: PrimFunc, variables: Sequence[Var]) -> PrimFunc:
    """`func` with its loops in another order."""
    nest = the_nest(func, variables, "reorder")
    order = _new_order(nest, variables)
    return func if order == nest.loops else replace_stmt(func, nest.root, nest.rebuild(order))


def check_reorder(func: PrimFunc, variables: Sequence[Var], *, unsafe: bool = False) -> None:
    """Refuse what `make_reorder` cannot do, and what it may not, unless that is `unsafe`."""
    nest = the_nest(func, variables, "reorder")
    order = _new_order(nest, variables)
    if order == nest.loops:
        return
    _check_bounds(func, nest, order)
    if not unsafe:
        _check_dependences(func, nest, order)
        _check_kinds(make_reorder(func, variables), nest, order)


def _new_order(nest: Nest, variables: Sequence[Var]) -> tuple[For, ...]:
    by_var = {loop.var: loop for loop in nest.loops}
    queue = iter(variables)
    return tuple(by_var[next(queue)] if loop.var in variables else loop for loop in nest.loops)


def _check_bounds(func: PrimFunc, nest: Nest, order: Sequence[For]) -> None:
    """Bounds are evaluated further out, or more often, than before: they must not mind."""
    for position, loop in enumerate(order):
        inner = {other.var for other in order[position:]}
        needed = [var for bound in bounds_of(loop) for var in variables_in(bound) if var in inner]
        if needed:
            raise refuse(
                func,
                f"reorder: the bounds of loop '{loop.var.name}' depend on loop {names(needed)}, "
                "which would be inside of it",
                [loop, *needed],
            )
        if not all(is_total(bound) for bound in bounds_of(loop)):
            raise refuse(
                func,
                f"reorder: the bounds of loop '{loop.var.name}' read memory or may fail",
                [loop],
                help="compute them before the loops, into a variable",
            )
        if is_left_early(loop):
            raise refuse(
                func, f"reorder: break or return may leave loop '{loop.var.name}' early", [loop]
            )


def _check_dependences(func: PrimFunc, nest: Nest, order: Sequence[For]) -> None:
    independence = Independence.at(func, scopes_of_loops(func.body)[nest.root.var])
    if independence.prove_reordered(nest.loops, order, nest.rebuild(())):
        return
    part = infer_instances(func, nest.root, products=True)
    conflict = Dependences(part, func.fastmath).find_reversed(
        lambda statement: statement.time,
        lambda statement: (*_times(statement, order), *statement.time),
    )
    if conflict is not None:
        moved = [loop for loop, old in zip(order, nest.loops, strict=True) if loop is not old]
        raise refuse_conflict(
            func, f"reorder of loops {names(moved)} would turn a dependence around", conflict, moved
        )


def _check_kinds(moved: PrimFunc, nest: Nest, order: Sequence[For]) -> None:
    """A concurrent loop that is further out than before has more between its iterations."""
    outer = [
        loop for loop in order if order.index(loop) < nest.loops.index(loop) and not loop.is_unsafe
    ]
    check_concurrent(moved, outer, "reorder")


def _times(statement: Instances, order: Sequence[For]) -> list[str]:
    """The iteration of the loops of the nest, in their new order; all statements are inside."""
    return [statement.time_of(loop) for loop in order]
