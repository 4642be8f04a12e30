"""The options in the printed form of a function: `@hybrid.script(fastmath={"contract"})`."""

from __future__ import annotations

import ast

from hybridjit.errors import ArgumentError, ArgumentValueError, ParseError
from hybridjit.ir.fastmath import read_fastmath
from hybridjit.source import FunctionSource, span_of


def printed_fastmath(source: FunctionSource) -> tuple[str, ...]:
    """The flags that the decorator of a printed function gives; none without a decorator."""
    match source.node.decorator_list:
        case [] | [ast.Attribute(ast.Name("hybrid"), "script")]:
            return ()
        case [
            ast.Call(
                ast.Attribute(ast.Name("hybrid"), "script"), [], [ast.keyword("fastmath", value)]
            )
        ]:
            return _read(value, source)
        case decorators:
            raise ParseError(
                "this decorator is not one of printed functions",
                span_of(decorators[0], source),
                help="write @hybrid.script(fastmath=...), or none",
            )


def _read(value: ast.expr, source: FunctionSource) -> tuple[str, ...]:
    try:
        return read_fastmath(ast.literal_eval(value))
    except (ArgumentError, ArgumentValueError) as error:
        raise ParseError(error.message, span_of(value, source)) from None
    except ValueError:
        raise ParseError(
            "fastmath must be written as a set of strings, or as True", span_of(value, source)
        ) from None
