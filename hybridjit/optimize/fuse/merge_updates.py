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
from hybridjit.ir.stmt import For, Let, Stmt, Store, seq
from hybridjit.optimize.decisions import BlockOf, Decision, Decisions
from hybridjit.optimize.fuse.lists import change_lists
from hybridjit.optimize.fuse.merge import merge_decisions, merge_nests
from hybridjit.schedule.arrays.fusion import Fusion, perfect_nest
from hybridjit.schedule.arrays.store_once import make_store_once, uses_own_elements


def merge_updates(body: Stmt, fusion: Fusion, decisions: Decisions) -> Stmt:
    """`body` with updates of the same array put together; the same object if there are none."""
    return change_lists(body, lambda stmts: _merge_list(stmts, fusion, decisions))


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
    merged = merge_nests(fusion, first, second) if updated else []
    if not merged:
        return []
    loops, body = perfect_nest(fusion, merged[-1])
    if not uses_own_elements(body):
        return []
    decisions = merge_decisions(fusion, first, second)
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
