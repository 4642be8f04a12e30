"""What may fail in a program, in words: "`a[i] // b[i]` at line 7 may divide by zero"."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hybridjit.arith.totality import operation_may_fail
from hybridjit.errors import Span, line_in, text_at
from hybridjit.ir.expr import Bounded, Call, Cast, Expr, ExternCall, FloorDiv, Mod, Node, Pow
from hybridjit.ir.visit import walk
from hybridjit.lazy import lazy_module

if TYPE_CHECKING:
    from hybridjit.ir import printer
else:
    printer = lazy_module("hybridjit.ir.printer")  # for what is shown, and for errors


def find_failure(root: Node, script: Span | None = None) -> str | None:
    """The first operation in `root` that may fail, and how; None if none can.

    Lines are those of the `script`, or are named with their file.
    """
    found = (node for node in walk(root) if operation_may_fail(node))
    return next((describe_failure(node, script) for node in found), None)


def describe_failure(node: Node, script: Span | None = None) -> str:
    """How an operation, one that may fail, does so, as the script has it."""
    return f"`{_text(node)}`{_place(node.span, script)} {_what(node)}"


def _place(span: Span | None, script: Span | None) -> str:
    if span is None:
        return ""
    is_own = script is None or script.file == span.file
    return f" at {line_in('' if is_own else span.file, span.line)}"


def _text(node: Node) -> str:
    if isinstance(node, Bounded):
        return printer.format_expr(node.index)
    if node.span is not None and (text := text_at(node.span)):
        return text
    return printer.format_expr(node) if isinstance(node, Expr) else type(node).__name__


def _what(node: Node) -> str:
    match node:
        case FloorDiv() | Mod() | Call("fmod"):
            return "may divide by zero"
        case Pow():
            return "may have a negative exponent"
        case Cast(to):
            return f"may not fit into {to}"
        case Bounded(buffer=buffer):
            return f"may be outside of '{buffer}'"
        case ExternCall():
            return "may fail, or do something that is seen from outside"
        case _:
            return "may fail"
