"""Loops that update the elements of one array, a term at a time: sums along some of the loops.

    for i in range(n):                               for i in range(n):
        for k in range(m):                               for j in range(l):
            for j in range(l):                  -->          acc = c[i, j]
                c[i, j] = c[i, j] + a[i, k] * b[k, j]        for k in range(m):
                                                                 acc = acc + a[i, k] * b[k, j]
                                                             c[i, j] = acc

Every element gets the same terms in the same order: loops that it has an index of go outside, the
others inside, in the order they have. Where there is no term the element is left alone: it may not
even be there.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from hybridjit.analysis.counting_nest import Nest
from hybridjit.analysis.independence import Independence
from hybridjit.analysis.limits import loop_extent
from hybridjit.analysis.loop_mutator import LoopMutator
from hybridjit.ir.expr import And, Buffer, Const, Expr, Load, Lt, Node
from hybridjit.ir.hints import with_register
from hybridjit.ir.stmt import Allocate, For, If, Let, Stmt, Store, flat_stmts, seq
from hybridjit.ir.visit import Mutator, walk


def sink_sums(nest: Nest) -> Nest | None:
    """`nest` with the sums inside, each in a variable; None if it is not just an update.

    That means the same if `has_own_updates`.
    """
    store = find_update(nest.body)
    if store is None:
        return None
    indices = indices_of(store)
    outer = tuple(loop for loop in nest.loops if loop.var in indices)
    inner = tuple(loop for loop in nest.loops if loop.var not in indices)
    if not outer or not _can_reorder(nest.loops, inner):
        return None
    return Nest(outer, accumulate(Nest(inner, nest.body), store))


def has_own_updates(nest: Nest, independence: Independence) -> bool:
    """True if elements that `nest` updates are no terms, and each has iterations of its own."""
    store = find_update(nest.body)
    return store is not None and independence.prove_own_updates(nest.loops, nest.body, store)


class AccumulateSums(LoopMutator):
    """Loops that update one element only keep its value in a variable."""

    def rewrite_For(self, node: For) -> Stmt:
        nest = Nest.of(node)
        store = find_update(nest.body)
        if store is not None and is_one_element(nest, store):
            return accumulate(nest, store) if has_own_updates(nest, self.independence()) else node
        return self.go_inside(node)


def is_one_element(nest: Nest, store: Store) -> bool:
    """True if all iterations of `nest` update the same element."""
    indices = indices_of(store)
    is_same = not any(loop.var in indices for loop in nest.loops)
    return is_same and _can_reorder(nest.loops, nest.loops)


def indices_of(access: Load | Store) -> set[Node]:
    """All that the indices of an access are made of."""
    return {node for index in access.indices for node in walk(index)}


def find_update(body: Stmt) -> Store | None:
    """The store, after names at most, that is all there is, if it updates an element in place."""
    *names, last = flat_stmts(body) or [body]
    if not isinstance(last, Store) or not all(isinstance(stmt, Let) for stmt in names):
        return None
    old = Load(last.buffer, last.indices)
    return last if old in walk(last.value) and not last.buffer.is_register else None


def _can_reorder(loops: Sequence[For], inner: Sequence[For]) -> bool:
    """True if no bound needs the value of a loop that goes inside, and some go there."""
    moved = {loop.var for loop in inner}
    bounds = [bound for loop in loops for bound in (loop.start, loop.stop)]
    return bool(inner) and not any(node in moved for bound in bounds for node in walk(bound))


def accumulate(sums: Nest, store: Store) -> Stmt:
    """The loops of `sums`, which update the element of `store`, with its value in a variable.

    Loops that never run stay as they are.
    """
    if any(loop_extent(loop) == 0 for loop in sums.loops):
        return sums.over(sums.body)
    total = Buffer(f"{store.buffer.name}_value", store.buffer.dtype, (), Buffer.REGISTER)
    element = Load(store.buffer, store.indices, span=store.span)
    sums = Nest((with_register(sums.loops[0]), *sums.loops[1:]), sums.body)
    run = seq(
        Allocate(total, zero=False, span=store.span),
        Store(total, (), element, span=store.span),
        sums.over(_InVariable(store, total).rewrite(sums.body)),
        Store(store.buffer, store.indices, Load(total), span=store.span),
    )
    unknown = [loop for loop in sums.loops if not _surely_runs(loop)]
    conditions = [Lt(loop.start, loop.stop) for loop in unknown]
    return If(reduce(And, conditions), run, span=store.span) if conditions else run


def _surely_runs(loop: For) -> bool:
    return isinstance(loop.extent, Const) and loop.extent.value.real > 0


class _InVariable(Mutator):
    """Reads and writes of one element become those of a variable."""

    def __init__(self, store: Store, variable: Buffer) -> None:
        self.element = (store.buffer, store.indices)
        self.variable = variable

    def rewrite_Load(self, node: Load) -> Expr:
        if (node.buffer, node.indices) == self.element:
            return Load(self.variable, span=node.span)
        return self.generic(node)

    def rewrite_Store(self, node: Store) -> Stmt:
        return Store(self.variable, (), self.rewrite(node.value), span=node.span)
