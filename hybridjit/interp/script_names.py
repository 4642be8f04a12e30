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
from hybridjit.ir.expr import Buffer, Var
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.visit import walk_stmts
from hybridjit.record import record

Slots = Mapping[Var | Buffer, int]
_UNPACKED = "t"  # what the front end calls the values of `x, y = ...`


@record
class Named:
    """The slots of a name: one, or one for each number of a tuple; a parameter has no place."""

    name: str
    slots: tuple[int, ...]
    span: Span | None = None

    def is_set(self, frame: Frame) -> bool:
        """True once all its slots hold values."""
        return all(frame[slot] is not None and frame[slot] is not UNSET for slot in self.slots)

    def value(self, frame: Frame) -> object:
        """What the name stands for."""
        values = tuple(frame[slot] for slot in self.slots)
        return values[0] if len(values) == 1 else values


def find_names(func: PrimFunc, slots: Slots) -> list[Named]:
    """The parameters, and the names that statements bind, in the order of the program."""
    found = [
        Named(item.name, (slots[item if isinstance(item, Buffer) else item.var],))
        for item in func.params
    ]
    found += [Named(item.name, (slots[item],)) for item in func.outputs]
    for (_, name, span), bound in _grouped(func).items():
        names = _names_of(name, span, bound)
        own = [slots[item] for item in bound]
        if len(names) == len(own):
            pairs = zip(names, own, strict=True)
            found += [Named(each, (slot,), span) for each, slot in pairs]
        elif names and all(_is_register(item) for item in bound):
            found.append(Named(name, tuple(own), span))
    return _without_parts(found)


def _without_parts(found: list[Named]) -> list[Named]:
    """Leave out what is put into a tuple: it goes by the name of that."""
    tuples = {item.name for item in found if len(item.slots) > 1}
    return [item for item in found if len(item.slots) > 1 or item.name not in tuples]


_Key = tuple[type[ir.Stmt], str, Span]


def _grouped(func: PrimFunc) -> dict[_Key, list[Var | Buffer]]:
    """What is bound, together what has one name in one statement: the parts of a tuple."""
    groups: dict[_Key, list[Var | Buffer]] = {}
    for stmt in walk_stmts(func.body):
        bound = _bound(stmt)
        if bound is not None and stmt.span is not None:
            groups.setdefault((type(stmt), bound.name, stmt.span), []).append(bound)
    return groups


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
        tree = ast.parse("".join(linecache.getlines(file)))
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
