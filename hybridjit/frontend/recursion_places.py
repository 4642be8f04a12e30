"""A function that calls itself, cut into places wherever it does.

A place is the statements up to the next cut, and where to go on: at another place, at one of two
by a test, or at the first one with other arguments, which is a call; recursion.py makes a loop of
them. What an expression has evaluated before a call is given a name, so that the order is that of
the text.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Sequence
from dataclasses import field
from typing import cast

from hybridjit.frontend.hoisting import assign_at, at_place, name_at
from hybridjit.frontend.inner_functions import bound_names
from hybridjit.frontend.tail_calls import is_call_of
from hybridjit.record import record
from hybridjit.syntax import children_of, nodes_of

LEAVE = -1
"""The place after a return."""


class UnknownForm(Exception):
    """A form of recursion that is not known."""


@record(eq=False, frozen=False)
class OwnCall:
    """A call that a place ends with: what the parameters are given, and where it goes on."""

    given: dict[str, ast.expr]
    after: int
    into: str | None
    node: ast.Call


@record(eq=False, frozen=False)
class Place:
    """Statements, and the places after them: of a branch, that for a test which holds is first."""

    stmts: list[ast.stmt] = field(default_factory=list[ast.stmt])
    next: tuple[int, ...] = ()
    test: ast.expr | None = None
    call: OwnCall | None = None
    is_done: bool = False


@record(eq=False, frozen=False)
class _Loop:
    """Where `continue` and `break` go."""

    again: int
    out: int


class Cutter:
    """Cuts one function into places."""

    def __init__(self, func: ast.FunctionDef) -> None:
        args = func.args
        if args.vararg or args.kwarg or args.kwonlyargs or args.posonlyargs:
            raise UnknownForm
        self.func = func
        self.parameters = [arg.arg for arg in args.args]
        self.names = {node.id for node in nodes_of(func) if isinstance(node, ast.Name)}
        self.names.update(self.parameters)
        self.has_result = _has_result(func)
        self.result = self.fresh("result")
        self.places = [Place()]
        self.here = self.places[0]
        self.loops: list[_Loop] = []

    def fresh(self, name: str) -> str:
        """A name that the function does not have."""
        while name in self.names:
            name += "_"
        self.names.add(name)
        return name

    def cut(self) -> None:
        self.block(self.func.body)
        if not self.here.is_done and self.places.index(self.here) in self.reached():
            if self.has_result:
                raise UnknownForm
            self.go(LEAVE)
        if LEAVE not in self.reached(by_calls=False):
            raise UnknownForm  # it has no end

    # -- places --------------------------------------------------------------------------------

    def new(self) -> int:
        self.places.append(Place())
        return len(self.places) - 1

    def enter(self, place: int) -> None:
        self.here = self.places[place]

    def go(self, *places: int, test: ast.expr | None = None) -> None:
        """End this place, if it has not ended."""
        if not self.here.is_done:
            self.here.next, self.here.test, self.here.is_done = places, test, True

    def reached(self, *, by_calls: bool = True) -> set[int]:
        """The places that something leads to, with or without what follows calls."""
        found, todo = set[int](), [0]
        while todo:
            number = todo.pop()
            if number in found or number == LEAVE:
                found.add(number)
                continue
            found.add(number)
            place = self.places[number]
            if place.call is None:
                todo += place.next
            elif by_calls:
                todo.append(place.call.after)
        return found

    def in_order(self) -> list[int]:
        """The places that something leads to, each behind those that lead to it, loops apart.

        Those that need no call come first: they tell the type of the result, and no name is read
        before some statement has given it a value.
        """
        found, left = set[int](), list[int]()
        todo = [(0, False)]
        while todo:
            number, is_left = todo.pop()
            if is_left:
                left.append(number)
            elif number not in found and number != LEAVE:
                found.add(number)
                place = self.places[number]
                after = place.next if place.call is None else (place.call.after,)
                todo += [(number, True), *((k, False) for k in after)]
        first = self.reached(by_calls=False)
        return sorted(reversed(left), key=lambda number: number not in first)

    def add(self, stmt: ast.stmt) -> None:
        self.here.stmts.append(stmt)

    def has_call(self, node: ast.AST | Sequence[ast.AST]) -> bool:
        nodes = [node] if isinstance(node, ast.AST) else node
        return any(is_call_of(inner, self.func) for root in nodes for inner in nodes_of(root))

    # -- statements ----------------------------------------------------------------------------

    def block(self, stmts: Sequence[ast.stmt]) -> None:
        for stmt in stmts:
            if self.here.is_done:
                return
            self.statement(stmt)

    def statement(self, stmt: ast.stmt) -> None:
        match stmt:
            case ast.Return():
                self.leave(stmt)
            case ast.Break() | ast.Continue():
                self.go(self.loops[-1].out if isinstance(stmt, ast.Break) else self.loops[-1].again)
            case _ if not self.has_call(stmt) and not _leaves(stmt):
                self.add(stmt)
            case ast.If():
                self.branch(self.value(stmt.test), stmt.body, stmt.orelse)
            case ast.While(orelse=[]):
                self.while_loop(stmt)
            case ast.For(orelse=[]):
                self.for_loop(stmt)
            case ast.AugAssign():
                self.augmented(stmt)
            case ast.Assign() | ast.AnnAssign(value=ast.expr()):
                self.assigned(stmt)
            case ast.Expr(ast.Call() as call) if is_call_of(call, self.func):
                self.call(call, None)
            case _:
                raise UnknownForm

    def leave(self, stmt: ast.Return) -> None:
        if stmt.value is not None and self.has_result:
            self.add(assign_at(self.result, self.value(stmt.value), stmt))
        elif self.has_result:
            raise UnknownForm
        self.go(LEAVE)

    def assigned(self, stmt: ast.Assign | ast.AnnAssign) -> None:
        targets = stmt.targets if isinstance(stmt, ast.Assign) else [stmt.target]
        if self.has_call(targets) or stmt.value is None:
            raise UnknownForm
        stmt.value = self.value(stmt.value)
        self.add(stmt)

    def augmented(self, stmt: ast.AugAssign) -> None:
        if self.has_call(stmt.target):
            raise UnknownForm
        if isinstance(stmt.target, ast.Name):
            stmt.value = self.value(stmt.value)
            self.add(stmt)
            return
        target = copy.deepcopy(stmt.target)
        target.ctx = ast.Load()
        before = self.named("before", target)  # it is read before the call
        value = at_place(ast.BinOp(before, stmt.op, self.value(stmt.value)), stmt)
        self.add(at_place(ast.Assign([stmt.target], value), stmt))

    def branch(
        self, test: ast.expr, then: Sequence[ast.stmt], otherwise: Sequence[ast.stmt]
    ) -> None:
        first, second, after = self.new(), self.new(), self.new()
        self.go(first, second, test=test)
        for place, side in ((first, then), (second, otherwise)):
            self.enter(place)
            self.block(side)
            self.go(after)
        self.enter(after)

    def while_loop(self, stmt: ast.While) -> None:
        head, body, out = self.new(), self.new(), self.new()
        self.go(head)
        self.enter(head)
        is_endless = isinstance(stmt.test, ast.Constant) and bool(stmt.test.value)
        if is_endless:
            self.go(body)
        self.go(body, out, test=self.value(stmt.test))
        self.round(body, stmt.body, _Loop(head, out))

    def round(self, place: int, body: Sequence[ast.stmt], loop: _Loop) -> None:
        """One round of a loop, and what comes after the loop."""
        self.loops.append(loop)
        self.enter(place)
        self.block(body)
        self.go(loop.again)
        self.loops.pop()
        self.enter(loop.out)

    def for_loop(self, stmt: ast.For) -> None:
        match stmt.iter:
            case ast.Tuple(items) | ast.List(items) if not any(map(_is_starred, items)):
                self.each(stmt, items)
            case ast.Call(ast.Name("range"), [*args], []) if 1 <= len(args) <= 3:
                self.counted(stmt, [self.value(arg) for arg in args])
            case ast.Name():
                self.each_element(stmt, stmt.iter)
            case _:
                raise UnknownForm

    def each(self, stmt: ast.For, items: Sequence[ast.expr]) -> None:
        """A loop over a tuple that is written there: a copy of its body for each item."""
        out = self.new()
        for item in items:
            after = self.new()
            given = at_place(ast.Assign([copy.deepcopy(stmt.target)], item), stmt)
            self.loops.append(_Loop(after, out))
            self.block([given, *copy.deepcopy(stmt.body)])
            self.go(after)
            self.loops.pop()
            self.enter(after)
        self.go(out)
        self.enter(out)

    def counted(self, stmt: ast.For, args: list[ast.expr]) -> None:
        start, stop = (ast.Constant(0), args[0]) if len(args) == 1 else args[:2]
        step = _step_of(args)
        counter, limit = self.fresh("counter"), self.fresh("limit")
        self.add(assign_at(counter, start, stmt))
        self.add(assign_at(limit, stop, stmt))
        given = at_place(ast.Assign([stmt.target], name_at(counter, stmt)), stmt)
        order = ast.Lt() if step > 0 else ast.Gt()
        test = ast.Compare(name_at(counter, stmt), [order], [name_at(limit, stmt)])
        self.count(stmt, counter, step, at_place(test, stmt), given)

    def each_element(self, stmt: ast.For, array: ast.Name) -> None:
        if array.id in {name.id for name in bound_names(self.func.body)}:
            raise UnknownForm  # it may be another array, once it is asked for the next element
        counter = self.fresh("counter")
        self.add(assign_at(counter, ast.Constant(0), stmt))
        element = ast.Subscript(copy.copy(array), name_at(counter, stmt), ast.Load())
        given = at_place(ast.Assign([stmt.target], element), stmt)
        size = ast.Call(name_at("len", stmt), [copy.copy(array)], [])
        test = ast.Compare(name_at(counter, stmt), [ast.Lt()], [size])
        self.count(stmt, counter, 1, at_place(test, stmt), given)

    def count(
        self, stmt: ast.For, counter: str, step: int, test: ast.expr, given: ast.stmt
    ) -> None:
        head, body, out = self.new(), self.new(), self.new()
        self.go(head)
        self.enter(head)
        self.go(body, out, test=test)
        more = ast.BinOp(name_at(counter, stmt), ast.Add(), ast.Constant(step))
        self.round(body, [given, assign_at(counter, more, stmt), *stmt.body], _Loop(head, out))

    # -- expressions ---------------------------------------------------------------------------

    def value(self, node: ast.expr) -> ast.expr:
        """An expression with what its own calls gave in their place, evaluated in its order."""
        if not self.has_call(node):
            return node
        match node:
            case ast.IfExp():
                return self.chosen(node)
            case ast.BoolOp():
                return self.joined(node)
            case ast.Call() if is_call_of(node, self.func):
                return self.call(node, self.fresh("called"))
            case ast.Compare(comparators=[_]):
                self.parts(node)
            case ast.BinOp() | ast.UnaryOp() | ast.Call() | ast.Subscript() | ast.Tuple():
                self.parts(node)
            case ast.List():
                self.parts(node)
            case _:
                raise UnknownForm
        return node

    def parts(self, node: ast.expr | ast.keyword) -> None:
        """What a part stands for before a call is what it stands for after it."""
        parts = [part for part in children_of(node) if not isinstance(part, ast.expr_context)]
        last = max(k for k, part in enumerate(parts) if self.has_call(part))
        changed: dict[ast.AST, ast.AST] = {}
        for k, part in enumerate(parts[: last + 1]):
            if isinstance(part, ast.keyword):
                part.value = self.part(part.value, is_last=k == last)
            elif isinstance(part, ast.expr):
                changed[part] = self.part(part, is_last=k == last)
        _replace_parts(node, changed)

    def part(self, part: ast.expr, *, is_last: bool) -> ast.expr:
        value = self.value(part)
        is_stable = isinstance(value, (ast.Name, ast.Constant, ast.Attribute))
        return value if is_last or is_stable else self.named("before", value)

    def named(self, name: str, value: ast.expr) -> ast.expr:
        name = self.fresh(name)
        self.add(assign_at(name, value, value))
        return name_at(name, value)

    def chosen(self, node: ast.IfExp) -> ast.expr:
        chosen = self.fresh("chosen")
        sides = [assign_at(chosen, side, side) for side in (node.body, node.orelse)]
        self.branch(self.value(node.test), sides[:1], sides[1:])
        return name_at(chosen, node)

    def joined(self, node: ast.BoolOp) -> ast.expr:
        """`x and y`: the next operand is looked at only if the last one did not settle it."""
        chosen = self.fresh("chosen")
        self.add(assign_at(chosen, self.value(node.values[0]), node))
        for value in node.values[1:]:
            test: ast.expr = name_at(chosen, node)
            if isinstance(node.op, ast.Or):
                test = at_place(ast.UnaryOp(ast.Not(), test), node)
            self.branch(test, [assign_at(chosen, value, value)], [])
        return name_at(chosen, node)

    def call(self, node: ast.Call, into: str | None) -> ast.expr:
        self.arguments(node)
        given = _given(node, self.func, self.parameters)
        after = self.new()
        self.here.call = OwnCall(given, after, into if self.has_result else None, node)
        self.go(0)
        self.enter(after)
        if into is None:
            return node
        if not self.has_result:
            raise UnknownForm
        return name_at(into, node)

    def arguments(self, node: ast.Call) -> None:
        if any(map(self.has_call, (*node.args, *node.keywords))):
            node.func = ast.copy_location(ast.Name("", ast.Load()), node)
            self.parts(node)


def _replace_parts(node: ast.AST, changed: dict[ast.AST, ast.AST]) -> None:
    for name, value in ast.iter_fields(node):
        if isinstance(value, list):
            items = cast("list[ast.AST]", value)
            setattr(node, name, [changed.get(item, item) for item in items])
        elif isinstance(value, ast.AST):
            setattr(node, name, changed.get(value, value))


def _is_starred(node: ast.expr) -> bool:
    return isinstance(node, ast.Starred)


def _has_result(func: ast.FunctionDef) -> bool:
    returns = (node for node in nodes_of(func) if isinstance(node, ast.Return))
    return any(
        node.value is not None
        and not (isinstance(node.value, ast.Constant) and node.value.value is None)
        for node in returns
    )


def _leaves(stmt: ast.stmt) -> bool:
    """Whether a statement may leave the function or a loop that it stands in."""
    if any(isinstance(node, ast.Return) for node in nodes_of(stmt)):
        return True
    return _jumps(stmt)


def _jumps(stmt: ast.stmt) -> bool:
    match stmt:
        case ast.If(body=body, orelse=orelse):
            return any(map(_jumps, (*body, *orelse)))
        case ast.With(body=body):
            return any(map(_jumps, body))
        case ast.Try(body=body, handlers=handlers, orelse=orelse, finalbody=last):
            handled = (inner for handler in handlers for inner in handler.body)
            return any(map(_jumps, (*body, *handled, *orelse, *last)))
        case ast.For(orelse=orelse) | ast.While(orelse=orelse):
            return any(map(_jumps, orelse))
        case _:
            return isinstance(stmt, (ast.Break, ast.Continue))


def _step_of(args: Sequence[ast.expr]) -> int:
    match args:
        case [_, _, ast.Constant(int(step))] if step > 0:
            return step
        case [_, _, ast.UnaryOp(ast.USub(), ast.Constant(int(step)))] if step > 0:
            return -step
        case [_, _, _]:
            raise UnknownForm
        case _:
            return 1


def _given(node: ast.Call, func: ast.FunctionDef, names: list[str]) -> dict[str, ast.expr]:
    """What a call gives each parameter; those that it hands on as they are, are left out."""
    if any(isinstance(arg, ast.Starred) for arg in node.args) or len(node.args) > len(names):
        raise UnknownForm
    defaults = dict(zip(reversed(names), reversed(func.args.defaults), strict=False))
    given = dict(zip(names, node.args, strict=False))
    for keyword in node.keywords:
        if keyword.arg not in names or keyword.arg in given:
            raise UnknownForm
        given[keyword.arg] = keyword.value
    for name in names:
        if name not in given:
            default = defaults.get(name)
            if not isinstance(default, ast.Constant):
                raise UnknownForm
            given[name] = copy.copy(default)
    if any(isinstance(part, ast.Slice) for value in given.values() for part in nodes_of(value)):
        raise UnknownForm  # a part of an array: what a name stands for has one shape
    return {name: value for name, value in given.items() if not _is_name(value, name)}


def _is_name(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name
