"""Let accesses to one buffer go to another, at indices computed from the old ones."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import TypeVar

from hybridjit.arith.simplify import simplify
from hybridjit.ir.expr import Buffer, Expr, Load
from hybridjit.ir.stmt import Allocate, Stmt, Store
from hybridjit.ir.visit import Mutator

Indices = tuple[Expr, ...]
Reindexing = Callable[[Stmt, Buffer, Buffer, Callable[[Indices], Indices]], Stmt]
Access = TypeVar("Access", Load, Store)


class _Reindex(Mutator):
    def __init__(self, old: Buffer, new: Buffer, move: Callable[[Indices], Indices]) -> None:
        self.old, self.new, self.move = old, new, move

    def rewrite_Load(self, node: Load) -> Expr:
        return self._moved(self.generic(node))

    def rewrite_Store(self, node: Store) -> Stmt:
        return self._moved(self.generic(node))

    def rewrite_Allocate(self, node: Allocate) -> Stmt:
        return dataclasses.replace(node, buffer=self.new) if node.buffer is self.old else node

    def _moved(self, node: Access) -> Access:
        if node.buffer is not self.old:
            return node
        indices = tuple(simplify(index) for index in self.move(node.indices))
        return dataclasses.replace(node, buffer=self.new, indices=indices)


class _ReindexLoads(_Reindex):
    def rewrite_Store(self, node: Store) -> Stmt:
        return self.generic(node)


def reindex_loads(stmt: Stmt, old: Buffer, new: Buffer, move: Callable[[Indices], Indices]) -> Stmt:
    """`stmt` with every read of `old` going to `new` instead; what it writes stays."""
    return _ReindexLoads(old, new, move).rewrite(stmt)


def reindex(stmt: Stmt, old: Buffer, new: Buffer, move: Callable[[Indices], Indices]) -> Stmt:
    """`stmt` with every access to `old` going to `new` instead, at the indices that `move` gives.

    The allocation of `old`, if it is there, makes `new`.
    """
    return _Reindex(old, new, move).rewrite(stmt)
