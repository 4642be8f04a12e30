"""Results that are tuples in tuples, named tuples or dataclasses: what is in them, and how."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import MISSING, fields, is_dataclass
from typing import Any, cast

from hybridjit.frontend.arrays.memory import evaluate_all
from hybridjit.frontend.builder import Builder
from hybridjit.frontend.call_arguments import arguments
from hybridjit.frontend.values import Items, Value
from hybridjit.ir.signature import Nesting

Leaves = list[tuple[Value, ast.expr]]


def flattened(build: Builder, value: Items, node: ast.expr) -> tuple[Leaves, Nesting]:
    """What a script returns, with the place in the source, and how it stands in tuples."""
    if value.fields is not None and value.maker is None:
        raise build.mismatch(
            "cannot return a named tuple or a dataclass that is an argument",
            node,
            help="make a new one of its fields, or return those in a tuple",
        )
    leaves: Leaves = []
    parts: list[Nesting | None] = []
    for item, place in zip(value.items, _places(value, node), strict=True):
        if isinstance(item, Items):
            inner, nesting = flattened(build, item, place)
            leaves += inner
            parts.append(nesting)
        else:
            leaves.append((item, place))
            parts.append(None)
    return leaves, Nesting(tuple(parts), value.maker)


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
