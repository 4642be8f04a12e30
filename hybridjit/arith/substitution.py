"""Replace variables by values that may be constants, and keep to the rules of the IR.

No operator stands on two constants, no `Let` gives a name to a constant or a variable, and no
`If` asks what is known.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import cast

from hybridjit.arith.simplify import simplify
from hybridjit.ir.expr import Const, Expr, Var
from hybridjit.ir.stmt import Block, If, Iter, Let, Seq, Stmt
from hybridjit.ir.visit import N, Substitute


class FoldingSubstitute(Substitute):
    """Replace variables by expressions; what changes is simplified, as long as `is_folding`."""

    is_folding = True
    _is_inside_expr = False

    def rewrite(self, node: N) -> N:
        if not isinstance(node, Expr) or self._is_inside_expr:
            return super().rewrite(node)
        self._is_inside_expr = True
        made = super().rewrite(node)
        self._is_inside_expr = False
        return cast(N, simplify(made)) if self.is_folding and made is not node else made

    def rewrite_Let(self, node: Let) -> Stmt:
        made: Let = self.generic(node)
        if not self.is_folding or not isinstance(made.value, Const | Var):
            return made
        self.variables[made.var] = made.value
        return Seq(())

    def rewrite_Block(self, node: Block) -> Stmt:
        iters = tuple(map(self.rewrite, node.iters))
        around, self.variables = self.variables, self._seen_by(iters)
        body, init = self.rewrite(node.body), node.init and self.rewrite(node.init)
        self.variables = around
        if (iters, body, init) == (node.iters, node.body, node.init):
            return node
        return replace(node, iters=iters, body=body, init=init)

    def _seen_by(self, iters: Sequence[Iter]) -> dict[Var, Expr]:
        """What variables stand for inside a block: it sees the loops around it by its iters."""
        loops = {item.value: item.var for item in iters if isinstance(item.value, Var)}
        return {
            var: loops.get(value, value) if isinstance(value, Var) else value
            for var, value in self.variables.items()
        }

    def rewrite_If(self, node: If) -> Stmt:
        made: If = self.generic(node)
        if not isinstance(made.cond, Const):
            return made
        return made.then if made.cond.value else (made.otherwise or Seq(()))
