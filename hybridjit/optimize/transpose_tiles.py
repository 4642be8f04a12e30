"""Run loops in squares where rows of one array are columns of another, and too long for a cache.

What becomes of them is in schedule/arrays/squares.py.
"""

from __future__ import annotations

from collections.abc import Callable

from hybridjit.analysis.accesses import Access, find_accesses
from hybridjit.analysis.limits import loop_extent
from hybridjit.analysis.traffic import bytes_of
from hybridjit.arith.linear import linear_form
from hybridjit.ir.expr import Var
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.header import MAX_EXTENT
from hybridjit.ir.stmt import For, Stmt
from hybridjit.ir.visit import StmtMutator, walk_stmts
from hybridjit.optimize.decisions import Decisions
from hybridjit.schedule.arrays.sink import SinkProofs
from hybridjit.schedule.arrays.squares import Squares, find_squares
from hybridjit.target import Target

# Elements in both directions. What is smaller uses lines of a cache in parts; what is larger misses
# more often in the first cache, but less often where arrays come from further away than the second.
_SIZE, _FAR_SIZE = 16, 32
_LINE = 64  # bytes of a line
# Rows that are worth it.
_SHORTEST = 64


def transpose_tiles(
    func: PrimFunc,
    body: Stmt,
    is_free: Callable[[Var], bool],
    target: Target,
    decisions: Decisions,
) -> Stmt:
    """`body`, that of `func` in plain loops, with loops across rows in squares.

    Only those whose order `is_free` to choose.
    """
    return _TransposeTiles(SinkProofs(func, body), is_free, target, decisions).rewrite(body)


class _TransposeTiles(StmtMutator):
    def __init__(
        self,
        proofs: SinkProofs,
        is_free: Callable[[Var], bool],
        target: Target,
        decisions: Decisions,
    ) -> None:
        self.proofs, self.is_free = proofs, is_free
        self.target, self.decisions = target, decisions

    def rewrite_For(self, node: For) -> Stmt:
        found = find_squares(node)
        if found is None or not self._is_gain(found):
            return self.generic(node)
        is_free = self.is_free(node.var) and self.is_free(found.inner.var)
        if not is_free or self.proofs.find_obstacle_in(found.nest) is not None:
            return self.generic(node)
        size, least = self._numbers(found)
        is_taken = self.decisions.take("squares", node.var, size=size, least=least)
        return found.make(size, least) if is_taken else node

    def _numbers(self, squares: Squares) -> tuple[int, int]:
        """The size, and how many lines of a column the first cache keeps until the next one."""
        caches = self.target.caches
        sizes = [bytes_of(access.buffer) for access in find_accesses(squares.outer)]
        is_far = caches.own < max(sizes) < MAX_EXTENT
        return _FAR_SIZE if is_far else _SIZE, caches.first // _LINE

    def _is_gain(self, squares: Squares) -> bool:
        """Whether the rows of one array are columns of another, and perhaps long."""
        if any(isinstance(stmt, For) for stmt in walk_stmts(squares.inner.body)):
            return False
        outer, inner = loop_extent(squares.outer), loop_extent(squares.inner)
        if inner is not None and inner * _LINE < self.target.caches.first:
            return False
        if outer is not None and outer < _SHORTEST:
            return False
        accesses = [access for access in find_accesses(squares.outer) if access.indices]
        along = any(_goes_along(access, squares.inner.var) for access in accesses)
        across = any(_goes_across(access, squares) for access in accesses)
        return along and across


def _goes_along(access: Access, var: Var) -> bool:
    """Whether iterations over `var` touch one element after the other of a row."""
    form = linear_form(access.indices[-1])
    return form is not None and form.terms.get(var, 0) in (1, -1)


def _goes_across(access: Access, squares: Squares) -> bool:
    """Whether the inner loop goes down a column, and the outer one along the rows."""
    last = linear_form(access.indices[-1])
    others = [linear_form(index) for index in access.indices[:-1]]
    if last is None or squares.inner.var in last.terms:
        return False
    is_column = any(form is not None and squares.inner.var in form.terms for form in others)
    return is_column and last.terms.get(squares.outer.var, 0) in (1, -1)
