"""`sum(x * y for x, y in zip(a, b) if x > 0)`: a fold over a generator, as the loop that it is.

total = 0
for x, y in zip(a, b):
    if x > 0:
        total = total + x * y
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence

from hybridjit.record import record
from hybridjit.syntax import nodes_of

FOLDS = ("sum", "any", "all", "min", "max")
Fresh = Callable[[str], str]


@record
class Fold:
    """A call such as `max(...)` of a generator; `start` is what a sum begins with, and what the
    largest of none is.
    """

    name: str
    generator: ast.GeneratorExp | ast.ListComp
    start: ast.expr | None = None

    def statements(self, fresh: Fresh) -> tuple[list[ast.stmt], str]:
        """The loop, and the name of its result."""
        element, generators = _with_own_names(self.generator, fresh)
        match self.name:
            case "sum":
                return self._sum(element, generators, fresh)
            case "any" | "all":
                return self._search(element, generators, fresh)
            case _:
                return self._extremum(element, generators, fresh)

    def _sum(
        self, element: ast.expr, generators: Sequence[ast.comprehension], fresh: Fresh
    ) -> tuple[list[ast.stmt], str]:
        total = fresh("total")
        step = _set(total, ast.BinOp(_get(total), ast.Add(), element))
        start = ast.Constant(0) if self.start is None else self.start
        return [_set(total, start), _loop(generators, [step])], total

    def _search(
        self, element: ast.expr, generators: Sequence[ast.comprehension], fresh: Fresh
    ) -> tuple[list[ast.stmt], str]:
        found, wanted = fresh("found"), self.name == "any"
        test = element if wanted else ast.UnaryOp(ast.Not(), element)
        leave: list[ast.stmt] = [ast.Break()] if len(generators) == 1 else []
        step = ast.If(test, [_set(found, ast.Constant(wanted)), *leave], [])
        return [_set(found, ast.Constant(not wanted)), _loop(generators, [step])], found

    def _extremum(
        self, element: ast.expr, generators: Sequence[ast.comprehension], fresh: Fresh
    ) -> tuple[list[ast.stmt], str]:
        best, value, is_first = fresh("best"), fresh("value"), fresh("is_first")
        order = ast.Lt() if self.name == "min" else ast.Gt()
        better = ast.Compare(_get(value), [order], [_get(best)])
        replace = ast.If(better, [_set(best, _get(value))], [])
        begin = [_set(best, _get(value)), _set(is_first, ast.Constant(False))]
        steps = [_set(value, element), ast.If(_get(is_first), begin, [replace])]
        first = _set(is_first, ast.Constant(True))
        if self.start is not None:
            return [first, _set(best, self.start), _loop(generators, steps)], best
        message = ast.Constant(f"{self.name}() iterable argument is empty")
        error = ast.Call(_get("ValueError"), [message], [])
        empty = ast.If(_get(is_first), [ast.Raise(error, None)], [])
        return [first, _loop(generators, steps), empty], best


def list_made_by(node: ast.ListComp, fresh: Fresh) -> tuple[list[ast.stmt], str]:
    """`[f(x) for x in a if x > 0]` as a loop that appends, and the name of the list."""
    element, generators = _with_own_names(node, fresh)
    items = fresh("items")
    append = ast.Call(ast.Attribute(_get(items), "append", ast.Load()), [element], [])
    return [_set(items, ast.List([], ast.Load())), _loop(generators, [ast.Expr(append)])], items


def fold_of(node: ast.Call) -> Fold | None:
    """The fold that a call is, if it is one over a generator or a list that is made for it."""
    match node:
        case ast.Call(ast.Name(name), [ast.GeneratorExp() | ast.ListComp() as generator], []):
            return Fold(name, generator) if name in FOLDS else None
        case ast.Call(
            ast.Name("sum"), [ast.GeneratorExp() | ast.ListComp() as generator, start], []
        ):
            return Fold("sum", generator, start)
        case ast.Call(
            ast.Name("min" | "max" as name),
            [ast.GeneratorExp() | ast.ListComp() as generator],
            [ast.keyword("default", start)],
        ):
            return Fold(name, generator, start)
        case _:
            return None


def _with_own_names(
    node: ast.GeneratorExp | ast.ListComp, fresh: Fresh
) -> tuple[ast.expr, Sequence[ast.comprehension]]:
    """The parts of a comprehension; what it names is its own, and has names of its own.

    What the first `for` goes through belongs to the scope around it.
    """
    targets = [inner for part in node.generators for inner in nodes_of(part.target)]
    names = {name.id: fresh(name.id) for name in targets if isinstance(name, ast.Name)}
    renaming = _Renaming(names)
    generators: list[ast.comprehension] = []
    for position, part in enumerate(node.generators):
        part.target = renaming.visit(part.target)
        part.iter = renaming.visit(part.iter) if position else part.iter
        part.ifs = [renaming.visit(test) for test in part.ifs]
        generators.append(part)
    return renaming.visit(node.elt), generators


class _Renaming(ast.NodeTransformer):
    def __init__(self, names: dict[str, str]) -> None:
        self._names = names

    def visit_Name(self, node: ast.Name) -> ast.Name:
        return ast.copy_location(ast.Name(self._names.get(node.id, node.id), node.ctx), node)


def _loop(generators: Sequence[ast.comprehension], body: list[ast.stmt]) -> ast.stmt:
    for part in reversed(generators):
        for test in reversed(part.ifs):
            body = [ast.If(test, body, [])]
        body = [ast.For(part.target, part.iter, body, [])]
    return body[0]


def _get(name: str) -> ast.Name:
    return ast.Name(name, ast.Load())


def _set(name: str, value: ast.expr) -> ast.stmt:
    return ast.Assign([ast.Name(name, ast.Store())], value)
