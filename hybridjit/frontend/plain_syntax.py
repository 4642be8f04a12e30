"""Syntax that is short for other syntax, written out before a script is translated.

    for i in range(n):            is_done = True
        if a[i] > 0:              for i in range(n):
            break                     if a[i] > 0:
    else:                -->              is_done = False
        rest                              break
                                  if is_done:
                                      rest

So are `while ... else`, `match` on numbers, `:=`, the sum, min, max, any and all of generators, and
`break` and `continue` in loops over tuples. A `def` inside becomes an assignment of the function,
which stands there as a `lambda` does (frontend/inner_functions.py). What comes in a form that is
not known is left as it is: the translation refuses it at its place.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

from hybridjit.frontend.comprehensions import FOLDS, Fold, fold_of, list_made_by
from hybridjit.frontend.inner_functions import define, is_defined
from hybridjit.source import FunctionSource

_SHORT = (
    *(ast.NamedExpr, ast.Match, ast.GeneratorExp, ast.ListComp, ast.Lambda, ast.FunctionDef),
    *(ast.Import, ast.ImportFrom),
)
_SCOPES = (ast.Lambda, ast.GeneratorExp, ast.ListComp, ast.SetComp, ast.DictComp)
_JUMPS = (ast.Break, ast.Continue)
N = TypeVar("N", bound=ast.AST)

# Each function is written out once; its nodes are known by what they are. None: it stays as it is.
_known: WeakKeyDictionary[ast.FunctionDef, ast.FunctionDef | None] = WeakKeyDictionary()


def written_out(source: FunctionSource) -> FunctionSource:
    """The function in plain syntax; most have no other."""
    func = source.node
    if func not in _known:
        is_short = any(_is_short(inner) for inner in ast.walk(func) if inner is not func)
        _known[func] = _written_out(func) if is_short else None
    node = _known[func]
    return source if node is None else replace(source, node=node)


def _written_out(func: ast.FunctionDef) -> ast.FunctionDef:
    node = copy.deepcopy(func)
    names = {inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name)}
    names |= {arg.arg for arg in ast.walk(node) if isinstance(arg, ast.arg)}
    _Writer(names).function(node)
    return node


def _is_short(node: ast.AST) -> bool:
    if isinstance(node, ast.For) and isinstance(node.iter, (ast.Tuple, ast.List)):
        return any(map(_has_jump, node.body)) or bool(node.orelse)
    return isinstance(node, _SHORT) or (
        isinstance(node, (ast.For, ast.While)) and bool(node.orelse)
    )


def _has_jump(stmt: ast.stmt, kinds: tuple[type[ast.stmt], ...] = _JUMPS) -> bool:
    """Whether a statement leaves, or goes on with, the loop that it stands in."""
    match stmt:
        case ast.For(orelse=rest) | ast.While(orelse=rest):
            return any(_has_jump(inner, kinds) for inner in rest)
        case ast.If(body=body, orelse=rest):
            return any(_has_jump(inner, kinds) for inner in (*body, *rest))
        case ast.With(body=body):
            return any(_has_jump(inner, kinds) for inner in body)
        case _:
            return isinstance(stmt, kinds)


def _at(node: N, place: ast.AST) -> N:
    """A new node, at the place of an old one."""
    return ast.fix_missing_locations(ast.copy_location(node, place))


def _name(name: str, place: ast.AST) -> ast.Name:
    return _at(ast.Name(name, ast.Load()), place)


def _assign(name: str, value: ast.expr, place: ast.AST) -> ast.stmt:
    return _at(ast.Assign([ast.Name(name, ast.Store())], value), place)


class _Writer:
    """Writes out one function."""

    def __init__(self, names: set[str]) -> None:
        self._names = names

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
        for inner in ast.walk(node):
            if isinstance(inner, ast.Lambda) and not is_defined(inner):
                value = _at(ast.Return(inner.body), inner.body)
                self._define(inner, "lambda", [value])

    def _define(self, node: ast.Lambda, name: str, body: list[ast.stmt]) -> None:
        function = _at(ast.FunctionDef(name, node.args, body, []), node)
        define(node, function)
        self.function(function)

    def _def(self, stmt: ast.FunctionDef) -> list[ast.stmt]:
        """A function that is made here, as a name that is given it."""
        if stmt.decorator_list:
            return [stmt]
        node = _at(ast.Lambda(stmt.args, ast.Constant(None)), stmt)
        self._define(node, stmt.name, stmt.body)
        return [_assign(stmt.name, node, stmt)]

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
            case ast.If():
                stmt.body, stmt.orelse = self.block(stmt.body), self.block(stmt.orelse)
                return [*self._hoisted(stmt, "test"), stmt]
            case ast.With():
                stmt.body = self.block(stmt.body)
                return [stmt]
            case ast.Match():
                return self._match(stmt)
            case ast.FunctionDef():
                return self._def(stmt)
            case ast.Import() | ast.ImportFrom():
                return _imports(stmt)
            case ast.Assign() | ast.AugAssign() | ast.AnnAssign() | ast.Return() | ast.Expr():
                return [*self._hoisted(stmt, "value"), stmt]
            case ast.Assert():
                return [*self._hoisted(stmt, "test"), stmt]
            case _:
                return [stmt]

    def _hoisted(self, stmt: ast.stmt, field: str) -> list[ast.stmt]:
        """What an expression of a statement needs before it."""
        value: ast.expr | None = getattr(stmt, field)
        if value is None:
            return []
        hoist = _Hoist(self)
        setattr(stmt, field, hoist.visit(value))
        return hoist.before

    # -- loops ---------------------------------------------------------------------------------

    def _for(self, stmt: ast.For) -> list[ast.stmt]:
        before = self._hoisted(stmt, "iter")
        stmt.body = self.block(stmt.body)
        is_expanded = isinstance(stmt.iter, (ast.Tuple, ast.List))
        first, last = self._without_else(stmt)
        if is_expanded and any(map(_has_jump, stmt.body)):
            first += self._without_jumps(stmt)
        return [*before, *first, stmt, *last]

    def _while(self, stmt: ast.While) -> list[ast.stmt]:
        stmt.body = self.block(stmt.body)
        before, after = self._without_else(stmt)
        needed = self._hoisted(stmt, "test")
        if needed:  # in every round
            leave = ast.If(ast.UnaryOp(ast.Not(), stmt.test), [ast.Break()], [])
            stmt.body = [*needed, _at(leave, stmt.test), *stmt.body]
            stmt.test = _at(ast.Constant(True), stmt.test)
        return [*before, stmt, *after]

    def _without_else(self, stmt: ast.For | ast.While) -> tuple[list[ast.stmt], list[ast.stmt]]:
        """What comes before and after a loop, so that it needs no `else`."""
        rest, stmt.orelse = self.block(stmt.orelse), []
        if not rest or not any(_has_jump(inner, (ast.Break,)) for inner in stmt.body):
            return [], rest
        flag = self.fresh("is_done")
        stmt.body = _Jumps(on_break=flag, value=False).block(stmt.body)
        test = _at(ast.If(_name(flag, rest[0]), rest, []), rest[0])
        return [_assign(flag, ast.Constant(True), stmt)], [test]

    def _without_jumps(self, stmt: ast.For) -> list[ast.stmt]:
        """What comes before a loop over a tuple, which is expanded: each round is a loop of one."""
        flag = self.fresh("is_left")
        leaves = any(_has_jump(inner, (ast.Break,)) for inner in stmt.body)
        body = _Jumps(on_break=flag if leaves else None, value=True).block(stmt.body)
        once = ast.Call(ast.Name("range", ast.Load()), [ast.Constant(1)], [])
        round = ast.For(ast.Name(self.fresh("once"), ast.Store()), once, body, [])
        if not leaves:
            stmt.body = [_at(round, stmt)]
            return []
        test = ast.If(ast.UnaryOp(ast.Not(), _name(flag, stmt)), [round], [])
        stmt.body = [_at(test, stmt)]
        return [_assign(flag, ast.Constant(False), stmt)]

    # -- match ---------------------------------------------------------------------------------

    def _match(self, stmt: ast.Match) -> list[ast.stmt]:
        subject = self.fresh("subject")
        tests = [_test_of(case.pattern, subject) for case in stmt.cases]
        if any(test is None for test in tests) or any(_guards_a_name(c) for c in stmt.cases):
            return [stmt]
        before = self._hoisted(stmt, "subject")
        chain: list[ast.stmt] = []
        for case, test in zip(reversed(stmt.cases), reversed(tests), strict=True):
            assert test is not None
            if case.guard is not None:
                test = ast.BoolOp(ast.And(), [test, case.guard])
            body = [*_captured(case.pattern, subject), *self.block(case.body)]
            chain = [_at(ast.If(test, body, chain), case.pattern)]
        return [*before, _assign(subject, stmt.subject, stmt.subject), *chain]


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
        found.append(_assign(name, made, stmt))
    return found


def _module(name: str) -> ast.expr:
    return ast.Call(ast.Name("__import__", ast.Load()), [ast.Constant(name)], [])


def _test_of(pattern: ast.pattern, subject: str) -> ast.expr | None:
    """Whether a value matches a pattern; None for a pattern that is not known."""
    match pattern:
        case ast.MatchValue(value=value):
            return ast.Compare(_name(subject, pattern), [ast.Eq()], [value])
        case ast.MatchOr(patterns=patterns):
            tests = [_test_of(inner, subject) for inner in patterns]
            known = [test for test in tests if test is not None]
            return ast.BoolOp(ast.Or(), [*known]) if len(known) == len(tests) else None
        case ast.MatchAs(pattern=None):
            return ast.Constant(True)
        case _:
            return None


def _guards_a_name(case: ast.match_case) -> bool:
    return case.guard is not None and bool(_captured(case.pattern, ""))


def _captured(pattern: ast.pattern, subject: str) -> list[ast.stmt]:
    if isinstance(pattern, ast.MatchAs) and pattern.pattern is None and pattern.name is not None:
        return [_assign(pattern.name, _name(subject, pattern), pattern)]
    return []


class _Jumps:
    """Writes jumps out of a loop: a `break` sets a name first, and so is known from outside."""

    def __init__(self, *, on_break: str | None, value: bool) -> None:
        self._flag, self._value = on_break, value

    def block(self, stmts: Sequence[ast.stmt]) -> list[ast.stmt]:
        """Statements of the loop."""
        return [plain for stmt in stmts for plain in self._statement(stmt)]

    def _statement(self, stmt: ast.stmt) -> list[ast.stmt]:
        match stmt:
            case ast.Break() if self._flag is not None:
                return [_assign(self._flag, ast.Constant(self._value), stmt), stmt]
            case ast.Continue() if self._value:  # the round is a loop of its own
                return [_at(ast.Break(), stmt)]
            case ast.If():
                stmt.body, stmt.orelse = self.block(stmt.body), self.block(stmt.orelse)
            case ast.With():
                stmt.body = self.block(stmt.body)
            case _:
                pass
        return [stmt]


class _Hoist(ast.NodeTransformer):
    """Takes out of an expression what takes statements, if it is sure to be evaluated, and first.

    What is evaluated before it must not read what it sets, nor call anything.
    """

    def __init__(self, writer: _Writer) -> None:
        self._writer = writer
        self.before: list[ast.stmt] = []
        self._is_certain = True
        self._read: set[str] = set()
        self._has_called = False

    def visit(self, node: ast.AST) -> Any:
        """The expression without what was taken out; what has a scope of its own stays."""
        is_list = isinstance(node, ast.ListComp) and self._is_certain and not self._has_called
        if isinstance(node, _SCOPES) and not is_list:
            return node
        return super().visit(node)

    def visit_ListComp(self, node: ast.ListComp) -> ast.expr:
        stmts, result = list_made_by(node, self._writer.fresh)
        self.before += self._writer.block([_at(stmt, node) for stmt in stmts])
        return _name(result, node)

    def visit_Name(self, node: ast.Name) -> ast.expr:
        self._read.add(node.id)
        return node

    def visit_NamedExpr(self, node: ast.NamedExpr) -> ast.expr:
        name = node.target.id
        if not self._is_certain or self._has_called or name in self._read:
            return node
        value: ast.expr = self.visit(node.value)
        self.before.append(_assign(name, value, node))
        return _name(name, node)

    def visit_Call(self, node: ast.Call) -> ast.expr:
        fold = fold_of(node)
        if fold is not None and self._is_certain and not self._has_called:
            return self._fold(fold, node)
        self.generic_visit(node)
        self._has_called = self._has_called or not self._is_free(node)
        return node

    def _is_free(self, node: ast.Call) -> bool:
        """Whether a call has no effect: one of a builtin, which only computes."""
        return isinstance(node.func, ast.Name) and node.func.id in ("len", "abs", *FOLDS)

    def _fold(self, fold: Fold, node: ast.Call) -> ast.expr:
        stmts, result = fold.statements(self._writer.fresh)
        self.before += self._writer.block([_at(stmt, node) for stmt in stmts])
        return _name(result, node)

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.expr:
        node.values[0] = self.visit(node.values[0])
        node.values[1:] = [self._uncertain(value) for value in node.values[1:]]
        return node

    def visit_IfExp(self, node: ast.IfExp) -> ast.expr:
        node.test = self.visit(node.test)
        node.body, node.orelse = self._uncertain(node.body), self._uncertain(node.orelse)
        return node

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        node.left = self.visit(node.left)
        node.comparators[0] = self.visit(node.comparators[0])
        node.comparators[1:] = [self._uncertain(value) for value in node.comparators[1:]]
        return node

    def _uncertain(self, node: ast.expr) -> ast.expr:
        was, self._is_certain = self._is_certain, False
        visited: ast.expr = self.visit(node)
        self._is_certain = was
        return visited
