"""Fuse the epilogue of a product: store what is made of its elements, in place of them.

    product = allocate((n, m), ...)
    ...
        product[i + r, j + l] = out[r, l]     -->     ...
    for i in range(n):                                    t = out[r, l]
        for j in range(m):                                c[i + r, j + l] = 2 * t + c[i + r, j + l]
            c[i, j] = 2 * product[i, j] + c[i, j]

Each element of a product is stored once, in an order that is of no account to what is made of it.
Relies on: arrays that share no memory; indices along the loops of arrays inside of them.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from hybridjit.analysis.faults import Fault
from hybridjit.arith.ranges import tidy
from hybridjit.ir.expr import Buffer, Const, Expr, Load, Node, Var
from hybridjit.ir.stmt import Allocate, Let, Stmt, Store, seq
from hybridjit.ir.visit import Mutator, rewrite, substitute, walk
from hybridjit.record import record
from hybridjit.schedule.arrays.fusion import Fusion, perfect_nest, variables_along
from hybridjit.schedule.arrays.merge import part


@record(eq=False)
class _Consumer:
    """What is made of the element of `product` at `variables`: `lets`, and what is stored."""

    product: Buffer
    variables: tuple[Var | None, ...]
    lets: tuple[Let, ...]
    store: Store

    @property
    def loads(self) -> list[Load]:
        """Everything that is read."""
        return [
            node
            for root in (*self.lets, self.store)
            for node in walk(root)
            if isinstance(node, Load)
        ]


@record(eq=False)
class Epilogue:
    """A product, the one nest that reads it, and what stands between, parted into what can go
    before both and what must stay after the product.
    """

    allocation: Allocate
    writer: int
    reader: int
    consumer: _Consumer
    before: list[Stmt]
    after: list[Stmt]


def find_epilogue(fusion: Fusion, stmts: Sequence[Stmt], allocation: Allocate) -> Epilogue | None:
    """What is made of a product that only one nest reads, element by element; None if it stays."""
    product = allocation.buffer
    if product not in fusion.products:
        return None
    users = [
        position
        for position, stmt in enumerate(stmts)
        if stmt is not allocation and fusion.footprint(stmt).touches(product)
    ]
    if len(users) != 2 or product in fusion.footprint(stmts[users[1]]).writes:
        return None
    writer, reader = users
    consumer = _find_consumer(fusion, stmts[reader], product)
    if consumer is None or not _is_apart(fusion, stmts[writer], consumer):
        return None
    parted = part(fusion, stmts, writer, reader)
    return None if parted is None else Epilogue(allocation, writer, reader, consumer, *parted)


def make_epilogue(stmts: Sequence[Stmt], epilogue: Epilogue) -> list[Stmt]:
    """`stmts` without the product: what is made of its elements is stored in their place."""
    writer, reader = epilogue.writer, epilogue.reader
    stored = _StoreResult(epilogue.consumer).rewrite(stmts[writer])
    made = [*epilogue.before, stored, *epilogue.after]
    whole = [*stmts[:writer], *made, *stmts[reader + 1 :]]
    return [stmt for stmt in whole if stmt is not epilogue.allocation]


def _find_consumer(fusion: Fusion, stmt: Stmt, product: Buffer) -> _Consumer | None:
    """What a nest makes of each element of the product, if it does so once, and only that."""
    loops, (*lets, last) = perfect_nest(fusion, stmt)
    if not isinstance(last, Store) or not all(isinstance(inner, Let) for inner in lets):
        return None
    if fusion.fault(stmt) is not Fault.NEVER:
        return None
    loads = [node for node in walk(stmt) if isinstance(node, Load) and node.buffer is product]
    places = {load.indices for load in loads}
    if len(places) != 1:
        return None
    variables = variables_along(fusion, loops, places.pop(), product)
    named = {inner.var for inner in lets if isinstance(inner, Let)}
    if variables is None or not _has_own_element(fusion, last, variables, named):
        return None
    return _Consumer(product, variables, tuple(s for s in lets if isinstance(s, Let)), last)


def _has_own_element(
    fusion: Fusion, store: Store, variables: Sequence[Var | None], named: Collection[Var]
) -> bool:
    """True if each iteration stores to another element: an index moves with each variable.

    One with a value that the iteration computed, and `named`, may be anywhere.
    """
    moving: set[Var] = set()
    loops = {var for var in variables if var is not None}
    for place in store.indices:
        form = fusion.ranges.form(place)
        if form is None or any(var in named for var in form.terms):
            continue
        found = loops & form.terms.keys()
        if len(found) == 1:
            moving |= found
    return moving == loops


def _is_apart(fusion: Fusion, writer: Stmt, consumer: _Consumer) -> bool:
    """True if it makes no difference that elements are stored while the product is computed."""
    target, footprint = consumer.store.buffer, fusion.footprint(writer)
    if target.is_register or footprint.acts or footprint.touches(target):
        return False
    for load in consumer.loads:
        if load.buffer is target and load.indices != consumer.store.indices:
            return False
        if load.buffer is not consumer.product and load.buffer in footprint.writes:
            return False
    return True


class _StoreResult(Mutator):
    def __init__(self, consumer: _Consumer) -> None:
        self.consumer = consumer

    def rewrite_Store(self, node: Store) -> Stmt:
        consumer = self.consumer
        if node.buffer is not consumer.product:
            return node
        made: list[Stmt] = []
        element = _named("t", node.value, made)
        pairs = zip(consumer.variables, node.indices, strict=True)
        places: dict[Var, Expr] = {var: place for var, place in pairs if var is not None}
        for let in consumer.lets:
            value = self._placed(let.value, places, element)
            places[let.var] = _named(let.var.name, value, made)
        indices = tuple(tidy(substitute(place, places)) for place in consumer.store.indices)
        value = self._placed(consumer.store.value, places, element)
        return seq(*made, replace(consumer.store, indices=indices, value=value))

    def _placed(self, value: Expr, places: dict[Var, Expr], element: Expr) -> Expr:
        """A value for one element, with tidy indices."""

        def rule(node: Node) -> Node | None:
            if not isinstance(node, Load):
                return None
            if node.buffer is self.consumer.product:
                return element
            return replace(node, indices=tuple(map(tidy, node.indices)))

        return rewrite(substitute(value, places), rule)


def _named(name: str, value: Expr, made: list[Stmt]) -> Expr:
    """A name for a value, bound in `made`; a constant or a name stands for itself."""
    if isinstance(value, Const | Var):
        return value
    var = Var(name, value.dtype, span=value.span)
    made.append(Let(var, value, span=value.span))
    return var
