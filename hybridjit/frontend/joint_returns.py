"""Functions that are inlined and return in several places: one result for all of them.

def clamp(x):                    if x < 0.0:
    if x < 0.0:                      r = 0.0
        return 0.0       -->     else:
    return x                         r = x
y = clamp(a[i])                  y = r

A number becomes a variable, an array one that every return stores in, a tuple is taken apart.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from hybridjit.errors import ParseError
from hybridjit.frontend.arrays.elementwise import shape_text
from hybridjit.frontend.arrays.memory import elements_of, store_array, view_of
from hybridjit.frontend.builder import Builder
from hybridjit.frontend.expressions import fresh_variable
from hybridjit.frontend.frame import Variable
from hybridjit.frontend.name_states import is_alike
from hybridjit.frontend.returns import InlineReturn, structure_returns
from hybridjit.frontend.values import (
    AnyArray,
    Array,
    ArrayExpr,
    Items,
    Value,
    View,
    buffers_of,
    describe,
)
from hybridjit.ir.expr import Buffer, Load, Var
from hybridjit.ir.stmt import Allocate, For, Let, Stmt
from hybridjit.ir.visit import walk, walk_stmts
from hybridjit.kept_property import kept_property
from hybridjit.scalars.scalar import Scalar

# What each return stores in; a value that is the same everywhere is its own result.
_Result = Variable | Buffer | Value | tuple["_Result", ...]


def several_returns(
    build: Builder,
    stmts: list[Stmt],
    returns: list[InlineReturn],
    name: str,
    node: ast.Call,
) -> Value:
    """The result of a call whose statements return in several places."""
    values = [_as_renamed(build, site.value) for site in returns]
    joint = _Joint(build, stmts, name, node)
    result = joint.result(values)
    splice(build, stmts, result, node)
    return _read(build, result, node)


def _as_renamed(build: Builder, value: Value) -> Value:
    """A value whose array became another since it was returned."""
    match value:
        case Array(buffer) | View(buffer):
            return replace(value, buffer=build.unit.renamed.get(buffer, buffer))
        case Items(items):
            return replace(value, items=tuple(map(partial(_as_renamed, build), items)))
        case _:
            return value


def splice(build: Builder, stmts: list[Stmt], result: _Result | None, node: ast.Call) -> None:
    """Put the statements of the call here, its returns turned into structured control."""

    def assign(site: InlineReturn) -> list[Stmt]:
        with build.collect() as stores:
            if result is not None:
                _store_result(build, result, _as_renamed(build, site.value), site)
        return stores

    build.body.extend(structure_returns(stmts, assign, build.close))


def _store_result(build: Builder, result: _Result, value: Value, site: InlineReturn) -> None:
    match result, value:
        case Variable(), Scalar():
            build.assign_variable(result, value, site.span)
        case Buffer(), Array() | View() | ArrayExpr():
            store_array(build, view_of(build, Array(result)), elements_of(build, value), site.span)
        case tuple(), Items(items):
            for part, item in zip(result, items, strict=True):
                _store_result(build, part, item, site)
        case _:
            pass


def _read(build: Builder, result: _Result, node: ast.Call) -> Value:
    """What the call stands for after it."""
    match result:
        case Variable(buffer=buffer, type=type):
            assert buffer is not None
            assert type is not None
            load = Load(buffer, (), span=build.span(node))
            return build.let(Scalar(load, type), "t", build.span(node))
        case Buffer():
            return replace(elements_of(build, Array(result)), buffer=result)
        case tuple():
            return Items(tuple(_read(build, part, node) for part in result))
        case _:
            return result


class _Joint:
    """Finds what the returns of one call store in."""

    def __init__(self, build: Builder, stmts: Sequence[Stmt], name: str, node: ast.Call) -> None:
        self.build = build
        self.stmts = stmts
        self.name = name
        self.node = node
        self.numbers = 0

    def result(self, values: Sequence[Value]) -> _Result:
        """What these values, one for each return, are stored in."""
        first = values[0]
        is_one = values.count(first) == len(values) and not isinstance(first, Scalar)
        if is_one and self._stays(first):
            return first
        if all(isinstance(value, Scalar) for value in values):
            self.numbers += 1
            label = f"{self.name}_result"
            return fresh_variable(self.build, label, self.node, self.numbers - 1)
        tuples = [value.items for value in values if isinstance(value, Items)]
        if len(tuples) == len(values) and len({len(items) for items in tuples}) == 1:
            return tuple(map(self.result, zip(*tuples, strict=True)))
        arrays = [value for value in values if isinstance(value, AnyArray)]
        if len(arrays) == len(values):
            return self._array(arrays)
        other = next((value for value in values if type(value) is not type(first)), None)
        if other is None:
            raise self._refuse_place(first)
        raise self._refuse(describe(first), describe(other))

    def _stays(self, value: Value) -> bool:
        """Whether a value is the same after the call: it is not made in a loop or a branch."""
        match value:
            case Items(items):
                return all(map(self._stays, items))
            case Scalar(expr):
                return not any(
                    isinstance(node, Load) or node in self._inside for node in walk(expr)
                )
            case View() | ArrayExpr():
                return False
            case _:
                return self._inside.isdisjoint(buffers_of(value))

    @kept_property
    def _inside(self) -> set[Buffer | Var]:
        """The arrays and variables that loops and branches of the call make."""
        inner = [s for stmt in self.stmts for s in walk_stmts(stmt) if s is not stmt]
        loops = [stmt for stmt in self.stmts if isinstance(stmt, For)]
        arrays = {s.buffer for s in inner if isinstance(s, Allocate)}
        return arrays | {s.var for s in [*inner, *loops] if isinstance(s, (Let, For))}

    def _array(self, values: Sequence[AnyArray]) -> Buffer:
        build = self.build
        first = elements_of(build, values[0])
        result = Buffer(f"{self.name}_result", first.dtype, tuple(first.shape), "global")
        for value in (elements_of(build, value) for value in values):
            if not is_alike(build, result, Buffer("", value.dtype, tuple(value.shape))):
                raise self._refuse(_array_text(first), _array_text(value))
        self._check_size(result)
        build.emit(Allocate(result, zero=False))
        made = {
            s.buffer for stmt in self.stmts for s in walk_stmts(stmt) if isinstance(s, Allocate)
        }
        made -= build.unit.standins.keys()
        sources = [b for value in values for b in buffers_of(value) if b not in made]
        if sources:
            build.unit.copied_from[result] = sources
            build.unit.standins[result] = (
                f"the result of '{self.name}' may be the array that it was given, and is a copy of "
                "it here, which would not see what is written to it",
                f"return an array of its own from '{self.name}' on every path, with .copy()",
            )
        return result

    def _check_size(self, result: Buffer) -> None:
        """Refuse an array whose size is known only where it is returned."""
        inside = {
            s.var for stmt in self.stmts for s in walk_stmts(stmt) if isinstance(s, (Let, For))
        }
        nodes = [node for size in result.shape for node in walk(size)]
        if any(isinstance(node, Load) or node in inside for node in nodes):
            raise self.build.refuse(
                f"'{self.name}' returns an array in several places, of a size that is known only "
                "there",
                self.node,
                help=f"return in one place, at the end of '{self.name}'",
            )

    def _refuse_place(self, value: Value) -> ParseError:
        return self.build.refuse(
            f"'{self.name}' returns {describe(value)} that it makes in a loop or a branch, "
            "where it ends",
            self.node,
            help=f"make it before, and let '{self.name}' append to it",
        )

    def _refuse(self, one: str, other: str) -> ParseError:
        help = "return as many arrays and numbers, each of one type and shape, on every path"
        if "None" in (one, other):
            help = (
                "return a number in the place of None, such as -1, or whether there is one as well"
            )
        return self.build.refuse(
            f"the returns of '{self.name}' do not agree: one gives {one}, another {other}",
            self.node,
            help=help,
        )


def _array_text(value: ArrayExpr) -> str:
    return f"{value.dtype} of shape {shape_text(value.shape)}"
