"""Statements that speak: calls for their effect, `print`, `assert` and `raise`."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from hybridjit.arith.totality import is_total
from hybridjit.errors import ParseError
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
        if isinstance(stmt.msg, ast.JoinedStr):
            raise self.refuse(
                "f-strings are not supported",
                stmt.msg,
                help='give the parts as a tuple, as in ("x =", x)',
            )
        with self.collect() as needed:
            given = [] if stmt.msg is None else [stmt.msg]
            message, is_tuple = self._message(given, may_be_tuple=True)
        if isinstance(cond, Const) and cond.value:
            return
        if not needed and not isinstance(cond, Const):
            self.emit(Assert(cond, message, is_tuple, span=span))
            return
        failure = self.close([*needed, Raise("AssertionError", message, is_tuple, span=span)])
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
        if value == Foreign(NotImplementedError) and is_in_library(self.frame.source.file):
            raise self._refuse_call(args, stmt)
        name = _find_raisable(value)
        if name is None:
            what = ast.unparse(kind) if isinstance(kind, (ast.Name, ast.Attribute)) else None
            raise self.refuse(
                f"cannot raise {what or describe(value)} from a script",
                kind,
                help="raise an error of Python's own, such as ValueError or RuntimeError",
            )
        message, is_tuple = self._message(args, may_be_tuple=True)
        self.emit(Raise(name, message, is_tuple, span=self.span(stmt)))
        return False

    def _refuse_call(self, args: Sequence[ast.expr], stmt: ast.Raise) -> ParseError:
        """The error for a call that a function of NumPy does not support here: why, and help."""
        texts = [self.text_argument(arg, "a message") for arg in args]
        return self.refuse(texts[0], stmt, help=texts[1])


def _find_raisable(value: Value) -> str | None:
    """The name of the built-in exception that `value` is, if a script may raise it."""
    cls = value.value if isinstance(value, Foreign) else None
    if not isinstance(cls, type) or cls.__module__ != "builtins":
        return None
    return cls.__name__ if cls.__name__ in RAISABLE else None
