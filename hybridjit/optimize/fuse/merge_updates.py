"""Put updates of one array that follow each other together: one loop, and one store.

    for i in range(n):                  for i in range(n):
        c[i] = c[i] + a[i]                  c_1 = c[i] + a[i]
    for i in range(n):           -->        c[i] = c_1 * 0.5
        c[i] = c[i] * 0.5

The array goes through memory once instead of twice. Only statements on whole arrays are put
together, and only if they use its elements one by one. That an element is used in one iteration
alone is what `merge` has shown. Relies on: arrays that share no memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from hybridjit.analysis.accesses import find_accesses
from hybridjit.ir.expr import Buffer, Const, Expr, Load, Var
from hybridjit.ir.stmt import For, If, Let, Seq, Stmt, Store, While, flat_stmts, seq
from hybridjit.optimize.fuse.fusion import Fusion, perfect_nest
from hybridjit.optimize.fuse.merge import merge
from hybridjit.optimize.fuse.replace_loads import ReplaceLoads


def merge_updates(body: Stmt, fusion: Fusion) -> Stmt:
    """`body` with updates of the same array put together; the same object if there are none."""
    match body:
        case For() | While():
            inner = merge_updates(body.body, fusion)
            return body if inner is body.body else replace(body, body=inner)
        case If(_, then, otherwise):
            ours = merge_updates(then, fusion)
            theirs = None if otherwise is None else merge_updates(otherwise, fusion)
            is_same = ours is then and theirs is otherwise
            return body if is_same else replace(body, then=ours, otherwise=theirs)
        case Seq():
            done = _merge_list([merge_updates(stmt, fusion) for stmt in body.stmts], fusion)
            is_same = [*map(id, done)] == [*map(id, body.stmts)]
            return body if is_same else seq(*done)
        case _:
            return body


def _merge_list(stmts: Sequence[Stmt], fusion: Fusion) -> list[Stmt]:
    """A list of statements in which neighbours are put together."""
    done: list[Stmt] = []
    for stmt in stmts:
        merged = _merge_pair(fusion, done[-1], stmt) if done else None
        if merged is None:
            done.append(stmt)
        else:
            done[-1] = merged
    return done


def _merge_pair(fusion: Fusion, first: Stmt, second: Stmt) -> Stmt | None:
    """Two nests as one, if both store to the elements of one array; else None."""
    if not (isinstance(first, For) and isinstance(second, For)):
        return None
    stored = _stored_by(fusion, first)
    updated = [buffer for buffer in stored if buffer in _stored_by(fusion, second)]
    if not updated:
        return None
    merged = _merge_nests(fusion, first, second)
    if merged is None:
        return None
    loops, body = perfect_nest(fusion, merged)
    if not _uses_own_elements(body):
        return None
    for buffer in updated:
        body = _store_once(body, buffer)
    for loop in reversed(loops):
        body = [replace(loop, body=seq(*body))]
    return body[0]


def _stored_by(fusion: Fusion, nest: For) -> list[Buffer]:
    """The arrays that a nest of plain stores writes to."""
    _, body = perfect_nest(fusion, nest)
    if not all(isinstance(stmt, (Let, Store)) for stmt in body):
        return []
    stores = [stmt for stmt in body if isinstance(stmt, Store)]
    return [store.buffer for store in stores if not store.buffer.is_register]


def _merge_nests(fusion: Fusion, first: For, second: For) -> For | None:
    """Two nests as one, loop by loop, down to the innermost ones."""
    merged = merge(fusion, [first, second], 0, 1)
    if merged is None or not isinstance(merged[0], For):
        return None
    inner = first.body, second.body
    if not any(isinstance(body, For) for body in inner):
        return merged[0]
    both = flat_stmts(merged[0].body)
    if len(both) != 2 or not all(fusion.is_nest(loop) for loop in both):
        return None
    ours, theirs = both
    assert isinstance(ours, For)
    assert isinstance(theirs, For)
    joined = _merge_nests(fusion, ours, theirs)
    return None if joined is None else replace(merged[0], body=joined)


def _uses_own_elements(stmts: Sequence[Stmt]) -> bool:
    """True if an iteration uses one element of each array that it writes to.

    With others, iterations depend on each other: such a loop may be right, but not in vectors.
    """
    accesses = find_accesses(*stmts)
    places = {found.buffer: found.node.indices for found in accesses if found.is_write}
    return all(places.get(f.buffer, f.node.indices) == f.node.indices for f in accesses)


def _store_once(stmts: list[Stmt], buffer: Buffer) -> list[Stmt]:
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
