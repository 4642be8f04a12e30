"""Loops that count, one around the other."""

from __future__ import annotations

import dataclasses

from hybridjit.analysis.limits import loop_extent
from hybridjit.arith.totality import is_total
from hybridjit.ir.expr import Const
from hybridjit.ir.stmt import HINTS, UNSAFE, For, LoopKind, Stmt
from hybridjit.record import record


@record
class Nest:
    """Loops, outermost first, each of which is all that the one before it runs, and their body."""

    loops: tuple[For, ...]
    body: Stmt

    @staticmethod
    def of(loop: For) -> Nest:
        """All the loops from `loop` on inwards that are plain counting ones."""
        loops: list[For] = []
        body: Stmt = loop
        while isinstance(body, For) and is_counting(body):
            loops.append(body)
            body = body.body
        return Nest(tuple(loops), body)

    def over(self, body: Stmt) -> Stmt:
        """The loops around another body."""
        for loop in reversed(self.loops):
            body = dataclasses.replace(loop, body=body)
        return body


def is_counting(loop: For) -> bool:
    """True for range(start, stop) with bounds that can be computed anywhere in scope."""
    bounds = (loop.start, loop.stop)
    return (
        loop.kind is LoopKind.SERIAL
        and not loop.has_own_annotations
        and loop.step == Const(1)
        and all(is_total(bound) for bound in bounds)
    )


def can_hand_out(loop: For) -> bool:
    """True for a parallel loop whose iterations threads can be given in blocks."""
    is_plain = all(name == UNSAFE or name in HINTS for name, _ in loop.annotations)
    can_cut = isinstance(loop.step, Const) and is_total(loop.start) and is_total(loop.stop)
    is_parallel = loop.kind is LoopKind.PARALLEL and is_plain
    return is_parallel and can_cut and loop_extent(loop) not in (0, 1)
