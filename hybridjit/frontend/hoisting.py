"""What takes statements is taken out of the expressions that it stands in.

    if ok and all(x > 0 for x in a):          chosen = ok
        ...                                   if chosen:
                                       -->        <the loop that finds out>
                                                  chosen = found
                                              if chosen:
                                                  ...

What is evaluated before it must not read what it sets, nor call anything; elements that are read
before something that calls are given a name. So the order of effects stays that of the text.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from hybridjit.lazy import lazy_module

if TYPE_CHECKING:
    from hybridjit.frontend import comprehensions
    from hybridjit.frontend.comprehensions import Fold, Fresh
else:
    comprehensions = lazy_module("hybridjit.frontend.comprehensions")


_SCOPES = (ast.Lambda, ast.GeneratorExp, ast.ListComp, ast.SetComp, ast.DictComp)
# What reads elements, if names in it stand for arrays.
_LOOKING = (ast.Subscript, ast.BinOp, ast.UnaryOp, ast.Compare, ast.Call)
N = TypeVar("N", bound=ast.AST)


def at_place(node: N, place: ast.AST) -> N:
    """A new node, at the place of an old one."""
    return ast.fix_missing_locations(ast.copy_location(node, place))


def name_at(name: str, place: ast.AST) -> ast.Name:
    return at_place(ast.Name(name, ast.Load()), place)


def assign_at(name: str, value: ast.expr, place: ast.AST) -> ast.stmt:
    return at_place(ast.Assign([ast.Name(name, ast.Store())], value), place)


def is_list_call(node: ast.AST) -> bool:
    """True for `list(x)` and `list()`, which are comprehensions by another name."""
    match node:
        case ast.Call(ast.Name("list"), [] | [ast.expr()], []):
            return not any(isinstance(arg, ast.Starred) for arg in node.args)
        case _:
            return False


class Hoist(ast.NodeTransformer):
    """Takes out of an expression what takes statements; `before` has them afterwards."""

    def __init__(self, fresh: Fresh, write: Callable[[Sequence[ast.stmt]], list[ast.stmt]]) -> None:
        self._fresh, self._write = fresh, write
        self.before: list[ast.stmt] = []
        self._read: set[str] = set()
        self._has_called: bool = False
        self._has_looked: bool = False

    def read_before(self, target: ast.expr) -> None:
        """Note what is read before the expression: the target of `target += expression`."""
        self._read.update(node.id for node in ast.walk(target) if isinstance(node, ast.Name))
        self._has_looked = self._has_looked or not isinstance(target, ast.Name)
        self._has_called = self._has_called or may_have_effect(target)

    def visit(self, node: ast.AST) -> Any:
        """The expression without what was taken out; what has a scope of its own stays."""
        is_list = isinstance(node, ast.ListComp) and not self._has_called
        if isinstance(node, _SCOPES) and not is_list:
            return node
        visited: Any = super().visit(node)
        self._has_looked = self._has_looked or isinstance(visited, _LOOKING)
        return visited

    def tested(self, node: ast.expr) -> ast.expr:
        """An expression of which only the truth counts: what it chooses between may be lists."""
        return (
            self._joined(node, is_tested=True) if isinstance(node, ast.BoolOp) else self.visit(node)
        )

    # -- what stays in its order ---------------------------------------------------------------

    def _in_order(self, parts: Sequence[ast.expr]) -> list[ast.expr]:
        """Parts from left to right: elements are read before what a later part takes out runs."""
        looked, found = self._has_looked, list[ast.expr]()
        for position, part in enumerate(parts):
            self._has_looked = False
            visited: ast.expr = self.visit(part)
            is_early = self._has_looked and any(map(takes_effect, parts[position + 1 :]))
            if is_early and not self._has_called and not isinstance(part, ast.Starred):
                before = self._fresh("before")
                self.before.append(assign_at(before, visited, part))
                visited, self._has_looked = name_at(before, part), False
            looked = looked or self._has_looked
            found.append(visited)
        self._has_looked = looked
        return found

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        node.left, node.right = self._in_order([node.left, node.right])
        return node

    def visit_Tuple(self, node: ast.Tuple) -> ast.expr:
        node.elts = self._in_order(node.elts)
        return node

    def visit_List(self, node: ast.List) -> ast.expr:
        node.elts = self._in_order(node.elts)
        return node

    # -- what is taken out ---------------------------------------------------------------------

    def visit_ListComp(self, node: ast.ListComp) -> ast.expr:
        stmts, result = comprehensions.list_made_by(node, self._fresh)
        return self._taken_out(stmts, result, node)

    def visit_NamedExpr(self, node: ast.NamedExpr) -> ast.expr:
        name = node.target.id
        is_late = self._has_called or (self._has_looked and may_have_effect(node))
        if is_late or name in self._read:
            return node
        looked = self._has_looked
        value: ast.expr = self.visit(node.value)
        self._has_looked = looked  # what the value looks at, it looks at before
        self.before.append(assign_at(name, value, node))
        return self.visit_Name(name_at(name, node))

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        node.value, node.slice = self._in_order([node.value, node.slice])
        return node

    def visit_Call(self, node: ast.Call) -> ast.expr:
        fold = comprehensions.fold_of(node)
        if fold is not None and not self._has_called:
            return self._fold(fold, node)
        if _takes_all(node):
            node.args[0] = _as_list(node.args[0])
        elif _goes_through(node):
            node.args[0] = _list_of(node.args[0])
        if is_list_call(node) and not self._has_called:
            return self._list(node)
        node.func = self.visit(node.func)
        values = self._in_order([*node.args, *(keyword.value for keyword in node.keywords)])
        node.args, named = values[: len(node.args)], values[len(node.args) :]
        for keyword, value in zip(node.keywords, named, strict=True):
            keyword.value = value
        self._has_called = self._has_called or not _only_computes(node)
        return node

    def _fold(self, fold: Fold, node: ast.Call) -> ast.expr:
        stmts, result = fold.statements(self._fresh)
        return self._taken_out(stmts, result, node)

    def _list(self, node: ast.Call) -> ast.expr:
        """`list(x)` as `[item for item in x]`."""
        if not node.args:
            return at_place(ast.List([], ast.Load()), node)
        if isinstance(node.args[0], ast.ListComp):
            return self.visit_ListComp(node.args[0])
        return self.visit_ListComp(_list_of(self.visit(node.args[0])))

    def _taken_out(self, stmts: Sequence[ast.stmt], result: str, node: ast.expr) -> ast.expr:
        self.before += self._write([at_place(stmt, node) for stmt in stmts])
        return name_at(result, node)

    # -- what may not be reached ---------------------------------------------------------------

    def visit_Name(self, node: ast.Name) -> ast.expr:
        self._read.add(node.id)
        return node

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.expr:
        return self._joined(node, is_tested=False)

    def _joined(self, node: ast.BoolOp, *, is_tested: bool) -> ast.expr:
        visit = self.tested if is_tested else self.visit
        outer, before = set(self._read), self._has_looked
        node.values[0] = visit(node.values[0])
        looked = self._has_looked
        for position in range(1, len(node.values)):
            self._has_looked = before  # where this takes statements, those before it are decided
            value, needed = self._aside(node.values[position], visit, outer)
            looked = self._has_looked = looked or self._has_looked
            node.values[position] = value
            if needed:
                return self._chosen(node, position, needed, is_tested=is_tested)
        return node

    def _chosen(
        self, node: ast.BoolOp, position: int, needed: list[ast.stmt], *, is_tested: bool
    ) -> ast.expr:
        """`x and y` where y takes statements: they stand under a condition."""
        chosen = self._fresh("chosen")
        first, rest = node.values[:position], node.values[position + 1 :]
        known = first[0] if len(first) == 1 else at_place(ast.BoolOp(node.op, first), node)
        self.before.append(assign_at(chosen, _truth(known) if is_tested else known, node))
        test: ast.expr = name_at(chosen, node)
        if isinstance(node.op, ast.Or):
            test = ast.UnaryOp(ast.Not(), test)
        value = node.values[position]
        value = _truth(value) if is_tested else value
        body = [*needed, assign_at(chosen, value, node)]
        self.before.append(at_place(ast.If(test, body, []), node))
        if not rest:
            return name_at(chosen, node)
        left = ast.BoolOp(node.op, [name_at(chosen, node), *rest])
        return self._joined(at_place(left, node), is_tested=is_tested)

    def visit_IfExp(self, node: ast.IfExp) -> ast.expr:
        outer, before = set(self._read), self._has_looked
        node.test = self.tested(node.test)
        tested, called = self._has_looked, self._has_called
        after: list[tuple[bool, bool]] = []
        sides: list[tuple[ast.expr, list[ast.stmt]]] = []
        for side in (node.body, node.orelse):  # each runs in the place of the other
            self._has_called, self._has_looked = called, before
            sides.append(self._aside(side, self.visit, outer))
            after.append((self._has_called, self._has_looked))
        (node.body, then), (node.orelse, otherwise) = sides
        self._has_called = any(has_called for has_called, _ in after)
        self._has_looked = tested or any(has_looked for _, has_looked in after)
        if not then and not otherwise:
            return node
        chosen = self._fresh("chosen")
        then.append(assign_at(chosen, node.body, node.body))
        otherwise.append(assign_at(chosen, node.orelse, node.orelse))
        self.before.append(at_place(ast.If(node.test, then, otherwise), node))
        return name_at(chosen, node)

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        node.left, node.comparators[0] = self._in_order([node.left, node.comparators[0]])
        for position, value in enumerate(node.comparators[1:], 1):
            node.comparators[position] = self._left_alone(value)
        return node

    def _left_alone(self, node: ast.expr) -> ast.expr:
        """An operand that may not be reached: what it would take stays, and is refused there."""
        was, self._has_called = self._has_called, True
        visited: ast.expr = self.visit(node)
        self._has_called = was
        return visited

    def _aside(
        self, node: ast.expr, visit: Callable[[ast.expr], ast.expr], read: set[str]
    ) -> tuple[ast.expr, list[ast.stmt]]:
        """An operand that may not be reached, and the statements that it takes.

        What the operand before it reads is over by then: only what was `read` before both counts.
        """
        outer, self.before = self.before, []
        beside, self._read = self._read, set(read)
        visited = visit(node)
        needed, self.before = self.before, outer
        self._read |= beside
        return visited, needed


def takes_effect(node: ast.AST) -> bool:
    """Whether a part is taken out in some place, and may change what others read."""
    taken = (*_SCOPES, ast.NamedExpr)
    return any(isinstance(inner, taken) and may_have_effect(inner) for inner in ast.walk(node))


def may_have_effect(node: ast.AST) -> bool:
    """Whether an expression calls what is not known to compute only."""
    calls = (inner for inner in ast.walk(node) if isinstance(inner, ast.Call))
    return any(not is_list_call(call) and not _only_computes(call) for call in calls)


def _only_computes(node: ast.Call) -> bool:
    """Whether a call is sure to have no effect: one of a builtin, or of most functions of NumPy."""
    if any(keyword.arg in (None, "out") for keyword in node.keywords):
        return False
    match node.func:
        case ast.Name(name):
            return name in _PURE
        case ast.Attribute(ast.Name("np" | "numpy" | "math"), name):
            return name not in _IN_PLACE
        case _:
            return False


_PURE = (
    *("len", "abs", "int", "float", "tuple", "sorted", "range", "enumerate", "zip", "reversed"),
    *("sum", "any", "all", "min", "max"),
)
_IN_PLACE = ("copyto", "fill_diagonal", "place", "put", "put_along_axis", "putmask")


def _truth(node: ast.expr) -> ast.expr:
    """Whether a value is true: `not not x`."""
    twice = ast.UnaryOp(ast.Not(), ast.UnaryOp(ast.Not(), node))
    return at_place(twice, node)


def _takes_all(node: ast.Call) -> bool:
    """True for `sorted(f(x) for x in a)` and its like, for which a list does as well."""
    match node:
        case ast.Call(ast.Name("min" | "max"), [ast.GeneratorExp()], [ast.keyword("key")]):
            return True
        case ast.Call(ast.Name(name) | ast.Attribute(attr=name), [ast.GeneratorExp(), *_]):
            return name in ("sorted", "list", "prod", "fsum")
        case _:
            return False


def _goes_through(node: ast.Call) -> bool:
    """True for `sorted(range(n), key=f)` and its like, where what is gone through is no value."""
    match node:
        case ast.Call(
            ast.Name("sorted" | "min" | "max"),
            [ast.Call(ast.Name("range" | "enumerate" | "zip" | "reversed"))],
        ):
            return True
        case _:
            return False


def _list_of(node: ast.expr) -> ast.ListComp:
    """`[item for item in node]`."""
    part = ast.comprehension(ast.Name("item", ast.Store()), node, [], 0)
    return at_place(ast.ListComp(ast.Name("item", ast.Load()), [part]), node)


def _as_list(node: ast.expr) -> ast.expr:
    assert isinstance(node, ast.GeneratorExp)
    return at_place(ast.ListComp(node.elt, node.generators), node)
