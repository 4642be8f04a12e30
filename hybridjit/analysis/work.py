"""How much a statement does: a rough count of the simple statements it executes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from hybridjit.analysis.limits import Limits, find_limits, limits_of_loop, most_iterations
from hybridjit.arith.linear import linear_form
from hybridjit.ir.expr import Const, Var
from hybridjit.ir.stmt import For, If, Let, LoopKind, Seq, Stmt, While, flat_stmts
from hybridjit.ir.visit import walk

# Less work than this is done before another thread has woken up.
MIN_PARALLEL_WORK = 1 << 12
_NOTHING_KNOWN: Mapping[Var, Limits] = {}


def find_work(stmt: Stmt, known: Mapping[Var, Limits] = _NOTHING_KNOWN) -> int | None:
    """The simple statements that one execution of `stmt` runs, at most; None if not known.

    `known` are the limits of variables bound outside, where there are any.
    """
    match stmt:
        case Seq():
            return _sum([find_work(inner, names) for inner, names in _with_names(stmt, known)])
        case If(_, then, otherwise):
            sides = [find_work(side, known) for side in (then, otherwise) if side is not None]
            return None if None in sides else max(side or 0 for side in sides) + 1
        case For(body=body):
            extent, each = most_iterations(stmt, known), find_work(body, _with_loop(stmt, known))
            return None if extent is None or each is None else extent * (each + 1)
        case While():
            return None
        case _:
            return 1


def find_quiet_work(stmt: Stmt, most: int, known: Mapping[Var, Limits] = _NOTHING_KNOWN) -> int:
    """The work of `stmt` without the loops in it that note their own: when they are through.

    Those are all but loops with a constant number of iterations and less work than `most`.
    """
    match stmt:
        case Seq():
            parts = _with_names(stmt, known)
            return sum(find_quiet_work(inner, most, names) for inner, names in parts)
        case If(_, then, otherwise):
            sides = [side for side in (then, otherwise) if side is not None]
            return 1 + max(find_quiet_work(side, most, known) for side in sides)
        case For(body=body):
            work, extent = find_work(stmt, known), loop_extent(stmt)
            if work is None or work >= most or extent is None:
                return 0
            return extent * (find_quiet_work(body, most, _with_loop(stmt, known)) + 1)
        case While():
            return 0
        case _:
            return 1


def _with_loop(loop: For, known: Mapping[Var, Limits]) -> Mapping[Var, Limits]:
    """What is known inside `loop`."""
    limits = limits_of_loop(loop, known)
    return known if limits is None else {**known, loop.var: limits}


def _with_names(
    stmts: Seq, known: Mapping[Var, Limits]
) -> Iterator[tuple[Stmt, Mapping[Var, Limits]]]:
    """Each of `stmts`, with what is known there."""
    for stmt in flat_stmts(stmts):
        yield stmt, known
        limits = find_limits(stmt.value, known) if isinstance(stmt, Let) else None
        if isinstance(stmt, Let) and limits is not None:
            known = {**known, stmt.var: limits}


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
