"""Put other expressions in the place of divisions."""

from __future__ import annotations

from collections.abc import Mapping

from hybridjit.ir.expr import Const, Expr, FloorDiv, Mod, Var
from hybridjit.ir.stmt import Let, Seq, Stmt
from hybridjit.ir.visit import Mutator

Division = FloorDiv | Mod


def replace_divisions(body: Stmt, instead: Mapping[Division, Expr]) -> Stmt:
    """`body` with others in the place of these divisions; a name that would only be another name
    for a variable or a number becomes it.
    """
    return _Replace(instead).rewrite(body)


class _Replace(Mutator):
    def __init__(self, instead: Mapping[Division, Expr]) -> None:
        self.instead = instead
        self.names: dict[Var, Expr] = {}

    def rewrite_FloorDiv(self, node: FloorDiv) -> Expr:
        return self.instead[node] if node in self.instead else self.generic(node)

    def rewrite_Mod(self, node: Mod) -> Expr:
        return self.instead[node] if node in self.instead else self.generic(node)

    def rewrite_Var(self, node: Var) -> Expr:
        return self.names.get(node, node)

    def rewrite_Let(self, node: Let) -> Stmt:
        rewritten = self.generic(node)
        if isinstance(rewritten.value, Var | Const) and rewritten is not node:
            self.names[node.var] = rewritten.value
            return Seq(())
        return rewritten
