"""Whole-array expressions: the place where NumPy style meets the language.

Arrays are read and written one element at a time; an operator, a slice or a method applied to a
whole array arrives here and is refused, with the loop to write instead.
"""

from __future__ import annotations

import ast

import numpy as np

from hybridjit.errors import ParseError, Span, TypeMismatch
from hybridjit.frontend.suggest import did_you_mean
from hybridjit.frontend.values import Array, describe

_INDEX_NAMES = "ijklmnpq"
_OUTSIDE = "read it outside the script, and pass it in"
# `{0}` is the array.
_ATTRIBUTE_HELP = {
    "itemsize": "write {0}.dtype.itemsize",
    "nbytes": "write {0}.size * {0}.dtype.itemsize",
    **dict.fromkeys(("base", "ctypes", "data", "flags", "strides"), _OUTSIDE),
}
ARRAY_ATTRIBUTES = ("shape", "ndim", "size", "dtype")


def refuse_array_expression(value: Array, whole: ast.AST, span: Span) -> ParseError | TypeMismatch:
    """The error for `a + b`, `-a` or `exp(a)` on whole arrays, and for `m[i]` as a number."""
    if value.indices:
        return refuse_part(value, span)
    return ParseError(
        f"`{ast.unparse(whole)}` takes {describe(value)} as a whole; "
        "a script computes with one element at a time",
        span,
        help=loop_over(value),
    )


def refuse_part(value: Array, span: Span) -> TypeMismatch:
    """The error for `m[i]` of a matrix, used as a number."""
    name, given = value.buffer.name, len(value.indices)
    return TypeMismatch(
        f"too few indices: '{name}' has {count(value.buffer.ndim, 'dimension')}, "
        f"found {count(given, 'index', 'indices')}",
        span,
        help=f"index one element, as in {element_of(value)}",
    )


def refuse_truth(value: Array, span: Span) -> ParseError:
    """The error for `if a:` on a whole array."""
    return ParseError(
        f"{describe(value)} is neither true nor false; a condition needs a number",
        span,
        help=f"test its length with len({value.buffer.name}) > 0, or one element, as in "
        f"{element_of(value)}",
    )


def refuse_slice(owner: Array, span: Span) -> ParseError:
    """The error for a slice, an ellipsis or a new axis in a subscript."""
    return ParseError(
        f"slices of arrays are not supported: '{owner.buffer.name}' is used one element at a time",
        span,
        help=loop_over(owner),
    )


def refuse_array_index(value: Array, owner: Array, span: Span) -> ParseError:
    """The error for `a[idx]` and `a[a > 0]` with an array of indices or a mask."""
    return ParseError(
        f"{describe(value)} cannot index '{owner.buffer.name}' as a whole; "
        "a script uses one element at a time",
        span,
        help=f"{loop_over(value)} as the index",
    )


def refuse_array_attribute(owner: Array, name: str, span: Span) -> ParseError:
    """The error for `a.sum()`, `a.T` and their kind."""
    meant = None if hasattr(np.ndarray, name) else did_you_mean(name, ARRAY_ATTRIBUTES)
    return ParseError(
        f"'{name}' of an array is not supported; an array has {', '.join(ARRAY_ATTRIBUTES)}",
        span,
        help=meant or _attribute_help(owner, name),
    )


def _attribute_help(owner: Array, name: str) -> str:
    help = None if owner.indices else _ATTRIBUTE_HELP.get(name)
    return loop_over(owner) if help is None else help.format(owner.buffer.name)


def loop_over(value: Array) -> str:
    """A sentence with the loop over the elements of an array, as it can be typed in."""
    name, ndim = value.buffer.name, value.buffer.ndim
    if ndim == 0:
        return f"use its only element, {name}[()]"
    if ndim == 1:
        return f"write `for i in range(len({name})):` and use {name}[i]"
    return f"write `for {_indices(value)} in grid(*{name}.shape):` and use {element_of(value)}"


def element_of(value: Array) -> str:
    """One element of an array, as it is written in a loop."""
    return f"{value.buffer.name}[{_indices(value) or '()'}]"


def _indices(value: Array) -> str:
    ndim = value.buffer.ndim
    if ndim <= len(_INDEX_NAMES):
        return ", ".join(_INDEX_NAMES[:ndim])
    return ", ".join(f"i{axis}" for axis in range(ndim))


def count(number: int, singular: str, plural: str | None = None) -> str:
    """`1 dimension`, `2 dimensions`."""
    return f"{number} {singular if number == 1 else plural or singular + 's'}"
