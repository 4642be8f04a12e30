"""Which loops have indices in them that are not proved to be inside of their arrays."""

from __future__ import annotations

from hybridjit.analysis.accesses import Scope
from hybridjit.analysis.bounds import Facts
from hybridjit.analysis.independence import enter
from hybridjit.analysis.scoped_facts import ScopedFacts
from hybridjit.ir.expr import Expr, Load, Var
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.stmt import For, Stmt, Store


def find_unproved(func: PrimFunc, body: Stmt) -> set[Var]:
    """The variables of such loops in `body`, which is that of `func` in plain loops."""
    finder = _Finder(Facts.of(func))
    finder.rewrite(body)
    return finder.found


def has_unproved(func: PrimFunc, scope: Scope, stmt: Stmt) -> bool:
    """Whether `stmt`, which stands in `scope` of `func`, has such indices."""
    facts = Facts.of(func)
    for item in scope:
        enter(facts, item)
    finder = _Finder(facts)
    finder.rewrite(stmt)
    return finder.has_any


class _Finder(ScopedFacts):
    def __init__(self, facts: Facts) -> None:
        super().__init__(facts)
        self.around: list[Var] = []
        self.found: set[Var] = set()
        self.has_any = False

    def rewrite_For(self, node: For) -> Stmt:
        self.around.append(node.var)
        same = super().rewrite_For(node)
        self.around.pop()
        return same

    def rewrite_Load(self, node: Load) -> Expr:
        self._look(node)
        return self.generic(node)

    def rewrite_Store(self, node: Store) -> Stmt:
        self._look(node)
        return self.generic(node)

    def _look(self, access: Load | Store) -> None:
        places = zip(access.indices, access.buffer.shape, strict=True)
        if not all(self.facts.prove_inside(index, size) for index, size in places):
            self.found.update(self.around)
            self.has_any = True
