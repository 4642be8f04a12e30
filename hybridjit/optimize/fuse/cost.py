"""What pays: which operations cost much, and which loops cannot be run in vectors."""

from __future__ import annotations

from hybridjit.analysis.reduction import ReductionOp, find_reduction
from hybridjit.analysis.traffic import bytes_of
from hybridjit.ir.expr import Buffer, Load
from hybridjit.ir.stmt import For, If, Stmt, Store
from hybridjit.ir.visit import walk, walk_stmts
from hybridjit.target import Target


def fits_cache(buffer: Buffer, target: Target) -> bool:
    """True for an array that the first cache keeps: to read it again costs hardly anything."""
    return bytes_of(buffer) <= target.caches.first


def is_innermost(loop: For) -> bool:
    """True for a loop without loops inside."""
    return not any(isinstance(stmt, For) for stmt in walk_stmts(loop.body))


def is_chain(loop: For) -> bool:
    """True if each iteration of an innermost loop waits for the one before, so that it is not run
    in vectors: it updates a value, and not by adding to it, which vectors can be made for.
    """
    body = loop.body
    read = {node.buffer for node in walk(body) if isinstance(node, Load)}
    guarded = {id(s) for stmt in walk_stmts(body) if isinstance(stmt, If) for s in _stores(stmt)}
    return any(
        _is_update(store, loop, read) and (id(store) in guarded or not _is_sum(store))
        for store in _stores(body)
    )


def _stores(stmt: Stmt) -> list[Store]:
    return [found for found in walk_stmts(stmt) if isinstance(found, Store)]


def _is_update(store: Store, loop: For, read: set[Buffer]) -> bool:
    """True if an iteration changes what the next one reads, and was not made in it."""
    moves = any(node is loop.var for index in store.indices for node in walk(index))
    return store.buffer in read and not moves


def _is_sum(store: Store) -> bool:
    found = find_reduction(store)
    return found is not None and (found.op is ReductionOp.ADD or store.buffer.dtype.is_integer)
