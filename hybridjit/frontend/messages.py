"""Statements that speak: calls for their effect, `print`, `assert` and `raise`."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from functools import partial
from typing import Any

from hybridjit.arith.totality import is_total
from hybridjit.frontend.arrays.memory import evaluate_all, has_effect
from hybridjit.frontend.builder import Builder
from hybridjit.frontend.call_arguments import text_argument
from hybridjit.frontend.expressions import condition
from hybridjit.frontend.library.table import is_in_library
from hybridjit.frontend.texts import in_order, is_text, printed, read_text, text_parts, value_parts
from hybridjit.frontend.values import Builtin, Foreign, Items, Nothing, Text, Value, describe
from hybridjit.ir.dtype import WEAK_BOOL
from hybridjit.ir.expr import Const, Expr
from hybridjit.ir.raisable import ERRORS
from hybridjit.ir.stmt import Assert, Evaluate, If, Print, Raise
from hybridjit.ir.texts import Message, text_of
from hybridjit.scalars.conversion import convert
from hybridjit.scalars.operators import logical_not
from hybridjit.scalars.scalar import Scalar


def run_expression(build: Builder, stmt: ast.Expr) -> None:
    """A line that is an expression: a call for its effect, or a docstring."""
    value = stmt.value
    if isinstance(value, ast.Constant) and (value.value is ... or isinstance(value.value, str)):
        return
    if not isinstance(value, ast.Call):
        found = build.evaluate(value)  # an error inside it is the better message
        if isinstance(found, Scalar) and build.frame.source.is_printed:
            build.emit(Evaluate(found.expr, span=build.span(stmt)))  # whether a name has a value
            return
        raise build.refuse(
            "this expression has no effect",
            value,
            help="assign it to a name or to an element, or remove it",
        )
    if _named_callee(build, value) == Builtin("print"):
        _print_line(build, value)
        return
    before = len(build.body)
    result = build.evaluate(value)
    if isinstance(result, Scalar) and not is_total(result.expr):
        build.let(result, "t", build.span(value))  # computing it may fail
    if not isinstance(result, Nothing) and not any(map(has_effect, build.body[before:])):
        raise build.refuse(
            "this call has no effect, and its result is not used",
            value,
            help="assign it to a name or to an element, or remove it",
        )


def _named_callee(build: Builder, node: ast.Call) -> Value | None:
    return build.evaluate(node.func) if isinstance(node.func, ast.Name) else None


def _print_line(build: Builder, node: ast.Call) -> None:
    span, (between, end) = build.span(node), _separators(build, node)
    if any(map(is_text, node.args)):
        shown = [text_parts(build, arg) for arg in node.args]
    else:
        values = evaluate_all(build, node.args)
        if not node.keywords and all(isinstance(value, (Scalar, Text)) for value in values):
            parts = tuple(map(partial(_part, build), values, node.args))
            build.emit(Print(parts, span=span))
            return
        shown = map(partial(value_parts, build), values, node.args)
    parts = in_order(build, (part for each in shown for part in (*each, between)))
    build.emit(Print(text_of(*parts[:-1], end), is_text=True, span=span))


def _separators(build: Builder, node: ast.Call) -> tuple[str, str]:
    """What print writes between its arguments and after them."""
    known = {"sep": " ", "end": "\n"}
    for word in node.keywords:
        if word.arg == "flush":
            continue  # every line is written at once
        if word.arg not in known:
            raise build.refuse(
                f"print takes no argument '{word.arg}=' inside a script",
                word,
                help="leave it out: it prints to sys.stdout",
            )
        is_default = isinstance(word.value, ast.Constant) and word.value.value is None
        if not is_default:
            known[word.arg] = text_argument(build, word.value, f"{word.arg}=")
    return known["sep"], known["end"]


def _message(
    build: Builder, nodes: Sequence[ast.expr], *, may_be_tuple: bool = False
) -> tuple[Message, bool]:
    """The parts of a message; True if they are the items of one tuple."""
    values = evaluate_all(build, nodes)
    match values:
        case [Items(items)] if may_be_tuple:
            return tuple(_part(build, item, nodes[0]) for item in items), True
        case _:
            pairs = zip(values, nodes, strict=True)
            return tuple(_part(build, value, node) for value, node in pairs), False


def _part(build: Builder, item: Value, node: ast.expr) -> str | Expr:
    if isinstance(item, Text):
        return item.text
    scalar = printed(build, item, node)
    return convert(scalar, scalar.type.dtype, build.span(node))


def run_assert(build: Builder, stmt: ast.Assert) -> bool:
    """`assert condition, message`; the message is computed only on failure. False if it fails."""
    cond = condition(build, stmt.test)
    span = build.span(stmt)
    given = [] if stmt.msg is None else [stmt.msg]
    arguments, failure = build.reached(partial(_arguments, build, given))
    if isinstance(cond, Const) and cond.value:
        return True
    if arguments is not None:
        message, is_tuple, in_one = arguments
        if not failure and not in_one and not isinstance(cond, Const):
            build.emit(Assert(cond, message, is_tuple, span=span))
            return True
        failure.append(Raise("AssertionError", message, is_tuple, in_one, span=span))
    if isinstance(cond, Const):
        build.emit(build.close(failure))
        return False
    fails = logical_not(Scalar(cond, WEAK_BOOL), span).expr
    build.emit(If(fails, build.close(failure), span=span))
    return True


def raise_new(build: Builder, stmt: ast.Raise) -> bool:
    """`raise ValueError("...", x)`; `from None` says nothing that a script could tell."""
    call = stmt.exc
    is_plain = stmt.cause is None or (
        isinstance(stmt.cause, ast.Constant) and stmt.cause.value is None
    )
    if call is None or not is_plain:
        raise build.refuse(
            "raise ... from ... is not supported",
            stmt,
            help='write it as in raise ValueError("...")',
        )
    kind, args = (call.func, call.args) if isinstance(call, ast.Call) else (call, [])
    value = build.evaluate(kind)
    if is_in_library(build.frame.source.file):
        _check_call(build, value, args, stmt)
    name = _find_raisable(value)
    if name is None:
        what = ast.unparse(kind) if isinstance(kind, (ast.Name, ast.Attribute)) else None
        raise build.refuse(
            f"cannot raise {what or describe(value)} from a script",
            kind,
            help="raise an error of Python's own, such as ValueError or RuntimeError",
        )
    build.emit(Raise(name, *_arguments(build, args), span=build.span(stmt)))
    return False


def _arguments(build: Builder, nodes: Sequence[ast.expr]) -> tuple[Message, bool, bool]:
    """The arguments of an error; whether they are the items of one tuple; whether they are one text
    with values in it.
    """
    match nodes:
        case [node] if is_text(node):
            return read_text(build, node), False, True
        case _:
            return *_message(build, nodes, may_be_tuple=True), False


def _check_call(build: Builder, kind: Value, args: Sequence[ast.expr], stmt: ast.Raise) -> None:
    """Refuse a call of a function of NumPy that the script has, where it raises an error that
    depends on types only: what is not supported here, with help, and what NumPy refuses.
    """
    if kind == Foreign(NotImplementedError):
        why, help = (text_argument(build, arg, "a message") for arg in args)
        raise build.refuse(why, stmt, help=help)
    if kind == Foreign(TypeError):
        raise build.mismatch(text_argument(build, args[0], "a message"), stmt)


def _find_raisable(value: Value) -> str | None:
    """The name of the built-in exception that `value` is, if a script may raise it."""
    cls: Any = value.value if isinstance(value, Foreign) else None
    return next((name for name, error in ERRORS.items() if error is cls), None)
