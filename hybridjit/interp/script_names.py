"""Which slots of a frame hold the variables of a script, as its text names them.

A program has more variables than its script: those of loops over arrays, of values in between, of
functions that are inlined, and several for a name whose values do not meet. Only what the text
binds where the program does is told.
"""

from __future__ import annotations

import ast
import linecache
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

from hybridjit.errors import Span
from hybridjit.interp.scope import UNSET, Frame
from hybridjit.ir import stmt as ir
from hybridjit.ir.expr import Buffer, Node, Var
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.visit import walk_stmts
from hybridjit.record import record
from hybridjit.syntax import parse_module

Slots = Mapping[Var | Buffer, int]
_UNPACKED = "t"  # what the front end calls the values of `x, y = ...`


Place = tuple[int, ...]
"""Where a number stands in a tuple, and in the tuples in that."""


def name_of_part(name: str, place: Place) -> str:
    """What a number in a tuple is called, if debuggers are to see where it stands."""
    return ".".join([name, *map(str, place)])


@record
class Alias:
    """A name for an array that goes by another one, such as a parameter of a function."""

    name: str
    span: Span
    buffer: Buffer


@record
class Named:
    """The slots of a name: one, or one for each number of a tuple; a parameter has no span.

    `places` say where the numbers stand in a tuple that has tuples in it. What `is_given` has its
    value when a function is entered.
    """

    name: str
    slots: tuple[int, ...]
    span: Span | None = None
    places: tuple[Place, ...] = ()
    is_given: bool = False

    def is_set(self, frame: Frame) -> bool:
        """True once all its slots hold values."""
        return all(frame[slot] is not None and frame[slot] is not UNSET for slot in self.slots)

    def value(self, frame: Frame) -> object:
        """What the name stands for."""
        values = tuple(frame[slot] for slot in self.slots)
        if self.places:
            return _nested(list(zip(self.places, values, strict=True)))
        return values[0] if len(values) == 1 else values


def _nested(parts: Sequence[tuple[Place, object]]) -> object:
    """A tuple of what stands at its places."""
    if parts[0][0] == ():
        return parts[0][1]
    items: dict[int, list[tuple[Place, object]]] = {}
    for (first, *rest), value in parts:
        items.setdefault(first, []).append((tuple(rest), value))
    return tuple(_nested(items[place]) for place in sorted(items))


def find_names(func: PrimFunc, slots: Slots, aliases: Sequence[Alias] = ()) -> list[Named]:
    """The parameters, and the names that statements bind, in the order of the program."""
    found = [
        Named(item.name, (slots[item if isinstance(item, Buffer) else item.var],), is_given=True)
        for item in func.params
    ]
    found += [Named(item.name, (slots[item],)) for item in func.outputs]
    found += [
        Named(item.name, (slots[item.buffer],), item.span, is_given=True)
        for item in aliases
        if item.buffer in slots
    ]
    for (kind, name, span, _), bound in _grouped(func).items():
        names = _names_of(name, span, bound)
        own = [slots[item] for item in bound]
        places = [_place_in(item.name) for item in bound]
        if any(places):
            given = kind is _Given
            found += [Named(name, tuple(own), span, tuple(places), given)] if names else []
        elif len(names) == len(own):
            pairs = zip(names, own, strict=True)
            given = kind is _Given
            found += [Named(each, (slot,), span, is_given=given) for each, slot in pairs]
        elif names and all(_is_register(item) for item in bound):
            found.append(Named(name, tuple(own), span))
    return _without_parts(found)


def _without_parts(found: list[Named]) -> list[Named]:
    """Leave out what is put into a tuple: it goes by the name of that."""
    tuples = {item.name for item in found if len(item.slots) > 1}
    return [item for item in found if len(item.slots) > 1 or item.name not in tuples]


class _Given(Node):
    """In the place of the kind of a statement: a parameter, which no statement binds."""


Calls = tuple[tuple[str, int, int], ...]
"""Which call of a function: where it stands, and those around it."""
_Key = tuple[type[Node], str, Span, Calls]


def _grouped(func: PrimFunc) -> dict[_Key, list[Var | Buffer]]:
    """What is bound, together what has one name in one statement: the parts of a tuple."""
    groups: dict[_Key, list[Var | Buffer]] = {}
    for stmt in walk_stmts(func.body):
        bound = _bound(stmt)
        span = _span_of(stmt)
        if bound is not None and span is not None:
            name, *place = bound.name.split(".")
            kind = _Given if stmt.span is None else Node if place else type(stmt)
            groups.setdefault((kind, name, span, calls_of(span)), []).append(bound)
    return groups


def _span_of(stmt: ir.Stmt) -> Span | None:
    """Where a name is bound; a parameter of a function that is called is so by no statement."""
    return stmt.var.span if isinstance(stmt, ir.Let) and stmt.span is None else stmt.span


def calls_of(span: Span) -> Calls:
    """The calls that `span` is in, outermost first."""
    found: list[tuple[str, int, int]] = []
    call = span.call
    while call is not None:
        found.insert(0, (call.file, call.line, call.col))
        call = call.call
    return tuple(found)


def _place_in(name: str) -> Place:
    return tuple(map(int, name.split(".")[1:]))


def _bound(stmt: ir.Stmt) -> Var | Buffer | None:
    match stmt:
        case ir.For() if stmt.span is not None and _is_written(stmt.span):
            return stmt.var
        case ir.Let():
            return stmt.var
        case ir.Allocate() if not stmt.buffer.is_growing:
            return stmt.buffer
        case _:
            return None


def _is_register(item: Var | Buffer) -> bool:
    return isinstance(item, Buffer) and item.is_register


def _is_written(span: Span) -> bool:
    """True of a loop that stands in the script."""
    return linecache.getline(span.file, span.line)[span.col :].startswith("for ")


def _names_of(name: str, span: Span, bound: Sequence[Var | Buffer]) -> list[str]:
    """What the text calls that which a statement at `span` binds."""
    here = [
        names
        for line in range(span.line, span.end_line + 1)
        for names in _assignments(span.file).get(line, ())
    ]
    if any(name in names for names in here):
        return [name]
    if name == _UNPACKED and len(here) == 1 and len(here[0]) == len(bound) > 1:
        return list(here[0])
    return []


@lru_cache(maxsize=16)
def _assignments(file: str) -> dict[int, list[tuple[str, ...]]]:
    """The names that are bound in each line of a file, together those that are unpacked."""
    try:
        tree = parse_module("".join(linecache.getlines(file)))
    except SyntaxError:
        return {}
    found: dict[int, list[tuple[str, ...]]] = {}
    for line, names in _targets(tree):
        found.setdefault(line, []).append(names)
    return found


def _targets(tree: ast.AST) -> Iterator[tuple[int, tuple[str, ...]]]:
    inside: set[ast.AST] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Tuple) and isinstance(node.ctx, ast.Store):
            inside.update(node.elts)
            yield node.lineno, tuple(e.id for e in node.elts if isinstance(e, ast.Name))
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node not in inside:
            yield node.lineno, (node.id,)
        elif isinstance(node, ast.arg):
            yield node.lineno, (node.arg,)
