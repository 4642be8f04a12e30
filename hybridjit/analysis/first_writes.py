"""Prove that all elements of an array are set before any is read: a proof on the text alone.

    for i in range(n):
        for j in range(m):
            c[i, j] = a[i, j]               # row i is set ...
        for j in range(m):
            c[i, j] = c[i, j] / total       # ... before it is read

A loop that was split counts too: `c[i_0 * 32 + i_1]` is each element once. So do blocks, of which
the last one is smaller, tiles that end at a guard, and what is done in the last round of a loop
(tiled_indices.py):

    for k in range(0, 1000, 256):
        for i in range(0, n, 6):
            if k + 256 >= 1000:
                for r in range(min(n - i, 6)):
                    c[i + r] = ...

Memory that such a statement comes upon first need not hold zeros. What needs more thought is not
proved: zeros cost time, and reading what nobody wrote gives a wrong result.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from hybridjit.analysis.accesses import find_accesses
from hybridjit.analysis.footprint import find_footprint
from hybridjit.arith.simplify import simplify
from hybridjit.ir.expr import Buffer, BufferRef, Const, Expr, Load, Lt, Node, Var
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.stmt import (
    Block,
    Break,
    Continue,
    For,
    If,
    Let,
    Return,
    Seq,
    Stmt,
    Store,
    While,
    flat_stmts,
)
from hybridjit.ir.visit import StmtMutator, children, substitute, walk, walk_stmts
from hybridjit.lazy import lazy_module
from hybridjit.record import record

if TYPE_CHECKING:
    from hybridjit.analysis import tiled_indices
    from hybridjit.analysis.tiled_indices import Counter
else:
    tiled_indices = lazy_module("hybridjit.analysis.tiled_indices")


# The loops around a statement, and along which axis of the array each of them runs; None if it is
# only a part of the index.
Slice = dict[Var, int | None]


@record
class _Around:
    """What a statement is in: loops from 0 on, conditions that an index is inside of the array,
    and names for values.
    """

    loops: Mapping[Var, Counter]
    values: Mapping[Var, Expr]
    guards: tuple[Lt, ...] = ()

    def inside(self, var: Var, counter: Counter) -> _Around:
        return replace(self, loops={**self.loops, var: counter})

    def without(self, var: Var) -> _Around:
        return replace(self, loops={v: it for v, it in self.loops.items() if v is not var})

    def with_value(self, let: Let) -> _Around:
        return replace(self, values={**self.values, let.var: let.value})

    def value(self, expr: Expr) -> Expr:
        """What a name stands for, or the expression itself."""
        return self.values.get(expr, expr) if isinstance(expr, Var) else expr


_NOTHING = _Around({}, {})


def find_set_outputs(func: PrimFunc) -> frozenset[Buffer]:
    """The outputs of `func`, which has no blocks, that a run without an error sets completely."""
    return frozenset(buffer for buffer in func.outputs if prove_set(func.body, buffer))


def prove_set(body: Stmt, buffer: Buffer) -> bool:
    """True if `body`, unless it fails, sets every element of an array before it reads any."""
    stmts = flat_stmts(body)
    for position, stmt in enumerate(stmts):
        if _touches(stmt, buffer):
            rest = stmts[position:]
            return prove_sets_all(stmt, buffer) or _prove_set_in_parts(rest, buffer)
        if _has_return(stmt):
            return False
    return False


def _prove_set_in_parts(stmts: Sequence[Stmt], buffer: Buffer) -> bool:
    """The same of statements each of which sets a part, next to that of the one before.

    for i in range(n):
        joined[i] = a[i]
    for i in range(m):
        joined[n + i] = b[i]        # of n + m elements
    """
    for axis, size in enumerate(buffer.shape):
        end: Expr = Const(0)
        for stmt in stmts:
            if _touches(stmt, buffer):
                count = _count_set(stmt, buffer, axis, end)
                if count is None:
                    break
                end = end + count
                if simplify(size - end) == Const(0):
                    return True
            elif _has_return(stmt):
                break
    return False


def _count_set(stmt: Stmt, buffer: Buffer, axis: int, first: Expr) -> Expr | None:
    """How many places along an axis a statement sets all elements at, from the `first` one on.

    None if it does something else. With a `first` below zero, it still sets those from zero on.
    """
    if _reads_any(stmt, buffer):
        return None
    opened = _OpenBlocks().rewrite(stmt)
    stops = {loop.var: loop.stop for loop in walk_stmts(opened) if isinstance(loop, For)}
    stores = [node for node in walk_stmts(opened) if isinstance(node, Store)]
    places = {simplify(node.indices[axis] - first) for node in stores if node.buffer is buffer}
    place = places.pop() if len(places) == 1 else None
    count = Const(1) if place == Const(0) else stops.get(place) if isinstance(place, Var) else None
    if place is None or count is None:
        return None
    sizes = (*buffer.shape[:axis], count, *buffer.shape[axis + 1 :])
    part = replace(buffer, shape=sizes)
    return count if prove_sets_all(_Part(buffer, part, axis, place).rewrite(opened), part) else None


class _Part(StmtMutator):
    """A part of an array in its place, with indices along an axis that begin in it."""

    def __init__(self, buffer: Buffer, part: Buffer, axis: int, place: Expr) -> None:
        self.buffer, self.part, self.axis, self.place = buffer, part, axis, place

    def rewrite_Store(self, node: Store) -> Stmt:
        if node.buffer is not self.buffer:
            return node
        axis = self.axis
        indices = (*node.indices[:axis], self.place, *node.indices[axis + 1 :])
        return replace(node, buffer=self.part, indices=indices)


def prove_sets_all(stmt: Stmt, buffer: Buffer) -> bool:
    """The same of one statement that uses the array."""
    opened = _OpenBlocks().rewrite(stmt)
    return not _has_return(stmt) and _find_slice(opened, buffer, _NOTHING) is not None


class _OpenBlocks(StmtMutator):
    """Blocks as what they do, in terms of the loops around them; not those that begin a sum."""

    def rewrite_Block(self, node: Block) -> Stmt:
        opened = self.generic(node)
        if opened.init is not None:
            return opened
        return substitute(opened.body, {each.var: each.value for each in opened.iters})


def _find_slice(stmt: Stmt, buffer: Buffer, around: _Around) -> Slice | None:
    """What part of an array a statement in some loops sets all of.

    It is where the indices along some axes are made of the variables of the loops, each in the
    index of one axis. None if not all of it is set, if an element is read before, or one of
    another part.
    """
    match stmt:
        case Store() if stmt.buffer is buffer:
            return None if _reads(stmt, buffer) else _slice_of(stmt.indices, buffer, around)
        case For(start=Const(0)) if not _touches_any(stmt.stop, buffer):
            return _find_slice_of_rounds(stmt, buffer, around)
        case If(cond) if not _touches_any(cond, buffer):
            return _find_slice_of_branches(stmt, buffer, around)
        case Seq(stmts):
            return _find_slice_in_turn(stmts, buffer, around)
        case _:
            return None


def _find_slice_of_rounds(loop: For, buffer: Buffer, around: _Around) -> Slice | None:
    """The same for a loop: what all of its rounds set, or the last one, if none reads any."""
    counter = tiled_indices.Counter.of(loop, around.value(loop.stop))
    if counter is None:
        return None
    found = _find_slice_in_turn(flat_stmts(loop.body), buffer, around.inside(loop.var, counter))
    if found is None or (loop.var not in found and _reads_any(loop.body, buffer)):
        return None
    return {var: axis for var, axis in found.items() if var is not loop.var}


def _find_slice_of_branches(stmt: If, buffer: Buffer, around: _Around) -> Slice | None:
    """The same for a condition: both branches set the same part, or it is that of the last round of
    a loop, or that there is such an element.
    """
    then, otherwise = flat_stmts(stmt.then), stmt.otherwise
    if otherwise is not None and _touches(otherwise, buffer):
        found = _find_slice_in_turn(then, buffer, around)
        other = _find_slice_in_turn(flat_stmts(otherwise), buffer, around)
        return found if found == other else None
    for var, counter in around.loops.items():
        if tiled_indices.is_last_round(stmt.cond, var, counter):
            return _find_slice_in_turn(then, buffer, around.without(var))
    if otherwise is None and isinstance(stmt.cond, Lt):
        guards = (*around.guards, stmt.cond)
        return _find_slice_in_turn(then, buffer, replace(around, guards=guards))
    return None


def _find_slice_in_turn(stmts: Sequence[Stmt], buffer: Buffer, around: _Around) -> Slice | None:
    """The same for statements one after the other: the first that uses the array sets its part."""
    found: Slice | None = None
    for stmt in stmts:
        if _jumps(stmt):
            return None
        if not _touches(stmt, buffer):
            around = around.with_value(stmt) if isinstance(stmt, Let) else around
            continue
        if found is None:
            found = _find_slice(stmt, buffer, around)
            if found is None:
                return None
        elif not _stays_inside(stmt, buffer, found):
            return None
    return found


def _slice_of(indices: Sequence[Expr], buffer: Buffer, around: _Around) -> Slice | None:
    """The part of an array that is one element; loops run over all of the axes with others."""
    axes = [*zip(indices, buffer.shape, strict=True)]
    if not all((guard.lhs, guard.rhs) in axes for guard in around.guards):
        return None
    found: Slice = {}
    merged = tiled_indices.merge_indices(indices, buffer.shape)
    for axis, (index, size) in enumerate(merged):
        if index == Const(0) and size == Const(1):
            continue
        made_of = _find_loops(index, size, around)
        if made_of is None or any(var in found for var in made_of):
            return None
        is_axis = made_of == [index] and len(indices) == len(merged)
        found.update(dict.fromkeys(made_of, axis if is_axis else None))
    return found if len(found) == len(around.loops) else None


def _find_loops(index: Expr, size: Expr, around: _Around) -> list[Var] | None:
    """The loops by which an index takes every value below `size`."""
    index = around.value(index)
    if isinstance(index, Var) and index in around.loops:
        counter = around.loops[index]
        if counter.step == 1 and counter.stop == size:
            may_change = any(isinstance(node, Load) for node in walk(size))
            return None if may_change else [index]
    return tiled_indices.find_digits(index, size, around.loops, around.values)


def _stays_inside(stmt: Stmt, buffer: Buffer, part: Slice) -> bool:
    """True if a statement only uses elements of one part of an array."""
    if any(isinstance(node, BufferRef) and node.buffer is buffer for node in walk(stmt)):
        return not part
    accesses = [found.node for found in find_accesses(stmt) if found.buffer is buffer]
    return all(
        axis is not None and node.indices[axis] is var
        for node in accesses
        for var, axis in part.items()
    )


def _touches(stmt: Stmt, buffer: Buffer) -> bool:
    return find_footprint(stmt).touches(buffer)


def _touches_any(expr: Expr, buffer: Buffer) -> bool:
    return any(isinstance(node, Load | BufferRef) and node.buffer is buffer for node in walk(expr))


def _reads(store: Store, buffer: Buffer) -> bool:
    return any(_touches_any(expr, buffer) for expr in (store.value, *store.indices))


def _reads_any(stmt: Stmt, buffer: Buffer) -> bool:
    if any(isinstance(node, BufferRef) and node.buffer is buffer for node in walk(stmt)):
        return True
    return any(not f.is_write for f in find_accesses(stmt) if f.buffer is buffer)


def _has_return(stmt: Stmt) -> bool:
    return any(isinstance(node, Return) for node in walk_stmts(stmt))


def _jumps(node: Node) -> bool:
    """True if a statement may leave, or go on with, a loop around it."""
    if isinstance(node, Break | Continue):
        return True
    if isinstance(node, For | While):
        return False
    return any(_jumps(child) for child in children(node) if isinstance(child, Stmt))
