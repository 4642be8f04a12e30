"""The text of an expression: what may stand in it, and what is refused, with a caret.

A text is parsed, and looked at node by node; nothing in it is ever executed. Names are variables
or functions of the language, never anything else that Python knows.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from hybridjit.errors import ParseError, Span
from hybridjit.frontend.captures import NUMPY_NAMES
from hybridjit.record import record
from hybridjit.scalars.builtins import BUILTINS, MATH, TYPES
from hybridjit.scalars.suggest import did_you_mean
from hybridjit.source import remember_text
from hybridjit.syntax import parse_expression

# Longer than anything that is written by hand, and parsed in a few milliseconds.
MAX_LENGTH = 4000
# Passes recurse over expressions.
MAX_DEPTH = 150

_NODES: tuple[type[ast.AST], ...] = (
    *(ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare, ast.IfExp, ast.Call),
    *(ast.Name, ast.Constant),
)
_OPERATORS: tuple[type[ast.AST], ...] = (
    *(ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod, ast.Pow),
    *(ast.BitAnd, ast.BitOr, ast.BitXor, ast.LShift, ast.RShift),
    *(ast.UAdd, ast.USub, ast.Invert, ast.Not, ast.And, ast.Or),
    *(ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE),
)
_NUMBERS = (bool, int, float, complex)
# The functions of NumPy that work on elements, and what the language has besides.
FUNCTIONS: dict[str, Any] = {
    **MATH,
    **TYPES,
    **{name: BUILTINS[name] for name in ("select", "power")},
    **{name: getattr(np, name) for name in NUMPY_NAMES if hasattr(np, name)},
    "abs": np.absolute,
}
CONSTANTS: dict[str, Any] = {"inf": math.inf, "nan": math.nan, "pi": math.pi, "e": math.e}
# What else there is in Python, and what to write instead.
_WHAT: dict[type[ast.AST], tuple[str, str | None]] = {
    ast.Attribute: ("an attribute", "pass its value under a name of its own"),
    ast.Subscript: ("an index", "index the array before, and pass the part"),
    ast.Lambda: ("a lambda", None),
    ast.NamedExpr: ("':='", None),
    ast.Await: ("'await'", None),
    ast.Yield: ("'yield'", None),
    ast.Starred: ("'*'", None),
    ast.MatMult: ("'@'", "write a function with @hybrid.script"),
    ast.JoinedStr: ("a string", None),
    ast.Tuple: ("a tuple", "evaluate one expression at a time"),
    ast.List: ("a list", "make it an array, and pass that"),
    ast.Dict: ("a dict", None),
    ast.Set: ("a set", None),
    **dict.fromkeys((ast.ListComp, ast.SetComp, ast.DictComp), ("a comprehension", None)),
    ast.GeneratorExp: ("a generator", None),
}


@record
class Expression:
    """An expression that may be computed: its text, and the names of its variables in order."""

    text: str
    names: tuple[str, ...]
    functions: tuple[str, ...]


def read_expression(text: str) -> Expression:
    """Look an expression through; raise a ParseError for anything that is not arithmetic."""
    source = _Source(text)
    tree = source.parse()
    names: dict[str, None] = {}
    functions: dict[str, None] = {}
    for node, depth in _walk(tree):
        if depth > MAX_DEPTH:
            raise source.refuse(f"the expression is nested more than {MAX_DEPTH} deep", node)
        _check(node, source)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            functions[node.func.id] = None
        elif isinstance(node, ast.Name):
            names[node.id] = None
    variables = [name for name in names if name not in functions]
    return Expression(source.text, tuple(variables), tuple(functions))


class _Source:
    """The text, in the form in which errors show it."""

    def __init__(self, text: object) -> None:
        if not isinstance(text, str):
            raise ParseError(f"an expression is a string, got a {type(text).__name__}")
        self.text = text.strip()
        if len(self.text) > MAX_LENGTH:
            raise ParseError(
                f"the expression has {len(self.text)} characters, more than {MAX_LENGTH}",
                help="compute parts of it first, or write a function with @hybrid.script",
            )
        if not self.text.isprintable():
            raise ParseError("an expression is one line of printable characters")
        self._file, _ = remember_text(self.text, "<expression>")

    def parse(self) -> ast.expr:
        try:
            return parse_expression(self.text)
        except SyntaxError as error:
            col = max(0, (error.offset or 1) - 1)
            end = max(col + 1, (error.end_offset or 1) - 1)
            raise ParseError(error.msg, Span(self._file, 1, col, 1, end)) from None
        except (ValueError, MemoryError, RecursionError):
            raise ParseError(
                "the expression is nested too deeply", Span(self._file, 1, 0, 1, len(self.text))
            ) from None

    def refuse(self, message: str, node: ast.AST, help: str | None = None) -> ParseError:
        return ParseError(message, self._span(node), help=help)

    def _span(self, node: ast.AST) -> Span | None:
        if not isinstance(node, ast.expr):
            return None
        col, end = (self._characters(o) for o in (node.col_offset, node.end_col_offset or 0))
        return Span(self._file, 1, col, 1, end)

    def _characters(self, offset: int) -> int:
        return len(self.text.encode()[:offset].decode(errors="ignore"))


def _walk(root: ast.expr) -> Iterator[tuple[ast.expr, int]]:
    """The expressions in a tree, parents first, with their depth; without recursion."""
    pending: list[tuple[ast.expr, int]] = [(root, 1)]
    while pending:
        node, depth = pending.pop()
        yield node, depth
        children = [n for n in ast.iter_child_nodes(node) if isinstance(n, ast.expr)]
        pending.extend((child, depth + _levels(node)) for child in reversed(children))


def _levels(node: ast.expr) -> int:
    """How many levels of the IR a node makes: `a < b < c` and `a and b and c` are nested there."""
    match node:
        case ast.Compare(comparators=links):
            return len(links)
        case ast.BoolOp(values=links):
            return len(links) - 1
        case _:
            return 1


def _check(node: ast.expr, source: _Source) -> None:
    if not isinstance(node, _NODES):
        what, help = _WHAT.get(type(node), (f"'{type(node).__name__}'", None))
        raise source.refuse(f"{what} has no place in an expression", node, help)
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (ast.operator, ast.unaryop, ast.boolop, ast.cmpop)) and not isinstance(
            child, _OPERATORS
        ):
            what, help = _WHAT.get(type(child), (f"'{_word(child)}'", None))
            raise source.refuse(f"{what} has no place in an expression", node, help)
    match node:
        case ast.Constant(value=value):
            _check_constant(value, node, source)
        case ast.Call():
            _check_call(node, source)
        case ast.Name(id=name) if name.startswith("__"):
            raise source.refuse(f"'{name}' is no variable", node)
        case _:
            pass


def _word(operator: ast.AST) -> str:
    words: dict[type[ast.AST], str] = {
        **{ast.In: "in", ast.NotIn: "not in", ast.Is: "is", ast.IsNot: "is not"},
    }
    return words.get(type(operator), type(operator).__name__)


def _check_constant(value: object, node: ast.Constant, source: _Source) -> None:
    if type(value) not in _NUMBERS:
        raise source.refuse(f"a {type(value).__name__} has no place in an expression", node)
    if isinstance(value, int) and not -(2**63) <= value < 2**64:
        raise source.refuse("the number does not fit in 64 bits", node, "write it as a float")


def _check_call(node: ast.Call, source: _Source) -> None:
    if not isinstance(node.func, ast.Name):
        raise source.refuse("only functions of the language can be called", node.func)
    name = node.func.id
    if name not in FUNCTIONS:
        help = did_you_mean(name, FUNCTIONS) or "write a function with @hybrid.script"
        raise source.refuse(f"there is no function '{name}' in an expression", node.func, help)
    if node.keywords:
        raise source.refuse("functions take no keywords in an expression", node.keywords[0].value)
