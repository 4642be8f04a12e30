"""Functions that call themselves, with a stack of their own in place of Python's.

    def fib(n):                            def fib(n):
        if n < 2:                              places, place = [], 0
            return n                           while True:
        return fib(n - 1) + fib(n - 2)             if place == 0:
                                       -->             if n < 2: result, place = n, -1
                                                       else: place = 1
                                                   if place == 1:
                                                       places.append(2); kept.append(n)
                                                       n, place = n - 1, 0
                                                   if place == 2:
                                                       n = kept.pop(); called = result
                                                       ...
                                                   if place == -1:
                                                       if len(places) == 0: return result
                                                       place = places.pop()

The function is cut into *places* wherever it calls itself: each is the statements up to the next
cut, and the place to go on at. A call keeps the numbers that are read after it, and where that is;
a return takes up what the last call kept. So a recursion needs nothing that a loop with lists does
not have: its errors, its memory and its types are those of the loop.

Arrays are handed on as they are: they are not kept. What comes in a form that is not known stays,
and is refused where it calls itself.
"""

from __future__ import annotations

import ast
import copy
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from hybridjit.frontend.captures import Environment
from hybridjit.frontend.hoisting import assign_at, at_place, name_at
from hybridjit.frontend.inner_functions import bound_names, define, function_of, is_defined
from hybridjit.frontend.plain_syntax import written_out
from hybridjit.frontend.tail_calls import is_call_of, is_itself, looked_at, without_tail_calls
from hybridjit.lazy import lazy_module
from hybridjit.record import record
from hybridjit.source import FunctionSource
from hybridjit.syntax import nodes_of

if TYPE_CHECKING:
    from hybridjit.frontend import live_names
    from hybridjit.frontend import recursion_places as recursive_places
    from hybridjit.frontend.recursion_places import Cutter, OwnCall, Place
else:
    live_names = lazy_module("hybridjit.frontend.live_names")
    recursive_places = lazy_module("hybridjit.frontend.recursion_places")


MAX_DEPTH = 100_000  # where Python gives up after a thousand; a frame takes a few words

_known: WeakKeyDictionary[ast.FunctionDef, ast.FunctionDef | None] = WeakKeyDictionary()


def as_loops(source: FunctionSource, environment: Environment) -> FunctionSource:
    """The function in plain syntax, without calls of itself."""
    return _without_recursion(written_out(without_tail_calls(source, environment)), environment)


def _without_recursion(source: FunctionSource, environment: Environment) -> FunctionSource:
    """The function as a loop with a stack, if it calls itself in a form that is known."""
    func = source.node
    if func not in _known:
        _rewrite_inner(func)
        node = _as_loop(func) if is_itself(func, environment) else None
        if node is not None:
            node.body.insert(0, looked_at(func))
        _known[func] = node
    node = _known[func]
    return source if node is None else replace(source, node=node)


def _rewrite_inner(func: ast.FunctionDef) -> None:
    """Rewrite functions inside of a function that call themselves: their names are theirs."""
    bound = Counter(name.id for name in bound_names(func.body))
    for node in nodes_of(func):
        match node:
            case ast.Assign([ast.Name(name)], ast.Lambda() as made) if is_defined(made):
                inner = _as_loop(function_of(made)) if bound[name] == 1 else None
                if inner is not None:
                    define(made, inner)
            case _:
                pass


def _as_loop(func: ast.FunctionDef) -> ast.FunctionDef | None:
    if not any(is_call_of(node, func) for node in nodes_of(func)):
        return None
    node = copy.deepcopy(func)
    try:
        cutter = recursive_places.Cutter(node)
        cutter.cut()
        node.body = _loop_of(cutter)
    except recursive_places.UnknownForm:
        return None
    return node


# the loop


def _loop_of(cutter: Cutter) -> list[ast.stmt]:
    kept = _kept(cutter)
    start = cutter.func.body[0]
    place, places = cutter.fresh("place"), cutter.fresh("places")
    lists = {k: cutter.fresh("kept") for k, names in kept.items() if names}
    begin = [
        assign_at(places, ast.List([], ast.Load()), start),
        *(assign_at(name, ast.List([], ast.Load()), start) for name in lists.values()),
        assign_at(place, ast.Constant(0), start),
    ]
    writer = _Writer(cutter, place, places, kept, lists)
    body = [writer.place_at(number) for number in cutter.in_order()]
    body += writer.last()
    return [*begin, at_place(ast.While(ast.Constant(True), body, []), start)]


def _kept(cutter: Cutter) -> dict[int, list[str]]:
    """The names that are kept by each call, by the place after it."""
    calls = [place.call for place in cutter.places if place.call is not None]
    changed = {name.id for place in cutter.places for name in bound_names(place.stmts)}
    changed |= {name for call in calls for name in (*call.given, call.into) if name is not None}
    live = _live(cutter)
    if (live[0] & changed) - set(cutter.parameters):
        # It may be read where it has no value, and would have the caller's.
        raise recursive_places.UnknownForm
    found: dict[int, list[str]] = {}
    for call in calls:
        after = live[call.after] - {call.into, cutter.result}
        found[call.after] = sorted(after & changed)
    return found


