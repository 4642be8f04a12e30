"""Syntax that is short for other syntax, written out before a script is translated.

    for i in range(n):            is_done = True
        if a[i] > 0:              for i in range(n):
            break                     if a[i] > 0:
    else:                -->              is_done = False
        rest                              break
                                  if is_done:
                                      rest

So are `while ... else`, `match` on numbers (frontend/patterns.py), `:=`, the sum, min, max, any and
all of generators, and `break` and `continue` in loops over tuples. A `def` inside becomes an
assignment of the function, which stands there as a `lambda` does (frontend/inner_functions.py).
What comes in a form that is not known is left as it is: the translation refuses it at its place.
"""

from __future__ import annotations

import ast
import copy
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from hybridjit.frontend.field_names import FieldsFirst, is_by_name
from hybridjit.frontend.hoisting import (
    Hoist,
    assign_at,
    at_place,
    is_list_call,
    name_at,
    takes_effect,
)
from hybridjit.frontend.inner_functions import bound_names, define, is_defined, parameters
from hybridjit.lazy import lazy_module
from hybridjit.source import FunctionSource
from hybridjit.syntax import nodes_of

if TYPE_CHECKING:
    from hybridjit.frontend import patterns
else:
    patterns = lazy_module("hybridjit.frontend.patterns")


_SHORT = (
    *(ast.NamedExpr, ast.Match, ast.GeneratorExp, ast.ListComp, ast.Lambda, ast.FunctionDef),
    *(ast.Import, ast.ImportFrom),
)
_JUMPS = (ast.Break, ast.Continue)
_PLAIN = (ast.Name, ast.Constant, ast.Tuple, ast.expr_context)

# Each function is written out once; its nodes are known by what they are. None: it stays as it is.
_known: WeakKeyDictionary[ast.FunctionDef, ast.FunctionDef | None] = WeakKeyDictionary()


def _stays(target: ast.expr, value: ast.expr) -> bool:
    """True for an element that is the same one whatever the value does."""
    names = {node.id for node in ast.walk(target) if isinstance(node, ast.Name)}
    while isinstance(target, ast.Subscript):
        if not all(isinstance(node, _PLAIN) for node in ast.walk(target.slice)):
            return False
        target = target.value
    named = {node.target.id for node in ast.walk(value) if isinstance(node, ast.NamedExpr)}
    return isinstance(target, ast.Name) and not names & named


def written_out(source: FunctionSource) -> FunctionSource:
    """The function in plain syntax; most have no other."""
    func = source.node
    if func not in _known:
        is_short = any(_is_short(inner) for inner in nodes_of(func) if inner is not func)
        is_short = is_short or bool(_set_by_choice(func))
        _known[func] = _written_out(func) if is_short else None
    node = _known[func]
    return source if node is None else replace(source, node=node)


def _written_out(func: ast.FunctionDef) -> ast.FunctionDef:
    node = copy.deepcopy(func)
    names = {inner.id for inner in nodes_of(node) if isinstance(inner, ast.Name)}
    names |= {arg.arg for arg in nodes_of(node) if isinstance(arg, ast.arg)}
    names |= {case.name or "_" for case in nodes_of(node) if isinstance(case, ast.MatchAs)}
    _Writer(names, _set_by_choice(node)).function(FieldsFirst().visit(node))
    return node


def _is_short(node: ast.AST) -> bool:
    if isinstance(node, ast.For) and isinstance(node.iter, (ast.Tuple, ast.List)):
        return any(map(has_jump, node.body)) or bool(node.orelse)
    if isinstance(node, (ast.For, ast.While)):
        return bool(node.orelse)
    return isinstance(node, _SHORT) or is_list_call(node) or is_by_name(node)


def _set_by_choice(func: ast.FunctionDef) -> set[ast.stmt]:
    """Choices that are written as branches: `x = None if c else b`, and `x = a if c else x + b`.

    Of the latter where nothing else sets x: what is chosen first gives it its type.
    """
    of_none = {stmt for stmt in nodes_of(func) if isinstance(stmt, ast.stmt) and _may_be_none(stmt)}
    found = {stmt: name for stmt in nodes_of(func) for name in _reads_itself(stmt)}
    if not found:
        return of_none
    bound = Counter(name.id for name in bound_names(func.body))
    bound.update(arg.arg for arg in parameters(func.args))
    alone = {stmt for stmt, name in found.items() if bound[name] == 1}
    return of_none | {stmt for stmt in alone if isinstance(stmt, ast.stmt)}


