"""Which loops have indices in them that are not proved to be inside of their arrays."""

from __future__ import annotations

from hybridjit.analysis.bounds import Facts
from hybridjit.analysis.scoped_facts import ScopedFacts
from hybridjit.ir.expr import Expr, Load, Var
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.stmt import For, Stmt, Store


def find_unproved(func: PrimFunc, body: Stmt) -> set[Var]:
    """The variables of such loops in `body`, which is that of `func` in plain loops."""
    finder = _Finder(Facts.of(func))
    finder.rewrite(body)
    return finder.found


class _Finder(ScopedFacts):
    def __init__(self, facts: Facts) -> None:
        super().__init__(facts)
        self.around: list[Var] = []
        self.found: set[Var] = set()

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
