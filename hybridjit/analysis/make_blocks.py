"""Give every array store of a loop nest a block of its own, and bind the blocks made by hand.

Relies on: every Var and every Buffer is bound once; blocks with iters come from printed IR, which
is complete. Loops are bound up to the nearest block around.
"""

from __future__ import annotations

from collections.abc import Collection, Generator, Iterable
from contextlib import contextmanager
from enum import Enum, auto
from itertools import takewhile

from hybridjit.analysis.context import Context, infer_context
from hybridjit.analysis.iteration import classify
from hybridjit.analysis.name_bounds import name_changed_bounds
from hybridjit.analysis.reduction import find_reduction
from hybridjit.ir.expr import Buffer, Expr, Var
from hybridjit.ir.stmt import (
    ARRAY,
    REASSOCIATE,
    STORED_ONCE,
    UNBOUND,
    Annotations,
    Block,
    For,
    If,
    Iter,
    Stmt,
    Store,
)
from hybridjit.ir.visit import N, Substitute, walk_stmts
from hybridjit.record import record


@record
class Known:
    """What is known of the stores: the loops of statements on whole arrays, the buffers that are
    folded into in an order that is open, and those whose elements are stored once.
    """

    array_loops: Collection[Var] = ()
    reassociable: Collection[Buffer] = ()
    stored_once: Collection[Buffer] = ()


def make_blocks(body: Stmt, known: Known | None = None) -> Stmt:
    """Wrap the stores of `body` in blocks, and bind those that are not yet to the loops around.

        for i in range(n):                     for i in range(n):
            for k in range(m):                     for k in range(m):
                c[i] = c[i] + a[i, k]   -->            with block("c", i, reduce(k)):
                                                           c[i] = c[i] + a[i, k]

    Every array store gets one, and every store to a register inside a loop that updates it as a
    reduction does, or belongs to an array statement; there, a choice that sets only registers is
    one computation. A store that stands directly in an UNBOUND block has it already; what is
    inside an explicit block, any that is not unbound, is left alone. What is `known` of the
    stores becomes marks of their blocks. Bounds that their own loops change get names.
    """
    body = name_changed_bounds(body)
    return _MakeBlocks(infer_context(body), known or Known()).rewrite(body)


class _Place(Enum):
    """Where a statement stands: which kind of block is around it."""

    ROOT = auto()
    AUTOMATIC = auto()
    EXPLICIT = auto()


class _MakeBlocks(Substitute):
    """The pass. `loops` are those since the nearest block around, `variables` their iters."""

    def __init__(self, context: Context, known: Known) -> None:
        super().__init__({})
        self.context = context
        self.known = known
        self.names = _Names(stmt.name for stmt in context.guards if isinstance(stmt, Block))
        self.place = _Place.ROOT
        self.loops: list[For] = []

    def rewrite(self, node: N) -> N:
        if isinstance(node, Expr) and not self.variables and not self.buffers:
            return node
        return super().rewrite(node)

    def rewrite_For(self, node: For) -> Stmt:
        self.loops.append(node)
        loop = self.generic(node)
        self.loops.pop()
        return loop

    def rewrite_Store(self, node: Store) -> Stmt:
        if not self._wants_block(node):
            return super().rewrite_Store(node)
        name, marks = self.names.fresh(node.buffer.name), self._marks(node)
        iters = self._make_iters(node)
        with self._inside(_Place.AUTOMATIC, iters):
            body = super().rewrite_Store(node)
        return Block(name, iters, body, annotations=marks, span=node.span)

    def rewrite_If(self, node: If) -> Stmt:
        stores = [stmt for stmt in walk_stmts(node) if isinstance(stmt, Store)]
        is_choice = (
            self.place is not _Place.EXPLICIT and bool(stores) and self._count_elements() > 0
        )
        if not is_choice or any(map(_has_own_block, stores)):
            return self.generic(node)
        name, marks = self.names.fresh(stores[0].buffer.name), ((ARRAY, self._count_elements()),)
        iters = self._make_iters(node)
        with self._inside(_Place.EXPLICIT, iters):
            body = self.generic(node)
        return Block(name, iters, body, annotations=marks, span=node.span)

    def rewrite_Block(self, node: Block) -> Stmt:
        if (UNBOUND, True) not in node.annotations:
            with self._inside(_Place.EXPLICIT, ()):
                return self.generic(node)
        name = self.names.keep(node.name)
        iters = self._make_iters(node.body)
        with self._inside(_Place.EXPLICIT, iters):
            init = None if node.init is None else self.rewrite(node.init)
        with self._inside(_Place.AUTOMATIC, iters):
            body = self.rewrite(node.body)
        return Block(name, iters, body, init, span=node.span)

    def _wants_block(self, store: Store) -> bool:
        if self.place is _Place.EXPLICIT:
            return False
        if store.buffer.is_register:
            is_fold = bool(self.loops) and find_reduction(store) is not None
            return is_fold or self._count_elements() > 0
        return self.place is _Place.ROOT or bool(self.loops)

    def _count_elements(self) -> int:
        """How many of the loops around, from the inside out, are those of an array statement."""
        is_of_array = (loop.var in self.known.array_loops for loop in reversed(self.loops))
        return sum(1 for _ in takewhile(bool, is_of_array))

    def _marks(self, store: Store) -> Annotations:
        elements = self._count_elements()
        marks: Annotations = ((ARRAY, elements),) if elements else ()
        is_open = store.buffer in self.known.reassociable and store.buffer.dtype.is_inexact
        if is_open and find_reduction(store) is not None:
            marks = (*marks, (REASSOCIATE, True))
        if store.buffer in self.known.stored_once:
            marks = (*marks, (STORED_ONCE, True))
        return marks

    def _make_iters(self, stmt: Stmt) -> tuple[Iter, ...]:
        """An iter for each loop, named after the loop's variable and bound to it."""
        kinds = classify(stmt, self.loops, self.context)
        return tuple(
            Iter(Var(loop.var.name, loop.var.of), loop.var, kind)
            for loop, kind in zip(self.loops, kinds, strict=True)
        )

    @contextmanager
    def _inside(self, place: _Place, iters: tuple[Iter, ...]) -> Generator[None]:
        """Rewrite what stands in a block: the loops around are seen through its iters."""
        outer = self.place, self.loops, self.variables
        self.place = _Place.EXPLICIT if self.place is _Place.EXPLICIT else place
        self.loops = []
        self.variables = self.variables | {
            item.value: item.var for item in iters if isinstance(item.value, Var)
        }
        yield
        self.place, self.loops, self.variables = outer


def _has_own_block(store: Store) -> bool:
    """True for a store that is a computation of its own."""
    return not store.buffer.is_register or find_reduction(store) is not None


class _Names:
    """Names of blocks, unique in the function; those written by hand come first."""

    def __init__(self, written: Iterable[str]) -> None:
        self.taken = set(written)
        self.kept: set[str] = set()
        self.count: dict[str, int] = {}

    def keep(self, name: str) -> str:
        """The name written by hand; if another block has kept it before, a fresh one."""
        if name in self.kept:
            return self.fresh(name)
        self.kept.add(name)
        return name

    def fresh(self, base: str) -> str:
        """`base`, or else the first of `base_1`, `base_2` ... that is free."""
        name = base
        while name in self.taken:
            self.count[base] = self.count.get(base, 0) + 1
            name = f"{base}_{self.count[base]}"
        self.taken.add(name)
        return name
