"""What is done to lists: their methods, their items, and `in`."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from types import FunctionType
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from hybridjit.arith.ranges import ZERO
from hybridjit.frontend.arrays.lists import (
    append,
    append_all,
    append_array,
    checked_index,
    clipped,
    copied_list,
    grow,
    insert,
    item_at,
    length,
    pop,
    resize,
    set_item,
)
from hybridjit.frontend.arrays.memory import then
from hybridjit.frontend.builder import Builder
from hybridjit.frontend.call_arguments import arguments
from hybridjit.frontend.expansion import loop_bounds
from hybridjit.frontend.values import (
    Array,
    ArrayExpr,
    Callee,
    GrowingList,
    Items,
    Nothing,
    Value,
    View,
    describe,
)
from hybridjit.ir.expr import Expr
from hybridjit.lazy import lazy_module
from hybridjit.scalars.scalar import Scalar, index

if TYPE_CHECKING:
    from hybridjit.frontend.library import python as library_python
else:
    library_python = lazy_module("hybridjit.frontend.library.python")

Handler = Callable[[Builder, GrowingList, ast.Call], Value]


def call_list_method(
    build: Builder, owner: GrowingList | Items, name: str, node: ast.Call
) -> Value:
    """`out.append(x)` and others."""
    if name in SEARCHES:
        return _call_on(build, SEARCHES[name](), [owner], node)
    if isinstance(owner, Items):
        raise grow(build, owner, node)
    return _METHODS[name](build, owner, node)


def _append(build: Builder, owner: GrowingList, node: ast.Call) -> Value:
    (item,) = arguments(build, node, "object", required=1).values()
    append(build, owner, build.evaluate(item), node)
    return Nothing()


def _pop(build: Builder, owner: GrowingList, node: ast.Call) -> Value:
    args = arguments(build, node, "index", required=0)
    return pop(build, owner, build.scalar(args["index"]) if args else None, node)


def _insert(build: Builder, owner: GrowingList, node: ast.Call) -> Value:
    at, item = arguments(build, node, "index", "object", required=2).values()
    insert(build, owner, build.scalar(at), build.evaluate(item), node)
    return Nothing()


def _extend(build: Builder, owner: GrowingList, node: ast.Call) -> Value:
    (items,) = arguments(build, node, "iterable", required=1).values()
    extend(build, owner, build.evaluate(items), node)
    return Nothing()


def extend(build: Builder, owner: GrowingList, items: Value, node: ast.AST) -> None:
    """Add all items of a list, a tuple or an array to a list."""
    match items:
        case GrowingList():
            append_all(build, owner, items, ZERO, length(build, items, node), node)
        case Items(parts):
            for item in parts:
                append(build, owner, item, node)
        case Array() | View() | ArrayExpr() if len(items.shape) == 1:
            append_array(build, owner, items, node)
        case _:
            raise build.mismatch(
                f"a list is extended by a list or an array of numbers, found {describe(items)}",
                node,
                help="append the items in a loop",
            )


def _remove(build: Builder, owner: GrowingList, node: ast.Call) -> Value:
    place = build.as_scalar(_call_on(build, library_python.removed, [owner], node), node)
    pop(build, owner, place, node)
    return Nothing()


def _clear(build: Builder, owner: GrowingList, node: ast.Call) -> Value:
    arguments(build, node, required=0)
    resize(build, owner, ZERO, node)
    return Nothing()


def _copy(build: Builder, owner: GrowingList, node: ast.Call) -> Value:
    arguments(build, node, required=0)
    return copied_list(build, owner, ZERO, length(build, owner, node), node)


def _sort(build: Builder, owner: GrowingList, node: ast.Call) -> Value:
    return _reordered(build, owner, library_python.sorted, node)


def _reverse(build: Builder, owner: GrowingList, node: ast.Call) -> Value:
    arguments(build, node, required=0)
    return _reordered(build, owner, library_python.backwards, node)


def _reordered(build: Builder, owner: GrowingList, order: FunctionType, node: ast.Call) -> Value:
    """Give a list the items in the order that a function of the list has them in."""
    result = _call_on(build, order, [owner], node)
    if isinstance(result, Items):
        raise grow(build, result, node)
    assert isinstance(result, GrowingList)
    resize(build, owner, ZERO, node)
    append_all(build, owner, result, ZERO, length(build, result, node), node)
    return Nothing()


_METHODS: dict[str, Handler] = {
    "append": _append,
    "pop": _pop,
    "insert": _insert,
    "extend": _extend,
    "clear": _clear,
    "copy": _copy,
    "sort": _sort,
    "reverse": _reverse,
    "remove": _remove,
}
# Of tuples and lists whose items are fixed, too.
SEARCHES: dict[str, Callable[[], FunctionType]] = {
    "index": lambda: library_python.index,
    "count": lambda: library_python.count,
}
LIST_METHODS = (*_METHODS, *SEARCHES)


# items


def list_item(build: Builder, owner: GrowingList, node: ast.Subscript) -> Value:
    """`out[i]`, or a part of a list, which is a list of its own."""
    if isinstance(node.slice, ast.Slice):
        return _part(build, owner, node.slice, node)
    return item_at(build, owner, item_place(build, owner, node), node)


def item_place(build: Builder, owner: GrowingList, node: ast.Subscript) -> Expr:
    """Where the item is that a subscript means."""
    return checked_index(build, owner, build.scalar(node.slice, "an index"), node.slice)


def _part(build: Builder, owner: GrowingList, part: ast.Slice, node: ast.Subscript) -> Value:
    if part.step is not None:
        bounds = (part.lower, part.upper, part.step)
        values = [Nothing() if bound is None else build.evaluate(bound) for bound in bounds]
        return _call_on(build, library_python.stepped, [owner, *values], node)
    size = length(build, owner, node)
    start, stop = (
        default if bound is None else clipped(build, build.scalar(bound, "a bound"), size, bound)
        for bound, default in ((part.lower, ZERO), (part.upper, size))
    )
    return copied_list(build, owner, start, stop, node)


def delete_item(build: Builder, owner: GrowingList | Items, target: ast.Subscript) -> None:
    """`del out[i]`."""
    if isinstance(owner, Items):
        raise grow(build, owner, target)
    if isinstance(target.slice, ast.Slice):
        raise build.refuse(
            "a part of a list cannot be deleted", target, help="keep the rest, as in out = out[:n]"
        )
    pop(build, owner, build.scalar(target.slice, "an index"), target)


def store_item(build: Builder, owner: GrowingList, target: ast.Subscript, value: Value) -> None:
    """`out[i] = value`."""
    if isinstance(target.slice, ast.Slice):
        raise build.refuse(
            "a part of a list cannot be assigned to", target, help="assign the items in a loop"
        )
    set_item(build, owner, item_place(build, owner, target), value, target)


# what is in it

# Calls of functions in the place of others. A node names variables, so each is made once.
_CALLS: WeakKeyDictionary[ast.expr, ast.Call] = WeakKeyDictionary()


def _call_on(
    build: Builder, function: FunctionType, values: Sequence[Value], node: ast.expr
) -> Value:
    """A function of the library on values that are at hand, and then the arguments of a call."""
    call = _CALLS.get(node)
    if call is None:
        names: list[ast.expr] = [ast.Name("item", ast.Load()) for _ in values]
        args, keywords = (node.args, node.keywords) if isinstance(node, ast.Call) else ([], [])
        made = ast.Call(ast.Name(function.__name__, ast.Load()), [*names, *args], keywords)
        call = _CALLS[node] = ast.fix_missing_locations(ast.copy_location(made, node))
    for name, value in zip(call.args, values, strict=False):
        build.frame.fixed[name] = value
    return build.language.inline(build, Callee(function), call)


def contains(build: Builder, node: ast.Compare, item: Value, items: Value) -> Scalar:
    """`item in items`, of a list, a tuple, or an array of one dimension."""
    return build.as_scalar(_call_on(build, library_python.contains, [items, item], node), node)


def is_in_range(build: Builder, node: ast.Compare) -> Scalar:
    """`number in range(...)`: no loop goes through it."""
    call = node.comparators[0]
    assert isinstance(call, ast.Call)
    number = build.scalar(node.left, "a number")
    item, bounds = then(build, number, lambda: loop_bounds(build, call, call.args))
    values = [item, *map(index, bounds)]
    return build.as_scalar(_call_on(build, library_python.in_range, values, node), node)
