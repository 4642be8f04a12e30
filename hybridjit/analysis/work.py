"""How much a statement does: a rough count of the simple statements it executes."""

from __future__ import annotations

from hybridjit.arith.linear import linear_form
from hybridjit.ir.expr import Const
from hybridjit.ir.stmt import For, If, LoopKind, Seq, Stmt, While
from hybridjit.ir.visit import walk

# Less work than this is done before another thread has woken up.
MIN_PARALLEL_WORK = 1 << 12


def find_work(stmt: Stmt) -> int | None:
    """The simple statements that one execution of `stmt` runs, at most; None if not known."""
    match stmt:
        case Seq(stmts):
            return _sum([find_work(inner) for inner in stmts])
        case If(_, then, otherwise):
            sides = [find_work(side) for side in (then, otherwise) if side is not None]
            return None if None in sides else max(side or 0 for side in sides) + 1
        case For(body=body):
            extent, each = loop_extent(stmt), find_work(body)
            return None if extent is None or each is None else extent * (each + 1)
        case While():
            return None
        case _:
            return 1


def _sum(parts: list[int | None]) -> int | None:
    return None if None in parts else sum(part or 0 for part in parts)


def loop_extent(loop: For) -> int | None:
    """The number of iterations, if it is a constant: also that of range(i * 16, i * 16 + 16)."""
    extent = loop.extent
    if isinstance(extent, Const):
        return int(extent.value.real)
    start, stop = linear_form(loop.start), linear_form(loop.stop)
    step = int(loop.step.value.real) if isinstance(loop.step, Const) else 0
    if start is None or stop is None or step == 0:
        return None
    distance = stop.plus(start, -1)
    return None if distance.terms else len(range(0, distance.constant, step))


def is_innermost(loop: For) -> bool:
    """True if no loop is left inside `loop`: vectors, copies and single iterations are none."""
    return not any(isinstance(node, For | While) and _counts(node) for node in walk(loop.body))


def _counts(loop: For | While) -> bool:
    extent = None if isinstance(loop, While) else loop_extent(loop)
    is_code = isinstance(loop, For) and loop.kind in (LoopKind.VECTORIZED, LoopKind.UNROLLED)
    return extent is None or (extent > 1 and not is_code)
