"""Results that are tuples in tuples, named tuples or dataclasses: what is in them, and how."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import MISSING, fields, is_dataclass, replace
from typing import Any, cast

from hybridjit.arith.ranges import constant
from hybridjit.frontend.arrays.memory import evaluate_all, view_of
from hybridjit.frontend.builder import Builder
from hybridjit.frontend.call_arguments import arguments
from hybridjit.frontend.values import Arranged, Array, ArrayExpr, Items, Value, View
from hybridjit.ir.expr import Buffer
from hybridjit.ir.signature import Nesting, Part
from hybridjit.scalars.scalar import index, integer

Leaves = list[tuple[Value, ast.expr]]


def flattened(build: Builder, value: Items, node: ast.expr) -> tuple[Leaves, Nesting]:
    """What a script returns, with the place in the source, and how it stands in tuples."""
    if value.fields is not None and value.is_given and not _is_constant(value.maker):
        raise build.mismatch(
            "cannot return an object that is an argument and may be changed",
            node,
            help="make a new one of its fields, or return those in a tuple",
        )
    leaves: Leaves = []
    parts: list[Nesting | None] = []
    for item, place in zip(value.items, _places(value, node), strict=True):
        inner, nesting = leaves_of_result(build, item, place)
        leaves += inner
        parts.append(nesting)
    return leaves, Nesting(tuple(parts), list if value.is_list else value.maker)


def leaves_of_result(build: Builder, value: Value, node: ast.expr) -> tuple[Leaves, Nesting | None]:
    """What is returned, one after the other, and how it stands in tuples, if it does."""
    if isinstance(value, Items):
        return flattened(build, value, node)
    match value:
        case Array(buffer) | View(buffer) if value != Array(buffer) and _is_part(build, value):
            return _part(view_of(build, value), node)
        case ArrayExpr(shown=Buffer(), arranged=Arranged() as how) if _is_part(build, how.source):
            return _arranged(build, value, how, node)
        case _:
            return [(value, node)], None


def _is_part(build: Builder, value: Array | View) -> bool:
    """True for an argument or an array with a name, and for a view of one that NumPy can make."""
    if value.buffer not in build.signature.params and not _is_named(build, value.buffer):
        return False
    view = view_of(build, value)
    shown = [place.axis for place in view.places]
    others = [size for axis, size in enumerate(view.shape) if axis not in shown]
    return bool(view.shape) and all(constant(size) == 1 for size in others)


def _is_named(build: Builder, buffer: Buffer) -> bool:
    """True for an array that the script made, and that is no copy which stands for another."""
    unit = build.unit
    is_steady = buffer not in unit.standins and buffer not in unit.rebound
    return buffer in unit.named_arrays and is_steady and not unit.copies_views


def _part(view: View, node: ast.expr) -> tuple[Leaves, Nesting]:
    """A view of an array: that, and the numbers that tell where the view is (`Part`)."""
    values: list[Value] = [Array(view.buffer)]
    for place in view.places:
        values.append(index(place.start))
        if place.axis is not None:
            step = place.step
            values.append(integer(step) if isinstance(step, int) else index(step))
            values.append(index(view.shape[place.axis]))
    maker = Part(tuple(place.axis for place in view.places), len(view.shape))
    return [(value, node) for value in values], Nesting((None,) * len(values), maker)


def _arranged(
    build: Builder, value: ArrayExpr, arranged: Arranged, node: ast.expr
) -> tuple[Leaves, Nesting]:
    """An argument in another shape: NumPy knows whether that is a view of it or a copy."""
    leaves, nesting = _part(view_of(build, arranged.source), node)
    sizes = value.shape if arranged.way == "reshape" else ()
    assert isinstance(nesting.maker, Part)
    leaves += [(index(size), node) for size in sizes]
    return leaves, Nesting((None,) * len(leaves), replace(nesting.maker, way=arranged.way))


def _places(value: Items, node: ast.expr) -> Sequence[ast.expr]:
    """Where the items of a tuple are written, as far as it is written there."""
    if not isinstance(node, ast.Tuple) or len(node.elts) != len(value.items):
        return [node] * len(value.items)
    if any(isinstance(item, ast.Starred) for item in node.elts):
        return [node] * len(value.items)
    return node.elts


# making


def is_made_of_fields(value: object) -> bool:
    """True for a class of named tuples, and for a dataclass that only keeps its fields."""
    if not isinstance(value, type):
        return False
    maker: type[Any] = value
    if issubclass(maker, tuple):
        return "_fields" in vars(cast("type[Any]", maker))
    return is_dataclass(maker) and not hasattr(maker, "__post_init__")


def _is_constant(maker: type[Any] | None) -> bool:
    """True for a class whose objects nobody can tell from another of the same fields."""
    if not is_made_of_fields(maker):
        return False
    if not is_dataclass(maker):
        return True
    is_frozen: bool = getattr(maker, "__dataclass_params__").frozen  # noqa: B009
    return is_frozen and all(field.init for field in fields(maker))


def make_named(build: Builder, maker: type[Any], node: ast.Call) -> Items:
    """`Body(pos, vel, mass=m)`: a tuple whose items have names."""
    defaults = _defaults(maker)
    names = tuple(defaults)
    required = sum(default is MISSING for default in defaults.values())
    found = arguments(build, node, *names, required=required)
    given = dict(zip(found, evaluate_all(build, list(found.values())), strict=True))
    items: list[Value] = []
    for name, default in defaults.items():
        if name not in given and default is MISSING:
            raise build.refuse(f"{maker.__name__} needs an argument '{name}'", node)
        items.append(given[name] if name in given else build.lift(default, name, node))
    return Items(tuple(items), fields=names, maker=maker)


def _defaults(maker: type[Any]) -> dict[str, object]:
    """The fields of a class, with what they are if nothing is given."""
    if is_dataclass(maker):
        return {field.name: field.default for field in fields(maker) if field.init}
    names: tuple[str, ...] = getattr(maker, "_fields")  # noqa: B009
    known: dict[str, object] = getattr(maker, "_field_defaults")  # noqa: B009
    return {name: known.get(name, MISSING) for name in names}
