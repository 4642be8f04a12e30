"""Which numbers a script must know before it runs: they are constants of its specialisation.

    def power(a, n, c):
        m = n - 1
        for k in const_range(m):   # n is: there is code for each number that is passed
            a *= c                 # c is not

Wanted are the names in bounds of const_range, in what says which axes are meant and whether they
are kept, and in indices of tuples of arrays; then what these names are made of, and what decides
about them. Control flow is
not followed, so this may find too many names, never too few: a number too many costs another
translation, and changes no result.

In the same way it finds the numbers that arrays are made with, as in `np.zeros((n, m))`. A script
need not know them, but its code is better and sooner made if it does.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Iterator, Mapping
from types import CodeType, FunctionType, ModuleType
from typing import cast
from weakref import WeakKeyDictionary

from hybridjit.errors import HybridError
from hybridjit.frontend.captures import Environment, functions_in
from hybridjit.frontend.inner_functions import in_call_order
from hybridjit.record import record
from hybridjit.source import read_function

EXPANDED = "const_range"
# Arguments of any call that say which axes are meant, or are flags that decide about shapes, and
# calls whose arguments do, but for the array that functions are given first.
_AXES = ("axis", "axes", "keepdims", "endpoint", "sparse")
_ALONG = (
    *("sum", "prod", "mean", "std", "var", "min", "max", "all", "any", "ptp", "median", "average"),
    *("argmin", "argmax", "cumsum", "cumprod", "sort", "argsort", "flip", "count_nonzero"),
    *("nansum", "nanprod", "nanmean", "nanstd", "nanvar", "nanmin", "nanmax", "nanmedian"),
    *("squeeze", "expand_dims", "concatenate", "stack", "swapaxes", "moveaxis", "rollaxis"),
    *("transpose", "permute_dims"),
)
# What makes arrays of a shape that it is given, or gives them one.
_MAKERS = (
    *("zeros", "ones", "empty", "full", "eye", "identity", "output_tensor", "allocate"),
    *("arange", "linspace", "reshape", "broadcast_to", "tile", "repeat"),
)
Wanted = tuple[str, object]
"""A name and the part of it that is wanted: a field or a position, or None for the whole."""


def constant_parameters(function: FunctionType, tuples: Collection[str] = ()) -> frozenset[Wanted]:
    """The parameters of a script that have to be known, or their parts.

    `tuples` are those that hold more than numbers: which item is meant must be known.
    """
    if not tuples and not _mentions(function, (EXPANDED, *_AXES, *_ALONG), set()):
        return frozenset()
    return _wanted(function, tuples, lambda facts: facts.bounds, ())


def size_parameters(function: FunctionType) -> frozenset[str]:
    """The parameters that arrays are made with, in the script or in what it calls.

    Kept as long as the code is: an answer that is not true any more costs time, and nothing else.
    """
    found = _sizes.get(function.__code__)
    if found is None:
        wanted: frozenset[Wanted] = frozenset()
        if _mentions(function, _MAKERS, set()):
            wanted = _wanted(function, (), lambda facts: facts.sizes, ())
        found = _sizes[function.__code__] = frozenset(name for name, _ in wanted)
    return found


_sizes: WeakKeyDictionary[CodeType, frozenset[str]] = WeakKeyDictionary()


def _mentions(function: FunctionType, wanted: Collection[str], seen: set[CodeType]) -> bool:
    """Whether it, or what it calls, has one of these names: quick, without reading source."""
    if function.__code__ in seen:
        return False
    seen.add(function.__code__)
    names = list(_names_in(function.__code__))
    if any(name in wanted for name in names):
        return True
    return any(
        _mentions(callee, wanted, seen)
        for value in map(Environment.of(function).find, names)
        for each in (_members(value, names) if isinstance(value, ModuleType) else [value])
        for callee in _callees(each)
    )


def _members(module: ModuleType, names: Collection[str]) -> list[object]:
    return [vars(module)[name] for name in names if name in vars(module)]


def _names_in(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    yield from code.co_freevars
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names_in(constant)
        elif isinstance(constant, tuple):  # the keywords of a call, among others
            yield from map(str, cast("tuple[object, ...]", constant))


def _callees(value: object) -> Iterator[FunctionType]:
    """The functions that are inlined where `value` is called. Those of NumPy are not read."""
    for function in functions_in(value):
        if (function.__module__ or "").partition(".")[0] != "numpy":
            yield function


def _wanted(
    function: FunctionType,
    tuples: Collection[str],
    roots: Callable[[_Facts], frozenset[Wanted]],
    open: tuple[CodeType, ...],
) -> frozenset[Wanted]:
    try:
        node = read_function(function).node
    except HybridError:
        return frozenset()
    facts, environment = _facts_of(node), Environment.of(function)
    wanted = set(roots(facts))
    for name in tuples:
        wanted |= facts.indices.get(name, frozenset())
    for call in facts.calls:
        for callee in _called(call, environment):
            if callee.__code__ not in (*open, function.__code__):
                inside = _wanted(callee, (), roots, (*open, function.__code__))
                wanted |= _passed(call, read_function(callee).node, inside) if inside else set()
    pending = list(wanted)
    while pending:
        fresh = facts.flows.get(pending.pop()[0], frozenset()) - wanted
        wanted |= fresh
        pending += fresh
    names = {arg.arg for arg in in_call_order(node.args)}
    return frozenset(each for each in wanted if each[0] in names)


def _called(call: ast.Call, environment: Environment) -> Iterator[FunctionType]:
    match call.func:
        case ast.Name(name):
            yield from _callees(environment.find(name))
        case ast.Attribute(ast.Name(name), attribute):
            owner = environment.find(name)
            if isinstance(owner, ModuleType):
                yield from _callees(getattr(owner, attribute, None))
        case _:
            pass


def _passed(
    call: ast.Call, callee: ast.FunctionDef, wanted: Collection[Wanted]
) -> frozenset[Wanted]:
    """What a call has to know for its callee to know what it wants."""
    return frozenset(
        name
        for parameter, value in _arguments(call, callee.args)
        if any(parameter in (None, each) for each, _ in wanted)
        for name in _names(value)
    )


def _arguments(call: ast.Call, args: ast.arguments) -> Iterator[tuple[str | None, ast.expr]]:
    """The arguments of a call with the names of their parameters; None if it may be any."""
    names = [arg.arg for arg in in_call_order(args)]
    is_plain = not any(isinstance(value, ast.Starred) for value in call.args)
    for place, value in enumerate(call.args):
        yield names[place] if is_plain and place < len(names) else None, value
    for keyword in call.keywords:
        yield keyword.arg, keyword.value


@record(eq=False)
class _Facts:
    """What the text of a function says: names in bounds, names in sizes of arrays, names in
    indices by what is indexed, the names that others are made of, and calls.
    """

    bounds: frozenset[Wanted]
    sizes: frozenset[Wanted]
    indices: Mapping[str, frozenset[Wanted]]
    flows: Mapping[str, frozenset[Wanted]]
    calls: tuple[ast.Call, ...]


_known: WeakKeyDictionary[ast.FunctionDef, _Facts] = WeakKeyDictionary()


def _facts_of(node: ast.FunctionDef) -> _Facts:
    if node not in _known:
        _known[node] = _Reader().read(node)
    return _known[node]


class _Reader:
    """Reads the text of one function; functions inside of it are taken for a part of it."""

    def __init__(self) -> None:
        self.bounds: set[Wanted] = set()
        self.sizes: set[Wanted] = set()
        self.indices: dict[str, set[Wanted]] = {}
        self.flows: dict[str, set[Wanted]] = {}
        self.calls: list[ast.Call] = []
        self._inner: dict[str, ast.FunctionDef] = {}
        self._own: frozenset[str] = frozenset()

    def read(self, function: ast.FunctionDef) -> _Facts:
        self._inner = {
            node.name: node for node in ast.walk(function) if isinstance(node, ast.FunctionDef)
        }
        self._own = frozenset(_bound_names(function))
        for stmt in function.body:
            self._visit(stmt, frozenset())
        return _Facts(
            frozenset(self.bounds),
            frozenset(self.sizes),
            {name: frozenset(found) for name, found in self.indices.items()},
            {name: frozenset(found) for name, found in self.flows.items()},
            tuple(self.calls),
        )

    def _visit(self, node: ast.AST, tests: frozenset[Wanted]) -> None:
        """Take in a node; `tests` are the names that decide whether it runs."""
        match node:
            case ast.If(test) | ast.While(test):
                tests |= _names(test)
            case ast.Match(subject):
                tests |= _names(subject)
            case ast.Assign(targets, value):
                self._assign(targets, _names(value) | tests)
            case ast.AugAssign(target, _, value) | ast.AnnAssign(target, _, ast.expr() as value):
                self._assign([target], _names(value) | tests)
            case ast.NamedExpr(target, value):
                self._assign([target], _names(value) | tests)
            case ast.For(target, iter) | ast.comprehension(target, iter):
                self._assign([target], _names(iter) | tests)
            case ast.Subscript(ast.Name(name), index):
                self.indices.setdefault(name, set()).update(_names(index))
            case ast.Call():
                self._call(node, tests)
            case _:
                pass
        for child in ast.iter_child_nodes(node):
            self._visit(child, tests)

    def _assign(self, targets: list[ast.expr], names: frozenset[Wanted]) -> None:
        for target in targets:
            for node in ast.walk(target):
                if isinstance(node, ast.Name):
                    self.flows.setdefault(node.id, set()).update(names)

    def _call(self, call: ast.Call, tests: frozenset[Wanted]) -> None:
        self.calls.append(call)
        for axes in self._axes(call):
            self.bounds |= _names(axes)
        match call.func:
            case ast.Name(name) | ast.Attribute(_, name) if name == EXPANDED:
                for bound in call.args:
                    self.bounds |= _names(bound)
            case ast.Name(name) | ast.Attribute(_, name) if name in _MAKERS:
                for size in (*call.args, *(keyword.value for keyword in call.keywords)):
                    self.sizes |= _names(size)
            case ast.Name(name) if name in self._inner:
                inner = self._inner[name]
                for parameter, value in _arguments(call, inner.args):
                    for each in [parameter] if parameter else [a.arg for a in inner.args.args]:
                        self.flows.setdefault(each, set()).update(_names(value) | tests)
            case _:
                pass

    def _axes(self, call: ast.Call) -> Iterator[ast.expr]:
        """What may say which axes a call is about."""
        yield from (keyword.value for keyword in call.keywords if keyword.arg in _AXES)
        if isinstance(call.func, ast.Attribute) and call.func.attr in _ALONG:
            owner = call.func.value
            while isinstance(owner, ast.Attribute):
                owner = owner.value
            is_module = isinstance(owner, ast.Name) and owner.id not in self._own
            yield from call.args[is_module:]


def _bound_names(function: ast.FunctionDef) -> Iterator[str]:
    for node in ast.walk(function):
        if isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id


def _names(expr: ast.AST) -> frozenset[Wanted]:
    """The names that an expression reads numbers of."""
    match expr:
        case ast.Name(name):
            return frozenset([(name, None)])
        case ast.Call(ast.Name("len")) | ast.Attribute(_, "shape" | "ndim" | "size" | "dtype"):
            return frozenset()  # known of an array or a tuple without any number in it
        case ast.Attribute(ast.Name(name), field):
            return frozenset([(name, field)])
        case ast.Subscript(ast.Name(name), ast.Constant(int() as place)):
            return frozenset([(name, place)])
        case ast.Call(func, args, keywords):
            owner = [func.value] if isinstance(func, ast.Attribute) else []
            parts = [*owner, *args, *(keyword.value for keyword in keywords)]
        case _:
            parts = list(ast.iter_child_nodes(expr))
    return frozenset(name for part in parts for name in _names(part))
