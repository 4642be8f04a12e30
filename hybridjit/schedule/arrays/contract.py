"""Shrink an array that only one loop uses to what one iteration needs.

    t = allocate((n, m), ...)          for i in range(n):
    for i in range(n):                     t = allocate((m,), ...)
        for j in range(m):        -->      for j in range(m):
            t[i, j] = ...                      t[j] = ...
        for j in range(m):                 for j in range(m):
            c[i] += t[i, j]                    c[i] += t[j]

What is left without axes is a variable.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from hybridjit.analysis.accesses import Access, find_accesses
from hybridjit.analysis.distances import Order
from hybridjit.analysis.order import Iterations
from hybridjit.ir.expr import Buffer, Const, Expr, Load, Var, const
from hybridjit.ir.stmt import Allocate, For, Let, Seq, Stmt, Store, flat_stmts, seq
from hybridjit.ir.visit import Mutator, walk, walk_stmts
from hybridjit.schedule.arrays.fusion import Fusion
from hybridjit.schedule.arrays.merge import bound_in
from hybridjit.schedule.arrays.replace_loads import ReplaceLoads


def contract(
    fusion: Fusion, stmts: Sequence[Stmt], allocation: Allocate, loop: For
) -> tuple[list[Stmt], Buffer | None] | str:
    """`stmts` with the array made anew, and smaller, in each iteration of `loop`.

    Everything that uses the array stands in the loop. Gives the smaller array too, None if it is
    none any more; or else why that cannot be.
    """
    buffer = allocation.buffer
    accesses = [found for found in find_accesses(loop.body) if found.buffer is buffer]
    inner = bound_in(loop.body)
    if fusion.footprint(loop).acts:  # a function may be given all of the array
        return f"loop '{loop.var.name}' calls a function"
    if not _is_private(fusion, accesses, loop, inner):
        return f"an iteration of loop '{loop.var.name}' uses what another one wrote"
    fixed = [axis for axis in range(buffer.ndim) if _is_fixed(accesses, axis, inner)]
    if not fixed:
        return f"an iteration of loop '{loop.var.name}' uses all of it"
    kept = [axis for axis in range(buffer.ndim) if axis not in fixed]
    scope = buffer.scope if kept else Buffer.REGISTER
    small = replace(buffer, shape=tuple(buffer.shape[axis] for axis in kept), scope=scope)
    if buffer in fusion.reassociable:
        fusion.reassociable.add(small)
    body = _Drop(buffer, small, kept).rewrite(loop.body)
    smaller = replace(loop, body=_with_memory(fusion, body, replace(allocation, buffer=small)))
    made = [smaller if stmt is loop else stmt for stmt in stmts if stmt is not allocation]
    return made, small if kept else None


def _is_private(fusion: Fusion, accesses: Sequence[Access], loop: For, inner: set[Var]) -> bool:
    """True if no two iterations touch the same element."""
    iterations = Iterations((loop.var,), inner, fusion.ranges)
    return all(
        iterations.meet(one.node.indices, other.node.indices) in (Order.SAME, Order.NEVER)
        for one in accesses
        if one.is_write
        for other in accesses
    )


def _is_fixed(accesses: Sequence[Access], axis: int, inner: set[Var]) -> bool:
    """True if one iteration uses only one index along an axis."""
    index = accesses[0].node.indices[axis]
    if any(isinstance(node, Load) or node in inner for node in walk(index)):
        return False
    return all(access.node.indices[axis] == index for access in accesses)


def _with_memory(fusion: Fusion, body: Stmt, allocation: Allocate) -> Stmt:
    """The body of a loop with the smaller array, or the variable, made before its first use."""
    stmts, small = flat_stmts(body), allocation.buffer
    first = next(k for k, stmt in enumerate(stmts) if fusion.footprint(stmt).touches(small))
    if not small.is_register:
        return seq(*stmts[:first], allocation, *stmts[first:])
    if _is_straight(stmts, small) and _is_set_by(stmts[first], small):
        return _as_values(stmts, small)
    made: list[Stmt] = [replace(allocation, zero=False)]
    if allocation.zero:
        made.append(Store(small, (), const(0, small.dtype), span=allocation.span))
    return seq(*stmts[:first], *made, *stmts[first:])


def _is_straight(stmts: Sequence[Stmt], small: Buffer) -> bool:
    """True if every store to a variable stands directly in the list."""
    direct = [stmt for stmt in stmts if isinstance(stmt, Store) and stmt.buffer is small]
    nodes = [node for stmt in stmts for node in walk_stmts(stmt)]
    stores = [node for node in nodes if isinstance(node, Store) and node.buffer is small]
    return len(direct) == len(stores)


def _is_set_by(stmt: Stmt, small: Buffer) -> bool:
    """True if a statement gives a variable a value that does not depend on its old one."""
    if not isinstance(stmt, Store) or stmt.buffer is not small:
        return False
    return not any(isinstance(node, Load) and node.buffer is small for node in walk(stmt.value))


def _as_values(stmts: Sequence[Stmt], small: Buffer) -> Stmt:
    """A variable that is stored to only directly: a name for each value that it has."""
    values = _Values(small)
    return seq(*(values.rewrite(stmt) for stmt in stmts))


class _Values(ReplaceLoads):
    """Give the values of a variable names, and use those."""

    current: Expr | None = None

    def value_of(self, load: Load) -> Expr:
        assert self.current is not None
        return self.current

    def rewrite_Store(self, node: Store) -> Stmt:
        done = super().rewrite_Store(node)
        if not isinstance(done, Store) or done.buffer is not self.buffer:
            return done
        self.current = done.value
        if isinstance(done.value, (Const, Var)):
            return Seq(())
        self.current = Var(self.buffer.name, self.buffer.dtype, span=done.span)
        return Let(self.current, done.value, span=done.span)


class _Drop(Mutator):
    """Let accesses to a buffer go to a smaller one, which has some of its axes."""

    def __init__(self, old: Buffer, small: Buffer, kept: Sequence[int]) -> None:
        self.old, self.small, self.kept = old, small, kept

    def rewrite_Load(self, node: Load) -> Expr:
        return self._moved(self.generic(node))

    def rewrite_Store(self, node: Store) -> Stmt:
        return self._moved(self.generic(node))

    def _moved(self, node: Any) -> Any:
        if node.buffer is not self.old:
            return node
        indices = tuple(node.indices[axis] for axis in self.kept)
        return replace(node, buffer=self.small, indices=indices)
