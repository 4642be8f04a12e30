"""Whether the iterations of a loop may run at the same time."""

from __future__ import annotations

from hybridjit.analysis.accesses import scopes_of_loops
from hybridjit.analysis.context import infer_context
from hybridjit.analysis.dependence import Conflict, Dependences
from hybridjit.analysis.independence import Independence
from hybridjit.analysis.instances import infer_instances
from hybridjit.analysis.private_reduction import find_private_reductions, may_regroup
from hybridjit.analysis.reduction import find_guarded_store
from hybridjit.ir.expr import Buffer, Compare, ExternCall, Load, Node
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.stmt import For, If, LoopKind, Print, Reserve, Store
from hybridjit.ir.visit import walk, walk_stmts
from hybridjit.record import record


@record(eq=False)
class Obstacle:
    """Why a loop cannot be concurrent: two iterations, or else a reason in words."""

    reason: str
    conflict: Conflict | None = None
    help: str | None = None


def find_obstacle(func: PrimFunc, loop: For) -> Obstacle | None:
    """What keeps the iterations of `loop` from running at the same time; None if nothing does.

    A reduction into one element is no obstacle where it may be reordered: lowering gives each
    thread or lane an element of its own, and combines them after the loop. Nor is an error that
    an iteration may raise: of several, the first in the order of the loop is reported.
    """
    if loop.kind is LoopKind.SCAN:
        return Obstacle("a scan carries state from one step to the next")
    if loop.var in infer_context(loop).left_early:
        return Obstacle("break or return may leave it early")
    if any(isinstance(node, Reserve) for node in walk_stmts(loop.body)):
        return Obstacle("memory grows in it, as that of lists or of calls that call themselves")
    around = scopes_of_loops(func.body)[loop.var]
    if Independence.at(func, around).prove_independent([loop], loop.body):
        return None
    combined: list[Buffer | None] = [
        found.buffer for found in find_private_reductions(loop, func.fastmath)
    ]
    if not any(map(_leads_out, walk(loop.body))):
        combined.append(None)  # errors are the only effects
    dependences = Dependences(infer_instances(func, loop, products=True), ordered=True)
    conflict = dependences.find_carried(0, besides=combined)
    if conflict is None:
        return None
    help = (
        _find_help(conflict, func)
        or _find_help_for_guards(conflict, loop)
        or _find_help_for_variables(conflict, loop, func)
    )
    return Obstacle("its iterations depend on each other", conflict, help)


def _find_help_for_guards(conflict: Conflict, loop: For) -> str | None:
    """What would make it legal, if it is `if e <= x: x = e`, which is not just a minimum."""
    for node in walk(loop.body):
        store = find_guarded_store(node) if isinstance(node, If) else None
        if store is None or store.buffer is not conflict.buffer or not isinstance(node, If):
            continue
        sides = {Load(store.buffer, store.indices), store.value}
        if isinstance(node.cond, Compare) and {node.cond.lhs, node.cond.rhs} == sides:
            return (
                "this keeps another one of 0.0, -0.0 and NaN than min(x, e) and max(x, e) do, "
                "which may be computed in parallel: write `x = min(x, e)`"
            )
    return None


def _find_help_for_variables(conflict: Conflict, loop: For, func: PrimFunc) -> str | None:
    """What would make it legal, if an iteration sets a variable before it reads it, but may not.

    One that is read after the loop is what the iterations are about.
    """
    buffer = conflict.buffer
    if buffer is None or not buffer.is_register:
        return None
    used, inside = ([n for n in walk(part) if _uses(n, buffer)] for part in (func.body, loop.body))
    first = next(iter(inside), None)
    is_outside = sum(isinstance(n, Load) for n in used) > sum(isinstance(n, Load) for n in inside)
    if is_outside or not isinstance(first, Store) or Load(buffer) in walk(first.value):
        return None
    return (
        f"an iteration that does not set '{buffer.name}' reads what another one has left: give it "
        f"a value at the beginning of each, as in {buffer.name} = 0"
    )


def _uses(node: Node, buffer: Buffer) -> bool:
    return isinstance(node, Load | Store) and node.buffer is buffer


def _leads_out(node: Node) -> bool:
    """Whether others see that `node` is evaluated."""
    if isinstance(node, ExternCall):
        return not node.callee.is_reentrant
    return isinstance(node, Print | Reserve)


def _find_help(conflict: Conflict, func: PrimFunc) -> str | None:
    """What would make it legal, if the conflict is between two updates of one sum."""
    first, later = conflict.first.statement, conflict.later.statement
    if first is not later or first.reduction is None:
        return None
    if first.reduction.buffer is not conflict.buffer:
        return None
    if may_regroup(first.reduction, func.fastmath):
        return (
            "the updates are a reduction of many elements: s.rfactor(loop) makes partial results, "
            "and so does range(...) in a script with parallel=True, by itself"
        )
    return (
        "the order of the updates decides how their result is rounded: "
        'fastmath={"reassoc"} of @hybrid.script or te.create_schedule allows any order'
    )