def _may_be_none(stmt: ast.stmt) -> bool:
    """True for `x = None if c else k + 1`: None, or what looks like a number."""
    match stmt:
        case ast.Assign([ast.Name()], ast.IfExp(test, then, otherwise)):
            sides = [side for side in (then, otherwise) if not _is_none(side)]
            is_known = isinstance(test, ast.Compare) and any(map(_is_none, test.comparators))
            return len(sides) == 1 and not is_known and _looks_like_a_number(sides[0])
        case _:
            return False


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _looks_like_a_number(node: ast.expr) -> bool:
    """Arrays in another shape may be copies: a name that is given one in a branch is refused."""
    calls = (inner for inner in nodes_of(node) if isinstance(inner, (ast.Call, ast.Attribute)))
    return all(isinstance(call, ast.Call) and _gives_number(call) for call in calls)


def _gives_number(call: ast.Call) -> bool:
    return isinstance(call.func, ast.Name) and call.func.id in ("len", "int", "float", "abs")


def _reads_itself(node: ast.AST) -> list[str]:
    """The name that a choice sets, if it also reads it."""
    match node:
        case ast.Assign([ast.Name(name)], ast.IfExp(_, then, otherwise)):
            parts = (part for side in (then, otherwise) for part in nodes_of(side))
            is_read = any(isinstance(part, ast.Name) and part.id == name for part in parts)
            return [name] if is_read else []
        case _:
            return []


def _branches_of(stmt: ast.Assign, value: ast.IfExp) -> ast.stmt:
    """`x = a if c else b` as a branch."""
    sides: list[ast.stmt] = [
        at_place(ast.Assign(copy.deepcopy(stmt.targets), side), stmt)
        for side in (value.body, value.orelse)
    ]
    return at_place(ast.If(value.test, sides[:1], sides[1:]), stmt)


def _rewrite_blocks(stmt: ast.stmt, block: Callable[[Sequence[ast.stmt]], list[ast.stmt]]) -> None:
    """Rewrite the blocks of a statement that is no loop."""
    holders: list[ast.AST] = [stmt, *getattr(stmt, "handlers", ())]
    for holder in holders:
        for field in ("body", "orelse", "finalbody"):
            if hasattr(holder, field):
                setattr(holder, field, block(getattr(holder, field)))


def has_jump(stmt: ast.stmt, kinds: tuple[type[ast.stmt], ...] = _JUMPS) -> bool:
    """Whether a statement leaves, or goes on with, the loop that it stands in."""
    match stmt:
        case ast.For(orelse=rest) | ast.While(orelse=rest):
            return any(has_jump(inner, kinds) for inner in rest)
        case ast.If(body=body, orelse=rest):
            return any(has_jump(inner, kinds) for inner in (*body, *rest))
        case ast.With(body=body):
            return any(has_jump(inner, kinds) for inner in body)
        case ast.Try(body=body, handlers=handlers, orelse=rest, finalbody=last):
            handled = (inner for handler in handlers for inner in handler.body)
            return any(has_jump(inner, kinds) for inner in (*body, *handled, *rest, *last))
        case _:
            return isinstance(stmt, kinds)


