"""Items that are chosen when the script runs: `xs[i]` of a tuple or list of numbers.

    def f(xs, i):                  xs_items = allocate((3,), "float64")
        return xs[i]        -->    xs_items[0] = xs_0; xs_items[1] = xs_1; xs_items[2] = xs_2
                                   return xs_items[i]

A tuple has no memory: its items are names. Those of an argument are put into an array once, at the
start of the script; those of others where one is chosen, if they are few.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import replace
from functools import reduce

from hybridjit.frontend.arrays.memory import scratch
from hybridjit.frontend.builder import Builder
from hybridjit.frontend.values import ArrayExpr, Items, Value
from hybridjit.ir.dtype import ScalarType
from hybridjit.ir.expr import Buffer, Const, Expr, Load
from hybridjit.ir.stmt import Store
from hybridjit.scalars.conversion import convert, join_types
from hybridjit.scalars.scalar import Scalar

# More items are not stored again for each that is chosen.
MOST_ITEMS = 64


def keep_indexed_items(build: Builder, node: ast.FunctionDef) -> None:
    """Put the items of parameters that the script indexes by what it computes into arrays."""
    names = {name for stmt in node.body for name in _indexed_names(stmt)}
    for arg in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs):
        if arg.arg in names:
            value = build.frame.bindings.get(build.frame.variables.writes[arg])
            if isinstance(value, Items) and _numbers(value):
                build.unit.item_arrays[id(value.items)] = _store(build, value, arg.arg, arg)


def _indexed_names(stmt: ast.stmt) -> set[str]:
    return {
        node.value.id
        for node in ast.walk(stmt)
        if isinstance(node, ast.Subscript)
        and isinstance(node.value, ast.Name)
        and not isinstance(node.slice, (ast.Constant, ast.Slice))
    }


def item_at(build: Builder, owner: Items, position: Scalar, node: ast.Subscript) -> Value | None:
    """The item at a position that is not known now; None if items are no numbers, or too many."""
    numbers = _numbers(owner)
    if not numbers:
        return None
    buffer = build.unit.item_arrays.get(id(owner.items))
    if buffer is None:
        if len(numbers) > MOST_ITEMS:
            return None
        buffer = _store(build, owner, "items", node)
    index = build.as_index(position, node.slice, "an index")
    return Scalar(Load(buffer, (index,), span=build.span(node)), _type(build, numbers, node))


def stored_items(build: Builder, owner: Items, node: ast.AST) -> Callable[[Expr], Value] | None:
    """What gives the item at a position, of items that are numbers or tuples of numbers."""
    numbers, span = _numbers(owner), build.span(node)
    if numbers:
        buffer, type = _store(build, owner, "items", node), _type(build, numbers, node)
        return lambda at: Scalar(Load(buffer, (at,), span=span), type)
    tuples = [item for item in owner.items if isinstance(item, Items)]
    if not tuples or len(tuples) != len(owner.items):
        return None
    if any(len(item.items) != len(tuples[0].items) for item in tuples):
        return None
    columns = (Items(column) for column in zip(*(item.items for item in tuples), strict=True))
    parts = [stored_items(build, column, node) for column in columns]
    if any(part is None for part in parts):
        return None
    return lambda at: replace(tuples[0], items=tuple(part(at) for part in parts if part))


def _numbers(owner: Items) -> list[Scalar]:
    """The items, if all of them are numbers."""
    numbers = [item for item in owner.items if isinstance(item, Scalar)]
    return numbers if len(numbers) == len(owner.items) else []


def _type(build: Builder, numbers: list[Scalar], node: ast.AST) -> ScalarType:
    span = build.span(node)
    return reduce(lambda a, b: join_types(a, b, span), (number.type for number in numbers))


def _store(build: Builder, owner: Items, name: str, node: ast.AST) -> Buffer:
    numbers, span = _numbers(owner), build.span(node)
    dtype = _type(build, numbers, node).dtype
    shape = (Const(len(numbers)),)
    buffer = scratch(build, name, ArrayExpr(shape, dtype, lambda _: numbers[0]), span)
    for place, number in enumerate(numbers):
        build.emit(Store(buffer, (Const(place),), convert(number, dtype, span), span=span))
    return buffer
