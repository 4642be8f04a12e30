"""Let a nest compute only a part of its buffers: the slices of an axis inside of a range.

Where all accesses of the nest to the buffers have one and the same index on an axis, an iteration
touches one slice. Iterations for slices out of the range are left out; those for the others run as
before, and find all that they read of the buffers as before.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from hybridjit.analysis.elements import where
from hybridjit.analysis.instances import Part
from hybridjit.analysis.regions import AxisRange
from hybridjit.arith.linear import Linear, expr_of_form, linear_form
from hybridjit.arith.polyhedra import load_isl
from hybridjit.arith.simplify import simplify
from hybridjit.arith.totality import is_total
from hybridjit.ir.expr import Buffer, Const, Expr, Ge, Le, Load, Lt, Max, Min, Var
from hybridjit.ir.stmt import Block, For, Iter, IterKind, Let, Stmt, Store
from hybridjit.ir.visit import substitute, walk, walk_stmts
from hybridjit.record import record
from hybridjit.schedule.program import guarded, replace_inside, variables_in
from hybridjit.schedule.stages import allocated_in


@record(eq=False)
class Slices:
    """`index` is what all accesses of a nest have on one axis; `loops` are those it depends on."""

    index: Expr
    loops: tuple[For, ...]

    @property
    def innermost(self) -> For | None:
        """The loop in which the index is known."""
        return self.loops[-1] if self.loops else None


def restrict(nest: Stmt, slices: Slices, wanted: AxisRange, part: Part) -> Stmt:
    """`nest` without the iterations for slices that are not `wanted`.

    `part` knows what holds at the place where the nest will stand.
    """
    if slices.innermost is None:
        return _guarded(nest, slices.index, wanted, part)
    loop = _find_loop(nest, slices.innermost.var)
    if loop is None:
        return nest  # nothing is left to run: a guard of another axis never holds
    limits = _limits(slices, loop, wanted)
    if limits is None:
        body = _guarded(loop.body, slices.index, wanted, part)
        return replace_inside(nest, {loop: dataclasses.replace(loop, body=body)})
    return replace_inside(nest, {loop: _clipped(loop, limits, part)})


def _find_loop(nest: Stmt, var: Var) -> For | None:
    """The loop over `var` as it is in `nest`, which may have been restricted before."""
    loops = (node for node in walk_stmts(nest) if isinstance(node, For) and node.var is var)
    return next(loops, None)


def find_slices(nest: Stmt, buffers: Sequence[Buffer], axis: int) -> Slices | str:
    """The slices that the iterations of `nest` touch; or why they touch more than one."""
    values = _values(nest)
    names = " and ".join(f"'{buffer.name}'" for buffer in buffers)
    found: list[Expr] = []
    for node in walk(nest):
        if isinstance(node, Load | Store) and node.buffer in buffers:
            index = simplify(substitute(node.indices[axis], values))
            if not any(_are_equal(index, other) for other in found):
                found.append(index)
    if len(found) != 1:
        return f"it touches {names} at different indices of axis {axis}"
    index = found[0]
    used = set(variables_in(index))
    loops = tuple(node for node in walk_stmts(nest) if isinstance(node, For) and node.var in used)
    bound = {node.var for node in walk(nest) if isinstance(node, Let | Iter)}
    if not is_total(index) or used & bound:
        return f"its index of {names} on axis {axis} depends on more than loops"
    slices = Slices(index, loops)
    return _find_state(nest, buffers, slices) or slices


def _find_state(nest: Stmt, buffers: Sequence[Buffer], slices: Slices) -> str | None:
    """What an iteration that is left out would have done besides: write what others read."""
    loop = slices.innermost
    body = nest if loop is None else loop.body
    own = {*allocated_in(body), *buffers}
    for node in walk(body):
        if isinstance(node, Store) and node.buffer not in own:
            assert loop is not None
            return f"'{node.buffer.name}' is carried from one iteration of '{loop.var.name}' on"
    variables = {loop.var for loop in slices.loops}
    for node in walk(nest):
        if isinstance(node, Block) and node.init is not None:
            for item in node.iters:
                used = set(variables_in(substitute(item.value, _values(nest))))
                if item.kind is IterKind.REDUCE and used & variables:
                    return f"the init of block '{node.name}' runs in the first iteration only"
    return None


def _values(nest: Stmt) -> dict[Var, Expr]:
    """What iters and names for values stand for, in terms of loops."""
    values: dict[Var, Expr] = {}
    for node in walk(nest):  # what is bound further out or before comes first
        match node:
            case Iter(var, value) | Let(var, value) if is_total(value):
                values[var] = substitute(value, values)
            case _:
                pass
    return values


def _are_equal(x: Expr, y: Expr) -> bool:
    if x == y:
        return True
    form, other = linear_form(x), linear_form(y)
    if form is None or other is None:
        return False
    difference = form.plus(other, -1)
    return not difference.terms and difference.constant == 0


def _limits(slices: Slices, loop: For, wanted: AxisRange) -> tuple[Expr, Expr] | None:
    """The values of the loop's variable, from and up to, for which the index is wanted."""
    form = linear_form(slices.index)
    if form is None or len(slices.loops) != 1 or loop.step not in (Const(1), Const(-1)):
        return None
    factor = form.terms[loop.var]
    rest = expr_of_form(form.plus(Linear({loop.var: factor}), -1))
    if factor > 0:
        return _ceil(wanted.start - rest, factor), _ceil(wanted.stop - rest, factor)
    # rest - k * v < stop  <=>  v > (rest - stop) / k
    return (
        simplify((rest - wanted.stop) // -factor + 1),
        simplify((rest - wanted.start) // -factor + 1),
    )


def _ceil(value: Expr, divisor: int) -> Expr:
    return simplify(value if divisor == 1 else (value + (divisor - 1)) // divisor)


def _clipped(loop: For, limits: tuple[Expr, Expr], part: Part) -> For:
    first, stop = limits
    if loop.step == Const(1):
        start = _joined(Max, loop.start, first, part)
        return dataclasses.replace(loop, start=start, stop=_joined(Min, loop.stop, stop, part))
    start = _joined(Min, loop.start, simplify(stop - 1), part)
    end = _joined(Max, loop.stop, simplify(first - 1), part)
    return dataclasses.replace(loop, start=start, stop=end)


def _joined(join: type[Max] | type[Min], old: Expr, new: Expr, part: Part) -> Expr:
    """The greater or the lesser of both; just one of them where that is known to be it."""
    order = Ge if join is Max else Le
    if prove(part, order(new, old)):
        return new
    return old if prove(part, order(old, new)) else simplify(join(old, new))


def _guarded(body: Stmt, index: Expr, wanted: AxisRange, part: Part) -> Stmt:
    guards = [
        simplify(guard)
        for guard in (Ge(index, wanted.start), Lt(index, wanted.stop))
        if not prove(part, guard)
    ]
    return guarded(guards, body)


def prove(part: Part, wanted: Expr, facts: Sequence[str] = ()) -> bool:
    """Whether `wanted` is known to hold wherever the facts about `part` do."""
    fails = part.names.condition(wanted, holds=False)
    if fails is None:
        return False
    constraints = [*part.context, *facts, fails]
    return bool(load_isl().Set(f"{part.parameters} -> {{ {where(constraints)} }}").is_empty())


def is_all_of_axis(wanted: AxisRange, extent: Expr, part: Part) -> bool:
    """Whether the range is known to go from end to end."""
    return wanted.is_whole or (
        prove(part, Le(wanted.start, Const(0))) and prove(part, Ge(wanted.stop, extent))
    )
