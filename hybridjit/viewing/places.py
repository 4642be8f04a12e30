"""Where each statement of a program came from: what the compiler has made is of the line that it
was made for, and what a library function does is of a line of the script as well.

    for i in range(64):                  line 3
        partial = allocate((4, 16))      line 4: it is for what comes next in the loop
        for k in range(0, 960, 64):      line 4
            ...
        largest = partial[0, 0]          line 4, as the script has it
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from hybridjit.errors import Span
from hybridjit.ir.expr import Expr, Var
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.stmt import For, Stmt, While
from hybridjit.ir.visit import Mutator, children


class Places:
    """Which line of a script statements are of, at every stage of its program.

    What is called from several lines, and stands apart from them, is of none.
    """

    def __init__(self, program: PrimFunc) -> None:
        """`program` is as it is written: there, the line of a call follows what it calls."""
        self._file = None if program.span is None else program.span.file
        self._callers: dict[Span, dict[int, Span]] = {}  # by their lines
        for stmt, place in self._find(program.body).items():
            if self._is_elsewhere(stmt):
                assert stmt.span is not None
                self._callers.setdefault(stmt.span, {})[place.line] = place

    def put_into(self, func: PrimFunc, *, for_code: bool = False) -> PrimFunc:
        """`func` with spans in the script, or none, for its statements.

        Loops that the compiler has made stay without one `for_code`: errors tell them by that.
        """
        return replace(
            func, body=_Placing(self._find(func.body), self._file, for_code).rewrite(func.body)
        )

    def _is_elsewhere(self, stmt: Stmt) -> bool:
        return stmt.span is not None and stmt.span.file != self._file

    def _is_of_several(self, stmt: Stmt) -> bool:
        return stmt.span is not None and len(self._callers.get(stmt.span, ())) > 1

    def _own(self, stmt: Stmt) -> Span | None:
        if stmt.span is None or stmt.span.file == self._file:
            return stmt.span
        callers = self._callers.get(stmt.span, {})
        return next(iter(callers.values())) if len(callers) == 1 else None

    def _find(self, body: Stmt) -> dict[Stmt, Span]:
        """Of each statement its own place, or that of the nearest one: inside of it, then in the
        same loop, later ones first, then in the loop around that.
        """
        stmts, ends = _in_order(body)
        own = [self._own(stmt) for stmt in stmts]
        known = [k for k, span in enumerate(own) if span is not None]
        found: dict[Stmt, Span] = {}
        around: list[int] = []
        for k, stmt in enumerate(stmts):
            while around and ends[around[-1]] <= k:
                around.pop()
            near = _nearest(k, [(k, ends[k]), *((m, ends[m]) for m in reversed(around))], known)
            span = None if near is None else own[near]
            if span is not None and not self._is_of_several(stmt):
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


class _Placing(Mutator):
    def __init__(self, places: dict[Stmt, Span], file: str | None, for_code: bool) -> None:
        self.places = places
        self.file = file
        self.for_code = for_code

    def rewrite_Stmt(self, node: Stmt) -> Stmt:
        made: Any = self.generic(node)
        is_loop = isinstance(node, For)
        if self.for_code and is_loop and (node.span is None or node not in self.places):
            return made
        return replace(made, span=self.places.get(node))

    def rewrite_Expr(self, node: Expr) -> Expr:
        made: Any = self.generic(node)
        is_elsewhere = node.span is not None and node.span.file != self.file
        return replace(made, span=None) if is_elsewhere and not isinstance(node, Var) else made
