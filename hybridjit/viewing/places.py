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
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from hybridjit.errors import Span
from hybridjit.ir.expr import Expr, Node, Var
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.stmt import For, Stmt, While
from hybridjit.ir.visit import Mutator, children


class Places:
    """Which line of a script statements are of, at every stage of its program."""

    def __init__(self, program: PrimFunc) -> None:
        """`program` is as it is written."""
        self._script = program.span

    def put_into(self, func: PrimFunc, *, for_code: bool = False) -> PrimFunc:
        """`func` with spans in the script, or none, for its statements.

        Loops that the compiler has made stay without one `for_code`: errors tell them by that.
        """
        return replace(
            func, body=_Placing(self._find(func.body), self._own, for_code).rewrite(func.body)
        )

    def _own(self, node: Node) -> Span | None:
        """Where a node stands in the script, or what it is in is called from there."""
        span = node.span
        while span is not None and not self._is_in_script(span):
            span = span.call
        return span

    def _is_in_script(self, span: Span) -> bool:
        script = self._script
        if script is None:
            return True
        return span.file == script.file and script.line <= span.line <= script.end_line

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


class _Placing(Mutator):
    def __init__(
        self, places: dict[Stmt, Span], own: Callable[[Node], Span | None], for_code: bool
    ) -> None:
        self.places = places
        self.own = own
        self.for_code = for_code

    def rewrite_Stmt(self, node: Stmt) -> Stmt:
        made: Any = self.generic(node)
        is_loop = isinstance(node, For)
        if self.for_code and is_loop and node.span is None:
            return made
        return replace(made, span=self.places.get(node))

    def rewrite_Expr(self, node: Expr) -> Expr:
        made: Any = self.generic(node)
        own = self.own(node)
        return made if own is node.span or isinstance(node, Var) else replace(made, span=own)
