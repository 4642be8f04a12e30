"""The arguments of a call: matched with parameter names, and read as what the callee needs."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Any

import numpy as np

from hybridjit.errors import ParseError
from hybridjit.frontend.arrays.memory import evaluate_all
from hybridjit.frontend.arrays.refusals import count as count_of
from hybridjit.frontend.builder import Builder
from hybridjit.frontend.refusals import refusal
from hybridjit.frontend.values import (
    Array,
    ElementType,
    Foreign,
    Items,
    Nothing,
    PythonType,
    Text,
    describe,
)
from hybridjit.ir.dtype import DTYPES, DType, find_dtype
from hybridjit.ir.expr import Const, Expr
from hybridjit.scalars.scalar import Scalar
from hybridjit.scalars.suggest import did_you_mean


def arguments(build: Builder, node: ast.Call, *names: str, required: int) -> dict[str, ast.expr]:
    """The arguments of a call by parameter name."""
    label = ast.unparse(node.func)
    found: dict[str, ast.expr] = {}
    for position, arg in enumerate(node.args):
        if isinstance(arg, ast.Starred):
            raise refusal(arg, build.span(arg))
        if position >= len(names):
            raise build.refuse(
                f"{label} takes at most {count_of(len(names), 'argument')}, found {len(node.args)}",
                arg,
                help=f"it takes {', '.join(names)}",
            )
        found[names[position]] = arg
    for keyword in node.keywords:
        name = keyword.arg
        if name is None:
            raise build.refuse(
                "'**' arguments are not supported",
                keyword.value,
                help="write the arguments one by one, as in name=value",
            )
        if name not in names:
            raise build.refuse(
                f"{label} has no argument '{name}'",
                keyword,
                help=did_you_mean(name, names) or f"it takes {', '.join(names)}",
            )
        if name in found:
            raise build.refuse(
                f"{label} got '{name}' twice: by its position and by its name",
                keyword,
                help="leave one of them out",
            )
        found[name] = keyword.value
    missing = [name for name in names[:required] if name not in found]
    if missing:
        raise build.refuse(
            f"{label} needs an argument '{missing[0]}'",
            node,
            help=f"it takes {', '.join(names)}",
        )
    return found


def number_arguments(build: Builder, node: ast.Call, count: int | None = None) -> list[Scalar]:
    """The positional arguments of a call, all of which must be numbers."""
    label = ast.unparse(node.func)
    if node.keywords:
        raise refuse_keyword(build, label, node.keywords[0])
    for arg in node.args:
        if isinstance(arg, ast.Starred):
            raise refusal(arg, build.span(arg))
    if count is not None and len(node.args) != count:
        raise build.refuse(
            f"{label} takes {count_of(count, 'argument')}, found {len(node.args)}", node
        )
    return build.as_operands(evaluate_all(build, node.args), node.args, node)


_KEYWORDS = {"where=": "choose afterwards, as in np.where(mask, result, other)"}


def refuse_keyword(build: Builder, label: str, keyword: ast.keyword) -> ParseError:
    """The error for a keyword argument where there can be none."""
    name = "**" if keyword.arg is None else f"{keyword.arg}="
    return build.refuse(
        f"{label} takes no argument '{name}' inside a script",
        keyword,
        help=_KEYWORDS.get(name, "give the arguments by position, and leave out all others"),
    )


def shape_argument(build: Builder, node: ast.expr) -> tuple[Expr, ...]:
    """The shape that an argument gives: a size, or a tuple of sizes."""
    value = build.evaluate(node)
    items = value.items if isinstance(value, Items) else (value,)
    entries = node.elts if isinstance(node, (ast.Tuple, ast.List)) else []
    if len(entries) != len(items):
        entries = [node] * len(items)
    shape: list[Expr] = []
    for item, entry in zip(items, entries, strict=True):
        if isinstance(item, Array):
            raise build.mismatch(
                f"expected a shape, found {describe(item)}",
                entry,
                help=f"use its shape, {ast.unparse(entry)}.shape",
            )
        extent = build.as_index(build.as_scalar(item, entry, "a size"), entry, "a size")
        if isinstance(extent, Const) and extent.value.real < 0:
            raise build.mismatch(f"a size must not be negative, found {extent.value}", entry)
        shape.append(extent)
    return tuple(shape)


def _dtype_named(build: Builder, name: str, node: ast.expr) -> DType:
    """The element type with a name of ours or of NumPy: 'float32', 'f4', '<f4', 'single'."""
    if name in DTYPES:
        return DTYPES[name]
    known = _numpy_dtype(name)
    if known is None:
        help = did_you_mean(name, DTYPES) or _DTYPES_HELP
        raise build.mismatch(f"unknown dtype {name!r}", node, help=help)
    dtype = find_dtype(known)
    if dtype is not None:
        return dtype
    if not known.isnative:
        raise build.mismatch(
            f"the dtype {name!r} has its bytes in the order of other machines",
            node,
            help=f"use {name.lstrip('><')!r}, and convert outside the script",
        )
    raise build.mismatch(f"the dtype {name!r} is not one of the language", node, help=_DTYPES_HELP)


def find_dtype_argument(build: Builder, args: Mapping[str, ast.expr]) -> DType | None:
    """The element type that `dtype=` names, unless it is left out or None."""
    if "dtype" not in args or isinstance(build.evaluate(args["dtype"]), Nothing):
        return None
    return dtype_argument(build, args["dtype"])


def dtype_argument(build: Builder, node: ast.expr) -> DType:
    """The element type that an argument names."""
    value = build.evaluate(node)
    match value:
        case ElementType(dtype):
            return dtype
        case PythonType():
            return value.type.dtype
        case Text(name):
            return _dtype_named(build, name, node)
        case Scalar() if isinstance(value.constant, int):
            raise build.mismatch(
                f"expected a dtype, found {describe(value)}",
                node,
                help="give several sizes as one tuple, as in output_tensor((8, 8))",
            )
        case Foreign(cls) if isinstance(cls, type):
            raise build.mismatch(
                f"'{ast.unparse(node)}' is not a dtype of the language", node, help=_DTYPES_HELP
            )
        case _:
            raise build.mismatch(
                f"expected a dtype, found {describe(value)}",
                node,
                help='write a name such as "float32", or a.dtype',
            )


def text_argument(build: Builder, node: ast.expr, what: str) -> str:
    """The string that an argument must be."""
    value = build.evaluate(node)
    if not isinstance(value, Text):
        raise build.mismatch(f"expected {what} as a string, found {describe(value)}", node)
    return value.text


def flag_argument(build: Builder, args: Mapping[str, ast.expr], name: str, default: bool) -> bool:
    """The flag that a call is given by name, which decides what code there is."""
    if name not in args:
        return default
    known = build.scalar(args[name]).constant
    if known is None:
        raise build.refuse(
            f"{name} must be known when the script is compiled",
            args[name],
            help="write True or False, or a branch for each of them",
        )
    return bool(known)


def _numpy_dtype(name: str) -> np.dtype[Any] | None:
    try:
        return np.dtype(name)
    except TypeError:
        return None


_DTYPES_HELP = f"use one of {', '.join(DTYPES)}"
