"""Statements that speak: calls for their effect, `print`, `assert` and `raise`."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from hybridjit.arith.totality import is_total
from hybridjit.frontend.arrays.refusals import element_of
from hybridjit.frontend.assignments import AssignmentTranslator
from hybridjit.frontend.context import has_effect
from hybridjit.frontend.conversion import convert
from hybridjit.frontend.library.table import is_in_library
from hybridjit.frontend.operators import logical_not
from hybridjit.frontend.values import (
    Array,
    Builtin,
    Foreign,
    Items,
    Nothing,
    Scalar,
    Text,
    Value,
    describe,
)
from hybridjit.ir.dtype import WEAK_BOOL
from hybridjit.ir.expr import Const, Expr
from hybridjit.ir.stmt import RAISABLE, Assert, If, Print, Raise

Message = tuple[str | Expr, ...]


class MessageTranslator(AssignmentTranslator):
    """Lines that print or fail."""

    def run_expression(self, stmt: ast.Expr) -> None:
        """A line that is an expression: a call for its effect, or a docstring."""
        value = stmt.value
        if isinstance(value, ast.Constant) and (value.value is ... or isinstance(value.value, str)):
            return
        if not isinstance(value, ast.Call):
            self.evaluate(value)  # an error inside it is the better message
            raise self.refuse(
                "this expression has no effect",
                value,
                help="assign it to a name or to an element, or remove it",
            )
        if self._named_callee(value) == Builtin("print"):
            self._print_line(value)
            return
        before = len(self.body)
        result = self.evaluate(value)
        if isinstance(result, Scalar) and not is_total(result.expr):
            self.let(result, "t", self.span(value))  # computing it may fail
        if not isinstance(result, Nothing) and not any(map(has_effect, self.body[before:])):
            raise self.refuse(
                "this call has no effect, and its result is not used",
                value,
                help="assign it to a name or to an element, or remove it",
            )

    def _named_callee(self, node: ast.Call) -> Value | None:
        return self.evaluate(node.func) if isinstance(node.func, ast.Name) else None

    def _print_line(self, node: ast.Call) -> None:
        if node.keywords:
            raise self.refuse(
                f"print takes no argument '{node.keywords[0].arg}=' inside a script",
                node.keywords[0],
                help="leave it out: the parts are printed on one line, with blanks between them",
            )
        parts, _ = self._message(node.args)
        self.emit(Print(parts, span=self.span(node)))

    def _message(
        self, nodes: Sequence[ast.expr], *, may_be_tuple: bool = False
    ) -> tuple[Message, bool]:
        """The parts of a message; True if they are the items of one tuple."""
        values = self.evaluate_all(nodes)
        match values:
            case [Items(items)] if may_be_tuple:
                return tuple(self._part(item, nodes[0]) for item in items), True
            case _:
                pairs = zip(values, nodes, strict=True)
                return tuple(self._part(value, node) for value, node in pairs), False

    def _part(self, item: Value, node: ast.expr) -> str | Expr:
        match item:
            case Text(text):
                return text
            case Array():
                raise self.mismatch(
                    f"{describe(item)} cannot be printed as a whole",
                    node,
                    help=f"print its elements in a loop, as in print({element_of(item)})",
                )
            case Items():
                raise self.mismatch(
                    f"{describe(item)} cannot be printed as a whole",
                    node,
                    help="give its items one by one",
                )
            case _:
                scalar = self.as_scalar(item, node, "a string or a number")
                return convert(scalar, scalar.type.dtype, self.span(node))

    def run_assert(self, stmt: ast.Assert) -> None:
        """`assert condition, message`; the message is computed only on failure."""
        cond = self.condition(stmt.test)
        span = self.span(stmt)
        is_text = isinstance(stmt.msg, ast.JoinedStr)
        with self.collect() as needed:
            if isinstance(stmt.msg, ast.JoinedStr):
                message, is_tuple = self._text(stmt.msg.values), False
            else:
                given = [] if stmt.msg is None else [stmt.msg]
                message, is_tuple = self._message(given, may_be_tuple=True)
        if isinstance(cond, Const) and cond.value:
            return
        if not needed and not is_text and not isinstance(cond, Const):
            self.emit(Assert(cond, message, is_tuple, span=span))
            return
        failure = Raise("AssertionError", message, is_tuple, is_text, span=span)
        failure = self.close([*needed, failure])
        if isinstance(cond, Const):
            self.emit(failure)
        else:
            self.emit(If(logical_not(Scalar(cond, WEAK_BOOL), span).expr, failure, span=span))

    def run_raise(self, stmt: ast.Raise) -> bool:
        """`raise ValueError("...", x)`."""
        if stmt.exc is None or stmt.cause is not None:
            what = "a bare raise" if stmt.exc is None else "raise ... from ..."
            raise self.refuse(
                f"{what} is not supported", stmt, help='write it as in raise ValueError("...")'
            )
        call = stmt.exc
        kind, args = (call.func, call.args) if isinstance(call, ast.Call) else (call, [])
        value = self.evaluate(kind)
        if is_in_library(self.frame.source.file):
            self._check_call(value, args, stmt)
        name = _find_raisable(value)
        if name is None:
            what = ast.unparse(kind) if isinstance(kind, (ast.Name, ast.Attribute)) else None
            raise self.refuse(
                f"cannot raise {what or describe(value)} from a script",
                kind,
                help="raise an error of Python's own, such as ValueError or RuntimeError",
            )
        match args:
            case [ast.JoinedStr(parts)]:
                self.emit(Raise(name, self._text(parts), is_text=True, span=self.span(stmt)))
            case _:
                message, is_tuple = self._message(args, may_be_tuple=True)
                self.emit(Raise(name, message, is_tuple, span=self.span(stmt)))
        return False

    def _text(self, parts: Sequence[ast.expr]) -> Message:
        """The parts of an f-string: text, and values that are put in as they print."""
        return tuple(self._text_part(part) for part in parts)

    def _text_part(self, part: ast.expr) -> str | Expr:
        match part:
            case ast.Constant(str(text)):
                return text
            case ast.FormattedValue(value, -1, None):
                return self._part(self.evaluate(value), value)
            case _:
                raise self.refuse(
                    "a format in an f-string is not supported",
                    part,
                    help="give the value as it is, as in {x}",
                )

    def _check_call(self, kind: Value, args: Sequence[ast.expr], stmt: ast.Raise) -> None:
        """Refuse a call of a function of NumPy that the script has, where it raises an error that
        depends on types only: what is not supported here, with help, and what NumPy refuses.
        """
        if kind == Foreign(NotImplementedError):
            why, help = (self.text_argument(arg, "a message") for arg in args)
            raise self.refuse(why, stmt, help=help)
        if kind == Foreign(TypeError):
            raise self.mismatch(self.text_argument(args[0], "a message"), stmt)


def _find_raisable(value: Value) -> str | None:
    """The name of the built-in exception that `value` is, if a script may raise it."""
    cls = value.value if isinstance(value, Foreign) else None
    if not isinstance(cls, type) or cls.__module__ != "builtins":
        return None
    return cls.__name__ if cls.__name__ in RAISABLE else None
