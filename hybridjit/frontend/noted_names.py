"""What a debugger is to see of a script, noted in its program where nothing else in it says so.

    b = area(w)                 half = w / 2            half = w / 2
    pair = (b, (i, 2))    -->                     or    b = half
                                                        pair.0 = b;  pair.1.0 = i;  pair.1.1 = 2

A name for what has a name, or for a constant, is no statement of the program otherwise, nor is a
line that only calls a function.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from hybridjit.errors import Span
from hybridjit.frontend.builder import Builder
from hybridjit.frontend.values import Array, Value
from hybridjit.ir.expr import Cast, Const, Var
from hybridjit.ir.stmt import Evaluate, Let
from hybridjit.lazy import lazy_module
from hybridjit.scalars.scalar import Scalar

if TYPE_CHECKING:
    from hybridjit.frontend import tuple_variables
    from hybridjit.interp import script_names
else:
    tuple_variables = lazy_module("hybridjit.frontend.tuple_variables")
    script_names = lazy_module("hybridjit.interp.script_names")


def note_step(build: Builder, stmt: ast.stmt) -> None:
    """Note that the script comes to a statement, if somebody looks; docstrings are none."""
    if not build.knowledge.keeps_names:
        return
    if not (isinstance(stmt, ast.Expr) and isinstance(stmt.value, ast.Constant)):
        build.emit(Evaluate(Const(0), span=build.span(stmt)))


def note_name(build: Builder, name: str, value: Value, span: Span, *, is_step: bool = True) -> None:
    """Note that `name` stands for `value` from here on, if somebody looks.

    To give a parameter its value `is_step` of nothing.
    """
    if not build.knowledge.keeps_names:
        return
    if isinstance(value, Array) and not value.indices:
        build.unit.aliases.append(script_names.Alias(name, span, value.buffer))
    for place, leaf in tuple_variables.leaves_of(value):
        if isinstance(leaf, Scalar) and isinstance(leaf.expr, Const | Var):
            if is_step and isinstance(leaf.expr, Var) and leaf.expr.name == name:
                continue  # it goes by that already
            var = Var(script_names.name_of_part(name, place), leaf.expr.dtype, span=span)
            # As a number of its own: what only renames another one is no part of a program.
            number = Cast(var.dtype, leaf.expr, span=span)
            build.emit(Let(var, number, span=span if is_step else None))
