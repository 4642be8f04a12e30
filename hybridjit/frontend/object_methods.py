"""Methods of named tuples, dataclasses and `self`: functions that are inlined, the object first.

    grid.scaled(2)    -->    Grid.scaled(grid, 2)

An object has no memory of its own, only what its fields show: a method reads these, writes to the
arrays among them, and gives new objects.
"""

from __future__ import annotations

import ast
import inspect
from dataclasses import replace
from types import FunctionType
from weakref import WeakKeyDictionary

from hybridjit.frontend.arrays.memory import evaluate_all
from hybridjit.frontend.builder import Builder
from hybridjit.frontend.captures import AttributeSource
from hybridjit.frontend.values import Callee, Items, Method, Value

# The calls that properties are. A node names variables, so each is made once.
_GETTERS: WeakKeyDictionary[ast.Attribute, ast.Call] = WeakKeyDictionary()


def find_method(build: Builder, owner: Items, node: ast.Attribute) -> Value | None:
    """What the class of an object has under a name: a method, or the value of a property."""
    found = inspect.getattr_static(owner.maker, node.attr, None) if owner.maker else None
    if node.attr == "_replace" and hasattr(owner.maker, "_fields"):
        return Method(owner, node.attr)
    if isinstance(found, property) and isinstance(found.fget, FunctionType):
        _note(build, owner, node, found)
        return build.language.inline(build, Callee(found.fget), _getter(build, owner, node))
    if function_of(found) is None:
        return None
    _note(build, owner, node, found)
    return Method(owner, node.attr)


def call_method(build: Builder, owner: Items, name: str, node: ast.Call) -> Value:
    """A call of such a method; the object is the first argument of `node`."""
    if name == "_replace" and hasattr(owner.maker, "_fields"):
        return _replaced(build, owner, node)
    function = function_of(inspect.getattr_static(owner.maker, name))
    return build.language.inline(build, Callee(function), node)


def function_of(method: object) -> FunctionType | None:
    """The function that a method or a kernel in a class is."""
    found = getattr(method, "__hybrid_function__", method)
    return found if isinstance(found, FunctionType) else None


def _note(build: Builder, owner: Items, node: ast.Attribute, found: object) -> None:
    """A class that is given another method later makes the translation stale."""
    build.capture(ast.unparse(node), found, AttributeSource(owner.maker, node.attr))


def _getter(build: Builder, owner: Items, node: ast.Attribute) -> ast.Call:
    call = _GETTERS.get(node)
    if call is None:
        first = ast.copy_location(ast.Name(ast.unparse(node.value), ast.Load()), node.value)
        call = _GETTERS[node] = ast.copy_location(ast.Call(node, [first], []), node)
    build.frame.fixed[call.args[0]] = owner
    return call


def _replaced(build: Builder, owner: Items, node: ast.Call) -> Items:
    """`pair._replace(x=1)`: another one with some fields of its own."""
    fields = owner.fields or ()
    names = [keyword.arg for keyword in node.keywords]
    wrong = next((keyword for keyword in node.keywords if keyword.arg not in fields), None)
    if wrong is not None or len(node.args) > 1:
        raise build.refuse(
            f"_replace takes fields of {owner.maker.__name__} by their names",
            wrong or node,
            help=f"it has {', '.join(fields)}",
        )
    values = evaluate_all(build, [keyword.value for keyword in node.keywords])
    new = dict(zip(names, values, strict=True))
    items = (new.get(name, item) for name, item in zip(fields, owner.items, strict=True))
    return replace(owner, items=tuple(items), is_given=False)
