"""Why an innermost loop has no lanes: the first thing in the way, in a sentence for people.

Asks what vectorize_inner.py asks, in its order, of the same loop in the same state.
"""

from __future__ import annotations

import dataclasses

from hybridjit.analysis.lane_order import Conflict, find_conflict
from hybridjit.analysis.lanes import find_lanes
from hybridjit.analysis.limits import loop_extent
from hybridjit.arith.failures import describe_failure
from hybridjit.arith.totality import may_fail
from hybridjit.ir.expr import Add, Bounded, Const, Expr, ExternCall, Load, Node
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.stmt import (
    IN_LANES,
    ORIGIN,
    Allocate,
    Assert,
    Break,
    Continue,
    For,
    Print,
    Raise,
    Return,
    Stmt,
    Store,
    While,
)
from hybridjit.ir.visit import walk, walk_stmts
from hybridjit.lowering.drop_continues import drop_continues
from hybridjit.lowering.join_branches import join_branches
from hybridjit.lowering.lane_cost import MIN_EXTENT, is_copy
from hybridjit.lowering.loop_parts import find_weights
from hybridjit.lowering.vectorize_inner import VectorizeInner
from hybridjit.target import Target

# Not one by one, nor in lanes of ours.
COPIED = "copied as a whole"
ZEROED = "filled with zeros as a whole"
# A hint asks for lanes, and nothing else is known.
UNPROVED = "its iterations are not proved to be independent"


def find_lane_reasons(func: PrimFunc, target: Target) -> dict[int, str]:
    """For each numbered loop of `func`, if innermost or meant to have lanes, why it stays.

    Of a loop that was cut into parts, why the one with most iterations does.
    """
    explain = _Explain(func, target)
    explain.rewrite(func.body)
    weights = find_weights(func.body, {})
    return {number: _of_most(found, weights) for number, found in explain.reasons.items()}


def _of_most(reasons: list[tuple[For, str]], weights: dict[For, float | None]) -> str:
    _, reason = max(reasons, key=lambda each: weights[each[0]] or 0.0)
    return reason


class _Explain(VectorizeInner):
    def __init__(self, func: PrimFunc, target: Target) -> None:
        super().__init__(func, target)
        self.reasons: dict[int, list[tuple[For, str]]] = {}

    def rewrite_For(self, node: For) -> Stmt:
        made = super().rewrite_For(node)
        number = node.hint(ORIGIN)
        is_innermost = not any(isinstance(inner, For | While) for inner in walk_stmts(node.body))
        is_meant = is_innermost or node.hint(IN_LANES) is not None
        if made is node and number is not None and is_meant:
            body = join_branches(drop_continues(node.body))
            reason = self._reason(dataclasses.replace(node, body=body))
            self.reasons.setdefault(number, []).append((node, reason))
        return made

    def _reason(self, loop: For) -> str:
        nodes = list(walk(loop.body))
        found = self._control(nodes) or self._order(loop, nodes)
        if loop.asks(IN_LANES):
            return found or UNPROVED
        extent = loop_extent(loop)
        if extent is not None and extent < MIN_EXTENT:
            return f"{extent} iterations are too few"
        if is_copy(loop):
            return COPIED if any(isinstance(node, Load) for node in nodes) else ZEROED
        return found or "lanes would not be faster"

    def _control(self, nodes: list[Node]) -> str | None:
        """What may leave the loop, or is done outside of it."""
        for node in nodes:
            match node:
                case Break() | Return():
                    return "it may end early"
                case Raise() | Assert():
                    return "it may raise an error"
                case ExternCall(callee):
                    return f"it calls '{callee.name}', which is not known here"
                case Print():
                    return "it prints"
                case Bounded(index=_):
                    return "an index is checked in it"
                case Continue() | While():
                    return "its rounds take different ways"
                case Load():
                    pass  # in order, or refused before
                case Expr() if may_fail(node):
                    return describe_failure(node, self.func.span)
                case _:
                    pass
        return None

    def _order(self, loop: For, nodes: list[Node]) -> str | None:
        """What an iteration needs of earlier ones."""
        read = {node.buffer for node in nodes if isinstance(node, Load)}
        own = {node.buffer for node in nodes if isinstance(node, Allocate)}
        stores = [node for node in nodes if isinstance(node, Store) and node.buffer.is_register]
        carried = [node for node in stores if node.buffer in read and node.buffer not in own]
        if carried:
            return _carried_text(carried[0])
        lanes = find_lanes(loop, self.func.fastmath, self.unset)
        if lanes.obstacle is not None:
            return lanes.obstacle
        conflict = find_conflict(self.independence(), loop)
        if conflict is not None:
            return _conflict_text(loop, conflict)
        return None


def _conflict_text(loop: For, conflict: Conflict) -> str:
    """Which iteration is in the way; of accesses that meet here and there, only which array."""
    distance = conflict.distance
    if not isinstance(loop.step, Const) or distance is None or distance < 1:
        return f"iterations may need what earlier ones do to '{conflict.buffer.name}'"
    does = "writes" if conflict.first.is_write else "reads"
    did = "wrote" if conflict.second.is_write else "read"
    offset = distance * int(loop.step.value.real)
    name = loop.var.name
    earlier = f"{name} - {offset}" if offset > 0 else f"{name} + {-offset}"
    return f"iteration {name} {does} what {earlier} {did} in '{conflict.buffer.name}'"


def _carried_text(store: Store) -> str:
    buffer = store.buffer
    match store.value:
        case Add(Load(first), Load(second)) if buffer in (first, second):
            is_sum = True
        case Add(Load(first), _) | Add(_, Load(first)):
            is_sum = first is buffer
        case _:
            is_sum = False
    if is_sum and buffer.dtype.is_inexact:
        return f"'{buffer.name}' is added up in order; fastmath={{\"reassoc\"}} would free it"
    return f"each iteration needs '{buffer.name}' of the one before"
