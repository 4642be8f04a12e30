"""Structured arrays: fields by name, records by index, and what all fields have in common."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from hybridjit.arith.ranges import ZERO
from hybridjit.frontend.arrays.gather import part_at
from hybridjit.frontend.arrays.memory import evaluate_all
from hybridjit.frontend.arrays.subscripts import element_or_part, is_slice, shown
from hybridjit.frontend.builder import Builder
from hybridjit.frontend.values import AnyArray, Items, Place, Records, Value
from hybridjit.ir.expr import Expr, Mul
from hybridjit.scalars.operators import binary
from hybridjit.scalars.scalar import Scalar, index, integer
from hybridjit.syntax import nodes_of

RECORDS_ATTRIBUTES = ("shape", "ndim", "size")


def field_of(build: Builder, owner: Items | Records, name: str, node: ast.Subscript) -> Value:
    """`a["x"]`: the field of a structured array, or of one of its records."""
    fields = owner.fields or ()
    if name in fields and isinstance(owner, Records):
        return _as_number(build, owner.columns[fields.index(name)], node)
    if name in fields and isinstance(owner, Items):
        return owner.items[fields.index(name)]
    raise build.refuse(
        f"'{ast.unparse(node.value)}' has no field {name!r} of numbers",
        node,
        help=f"it has {', '.join(map(repr, fields))}"
        if fields
        else "names are for the fields of structured arrays; items are known by their places",
    )


def _as_number(build: Builder, column: Value, node: ast.AST) -> Value:
    """The field of one record is a number, as it is now."""
    return element_or_part(build, column, node) if isinstance(column, AnyArray) else column


def memory_of(build: Builder, owner: Records, name: str) -> Value:
    """The field of a record, or of all, to write to."""
    return owner.columns[owner.fields.index(name)]


def numbers_of(build: Builder, owner: Records, node: ast.AST) -> Items:
    """A record as a tuple of what is in it now."""
    items = tuple(_as_number(build, column, node) for column in owner.columns)
    return Items(items, fields=owner.fields)


def record_at(build: Builder, owner: Records, at: Expr, node: ast.AST) -> Records:
    """The record at a place of the first dimension, which is one."""
    parts: list[Value] = []
    for column in owner.columns:
        if isinstance(column, Records):
            parts.append(record_at(build, column, at, node))
            continue
        assert isinstance(column, AnyArray)
        rest = (Place(ZERO, 1, axis) for axis in range(len(column.shape) - 1))
        parts.append(shown(build, column, (Place(at), *rest), column.shape[1:], node))
    return Records(owner.fields, tuple(parts), owner.ndim - 1)


def part_of(build: Builder, owner: Records, node: ast.Subscript) -> Value:
    """`a[i]`: a record, which shows the memory of the array; `a[1:]`: an array of some records."""
    _check_place(build, owner, node)
    nodes = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    if not any(map(is_slice, nodes)):
        values = evaluate_all(build, nodes)
        if all(isinstance(value, Scalar) for value in values):
            return _at(build, owner, values, node)
    return _each_part(build, owner, node)


def _at(build: Builder, owner: Records, values: list[Value], node: ast.Subscript) -> Records:
    if len(values) > owner.ndim:
        raise build.mismatch(f"too many indices for {owner.ndim} dimensions of records", node)
    parts: list[Value] = []
    for column in owner.columns:
        if isinstance(column, Records):
            parts.append(_at(build, column, values, node))
            continue
        assert isinstance(column, AnyArray)
        parts.append(part_at(build, column, values, node))
    return Records(owner.fields, tuple(parts), owner.ndim - len(values))


def _each_part(build: Builder, owner: Records, node: ast.Subscript) -> Value:
    found: list[Value] = []
    for column in owner.columns:
        name = ast.copy_location(ast.Name(ast.unparse(node.value), ast.Load()), node.value)
        build.frame.fixed[name] = column
        part = ast.copy_location(ast.Subscript(name, node.slice, ast.Load()), node)
        found.append(build.evaluate(part))
    if isinstance(node.slice, ast.Slice):
        return Records(owner.fields, tuple(found), owner.ndim)
    taken = len(node.slice.elts) if isinstance(node.slice, ast.Tuple) else 1
    if taken < owner.ndim:
        return Records(owner.fields, tuple(found), owner.ndim - taken)
    return Items(tuple(found), fields=owner.fields)


def _check_place(build: Builder, owner: Records, node: ast.Subscript) -> None:
    """Each field evaluates the index anew: it must have no effect, and one form for all."""
    odd = (ast.Call, ast.Slice) if isinstance(node.slice, ast.Tuple) else ast.Call
    if any(isinstance(part, odd) for part in nodes_of(node.slice)):
        raise build.refuse(
            "a structured array is indexed by numbers that are known by name, or one slice",
            node,
            help=f"take the field first, as in {ast.unparse(node.value)}[{owner.fields[0]!r}]",
        )


def records_attribute(build: Builder, owner: Records, node: ast.Attribute) -> Value:
    """`a.x` of a record array; `a.shape` and its kin are those of every field."""
    if node.attr in owner.fields:
        return _as_number(build, owner.columns[owner.fields.index(node.attr)], node)
    if node.attr == "shape":
        return Items(tuple(index(extent) for extent in owner.shape))
    if node.attr == "ndim":
        return integer(owner.ndim)
    return product_of(build, owner.shape, node)


def product_of(build: Builder, shape: Sequence[Expr], node: ast.Attribute) -> Scalar:
    """How many elements there are."""
    size: Scalar = integer(1)
    for extent in shape:
        size = binary(Mul, size, index(extent), build.span(node))
    return size
