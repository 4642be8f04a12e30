"""Structured arrays: fields by name, records by index, and what all fields have in common."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from hybridjit.frontend.builder import Builder
from hybridjit.frontend.values import Items, Records, Value
from hybridjit.ir.expr import Expr, Mul
from hybridjit.scalars.operators import binary
from hybridjit.scalars.scalar import Scalar, index, integer
from hybridjit.syntax import nodes_of

RECORDS_ATTRIBUTES = ("shape", "ndim", "size")


def field_of(build: Builder, owner: Items | Records, name: str, node: ast.Subscript) -> Value:
    """`a["x"]`: the field of a structured array, or of one of its records."""
    fields = owner.fields or ()
    if name in fields:
        items = owner.items if isinstance(owner, Items) else owner.columns
        return items[fields.index(name)]
    raise build.refuse(
        f"'{ast.unparse(node.value)}' has no field {name!r} of numbers",
        node,
        help=f"it has {', '.join(map(repr, fields))}"
        if fields
        else "names are for the fields of structured arrays; items are known by their places",
    )


def part_of(build: Builder, owner: Records, node: ast.Subscript) -> Value:
    """`a[i]`: a record of numbers, as they are now; `a[1:]`: the structured array of a part."""
    _check_place(build, owner, node)
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
        return owner.columns[owner.fields.index(node.attr)]
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
