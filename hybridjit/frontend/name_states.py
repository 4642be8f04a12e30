"""What names stand for in a loop that gives them other arrays, and how that is told apart."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from hybridjit.frontend.builder import Builder
from hybridjit.frontend.frame import Carry, Resizable, Skip, State, Variable
from hybridjit.frontend.values import (
    Array,
    ArrayExpr,
    GrowingList,
    Items,
    Value,
    View,
    describe,
)
from hybridjit.frontend.variables import Web
from hybridjit.ir.expr import Buffer
from hybridjit.lazy import lazy_module
from hybridjit.scalars.scalar import Scalar

if TYPE_CHECKING:
    from hybridjit.frontend.arrays import elementwise as elementwise_arrays
else:
    elementwise_arrays = lazy_module("hybridjit.frontend.arrays.elementwise")


Stood = Value | Variable | Resizable
"""What a name stands for."""


def let_vary(build: Builder, web: Web, value: Value | Variable, carry: Carry) -> None:
    """Let the next round of the translation have a home for the arrays of a name, if one fits."""
    first = carry.states[0][carry.webs.index(web)]
    place = build.frame.path, carry.stmt
    if not isinstance(first, (Array, View)) or not isinstance(value, (Array, View)):
        return
    one, other = first.buffer, value.buffer
    if (one.dtype, len(first.shape)) != (other.dtype, len(value.shape)) or not value.shape:
        return
    names = build.knowledge.resized.setdefault(place, set())
    if web.name not in names:
        names.add(web.name)
        build.unit.found_division = True
        raise Skip


def is_alike(build: Builder, one: Buffer, other: Buffer) -> bool:
    """True if arrays are sure to have the same type and shape."""
    is_alike = one.dtype is other.dtype and one.ndim == other.ndim
    return is_alike and all(map(build.ranges.same, one.shape, other.shape))


def agree_in_type(build: Builder, one: Array | View, other: Array | View) -> bool:
    is_alike = one.buffer.dtype is other.buffer.dtype and len(one.shape) == len(other.shape)
    return is_alike and all(map(build.ranges.same, one.shape, other.shape))


def is_own(build: Builder, value: Array | View) -> bool:
    """True for all of an array that is made here."""
    return isinstance(value, Array) and not value.indices and value.buffer in build.unit.made


def loops_around(build: Builder, stmt: ast.stmt) -> list[ast.For | ast.While]:
    loops = [e.stmt for e in build.around if isinstance(e.stmt, (ast.For, ast.While))]
    return [loop for loop in loops if loop is not stmt]


def standin(name: str) -> tuple[str, str]:
    """Why an array is not written to that may be another one, and what to do."""
    why = f"'{name}' may still be the array that it was before a loop, and is a copy of it here"
    return why, f"make it an array of its own before the loop: {name} = {name}.copy()"


def is_unbound(value: Stood) -> bool:
    return isinstance(value, Variable) and value.buffer is None


def kind_of(build: Builder, value: Stood) -> str:
    match value:
        case Array() | View():
            return f"{value.buffer.dtype} of shape {elementwise_arrays.shape_text(value.shape)}"
        case Variable(buffer=None):
            return "without a value"
        case Variable() | Scalar():
            return "a number"
        case Resizable(home=home):
            return f"{home.dtype} of any size"
        case _:
            return describe(value)


def state_key(state: State) -> object:
    """What two states have in common if names stand for the same in both."""
    return tuple(value_key(value) for value in state)


def value_key(value: Stood) -> object:
    match value:
        case Array(buffer, indices):
            return id(buffer), indices
        case View(buffer, places, shape):
            return id(buffer), places, shape
        case Items(items):
            return state_key(items)
        case GrowingList(count=buffer) | Resizable(home=buffer):
            return id(buffer)
        case Variable(key=key, buffer=None):
            return key  # in each copy of a branch, it is another one without a value
        case Variable() | ArrayExpr():
            return id(value)
        case _:
            return value
