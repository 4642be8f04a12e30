"""Prove that all elements of an array are set before any is read: a proof on the text alone.

    for i in range(n):
        for j in range(m):
            c[i, j] = a[i, j]               # row i is set ...
        for j in range(m):
            c[i, j] = c[i, j] / total       # ... before it is read

A loop that was split counts too: `c[i_0 * 32 + i_1]` is each element once.

Memory that such a statement comes upon first need not hold zeros. What needs more thought is not
proved: zeros cost time, and reading what nobody wrote gives a wrong result.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import itemgetter

from hybridjit.analysis.accesses import find_accesses
from hybridjit.analysis.footprint import find_footprint
from hybridjit.arith.linear import linear_form
from hybridjit.ir.expr import Buffer, BufferRef, Const, Expr, Load, Node, Var
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.stmt import (
    Block,
    Break,
    Continue,
    For,
    If,
    Let,
    Return,
    Stmt,
    Store,
    While,
    flat_stmts,
)
from hybridjit.ir.visit import children, substitute, walk
from hybridjit.record import record

# The loops around a statement, and along which axis of the array each of them runs; None if it is
# only a part of the index.
Slice = dict[Var, int | None]


@record
class _Around:
    """What a statement is in: loops from 0 on, with their sizes, and names for values."""

    sizes: Mapping[Var, Expr]
    values: Mapping[Var, Expr]

    def inside(self, var: Var, size: Expr) -> _Around:
        return _Around({**self.sizes, var: size}, self.values)

    def with_value(self, let: Let) -> _Around:
        return _Around(self.sizes, {**self.values, let.var: let.value})


_NOTHING = _Around({}, {})


def find_set_outputs(func: PrimFunc) -> frozenset[Buffer]:
    """The outputs of `func`, which has no blocks, that a run without an error sets completely."""
    return frozenset(buffer for buffer in func.outputs if _prove_set(func.body, buffer))


def _prove_set(body: Stmt, buffer: Buffer) -> bool:
    for stmt in flat_stmts(body):
        if _touches(stmt, buffer):
            return prove_sets_all(stmt, buffer)
        if _has_return(stmt):
            return False
    return False


def prove_sets_all(stmt: Stmt, buffer: Buffer) -> bool:
    """True if `stmt`, unless it fails, sets every element of an array before it reads any."""
    return not _has_return(stmt) and _find_slice(stmt, buffer, _NOTHING) is not None


def _find_slice(stmt: Stmt, buffer: Buffer, around: _Around) -> Slice | None:
    """What part of an array a statement in some loops sets all of.

    It is where the indices along some axes are made of the variables of the loops, each in the
    index of one axis. None if not all of it is set, if an element is read before, or one of
    another part.
    """
    match stmt:
        case Store() if stmt.buffer is buffer:
            return None if _reads(stmt, buffer) else _slice_of(stmt.indices, buffer, around)
        case For(var, Const(0), stop, Const(1), body) if not _touches_any(stmt.stop, buffer):
            found = _find_slice_in_turn(flat_stmts(body), buffer, around.inside(var, stop))
            return None if found is None else {v: axis for v, axis in found.items() if v is not var}
        case If(cond, then, Stmt() as otherwise) if not _touches_any(cond, buffer):
            sides = [
                _find_slice_in_turn(flat_stmts(side), buffer, around) for side in (then, otherwise)
            ]
            return sides[0] if sides[0] == sides[1] else None
        case Block(iters=iters, body=body, init=None):
            inside = substitute(body, {item.var: item.value for item in iters})
            return _find_slice_in_turn(flat_stmts(inside), buffer, around)
        case _:
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
    found: Slice = {}
    for axis, (index, size) in enumerate(zip(indices, buffer.shape, strict=True)):
        if index == Const(0) and size == Const(1):
            continue
        made_of = _find_loops(index, size, around)
        if made_of is None or any(var in found for var in made_of):
            return None
        found.update(dict.fromkeys(made_of, axis if made_of == [index] else None))
    return found if len(found) == len(around.sizes) else None


def _find_loops(index: Expr, size: Expr, around: _Around) -> list[Var] | None:
    """The loops by which an index takes every value below `size` once."""
    if isinstance(index, Var) and index in around.values:
        index = around.values[index]
    if isinstance(index, Var) and around.sizes.get(index) == size:
        may_change = any(isinstance(node, Load) for node in walk(size))
        return None if may_change else [index]
    return _find_digits(index, size, around.sizes)


def _find_digits(index: Expr, size: Expr, sizes: Mapping[Var, Expr]) -> list[Var] | None:
    """The loops that an index counts with, each by as much as those inside of it cover."""
    form = linear_form(index)
    if form is None or form.constant != 0:
        return None
    reach = 1
    digits = sorted(form.terms.items(), key=itemgetter(1))
    for var, factor in digits:
        extent = sizes.get(var)
        if factor != reach or not isinstance(extent, Const) or extent.value.real < 1:
            return None
        reach *= int(extent.value.real)
    return [var for var, _ in digits] if size == Const(reach) else None


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


def _has_return(stmt: Stmt) -> bool:
    return any(isinstance(node, Return) for node in walk(stmt))


def _jumps(node: Node) -> bool:
    """True if a statement may leave, or go on with, a loop around it."""
    if isinstance(node, Break | Continue):
        return True
    if isinstance(node, For | While):
        return False
    return any(_jumps(child) for child in children(node) if isinstance(child, Stmt))
