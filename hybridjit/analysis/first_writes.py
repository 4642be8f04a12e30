"""Prove that all elements of an array are set before any is read: a proof on the text alone.

    for i in range(n):
        for j in range(m):
            c[i, j] = a[i, j]               # row i is set ...
        for j in range(m):
            c[i, j] = c[i, j] / total       # ... before it is read

Memory that such a statement comes upon first need not hold zeros. What needs more thought is not
proved: zeros cost time, and reading what nobody wrote gives a wrong result.
"""

from __future__ import annotations

from collections.abc import Sequence

from hybridjit.analysis.accesses import find_accesses
from hybridjit.analysis.footprint import find_footprint
from hybridjit.ir.expr import Buffer, BufferRef, Const, Expr, Load, Node, Var
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.stmt import (
    Block,
    Break,
    Continue,
    For,
    If,
    Return,
    Stmt,
    Store,
    While,
    flat_stmts,
)
from hybridjit.ir.visit import children, substitute, walk

# The loops around a statement, and along which axis of the array each of them runs.
Slice = dict[Var, int]


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
    return not _has_return(stmt) and _find_slice(stmt, buffer, {}) is not None


def _find_slice(stmt: Stmt, buffer: Buffer, loops: dict[Var, Expr]) -> Slice | None:
    """What part of an array a statement in `loops`, which have these sizes, sets all of.

    It is where the indices along some axes are the variables of the loops, each the index of one
    axis. None if not all of it is set, if an element is read before, or one of another part.
    """
    match stmt:
        case Store() if stmt.buffer is buffer:
            return None if _reads(stmt, buffer) else _slice_of(stmt.indices, buffer, loops)
        case For(var, Const(0), stop, Const(1), body) if not _touches_any(stmt.stop, buffer):
            found = _find_slice_in_turn(flat_stmts(body), buffer, {**loops, var: stop})
            return None if found is None else {v: axis for v, axis in found.items() if v in loops}
        case If(cond, then, Stmt() as otherwise) if not _touches_any(cond, buffer):
            sides = [
                _find_slice_in_turn(flat_stmts(side), buffer, loops) for side in (then, otherwise)
            ]
            return sides[0] if sides[0] == sides[1] else None
        case Block(iters=iters, body=body, init=None):
            inside = substitute(body, {item.var: item.value for item in iters})
            return _find_slice_in_turn(flat_stmts(inside), buffer, loops)
        case _:
            return None


def _find_slice_in_turn(
    stmts: Sequence[Stmt], buffer: Buffer, loops: dict[Var, Expr]
) -> Slice | None:
    """The same for statements one after the other: the first that uses the array sets its part."""
    found: Slice | None = None
    for stmt in stmts:
        if _jumps(stmt):
            return None
        if not _touches(stmt, buffer):
            continue
        if found is None:
            found = _find_slice(stmt, buffer, loops)
            if found is None:
                return None
        elif not _stays_inside(stmt, buffer, found):
            return None
    return found


def _slice_of(indices: Sequence[Expr], buffer: Buffer, loops: dict[Var, Expr]) -> Slice | None:
    """The part of an array that is one element; loops run over all of the axes with others."""
    found: Slice = {}
    for axis, (index, size) in enumerate(zip(indices, buffer.shape, strict=True)):
        if index == Const(0) and size == Const(1):
            continue
        if not isinstance(index, Var) or index in found or loops.get(index) != size:
            return None
        if any(isinstance(node, Load) for node in walk(size)):  # it may have another value by now
            return None
        found[index] = axis
    return found if len(found) == len(loops) else None


def _stays_inside(stmt: Stmt, buffer: Buffer, part: Slice) -> bool:
    """True if a statement only uses elements of one part of an array."""
    if any(isinstance(node, BufferRef) and node.buffer is buffer for node in walk(stmt)):
        return not part
    accesses = [found.node for found in find_accesses(stmt) if found.buffer is buffer]
    return all(node.indices[axis] is var for node in accesses for var, axis in part.items())


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
