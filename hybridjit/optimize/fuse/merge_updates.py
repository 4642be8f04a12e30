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

from collections.abc import Iterator, Sequence
from dataclasses import replace

from hybridjit.ir.expr import Buffer
from hybridjit.ir.stmt import For, If, Let, Seq, Stmt, Store, While, flat_stmts, seq
from hybridjit.optimize.decisions import BlockOf, Decision, Decisions
from hybridjit.optimize.fuse.merge import merge
from hybridjit.schedule.arrays.fusion import Fusion, perfect_nest
from hybridjit.schedule.arrays.store_once import make_store_once, uses_own_elements


def merge_updates(body: Stmt, fusion: Fusion, decisions: Decisions) -> Stmt:
    """`body` with updates of the same array put together; the same object if there are none."""
    match body:
        case For() | While():
            inner = merge_updates(body.body, fusion, decisions)
            return body if inner is body.body else replace(body, body=inner)
        case If(_, then, otherwise):
            ours = merge_updates(then, fusion, decisions)
            theirs = None if otherwise is None else merge_updates(otherwise, fusion, decisions)
            is_same = ours is then and theirs is otherwise
            return body if is_same else replace(body, then=ours, otherwise=theirs)
        case Seq():
            inside = [merge_updates(stmt, fusion, decisions) for stmt in body.stmts]
            done = _merge_list(inside, fusion, decisions)
            is_same = [*map(id, done)] == [*map(id, body.stmts)]
            return body if is_same else seq(*done)
        case _:
            return body


def _merge_list(stmts: Sequence[Stmt], fusion: Fusion, decisions: Decisions) -> list[Stmt]:
    """A list of statements in which neighbours are put together."""
    done: list[Stmt] = []
    for stmt in stmts:
        is_tried = bool(done) and not decisions.is_over
        stages = _merge_pair(fusion, done[-1], stmt) if is_tried else []
        merged = decisions.take_all(stages)
        if merged is None:
            done.append(stmt)
        else:
            done[-1] = merged
    return done


def _merge_pair(fusion: Fusion, first: Stmt, second: Stmt) -> list[tuple[Decision, Stmt]]:
    """Two nests as one, step by step, if both store to the elements of one array."""
    if not (isinstance(first, For) and isinstance(second, For)):
        return []
    stored = _stored_by(fusion, first)
    updated = [buffer for buffer in stored if buffer in _stored_by(fusion, second)]
    merged = _merge_nests(fusion, first, second) if updated else []
    if not merged:
        return []
    loops, body = perfect_nest(fusion, merged[-1])
    if not uses_own_elements(body):
        return []
    pairs = zip(perfect_nest(fusion, first)[0], perfect_nest(fusion, second)[0], strict=True)
    decisions = [Decision("merge", (ours.var, theirs.var)) for ours, theirs in pairs]
    stored_once = _store_once(loops, body, list(dict.fromkeys(updated)))
    return [*zip(decisions, merged, strict=True), *stored_once]


def _store_once(
    loops: Sequence[For], body: list[Stmt], updated: Sequence[Buffer]
) -> Iterator[tuple[Decision, Stmt]]:
    """A nest in which one array after the other is stored to once."""
    for buffer in updated:
        body = make_store_once(body, buffer)
        made: Stmt = seq(*body)
        for loop in reversed(loops):
            made = replace(loop, body=made)
        yield Decision("store_once", (BlockOf(buffer, loops[0].var),)), made


def _stored_by(fusion: Fusion, nest: For) -> list[Buffer]:
    """The arrays that a nest of plain stores writes to."""
    _, body = perfect_nest(fusion, nest)
    if not all(isinstance(stmt, (Let, Store)) for stmt in body):
        return []
    stores = [stmt for stmt in body if isinstance(stmt, Store)]
    return [store.buffer for store in stores if not store.buffer.is_register]


def _merge_nests(fusion: Fusion, first: For, second: For) -> list[For]:
    """Two nests as one, after each of their loops, down to the innermost ones; none if some stay
    apart.
    """
    merged = merge(fusion, [first, second], 0, 1)
    if merged is None or not isinstance(merged[0], For):
        return []
    whole, inner = merged[0], (first.body, second.body)
    if not any(isinstance(body, For) for body in inner):
        return [whole]
    both = flat_stmts(whole.body)
    if len(both) != 2 or not all(fusion.is_nest(loop) for loop in both):
        return []
    ours, theirs = both
    assert isinstance(ours, For)
    assert isinstance(theirs, For)
    joined = _merge_nests(fusion, ours, theirs)
    return [whole, *(replace(whole, body=inside) for inside in joined)] if joined else []
