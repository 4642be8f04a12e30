"""Let debuggers of Python follow a script that is interpreted: breakpoints on its lines stop.

Before each statement, a line of code runs that does nothing, and that has the file and the line of
the statement for its place, and the variables of the script for its names.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import cache
from types import CodeType
from typing import Any

from hybridjit.errors import Span
from hybridjit.interp.scope import UNSET, Frame, Scope


def step_at(span: Span, scope: Scope) -> Callable[[Frame], None]:
    """What runs before a statement at `span`."""
    code = _line(span.file, span.line, scope.name)
    slots = scope.slots  # which grow while the rest is compiled

    def step(frame: Frame) -> None:
        named = ((name.name, frame[slot]) for name, slot in slots.items())
        values: dict[str, Any] = {
            name: value for name, value in named if value is not None and value is not UNSET
        }
        exec(code, {"__name__": scope.name}, values)

    return step


@cache
def _line(file: str, line: int, name: str) -> CodeType:
    tree = ast.parse("pass")
    ast.increment_lineno(tree, line - 1)
    return compile(tree, file, "exec").replace(co_name=name)
