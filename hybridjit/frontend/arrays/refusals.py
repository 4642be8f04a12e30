"""What arrays cannot do in a script: the errors, with what to write instead.

Whole arrays are computed with in the other files of this folder.
"""

from __future__ import annotations

import ast

import numpy as np

from hybridjit.errors import ParseError, Span, TypeMismatch
from hybridjit.frontend.numpy_refusals import HELP
from hybridjit.frontend.values import INDEX_NAMES, AnyArray, Array, describe
from hybridjit.ir.dtype import DTYPES
from hybridjit.scalars.suggest import did_you_mean

_OUTSIDE = "read it outside the script, and pass it in"
# `{0}` is the array.
_ATTRIBUTE_HELP = {
    "nbytes": "write {0}.size * {0}.itemsize",
    "flat": "write {0}.ravel()",
    "view": "write {0}.astype(dtype) to convert numbers; their bits are read outside the script",
    "tolist": "return the array itself, and make a list of the result",
    **dict.fromkeys(("len", "length"), "write len({0}) or {0}.size"),
    **dict.fromkeys(("base", "ctypes", "data", "flags", "strides"), _OUTSIDE),
}
ARRAY_ATTRIBUTES = ("shape", "ndim", "size", "dtype", "T", "mT", "real", "imag", "itemsize")
# Methods that are functions of numpy with the array as their first argument.
FUNCTION_METHODS = (
    *("repeat", "swapaxes", "squeeze", "diagonal", "take", "cumsum", "cumprod", "trace", "clip"),
    *("round", "argsort", "argpartition", "searchsorted", "choose", "nonzero"),
)
ARRAY_METHODS: tuple[str, ...] = (
    *("sum", "prod", "min", "max", "any", "all", "mean", "var", "std", "argmin", "argmax"),
    *("astype", "copy", "conj", "conjugate", "reshape", "transpose", "flatten", "ravel"),
    *("dot", "fill", "item", "sort", "partition", *FUNCTION_METHODS),
)

_ALL_ATTRIBUTES = (
    f"it has {', '.join(ARRAY_ATTRIBUTES)}, and the methods {', '.join(ARRAY_METHODS)}"
)


def refuse_array_expression(value: Array, whole: ast.AST, span: Span) -> ParseError | TypeMismatch:
    """The error for `a + b`, `-a` or `exp(a)` on whole arrays, and for `m[i]` as a number."""
    if value.indices:
        return refuse_part(value, span)
    if isinstance(whole, (ast.Name, ast.Attribute)):
        return refuse_choice(value, span)
    return ParseError(
        f"`{ast.unparse(whole)}` takes {describe(value)} as a whole; it works on one element "
        "at a time",
        span,
        help=_whole_array_help(whole) or loop_over(value),
    )


def refuse_choice(value: AnyArray, span: Span) -> ParseError:
    """The error for an array in `x if condition else y`, or alone in the place of a number."""
    return ParseError(
        f"{describe(value)} stands where a number is needed",
        span,
        help="choose between arrays with if and else on lines of their own, or with "
        "np.where(condition, x, y)",
    )


def _whole_array_help(whole: ast.AST) -> str | None:
    """What does the work of a function of numbers on whole arrays."""
    match whole:
        case ast.Call(ast.Name("max" | "min" as name), [array]):
            return f"write {ast.unparse(array)}.{name}()"
        case ast.Call(ast.Name(name) | ast.Attribute(attr=name), [array]) if name in DTYPES:
            return f'write {ast.unparse(array)}.astype("{name}")'
        case ast.Call(ast.Name(name), args) if hasattr(np, name) and args:
            return f"write np.{name}({', '.join(map(ast.unparse, args))})"
        case _:
            return None


def refuse_whole(value: AnyArray, whole: ast.AST, span: Span) -> TypeMismatch:
    """The error for an array where only numbers can stand."""
    return TypeMismatch(
        f"`{ast.unparse(whole)}` needs a number, found {describe(value)}",
        span,
        help="reduce it to a number, as with .any(), .all() or .sum(), or use one element",
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


def refuse_array_attribute(owner: AnyArray, name: str, span: Span) -> ParseError:
    """The error for `a.sum()`, `a.T` and their kind."""
    if hasattr(np.ndarray, name):
        message = f"'{name}' of an array is not supported inside a script"
        return ParseError(message, span, help=_attribute_help(owner, name))
    help = did_you_mean(name, (*ARRAY_ATTRIBUTES, *ARRAY_METHODS))
    if name in _ATTRIBUTE_HELP:
        help = _attribute_help(owner, name)
    return ParseError(f"an array has no '{name}'", span, help=help or _ALL_ATTRIBUTES)


def _attribute_help(owner: AnyArray, name: str) -> str:
    help = _ATTRIBUTE_HELP.get(name) or HELP.get(name)
    if help is None and callable(getattr(np.ndarray, name, None)):
        return f"an array has the methods {', '.join(ARRAY_METHODS)}"
    if isinstance(owner, Array) and not owner.indices:
        return loop_over(owner) if help is None else _filled(help, owner.buffer.name)
    if help is not None:
        return _filled(help, "a")
    return "write it with the functions of NumPy that a script has, or as a loop"


def _filled(help: str, name: str) -> str:
    return help.replace("{0}", name).replace("{}", name)


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
    if ndim <= len(INDEX_NAMES):
        return ", ".join(INDEX_NAMES[:ndim])
    return ", ".join(f"i{axis}" for axis in range(ndim))


def count(number: int, singular: str, plural: str | None = None) -> str:
    """`1 dimension`, `2 dimensions`."""
    return f"{number} {singular if number == 1 else plural or singular + 's'}"
