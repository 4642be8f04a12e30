"""Whole-array expressions: the place where NumPy style meets the language.

Arrays are read and written one element at a time; an operator, a slice or a method applied to a
whole array arrives here and is refused, with the loop to write instead.
"""

from __future__ import annotations

import ast

from hybridjit.errors import ParseError, Span
from hybridjit.frontend.values import Array, Items, Nothing, Value, describe

_INDEX_NAMES = "ijklmnpq"


def refuse_array_expression(value: Value, whole: ast.expr, span: Span | None) -> ParseError:
    """The error for `a + b`, `-a`, `exp(a)` or `x[a]` on whole arrays."""
    text = ast.unparse(whole)
    if not isinstance(value, Array):
        return ParseError(f"cannot index with {describe(value)}", span, help=_index_help(value))
    return ParseError(
        f"`{text}` works on {describe(value)} as a whole; only its elements are numbers",
        span,
        help=f"write a loop over its elements and use {_element(value)}",
    )


def refuse_slice(owner: Array, span: Span | None) -> ParseError:
    """The error for a slice, an ellipsis or a new axis in a subscript."""
    return ParseError(
        f"slices of arrays are not supported: '{owner.buffer.name}' is read one element at a time",
        span,
        help=f"write a loop and use {_element(owner)}",
    )


def refuse_array_method(owner: Array, name: str, span: Span | None) -> ParseError:
    """The error for `a.sum()` and its kind."""
    known = "shape, ndim, size and dtype"
    return ParseError(
        f"arrays have no '{name}' here; what can be asked of '{owner.buffer.name}' is {known}",
        span,
        help=f"write a loop over its elements and use {_element(owner)}",
    )


def _element(value: Array) -> str:
    indices = ", ".join(_INDEX_NAMES[: value.buffer.ndim]) or "()"
    return f"{value.buffer.name}[{indices}]"


def _index_help(value: Value) -> str:
    if isinstance(value, Nothing):
        return "new axes need whole-array expressions; index the elements in a loop"
    if isinstance(value, Items):
        return "write the indices one by one, as in a[i, j]"
    return "use an integer"
