"""Store to an element once: updates of it in one iteration go through names.

    for i in range(n):                  for i in range(n):
        c[i] = c[i] + a[i]       -->        c_1 = c[i] + a[i]
        c[i] = c[i] * 0.5                   c[i] = c_1 * 0.5

The array goes through memory once instead of twice. Relies on: arrays that share no memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from hybridjit.analysis.accesses import find_accesses
from hybridjit.ir.expr import Buffer, Const, Expr, Load, Var
from hybridjit.ir.stmt import Let, Seq, Stmt, Store, flat_stmts, seq
from hybridjit.schedule.arrays.replace_loads import ReplaceLoads


def uses_own_elements(stmts: Sequence[Stmt]) -> bool:
    """True if an iteration uses one element of each array that it writes to.

    With others, iterations depend on each other: such a loop may be right, but not in vectors.
    """
    accesses = find_accesses(*stmts)
    places = {found.buffer: found.node.indices for found in accesses if found.is_write}
    return all(places.get(f.buffer, f.node.indices) == f.node.indices for f in accesses)


def make_store_once(stmts: Sequence[Stmt], buffer: Buffer) -> list[Stmt]:
    """Statements that store to an element of an array only when they are done with it."""
    last = next(s for s in reversed(stmts) if isinstance(s, Store) and s.buffer is buffer)
    latest = _Latest(buffer)
    done = flat_stmts(seq(*map(latest.rewrite, stmts)))
    assert latest.current is not None
    return [*done, replace(last, value=latest.current)]


class _Latest(ReplaceLoads):
    """Give the values that an element is set to names, and use those."""

    current: Expr | None = None

    def value_of(self, load: Load) -> Expr:
        return load if self.current is None else self.current

    def rewrite_Store(self, node: Store) -> Stmt:
        done = super().rewrite_Store(node)
        if not isinstance(done, Store) or done.buffer is not self.buffer:
            return done
        self.current = done.value
        if isinstance(done.value, (Const, Var)):
            return Seq(())
        self.current = Var(self.buffer.name, self.buffer.dtype, span=done.span)
        return Let(self.current, done.value, span=done.span)