def _live(cutter: Cutter) -> list[set[str]]:
    """The names that may be read from each place on, before they are given a value."""
    live: list[set[str]] = [set() for _ in cutter.places]
    while True:
        before = [set(names) for names in live]
        for k in reversed(range(len(live))):
            live[k] = live_names.read_later(
                _all_of(cutter.places[k]), _after(cutter, cutter.places[k], live)
            )
        if live == before:
            return live


def _all_of(place: Place) -> list[ast.stmt]:
    read = [] if place.test is None else [place.test]
    read += [] if place.call is None else list(place.call.given.values())
    return [*place.stmts, *(ast.Expr(node) for node in read)]


def _after(cutter: Cutter, place: Place, live: list[set[str]]) -> set[str]:
    if place.call is not None:
        # The parameters that are handed on are read by the call itself.
        handed_on = set(cutter.parameters) - set(place.call.given)
        return (live[place.call.after] - {place.call.into or ""}) | handed_on
    return set[str]().union(*(live[k] for k in place.next if k != recursive_places.LEAVE))


@record(eq=False, frozen=False)
class _Writer:
    """Writes the loop."""

    cutter: Cutter
    place: str
    places: str
    kept: dict[int, list[str]]
    lists: dict[int, str]

    def place_at(self, number: int) -> ast.stmt:
        place = self.cutter.places[number]
        return self.only_at(number, [*self.taken_up(number), *place.stmts, *self.end(place)])

    def only_at(self, number: int, stmts: list[ast.stmt]) -> ast.stmt:
        where = self.cutter.func.body[0]
        test = ast.Compare(name_at(self.place, where), [ast.Eq()], [_number(number)])
        return at_place(ast.If(test, stmts, []), stmts[0])

    def taken_up(self, number: int) -> list[ast.stmt]:
        """What the call before this place has kept, and what it gave."""
        call = next((k.call for k in self.cutter.places if k.call and k.call.after == number), None)
        if call is None:
            return []
        stmts: list[ast.stmt] = []
        if number in self.lists:
            pop = ast.Attribute(name_at(self.lists[number], call.node), "pop", ast.Load())
            target = _joined_names(self.kept[number], ast.Store())
            stmts.append(at_place(ast.Assign([target], ast.Call(pop, [], [])), call.node))
        if call.into is not None:
            stmts.append(assign_at(call.into, name_at(self.cutter.result, call.node), call.node))
        return stmts

    def end(self, place: Place) -> list[ast.stmt]:
        if place.call is not None:
            return self.calls(place.call)
        if place.test is None:
            return [self.go(place.next[0])]
        first, second = place.next
        return [at_place(ast.If(place.test, [self.go(first)], [self.go(second)]), place.test)]

    def go(self, place: int) -> ast.stmt:
        return assign_at(self.place, _number(place), self.cutter.func.body[0])

    def calls(self, call: OwnCall) -> list[ast.stmt]:
        text = ast.Constant("maximum recursion depth exceeded")
        error = ast.Raise(ast.Call(ast.Name("RecursionError", ast.Load()), [text], []), None)
        size = ast.Call(ast.Name("len", ast.Load()), [ast.Name(self.places, ast.Load())], [])
        too_deep = ast.Compare(size, [ast.GtE()], [ast.Constant(MAX_DEPTH)])
        stmts: list[ast.stmt] = [ast.If(too_deep, [error], [])]
        stmts.append(_append(self.places, _number(call.after)))
        if call.after in self.lists:
            kept = _joined_names(self.kept[call.after], ast.Load())
            stmts.append(_append(self.lists[call.after], kept))
        if call.given:
            target = _joined_names(list(call.given), ast.Store())
            stmts.append(ast.Assign([target], _joined(list(call.given.values()))))
        return [*(at_place(stmt, call.node) for stmt in stmts), self.go(0)]

    def last(self) -> list[ast.stmt]:
        where = self.cutter.func.body[0]
        result = name_at(self.cutter.result, where) if self.cutter.has_result else None
        size = ast.Call(ast.Name("len", ast.Load()), [ast.Name(self.places, ast.Load())], [])
        is_over = ast.Compare(size, [ast.Eq()], [ast.Constant(0)])
        leave = ast.If(is_over, [ast.Return(result)], [])
        pop = ast.Attribute(ast.Name(self.places, ast.Load()), "pop", ast.Load())
        back = assign_at(self.place, ast.Call(pop, [], []), where)
        return [self.only_at(recursive_places.LEAVE, [at_place(leave, where), back])]


def _number(value: int) -> ast.expr:
    if value >= 0:
        return ast.Constant(value)
    return ast.UnaryOp(ast.USub(), ast.Constant(-value))


def _append(name: str, value: ast.expr) -> ast.stmt:
    append = ast.Attribute(ast.Name(name, ast.Load()), "append", ast.Load())
    return ast.Expr(ast.Call(append, [value], []))


def _joined_names(names: Sequence[str], context: ast.expr_context) -> ast.expr:
    if len(names) == 1:
        return ast.Name(names[0], context)
    return ast.Tuple([ast.Name(name, context) for name in names], context)


def _joined(values: list[ast.expr]) -> ast.expr:
    return values[0] if len(values) == 1 else ast.Tuple(values, ast.Load())
