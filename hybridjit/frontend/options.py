"""The options in the printed form of a function: `@hybrid.script(fastmath={"contract"})`."""

from __future__ import annotations

import ast
from typing import TypedDict

from hybridjit.errors import ArgumentError, ArgumentValueError, ParseError
from hybridjit.ir.fastmath import read_fastmath
from hybridjit.source import FunctionSource, span_of


class Options(TypedDict, total=False):
    """What a function says besides its text."""

    fastmath: tuple[str, ...]
    parallel: bool


def printed_options(source: FunctionSource) -> Options:
    """The options that the decorator of a printed function gives; none without a decorator."""
    match source.node.decorator_list:
        case [] | [ast.Attribute(ast.Name("hybrid"), "script")]:
            return {}
        case [ast.Call(ast.Attribute(ast.Name("hybrid"), "script"), [], keywords)] if all(
            keyword.arg in ("fastmath", "parallel") for keyword in keywords
        ):
            return _read(keywords, source)
        case decorators:
            raise ParseError(
                "this decorator is not one of printed functions",
                span_of(decorators[0], source),
                help="write @hybrid.script(fastmath=...), or none",
            )


def _read(keywords: list[ast.keyword], source: FunctionSource) -> Options:
    found: Options = {}
    for keyword in keywords:
        if keyword.arg == "fastmath":
            found["fastmath"] = _read_fastmath(keyword.value, source)
        else:
            found["parallel"] = _read_switch(keyword.value, source)
    return found


def _read_switch(value: ast.expr, source: FunctionSource) -> bool:
    match value:
        case ast.Constant(bool(switch)):
            return switch
        case _:
            raise ParseError("parallel must be written as True or False", span_of(value, source))


def _read_fastmath(value: ast.expr, source: FunctionSource) -> tuple[str, ...]:
    try:
        return read_fastmath(ast.literal_eval(value))
    except (ArgumentError, ArgumentValueError) as error:
        raise ParseError(error.message, span_of(value, source)) from None
    except ValueError:
        raise ParseError(
            "fastmath must be written as a set of strings, or as True", span_of(value, source)
        ) from None
