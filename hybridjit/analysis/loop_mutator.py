"""The walk that passes over loops share: at each loop, what is known of those around it."""

from __future__ import annotations

from hybridjit.analysis.accesses import Scope
from hybridjit.analysis.independence import Independence
from hybridjit.analysis.initialization import find_unassigned_reads
from hybridjit.ir.expr import Buffer, Expr
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.stmt import For, Let, Seq, Stmt, seq
from hybridjit.ir.visit import StmtMutator
from hybridjit.kept_property import kept_property


class LoopMutator(StmtMutator):
    """Rewrites loops, with the loops and names around them in `scope`, outermost first."""

    def __init__(self, func: PrimFunc, scope: Scope = ()) -> None:
        self.func = func
        self.scope: list[For | Let | Expr] = list(scope)

    @kept_property
    def unset(self) -> frozenset[Buffer]:
        """The variables that may be read before they have a value."""
        return find_unassigned_reads(self.func)

    def independence(self, *inside: For) -> Independence:
        """Proofs about accesses here, or in the nest `inside`."""
        return Independence.at(self.func, (*self.scope, *inside))

    def rewrite_Seq(self, node: Seq) -> Stmt:
        known = len(self.scope)
        rewritten = self.generic(node)
        del self.scope[known:]
        return rewritten if rewritten is node else seq(*rewritten.stmts)

    def rewrite_Let(self, node: Let) -> Stmt:
        self.scope.append(node)
        return node

    def go_inside(self, loop: For) -> Stmt:
        """`loop` with what is in it rewritten."""
        self.scope.append(loop)
        rewritten = self.generic(loop)
        self.scope.pop()
        return rewritten