class _Writer:
    """Writes out one function."""

    def __init__(self, names: set[str], choices: set[ast.stmt]) -> None:
        self._names, self._choices = names, choices

    def fresh(self, name: str) -> str:
        """A name that the function does not have."""
        while name in self._names:
            name += "_"
        self._names.add(name)
        return name

    # -- functions -----------------------------------------------------------------------------

    def function(self, node: ast.FunctionDef) -> None:
        """Write out a function, and those inside it."""
        node.body = self.block(node.body)
        for inner in nodes_of(node):
            if isinstance(inner, ast.Lambda) and not is_defined(inner):
                value = at_place(ast.Return(inner.body), inner.body)
                self._define(inner, "lambda", [value])

    def _define(self, node: ast.Lambda, name: str, body: list[ast.stmt]) -> None:
        function = at_place(ast.FunctionDef(name, node.args, body, []), node)
        define(node, function)
        self.function(function)

    def _def(self, stmt: ast.FunctionDef) -> list[ast.stmt]:
        """A function that is made here, as a name that is given it."""
        if stmt.decorator_list:
            return [stmt]
        node = at_place(ast.Lambda(stmt.args, ast.Constant(None)), stmt)
        self._define(node, stmt.name, stmt.body)
        return [assign_at(stmt.name, node, stmt)]

    # -- statements ----------------------------------------------------------------------------

    def block(self, stmts: Sequence[ast.stmt]) -> list[ast.stmt]:
        """Statements one after the other."""
        return [plain for stmt in stmts for plain in self._statement(stmt)]

    def _statement(self, stmt: ast.stmt) -> list[ast.stmt]:
        match stmt:
            case ast.For():
                return self._for(stmt)
            case ast.While():
                return self._while(stmt)
            case ast.If() | ast.With() | ast.Try():
                _rewrite_blocks(stmt, self.block)
                return [*self._hoisted(stmt, "test"), stmt]
            case ast.Match():
                return self._match(stmt)
            case ast.FunctionDef():
                return self._def(stmt)
            case ast.Import() | ast.ImportFrom():
                return _imports(stmt)
            case ast.Assert():
                return [*self._hoisted(stmt, "test"), stmt]
            case ast.Assign(value=ast.IfExp() as value) if stmt in self._choices:
                return self._statement(_branches_of(stmt, value))
            case ast.AugAssign(target=ast.Subscript() as target) if takes_effect(stmt.value):
                return self._updated(stmt, target)
            case _:
                return [*self._hoisted(stmt, "value"), stmt]

    def _updated(self, stmt: ast.AugAssign, target: ast.Subscript) -> list[ast.stmt]:
        """`a[i] += x`, where x may change the element: that is read before."""
        if not _stays(target, stmt.value):
            return [*self._hoisted(stmt, "value"), stmt]
        element = copy.deepcopy(target)
        element.ctx = ast.Load()
        before = self.fresh("before")
        value = ast.BinOp(name_at(before, stmt), stmt.op, stmt.value)
        update = at_place(ast.Assign([target], value), stmt)
        return [assign_at(before, element, stmt), *self._statement(update)]

    def _hoisted(self, stmt: ast.stmt, field: str) -> list[ast.stmt]:
        """What an expression of a statement needs before it."""
        value: ast.expr | None = getattr(stmt, field, None)
        if value is None:
            return []
        hoist = Hoist(self.fresh, self.block)
        if isinstance(stmt, ast.AugAssign):
            hoist.read_before(stmt.target)
        visit = hoist.tested if field == "test" else hoist.visit
        setattr(stmt, field, visit(value))
        return hoist.before

    # -- loops ---------------------------------------------------------------------------------

    def _for(self, stmt: ast.For) -> list[ast.stmt]:
        before = self._hoisted(stmt, "iter")
        stmt.body = self.block(stmt.body)
        is_expanded = isinstance(stmt.iter, (ast.Tuple, ast.List))
        first, last = self._without_else(stmt)
        if is_expanded and any(map(has_jump, stmt.body)):
            first += self._without_jumps(stmt)
        return [*before, *first, stmt, *last]

    def _while(self, stmt: ast.While) -> list[ast.stmt]:
        stmt.body = self.block(stmt.body)
        before, after = self._without_else(stmt)
        needed = self._hoisted(stmt, "test")
        if needed:  # in every round
            leave = ast.If(ast.UnaryOp(ast.Not(), stmt.test), [ast.Break()], [])
            stmt.body = [*needed, at_place(leave, stmt.test), *stmt.body]
            stmt.test = at_place(ast.Constant(True), stmt.test)
        return [*before, stmt, *after]

    def _without_else(self, stmt: ast.For | ast.While) -> tuple[list[ast.stmt], list[ast.stmt]]:
        """What comes before and after a loop, so that it needs no `else`."""
        rest, stmt.orelse = self.block(stmt.orelse), []
        if not rest or not any(has_jump(inner, (ast.Break,)) for inner in stmt.body):
            return [], rest
        flag = self.fresh("is_done")
        stmt.body = _Jumps(on_break=flag, value=False).body(stmt.body)
        test = at_place(ast.If(name_at(flag, rest[0]), rest, []), rest[0])
        return [assign_at(flag, ast.Constant(True), stmt)], [test]

    def _without_jumps(self, stmt: ast.For) -> list[ast.stmt]:
        """What comes before a loop over a tuple, which is expanded: each round is a loop of one."""
        flag = self.fresh("is_left")
        leaves = any(has_jump(inner, (ast.Break,)) for inner in stmt.body)
        body = _Jumps(on_break=flag if leaves else None, value=True).body(stmt.body)
        once = ast.Call(ast.Name("range", ast.Load()), [ast.Constant(1)], [])
        round = ast.For(ast.Name(self.fresh("once"), ast.Store()), once, body, [])
        if not leaves:
            stmt.body = [at_place(round, stmt)]
            return []
        # Rounds that are left out do not change what the loop counts with: it may be read later.
        item, target = self.fresh("item"), stmt.target
        stmt.target = at_place(ast.Name(item, ast.Store()), target)
        bind = at_place(ast.Assign([target], name_at(item, target)), target)
        test = ast.If(ast.UnaryOp(ast.Not(), name_at(flag, stmt)), [bind, round], [])
        stmt.body = [at_place(test, stmt)]
        return [assign_at(flag, ast.Constant(False), stmt)]

    # -- match ---------------------------------------------------------------------------------

    def _match(self, stmt: ast.Match) -> list[ast.stmt]:
        subject, assigned = patterns.subject_of(stmt, self.fresh)
        try:
            chain = patterns.chain_of(stmt.cases, subject, self.block)
        except patterns.Unknown:
            return [stmt]
        before = self._hoisted(assigned[0], "value")
        return [*before, *assigned, *chain]


