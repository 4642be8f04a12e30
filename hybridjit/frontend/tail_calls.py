"""Functions whose last act is to call themselves are loops.

    def gcd(a, b):                    def gcd(a, b):
        if b == 0:                        while True:
            return a           -->            if b == 0:
        return gcd(b, a % b)                      return a
                                              a, b = b, a % b
                                              continue

A function that does more with the result of its own call, or calls itself from a loop, stays as it
is: recursion.py gives it a stack.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from hybridjit.frontend.captures import Environment
from hybridjit.frontend.hoisting import at_place
from hybridjit.frontend.inner_functions import bound_names
from hybridjit.lazy import lazy_module
from hybridjit.source import FunctionSource
from hybridjit.syntax import nodes_of

if TYPE_CHECKING:
    from hybridjit.frontend import live_names
else:
    live_names = lazy_module("hybridjit.frontend.live_names")


# Each function is written as a loop once; its nodes are known by what they are.
_known: WeakKeyDictionary[ast.FunctionDef, ast.FunctionDef] = WeakKeyDictionary()


def without_tail_calls(source: FunctionSource, environment: Environment) -> FunctionSource:
    """The function as a loop, if it calls itself, and does so last."""
    func = source.node
    calls = [node for node in nodes_of(func) if is_call_of(node, func)]
    if not calls or not is_itself(func, environment) or not _are_last(func, len(calls)):
        return source
    if func not in _known:
        _known[func] = _as_loop(func)
    return replace(source, node=_known[func])


def is_call_of(node: ast.AST, func: ast.FunctionDef) -> bool:
    """Whether a node is a call of the function that it stands in."""
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and (node.func.id == func.name)
    )


def is_itself(func: ast.FunctionDef, environment: Environment) -> bool:
    """Whether the name of a function stands for it, where it is called."""
    found = environment.find(func.name)
    found = getattr(found, "__hybrid_function__", found)
    own = environment.function
    return own is not None and getattr(found, "__code__", None) is own.__code__


def _are_last(func: ast.FunctionDef, count: int) -> bool:
    """Whether all calls are what is returned, with an argument for each parameter."""
    args = func.args
    has_others = args.vararg or args.kwarg or args.kwonlyargs or args.posonlyargs
    is_last = not has_others and _count_last(func.body, func) == count
    return is_last and _may_end(func) and not _reads_unset(func)


def _reads_unset(func: ast.FunctionDef) -> bool:
    """True if a name may be read before it has a value: the call before left none of its own."""
    local = {name.id for name in bound_names(func.body)} - {arg.arg for arg in func.args.args}
    return bool(live_names.read_later(func.body, set()) & local)


def _may_end(func: ast.FunctionDef) -> bool:
    """False for a function that calls itself on every path: it would be a loop without an end."""
    ends = (node for node in nodes_of(func) if isinstance(node, ast.Return | ast.Raise))
    return any(_new_arguments(node, func) is None for node in ends) or not _always_calls(
        func.body, func
    )


def _always_calls(body: Sequence[ast.stmt], func: ast.FunctionDef) -> bool:
    match body:
        case [*_, ast.If(body=then, orelse=otherwise)]:
            return _always_calls(then, func) and _always_calls(otherwise, func)
        case [*_, last]:
            return _new_arguments(last, func) is not None
        case _:
            return False


def _count_last(body: Sequence[ast.stmt], func: ast.FunctionDef) -> int:
    found = 0
    for stmt in body:
        if isinstance(stmt, ast.If):
            found += _count_last(stmt.body, func) + _count_last(stmt.orelse, func)
        elif _new_arguments(stmt, func) is not None:
            found += 1
    return found


def _new_arguments(stmt: ast.stmt, func: ast.FunctionDef) -> list[ast.expr] | None:
    """What a function gives itself for each of its parameters, where it returns its own call."""
    if not isinstance(stmt, ast.Return) or not isinstance(stmt.value, ast.Call):
        return None
    call, names = stmt.value, [arg.arg for arg in func.args.args]
    if not is_call_of(call, func) or any(isinstance(arg, ast.Starred) for arg in call.args):
        return None
    given = dict(zip(names, call.args, strict=False))
    given.update({keyword.arg: keyword.value for keyword in call.keywords if keyword.arg})
    is_complete = len(call.args) + len(call.keywords) == len(names) and set(given) == set(names)
    return [given[name] for name in names] if is_complete and names else None


def _as_loop(func: ast.FunctionDef) -> ast.FunctionDef:
    node = copy.deepcopy(func)
    place = node.body[0]
    end = at_place(ast.Return(None), place)
    body = [looked_at(func), *_without_calls(node.body, node), end]
    node.body = [at_place(ast.While(ast.Constant(True), body, []), place)]
    return node


def looked_at(func: ast.FunctionDef) -> ast.stmt:
    """A look at the name of a function: what is given another later is not this loop."""
    own = ast.Compare(ast.Name(func.name, ast.Load()), [ast.Is()], [ast.Constant(None)])
    return at_place(ast.If(own, [ast.Pass()], []), func.body[0])


def _without_calls(body: Sequence[ast.stmt], func: ast.FunctionDef) -> list[ast.stmt]:
    found: list[ast.stmt] = []
    for stmt in body:
        given = _new_arguments(stmt, func)
        if given is not None:
            names: list[ast.expr] = [ast.Name(arg.arg, ast.Store()) for arg in func.args.args]
            target = ast.Tuple(names, ast.Store()) if len(names) > 1 else names[0]
            value = ast.Tuple(given, ast.Load()) if len(given) > 1 else given[0]
            found.append(at_place(ast.Assign([target], value), stmt))
            found.append(at_place(ast.Continue(), stmt))
            continue
        if isinstance(stmt, ast.If):
            stmt.body = _without_calls(stmt.body, func)
            stmt.orelse = _without_calls(stmt.orelse, func)
        found.append(stmt)
    return found
