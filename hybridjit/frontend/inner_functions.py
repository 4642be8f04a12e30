"""Functions inside of functions: `def` and `lambda`, and the names that they take from around.

Plain syntax has one form for both, an expression (`frontend/plain_syntax.py`): the function that a
`lambda` stands for is kept here. Its body reads names of the function around when it is called, so
each place that may call it is one that reads them.

    s = 2.0
    scale = lambda x: x * s
    s = 3.0
    y = scale(a[0])           # reads `scale`, and `s`, which is 3.0
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from weakref import WeakKeyDictionary

from hybridjit.syntax import children_of

_functions: WeakKeyDictionary[ast.Lambda, ast.FunctionDef] = WeakKeyDictionary()


def define(node: ast.Lambda, function: ast.FunctionDef) -> None:
    """Say which function, in plain syntax, an expression stands for."""
    _functions[node] = function


def is_defined(node: ast.Lambda) -> bool:
    """True once it is known which function an expression stands for."""
    return node in _functions


def function_of(node: ast.Lambda) -> ast.FunctionDef:
    """The function that an expression stands for."""
    return _functions[node]


def parameters(args: ast.arguments) -> list[ast.arg]:
    """All parameters of a function."""
    starred = [arg for arg in (args.vararg, args.kwarg) if arg is not None]
    return [*args.posonlyargs, *args.args, *args.kwonlyargs, *starred]


def in_call_order(args: ast.arguments) -> list[ast.arg]:
    """The parameters that arguments are bound to: those of `*args` are one tuple."""
    starred = [] if args.vararg is None else [args.vararg]
    return [*args.posonlyargs, *args.args, *starred, *args.kwonlyargs]


def defaults(args: ast.arguments) -> dict[str, ast.expr]:
    """The defaults of the parameters that have one, which are computed where a function is made."""
    positional = [*args.posonlyargs, *args.args]
    given = zip(positional[len(positional) - len(args.defaults) :], args.defaults, strict=True)
    named = zip(args.kwonlyargs, args.kw_defaults, strict=True)
    return {arg.arg: value for arg, value in (*given, *named) if value is not None}


def bound_names(body: Iterable[ast.AST]) -> Iterator[ast.Name]:
    """Every name that a statement of `body` binds, nested blocks included."""
    stack = [*body][::-1]
    while stack:
        node = stack.pop()
        if isinstance(node, ast.Name):
            if isinstance(node.ctx, ast.Store):
                yield node
        elif not isinstance(node, (ast.Lambda, ast.ListComp, ast.SetComp, ast.GeneratorExp)):
            stack += reversed(children_of(node))


def nodes_in(node: ast.AST) -> Iterator[ast.AST]:
    """What stands in a part of a function, without the bodies of functions inside."""
    stack = [node]
    while stack:
        inner = stack.pop()
        yield inner
        if isinstance(inner, ast.Lambda):
            stack.extend(reversed(defaults(inner.args).values()))
        else:
            stack.extend(reversed(children_of(inner)))


def free_names(node: ast.Lambda) -> list[ast.Name]:
    """The reads of names that a function takes from around it."""
    if not is_defined(node):
        return []
    function = function_of(node)
    local = {arg.arg for arg in parameters(function.args)}
    local |= {name.id for name in bound_names(function.body)}
    found: list[ast.Name] = []
    for inner in (inner for stmt in function.body for inner in nodes_in(stmt)):
        if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Load):
            found.append(inner)
        elif isinstance(inner, ast.Lambda):
            found.extend(free_names(inner))
    return [name for name in found if name.id not in local]


class Holders:
    """Which names of a function may stand for functions inside it, and what these read."""

    def __init__(self, func: ast.FunctionDef) -> None:
        self._held: dict[str, set[ast.Lambda]] = {}
        nodes = [node for stmt in func.body for node in nodes_in(stmt)]
        self._free = {node: free_names(node) for node in nodes if isinstance(node, ast.Lambda)}
        if not self._free:
            return
        bindings = list(_bindings(nodes))
        self._find([(names, _uncalled(value)) for names, value in bindings])
        if any(map(self._may_give_function, self._free)):
            self._find([(names, list(nodes_in(value))) for names, value in bindings])

    def _find(self, bindings: Sequence[tuple[set[str], list[ast.AST]]]) -> None:
        """A name may stand for the functions in what it is given, and for those of names there."""
        size = -1
        while size != (size := sum(map(len, self._held.values()))):
            for names, value in bindings:
                found = self._functions_in(value)
                for name in names if found else ():
                    self._held.setdefault(name, set()).update(found)

    def _functions_in(self, nodes: Iterable[ast.AST]) -> set[ast.Lambda]:
        found: set[ast.Lambda] = set()
        for node in nodes:
            if isinstance(node, ast.Lambda):
                found |= self._called_by(node)
            elif isinstance(node, ast.Name):
                found |= self._held.get(node.id, set())
        return found

    def _called_by(self, node: ast.Lambda) -> set[ast.Lambda]:
        """A function, and those that it may call or give."""
        return {node}.union(*(self._held.get(name.id, ()) for name in self._free[node]))

    def _may_give_function(self, node: ast.Lambda) -> bool:
        if not is_defined(node):
            return False
        parts = [part for stmt in function_of(node).body for part in _uncalled(stmt)]
        names = {part.id for part in parts if isinstance(part, ast.Name)}
        return any(isinstance(part, ast.Lambda) for part in parts) or not names.isdisjoint(
            self._held
        )

    def read_through(self, node: ast.Name) -> list[ast.Name]:
        """What is read, or may be, where a name is."""
        return [name for inner in self._held.get(node.id, ()) for name in self._free[inner]]

    def read_by(self, node: ast.Lambda) -> list[ast.Name]:
        """What a function may read if it is called where it is made."""
        return [name for inner in self._called_by(node) for name in self._free[inner]]


def _bindings(nodes: Iterable[ast.AST]) -> Iterator[tuple[set[str], ast.expr]]:
    """Names, and what they are given."""
    for node in nodes:
        match node:
            case ast.Assign(targets=targets, value=value):
                yield {name.id for name in bound_names(targets)}, value
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                yield {name.id for name in bound_names([target])}, value
            case ast.For(target=target, iter=value):
                yield {name.id for name in bound_names([target])}, value
            case _:
                pass


def _uncalled(node: ast.AST) -> list[ast.AST]:
    """The parts of an expression that are not called in it."""
    nodes = list(nodes_in(node))
    called = {inner.func for inner in nodes if isinstance(inner, ast.Call)}
    return [inner for inner in nodes if inner not in called]
