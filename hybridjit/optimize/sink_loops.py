"""Run the loop along contiguous elements inside of those that jump from row to row.

Code in NumPy style that goes through planes `c[:, :, k]` has it outside: every element is in a
cache line of its own. What becomes of it is in schedule/arrays/sink.py.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from hybridjit.analysis.accesses import find_accesses
from hybridjit.analysis.limits import loop_extent
from hybridjit.arith.linear import linear_form
from hybridjit.ir.expr import Expr, Var
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.stmt import For, Stmt
from hybridjit.ir.visit import StmtMutator
from hybridjit.optimize.decisions import Decisions
from hybridjit.schedule.arrays.sink import SinkProofs, Sunk, find_sunk

# A plane that is read along its rows costs more when it is not than one line of the others gains.
_GAIN = 2
_SHORTEST = 4  # iterations along a row that are worth it


def sink_loops(
    func: PrimFunc, body: Stmt, is_free: Callable[[Var], bool], decisions: Decisions
) -> Stmt:
    """`body`, that of `func` in plain loops, with loops along the last axis of arrays inside.

    Only those whose order `is_free` to choose.
    """
    return _SinkLoops(SinkProofs(func, body), is_free, decisions).rewrite(body)


class _SinkLoops(StmtMutator):
    def __init__(
        self, proofs: SinkProofs, is_free: Callable[[Var], bool], decisions: Decisions
    ) -> None:
        self.proofs = proofs
        self.is_free = is_free
        self.decisions = decisions

    def rewrite_For(self, node: For) -> Stmt:
        sunk = find_sunk(node) if self.is_free(node.var) else None
        if sunk is None or not self._is_gain(sunk) or self.proofs.find_obstacle(sunk) is not None:
            return self.generic(node)
        return sunk.make() if self.decisions.take("sink", node.var) else node

    def _is_gain(self, sunk: Sunk) -> bool:
        plain = self.proofs.without_blocks(sunk)
        return plain is not None and _is_gain(plain)


def _is_gain(sunk: Sunk) -> bool:
    """Whether more accesses go along rows with the variable of the loop than with the other one."""
    loop, innermost = sunk.loop, sunk.outer.loops[-1].var
    extent = loop_extent(loop)
    if extent is not None and extent < _SHORTEST:
        return False
    steps = [_last_step(access.indices) for access in find_accesses(loop)]
    along = sum(step.get(loop.var, 0) in (1, -1) and innermost not in step for step in steps)
    other = sum(innermost in step for step in steps)
    return along > _GAIN * other


def _last_step(indices: Sequence[Expr]) -> dict[Var, int]:
    """How the last index, that along a row, depends on variables."""
    form = linear_form(indices[-1]) if indices else None
    return {} if form is None else dict(form.terms)
