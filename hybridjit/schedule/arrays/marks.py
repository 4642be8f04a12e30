"""Read what a program says of its array statements, and take the blocks off that say it.

    for i in range(n):                                              for i in range(n):
        with block("s", reduce(i), annotations={"array": 1,      -->    s = s + a[i]
                                        "reassociate": True}):
            s = s + a[i]

What steps on array statements rewrite are plain loops; blocks are put back in the end, around what
stayed the same those that were there.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import replace

from hybridjit.analysis.make_blocks import Known, make_blocks
from hybridjit.analysis.reduction import find_reduction
from hybridjit.ir.expr import Buffer, Expr, Var
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.stmt import (
    ARRAY,
    REASSOCIATE,
    STORED_ONCE,
    Block,
    For,
    If,
    Stmt,
    Store,
)
from hybridjit.ir.visit import N, StmtMutator, Substitute, walk_stmts
from hybridjit.record import record

_MARKS = (ARRAY, REASSOCIATE, STORED_ONCE)


@record
class Marks:
    """A body without the blocks that are made for stores, and what they said.

    `loops` are those of array statements; folds into `reassociable` buffers may be taken apart; of
    those in `stored_once`, each element is stored once. `origins` tell with which blocks a
    statement stood in the program.
    """

    body: Stmt
    loops: Collection[Var]
    reassociable: Collection[Buffer]
    stored_once: Collection[Buffer]
    origins: Mapping[Stmt, Stmt]

    @property
    def known(self) -> Known:
        """What is known of the stores."""
        return Known(self.loops, self.reassociable, self.stored_once)

    def put_back(self, body: Stmt, known: Known) -> Stmt:
        """`body`, made of `self.body`, with blocks: the old ones around what is as it was."""
        return make_blocks(_PutBack(self.origins, known.array_loops).rewrite(body), known)


def read_marks(func: PrimFunc) -> Marks:
    """The body of `func` in plain loops, with what its blocks say."""
    pass_ = _TakeOff()
    body = pass_.rewrite(func.body)
    reassociable = pass_.folded - pass_.folded_in_order
    return Marks(body, pass_.loops, reassociable, pass_.stored_once, pass_.origins)


@record(frozen=False)
class _Around:
    """What the block around says."""

    is_open: bool = False
    is_once: bool = False


class _TakeOff(Substitute):
    def __init__(self) -> None:
        super().__init__({})
        self.loops: set[Var] = set()
        self.folded: set[Buffer] = set()
        # Buffers that some store folds into without saying that the order is free.
        self.folded_in_order: set[Buffer] = set()
        self.stored_once: set[Buffer] = set()
        self.origins: dict[Stmt, Stmt] = {}
        self._around = _Around()

    def rewrite(self, node: N) -> N:
        if isinstance(node, Expr) and not self.variables:
            return node
        return super().rewrite(node)

    def rewrite_For(self, node: For) -> Stmt:
        if (ARRAY, True) in node.annotations:
            self.loops.add(node.var)
        made = self.generic(node)
        self.origins[made] = node
        return made

    def rewrite_Block(self, node: Block) -> Stmt:
        if not _is_automatic(node):
            return self.generic(node)
        values = [self.rewrite(item.value) for item in node.iters]
        self.variables.update({it.var: value for it, value in zip(node.iters, values, strict=True)})
        elements = count_elements(node)
        self.loops.update(var for var in values[len(values) - elements :] if isinstance(var, Var))
        is_once = (STORED_ONCE, True) in node.annotations
        outer, self._around = self._around, _Around(node.is_open, is_once)
        body = self.rewrite(node.body)
        self._around = outer
        self.origins[body] = node
        return body

    def rewrite_Store(self, node: Store) -> Stmt:
        if find_reduction(node) is not None:
            (self.folded if self._around.is_open else self.folded_in_order).add(node.buffer)
        if self._around.is_once:
            self.stored_once.add(node.buffer)
        return super().rewrite_Store(node)


class _PutBack(StmtMutator):
    """Put statements back as they were with their blocks.

    What stands in a nest that was changed gets new ones: what an iteration is to a block, one that
    reduces or not, is a matter of what else is in the loop.
    """

    def __init__(self, origins: Mapping[Stmt, Stmt], loops: Collection[Var]) -> None:
        self.origins = origins
        self.loops = loops

    def rewrite_Store(self, node: Store) -> Stmt:
        return self.origins.get(node, node)

    def rewrite_For(self, node: For) -> Stmt:
        if node in self.origins:
            return self.origins[node]
        return node if node.var in self.loops else self.generic(node)


def forget_touched(func: PrimFunc, as_written: PrimFunc) -> PrimFunc:
    """`func` in which only those array statements are known as such that are as in `as_written`.

    Steps of a schedule keep what they do not touch: a loop that is the same object is untouched.
    """
    loops = frozenset(stmt for stmt in walk_stmts(as_written.body) if isinstance(stmt, For))
    return replace(func, body=_ForgetTouched(loops).rewrite(func.body))


class _ForgetTouched(StmtMutator):
    def __init__(self, loops: Collection[For]) -> None:
        self.loops = loops

    def rewrite_For(self, node: For) -> Stmt:
        if node in self.loops:
            return node
        left = tuple(mark for mark in node.annotations if mark[0] != ARRAY)
        return self.generic(replace(node, annotations=left) if left != node.annotations else node)

    def rewrite_Block(self, node: Block) -> Stmt:
        left = tuple(mark for mark in node.annotations if mark[0] != ARRAY)
        return self.generic(replace(node, annotations=left) if left != node.annotations else node)


def count_elements(block: Block) -> int:
    """How many of the iterations of a block, the last ones, are over elements of arrays."""
    return next(
        (value for name, value in block.annotations if name == ARRAY and isinstance(value, int)), 0
    )


def _is_automatic(block: Block) -> bool:
    """True for a block as it is made for a store: it comes again when blocks are made."""
    if block.init is not None or not isinstance(block.body, Store | If):
        return False
    if any(name not in _MARKS for name, _ in block.annotations):
        return False
    if not all(isinstance(it.value, Var) and it.domain is None for it in block.iters):
        return False
    first = next(stmt for stmt in walk_stmts(block.body) if isinstance(stmt, Store))
    return count_elements(block) > 0 or _stem(block.name) == _stem(first.buffer.name)


def _stem(name: str) -> str:
    """A name without the number that tells it from others."""
    return re.sub(r"_\d+$", "", name)
