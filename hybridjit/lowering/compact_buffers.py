"""Shrink scratch buffers made inside of loops to the box of elements that is used.

    for i_0 in range(n // 32):                        for i_0 in range(n // 32):
        t = allocate((n,), "float32")                     t_start = i_0 * 32
        for i in range(i_0 * 32, i_0 * 32 + 34):  -->     t = allocate((34,), "float32")
            t[i] = a[i]                                   for i in range(i_0 * 32, i_0 * 32 + 34):
                                                              t[i - t_start] = a[i]

An axis is shrunk to a constant, the greatest size of its box, which then is less to allocate and
to zero, and often fits the stack. Relies on bounds checks being in place: an index that is not
proved to be in bounds keeps its axis as it is.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from hybridjit.arith.simplify import simplify
from hybridjit.ir.expr import Bounded, Buffer, BufferRef, Const, Expr, Load, Node, Sub, Var
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.stmt import Allocate, For, Let, Seq, Stmt, Store
from hybridjit.ir.visit import Mutator, children, rewrite, walk, walk_stmts
from hybridjit.lazy import lazy_module

if TYPE_CHECKING:
    from hybridjit.analysis import inside, instances, regions
else:
    inside = lazy_module("hybridjit.analysis.inside")
    instances = lazy_module("hybridjit.analysis.instances")
    regions = lazy_module("hybridjit.analysis.regions")


def compact_buffers(func: PrimFunc) -> PrimFunc:
    """`func` with each scratch buffer as small as one iteration of the loops around it needs."""
    for allocation in list(_candidates(func.body, ())):
        scope = _find_scope(func.body, allocation)
        made = _compacted(func, scope, allocation)
        if made is not None:
            func = dataclasses.replace(func, body=_replace(func.body, scope, made))
    return func


def _candidates(stmt: Stmt, loops: tuple[Var, ...]) -> Iterator[Allocate]:
    """The buffers whose indices may move with a loop around: cheap to see, without isl."""
    if isinstance(stmt, For):
        loops = (*loops, stmt.var)
    if isinstance(stmt, Seq) and loops:
        for inner in stmt.stmts:
            if not isinstance(inner, Allocate) or _is_tile(inner):
                continue
            if _may_move(stmt, inner.buffer, loops):
                yield inner
    for child in children(stmt):
        if isinstance(child, Stmt):
            yield from _candidates(child, loops)


def _is_tile(allocation: Allocate) -> bool:
    """True for memory of a known size on the stack that nothing sets: less would save nothing."""
    buffer = allocation.buffer
    is_known = all(isinstance(size, Const) for size in buffer.shape)
    return buffer.scope == "local" and is_known and not allocation.zero


def _may_move(scope: Seq, buffer: Buffer, loops: Sequence[Var]) -> bool:
    if buffer.is_register or buffer.ndim == 0:
        return False
    moving: set[Node] = set(loops)
    is_touched = False
    for node in walk(scope):
        match node:
            case BufferRef() if node.buffer is buffer:
                return False
            case For(var, start, stop) if _mentions((start, stop), moving):
                moving.add(var)
            case Let(var, value) if _mentions((value,), moving):
                moving.add(var)
            case Load(found, indices) | Store(found, indices) if found is buffer:
                is_touched = is_touched or _mentions(indices, moving)
            case _:
                pass
    return is_touched


def _mentions(exprs: Sequence[Expr], variables: set[Node]) -> bool:
    return any(isinstance(node, Var) and node in variables for e in exprs for node in walk(e))


def _find_scope(root: Stmt, allocation: Allocate) -> Seq:
    """The sequence that `allocation` stands in now."""
    scopes = (node for node in walk_stmts(root) if isinstance(node, Seq))
    return next(scope for scope in scopes if allocation in scope.stmts)


def _compacted(func: PrimFunc, scope: Seq, allocation: Allocate) -> Stmt | None:
    """The scope with a smaller buffer; None if it is as small as it gets."""
    buffer = allocation.buffer
    part = instances.infer_instances(func, scope)
    touched = regions.touched_elements(part, buffer)
    if touched is None:
        return None
    axes = {
        axis: found
        for axis, found in enumerate(regions.box_around(part, buffer, touched).axes)
        if _is_smaller(found, buffer.shape[axis])
        and inside.find_outside(part, buffer, [axis]) is None
    }
    return _shrunk(scope, allocation, axes) if axes else None


def _is_smaller(found: regions.AxisRange, size: Expr) -> bool:
    if found.is_whole or found.limit is None:
        return False
    return not isinstance(size, Const) or found.limit < int(size.value.real)


def _shrunk(scope: Seq, allocation: Allocate, axes: Mapping[int, regions.AxisRange]) -> Stmt:
    old = allocation.buffer
    shape = list(old.shape)
    starts: dict[int, Expr] = {}
    lets: list[Let] = []
    for axis, found in axes.items():
        shape[axis] = Const(found.limit or 0)
        starts[axis] = found.start
        if not isinstance(found.start, Const | Var):
            starts[axis] = var = Var(f"{old.name}_start")
            lets.append(Let(var, found.start, span=allocation.span))
    made = dataclasses.replace(old, shape=tuple(shape))
    position = scope.stmts.index(allocation)
    moved: Seq = _Move(old, made, starts).rewrite(scope)
    return Seq((*moved.stmts[:position], *lets, *moved.stmts[position:]))


class _Move(Mutator):
    """Let the accesses to `old` go to `made`, whose axes begin at `starts` of the old ones."""

    def __init__(self, old: Buffer, made: Buffer, starts: Mapping[int, Expr]) -> None:
        self.old, self.made, self.starts = old, made, starts

    def rewrite_Allocate(self, node: Allocate) -> Stmt:
        return dataclasses.replace(node, buffer=self.made) if node.buffer is self.old else node

    def rewrite_Load(self, node: Load) -> Expr:
        found: Load = self.generic(node)
        if found.buffer is not self.old:
            return found
        return dataclasses.replace(found, buffer=self.made, indices=self._indices(found.indices))

    def rewrite_Store(self, node: Store) -> Stmt:
        found: Store = self.generic(node)
        if found.buffer is not self.old:
            return found
        return dataclasses.replace(found, buffer=self.made, indices=self._indices(found.indices))

    def _indices(self, indices: Sequence[Expr]) -> tuple[Expr, ...]:
        return tuple(
            _moved(index, self.starts[axis]) if axis in self.starts else index
            for axis, index in enumerate(indices)
        )


def _moved(index: Expr, start: Expr) -> Expr:
    # All indices of the axis are proved to be in bounds here, which takes more than the pass
    # that puts the checks in has.
    proved = index.index if isinstance(index, Bounded) else index
    return simplify(Sub(proved, start))


def _replace(body: Stmt, old: Stmt, new: Stmt) -> Stmt:
    return rewrite(body, lambda node: new if node is old else None)