def _imports(stmt: ast.Import | ast.ImportFrom) -> list[ast.stmt]:
    """`import math as m` and `from math import pi` as assignments of what is imported."""
    is_known = isinstance(stmt, ast.Import) or (stmt.module is not None and not stmt.level)
    if not is_known or any(alias.name == "*" for alias in stmt.names):
        return [stmt]
    found: list[ast.stmt] = []
    for alias in stmt.names:
        module = alias.name if alias.asname is not None else alias.name.split(".")[0]
        name = alias.asname or module
        if isinstance(stmt, ast.ImportFrom):
            made = ast.Attribute(_module(stmt.module or ""), alias.name, ast.Load())
            name = alias.asname or alias.name
        else:
            made = _module(module)
        found.append(assign_at(name, made, stmt))
    return found


def _module(name: str) -> ast.expr:
    return ast.Call(ast.Name("__import__", ast.Load()), [ast.Constant(name)], [])


class _Jumps:
    """Writes jumps out of a loop: a `break` sets a name first, and so is known from outside.

    A `finally` may keep a `break` from leaving. Then the round ends in another way, which takes it
    back.
    """

    def __init__(self, *, on_break: str | None, value: bool) -> None:
        self._flag, self._value = on_break, value
        self._takes_back = False

    def body(self, stmts: Sequence[ast.stmt]) -> list[ast.stmt]:
        """The statements of the loop."""
        self._takes_back = any(map(_may_keep_from_leaving, stmts))
        return [*self._block(stmts), *self._set(not self._value, stmts[-1])]

    def _block(self, stmts: Sequence[ast.stmt]) -> list[ast.stmt]:
        return [plain for stmt in stmts for plain in self._statement(stmt)]

    def _statement(self, stmt: ast.stmt) -> list[ast.stmt]:
        match stmt:
            case ast.Break():
                return [*self._set(self._value, stmt), stmt]
            case ast.Continue():  # in an expanded loop, a round is a loop of its own
                jump = at_place(ast.Break(), stmt) if self._value else stmt
                return [*self._set(not self._value, stmt), jump]
            case ast.If() | ast.With() | ast.Try():
                _rewrite_blocks(stmt, self._block)
            case _:
                pass
        return [stmt]

    def _set(self, value: bool, stmt: ast.stmt) -> list[ast.stmt]:
        if self._flag is None or (value is not self._value and not self._takes_back):
            return []
        return [assign_at(self._flag, ast.Constant(value), stmt)]


def _may_keep_from_leaving(stmt: ast.stmt) -> bool:
    """Whether there is a `finally` that a `break` of the loop around may pass."""
    return has_jump(stmt, (ast.Break,)) and any(
        isinstance(node, ast.Try) and bool(node.finalbody) for node in nodes_of(stmt)
    )
