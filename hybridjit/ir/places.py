"""Where statements stand that the compiler has made: where what they were made for does.

partial = allocate((4, 8))       line 7: it is for what comes next in the loop
for k in range(0, 512, 32):      line 7
    ...
total = partial[0, 0]            line 7, as the script has it
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator

from hybridjit.errors import Span
from hybridjit.ir.expr import Node
from hybridjit.ir.stmt import For, Stmt, While
from hybridjit.ir.visit import children


def find_places(body: Stmt, own: Callable[[Node], Span | None]) -> dict[Stmt, Span]:
    """Of each statement its own place, or that of the nearest one: inside of it, then in the
    same loop, later ones first, then in the loop around that.
    """
    stmts, ends = _in_order(body)
    spans = [own(stmt) for stmt in stmts]
    known = [k for k, span in enumerate(spans) if span is not None]
    found: dict[Stmt, Span] = {}
    around: list[int] = []
    for k, stmt in enumerate(stmts):
        while around and ends[around[-1]] <= k:
            around.pop()
        near = _nearest(k, [(k, ends[k]), *((m, ends[m]) for m in reversed(around))], known)
        span = None if near is None else spans[near]
        if span is not None:
            found[stmt] = span
        if isinstance(stmt, For | While):
            around.append(k)
    return found


def _nearest(place: int, ranges: list[tuple[int, int]], known: list[int]) -> int | None:
    later = bisect_left(known, place)
    for start, end in [*ranges, (0, known[-1] + 1 if known else 0)]:
        if later < len(known) and known[later] < end:
            return known[later]
        if later > 0 and known[later - 1] >= start:
            return known[later - 1]
    return None


def _in_order(body: Stmt) -> tuple[list[Stmt], list[int]]:
    """The statements as they are written, and for each of them the number of the first after it."""
    stmts: list[Stmt] = []
    ends: list[int] = []

    def visit(stmt: Stmt) -> None:
        place = len(stmts)
        stmts.append(stmt)
        ends.append(0)
        for child in _inner(stmt):
            visit(child)
        ends[place] = len(stmts)

    visit(body)
    return stmts, ends


def _inner(stmt: Stmt) -> Iterator[Stmt]:
    return (child for child in children(stmt) if isinstance(child, Stmt))
