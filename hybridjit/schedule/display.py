"""The program of a schedule as text, with numbers of iterations where loops do not say them."""

from __future__ import annotations

from collections.abc import Iterator

from hybridjit.ir.expr import Const, Expr, Min
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.printer import format_expr
from hybridjit.ir.stmt import Block, For, Stmt
from hybridjit.ir.visit import children, walk
from hybridjit.schedule.nest import trip_count
from hybridjit.schedule.program import variables_in


def show_program(func: PrimFunc) -> str:
    """`func` as it prints; a loop that does not count from 0 by 1 says how often it runs.

    Where that takes a formula with more than one variable, the bounds say it better.

    for i in range(1, 14, 3):  # 5 iterations
    """
    loops = _loops_in_order(func.body)
    lines: list[str] = []
    for line in str(func).splitlines():
        is_loop = line.lstrip().startswith("for ")
        note = _note(func, next(loops)) if is_loop else ""
        lines.append(line + note)
    return "\n".join(lines)


def _loops_in_order(stmt: Stmt) -> Iterator[For]:
    """The loops in the order of the text, in which an init stands before the body."""
    if isinstance(stmt, For):
        yield stmt
    inner = list(children(stmt))
    if isinstance(stmt, Block) and stmt.init is not None:
        inner = [stmt.init, stmt.body]
    for child in inner:
        if isinstance(child, Stmt):
            yield from _loops_in_order(child)


def _note(func: PrimFunc, loop: For) -> str:
    if loop.start == Const(0) and loop.step == Const(1):
        return ""
    trips = trip_count(func, loop)
    if not _is_plain(trips):
        return ""
    noun = "iteration" if trips == Const(1) else "iterations"
    return f"  # {format_expr(trips)} {noun}"


def _is_plain(trips: Expr) -> bool:
    variables = set(variables_in(trips))
    return len(variables) <= 1 and not any(isinstance(node, Min) for node in walk(trips))
