"""Run the iterations of loops in another order: if they are independent, nobody can tell.

for i in parallel(n):      -->     for i in range(n):
    body(i)                            body(n - 1 - i)
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from functools import partial

from hybridjit.arith.simplify import simplify
from hybridjit.arith.totality import is_total
from hybridjit.ir.expr import Const, Expr, FloorDiv, Mod, Node, Var
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.stmt import For, LoopKind
from hybridjit.ir.visit import rewrite
from hybridjit.schedule.nest import bounds_of
from hybridjit.schedule.program import substitute_loop

Order = Callable[[Expr, Expr], Expr]
"""From the number of a step, and of all steps, to the number of the iteration that runs then."""


def last_first(step: Expr, steps: Expr) -> Expr:
    """Every two iterations change places."""
    return steps - 1 - step


def middle_first(step: Expr, steps: Expr) -> Expr:
    """The second half comes before the first."""
    return Mod(step + FloorDiv(steps, Const(2)), steps)


def rearrange(func: PrimFunc, order: Order, is_chosen: Callable[[For], bool]) -> PrimFunc:
    """`func` with each of the chosen loops run one iteration after the other, in this order."""
    return dataclasses.replace(func, body=rewrite(func.body, partial(_rule, order, is_chosen)))


def _rule(order: Order, is_chosen: Callable[[For], bool], node: Node) -> Node | None:
    if not isinstance(node, For) or not is_chosen(node) or not all(map(is_total, bounds_of(node))):
        return None
    # Another variable counts, so that a reduction over the loop starts where it did. It must not
    # have the values of the old one: then it would be taken for it.
    step, first = Var(node.var.name), 0
    value = _value(node, order(step, node.extent))
    if isinstance(value, Var):
        first, value = 1, _value(node, order(step - 1, node.extent))
    return dataclasses.replace(
        node,
        var=step,
        start=Const(first),
        stop=simplify(node.extent + first),
        step=Const(1),
        body=substitute_loop(node.body, node, value),
        kind=LoopKind.SERIAL,
        thread=None,
        annotations=(),
    )


def _value(loop: For, count: Expr) -> Expr:
    return simplify(loop.start + count * loop.step)
