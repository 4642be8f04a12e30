"""The language: which function translates which kind of expression and statement."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from hybridjit.frontend.assignments import annotated, assign, augmented
from hybridjit.frontend.builder import Builder, Language
from hybridjit.frontend.expressions import (
    binary_operation,
    bool_operation,
    comparison,
    conditional,
    literal,
    tuple_of_items,
    unary_operation,
)
from hybridjit.frontend.for_loops import run_for
from hybridjit.frontend.signature import run_return
from hybridjit.frontend.statements import (
    leave_loop,
    run_block,
    run_delete,
    run_if,
    run_pass,
    run_while,
)
from hybridjit.frontend.subscripts import evaluate_attribute, evaluate_subscript
from hybridjit.frontend.values import AnyArray, Callee, InnerFunction, Value
from hybridjit.lazy import lazy_module

if TYPE_CHECKING:
    from hybridjit.frontend import blocks, calls, inline, messages, tries
    from hybridjit.frontend.arrays import grids
else:
    blocks = lazy_module("hybridjit.frontend.blocks")
    calls = lazy_module("hybridjit.frontend.calls")
    inline = lazy_module("hybridjit.frontend.inline")
    messages = lazy_module("hybridjit.frontend.messages")
    tries = lazy_module("hybridjit.frontend.tries")
    grids = lazy_module("hybridjit.frontend.arrays.grids")


def _array_of_items(build: Builder, value: Value, node: ast.expr) -> AnyArray:
    return grids.array_of_items(build, value, node)


def _evaluate_call(build: Builder, node: ast.Call) -> Value:
    return calls.evaluate_call(build, node)


def _make_function(build: Builder, node: ast.Lambda) -> Value:
    return inline.make_function(build, node)


def _inline(build: Builder, callee: Callee | InnerFunction, node: ast.Call) -> Value:
    return inline.inline(build, callee, node)


def _run_expression(build: Builder, stmt: ast.Expr) -> None:
    messages.run_expression(build, stmt)


def _run_assert(build: Builder, stmt: ast.Assert) -> bool:
    return messages.run_assert(build, stmt)


def _run_with(build: Builder, stmt: ast.With) -> bool:
    return blocks.run_with(build, stmt)


def _run_try(build: Builder, stmt: ast.Try) -> bool:
    return tries.run_try(build, stmt)


def _run_raise(build: Builder, stmt: ast.Raise) -> bool:
    if stmt.exc is None:
        return tries.raise_again(build, stmt)
    return messages.raise_new(build, stmt)


LANGUAGE = Language(
    expressions={
        ast.Constant: literal,
        ast.Name: Builder.read_name,
        ast.Tuple: tuple_of_items,
        ast.List: tuple_of_items,
        ast.Attribute: evaluate_attribute,
        ast.Subscript: evaluate_subscript,
        ast.Call: _evaluate_call,
        ast.BinOp: binary_operation,
        ast.UnaryOp: unary_operation,
        ast.Compare: comparison,
        ast.BoolOp: bool_operation,
        ast.IfExp: conditional,
        ast.Lambda: _make_function,
    },
    statements={
        ast.Assign: assign,
        ast.AugAssign: augmented,
        ast.AnnAssign: annotated,
        ast.Expr: _run_expression,
        ast.Assert: _run_assert,
        ast.Raise: _run_raise,
        ast.Try: _run_try,
        ast.Return: run_return,
        ast.If: run_if,
        ast.For: run_for,
        ast.While: run_while,
        ast.With: _run_with,
        ast.Break: leave_loop,
        ast.Continue: leave_loop,
        ast.Pass: run_pass,
        ast.Delete: run_delete,
    },
    run_block=run_block,
    inline=_inline,
    array_of_items=_array_of_items,
)
