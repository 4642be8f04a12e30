"""Where each statement of a program came from: what the compiler has made is of the line that it
was made for, and what a library function does is of a line of the script as well.

    for i in range(64):                  line 3
        partial = allocate((4, 16))      line 4: it is for what comes next in the loop
        for k in range(0, 960, 64):      line 4
            ...
        largest = partial[0, 0]          line 4, as the script has it
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from hybridjit.errors import Span
from hybridjit.ir.expr import Expr, Node, Var
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.places import find_places
from hybridjit.ir.stmt import For, Stmt
from hybridjit.ir.visit import Mutator


class Places:
    """Which line of a script statements are of, at every stage of its program."""

    def __init__(self, program: PrimFunc) -> None:
        """`program` is as it is written."""
        self._script = program.span

    def put_into(self, func: PrimFunc, *, for_code: bool = False) -> PrimFunc:
        """`func` with spans in the script, or none, for its statements.

        Loops that the compiler has made stay without one `for_code`: errors tell them by that.
        """
        placing = _Placing(find_places(func.body, self._own), self._own, for_code)
        return replace(func, body=placing.rewrite(func.body))

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
