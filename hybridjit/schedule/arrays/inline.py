"""Compute the elements of an array where they are read, and not before.

    for i in range(n):
        t[i] = a[i] * 2                  for i in range(n - 1):
    for i in range(n - 1):        -->        c[i] = a[i + 1] * 2 + b[i]
        c[i] = t[i + 1] + b[i]

What the elements are computed from must still be there.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hybridjit.analysis.faults import Fault
from hybridjit.ir.expr import (
    Buffer,
    BufferRef,
    Expr,
    Load,
    Node,
    Select,
    Var,
    const,
)
from hybridjit.ir.stmt import Allocate, For, If, Let, Seq, Stmt, Store, flat_stmts
from hybridjit.ir.visit import children, walk
from hybridjit.record import record
from hybridjit.schedule.arrays.fusion import Fusion, perfect_nest, variables_along
from hybridjit.schedule.arrays.replace_loads import ReplaceLoads, element_at

# Expressions are not made deeper than that, from what stands at the top of a loop on: all that
# looks at them is recursive.
MOST_DEPTH = 100


@record(eq=False)
class _Producer:
    """The nest at `position` that gives an array its elements: the value at `variables`.

    An axis of size one has no variable. `lets` are what the value needs.
    """

    buffer: Buffer
    position: int
    variables: tuple[Var | None, ...]
    lets: tuple[Let, ...]
    value: Expr


@record(eq=False)
class _Use:
    """A read of the array: the statement of the list it is in, and the loops around it there."""

    load: Load
    position: int
    loops: tuple[For, ...]


@record(eq=False)
class Elements:
    """How the elements of an array come about, and every read of them."""

    allocation: Allocate
    producer: _Producer
    uses: Sequence[_Use]

    @property
    def buffer(self) -> Buffer:
        """The array."""
        return self.producer.buffer

    @property
    def roots(self) -> list[Expr]:
        """What an element is computed by."""
        return [*(let.value for let in self.producer.lets), self.producer.value]

    @property
    def users(self) -> list[int]:
        """Where in the list elements are read."""
        return sorted({use.position for use in self.uses})

    @property
    def inner_loops(self) -> list[For]:
        """The innermost loops around the reads."""
        return [use.loops[-1] for use in self.uses if use.loops]

    @property
    def are_read_once(self) -> bool:
        """True if no element is read twice: one read, which moves with every loop around it."""
        if len(self.uses) != 1:
            return not self.uses
        (use,) = self.uses
        named = {node for index in use.load.indices for node in walk(index)}
        return all(loop.var in named for loop in use.loops)


def find_elements(fusion: Fusion, stmts: Sequence[Stmt], allocation: Allocate) -> Elements | None:
    """The elements of an array, if one statement sets each on its own, and all reads are known."""
    producer = _find_producer(fusion, stmts, allocation)
    if producer is None:
        return None
    uses = _find_uses(fusion, stmts, producer)
    return None if uses is None else Elements(allocation, producer, uses)


def may_inline(fusion: Fusion, stmts: Sequence[Stmt], elements: Elements) -> bool:
    """True if elements may be computed where they are read: no index is outside of the array,
    what they are made of is still there, and expressions do not become too deep.
    """
    producer, uses = elements.producer, elements.uses
    if not all(_is_in_bounds(fusion, use, producer) for use in uses):
        return False
    return _sources_stay(fusion, stmts, producer, uses) and not _is_deep(stmts, elements)


def make_inline(fusion: Fusion, stmts: Sequence[Stmt], elements: Elements) -> list[Stmt]:
    """`stmts` without an array whose elements are computed where they are read."""
    producer, users = elements.producer, elements.users
    rewriter = _Inline(producer)
    made: list[Stmt] = []
    for position, stmt in enumerate(stmts):
        if position == producer.position or stmt is elements.allocation:
            continue
        is_changed = position in users or not rewriter.known.keys().isdisjoint(
            fusion.footprint(stmt).reads
        )
        made.append(rewriter.rewrite(stmt) if is_changed else stmt)
    return made


# -- what is written -----------------------------------------------------------------------------


def _find_producer(fusion: Fusion, stmts: Sequence[Stmt], allocation: Allocate) -> _Producer | None:
    """The only statement that writes the array, if it sets each element, each on its own."""
    buffer = allocation.buffer
    writers = [
        position
        for position, stmt in enumerate(stmts)
        if stmt is not allocation and buffer in fusion.footprint(stmt).writes
    ]
    if len(writers) != 1:
        return None
    loops, body = perfect_nest(fusion, stmts[writers[0]])
    found = _element_of(body, buffer, is_zero=allocation.zero)
    if found is None or fusion.fault(stmts[writers[0]]) is not Fault.NEVER:
        return None
    lets, indices, value = found
    variables = variables_along(fusion, loops, indices, buffer)
    if variables is None:
        return None
    return _Producer(buffer, writers[0], variables, lets, value)


def _element_of(
    body: Sequence[Stmt], buffer: Buffer, *, is_zero: bool
) -> tuple[tuple[Let, ...], tuple[Expr, ...], Expr] | None:
    """The values that an element needs, its indices, and its value."""
    *lets, last = body
    if not all(isinstance(stmt, Let) for stmt in lets):
        return None
    match last:
        case Store(found, indices, value) if found is buffer:
            pass
        case If(cond, then, None) if is_zero:
            inner = _element_of(flat_stmts(then), buffer, is_zero=False)
            if inner is None:
                return None
            more, indices, value = inner
            lets += more
            value = Select(cond, value, const(0, buffer.dtype), span=value.span)
        case _:
            return None
    if any(isinstance(node, Load) and node.buffer is buffer for s in body for node in walk(s)):
        return None
    return tuple(let for let in lets if isinstance(let, Let)), indices, value


# -- what is read --------------------------------------------------------------------------------


def _find_uses(fusion: Fusion, stmts: Sequence[Stmt], producer: _Producer) -> list[_Use] | None:
    """Every read of the array; None if one of them cannot be replaced."""
    buffer = producer.buffer
    uses: list[_Use] = []
    for position, stmt in enumerate(stmts):
        if position == producer.position or buffer not in fusion.footprint(stmt).reads:
            continue
        if position < producer.position:
            return None
        found = list(_uses_in(fusion, stmt, buffer, position, ()))
        if len(found) != _count_reads(stmt, buffer):
            return None
        uses += found
    return uses


def _count_reads(stmt: Stmt, buffer: Buffer) -> int:
    nodes = (node for node in walk(stmt) if isinstance(node, (Load, BufferRef)))
    return sum(node.buffer is buffer for node in nodes)


def _uses_in(
    fusion: Fusion, stmt: Stmt, buffer: Buffer, position: int, loops: tuple[For, ...]
) -> Iterator[_Use]:
    """The reads in statements that may be rewritten, not inside of loops written by hand."""
    match stmt:
        case Seq():
            for inner in stmt.stmts:
                yield from _uses_in(fusion, inner, buffer, position, loops)
        case For() if stmt.var in fusion.loops:
            yield from _uses_in(fusion, stmt.body, buffer, position, (*loops, stmt))
        case If(cond, then, otherwise):
            yield from _loads_in(cond, buffer, position, loops)
            for side in (then, otherwise):
                if side is not None:
                    yield from _uses_in(fusion, side, buffer, position, loops)
        case Let() | Store():
            for child in children(stmt):
                yield from _loads_in(child, buffer, position, loops)
        case _:
            pass


def _loads_in(root: Node, buffer: Buffer, position: int, loops: tuple[For, ...]) -> Iterator[_Use]:
    for node in walk(root):
        if isinstance(node, Load) and node.buffer is buffer:
            yield _Use(node, position, loops)


def _is_deep(stmts: Sequence[Stmt], elements: Elements) -> bool:
    """True if what reads the elements would become an expression of too many levels."""
    around = max((_depth(stmts[position]) for position in elements.users), default=0)
    return around + max(map(_depth, elements.roots)) > MOST_DEPTH


def _depth(root: Node) -> int:
    """How many levels a tree has; without recursion."""
    level: list[Node] = [root]
    depth = 0
    while level:
        depth += 1
        level = [child for node in level for child in children(node)]
    return depth


def _is_in_bounds(fusion: Fusion, use: _Use, producer: _Producer) -> bool:
    """True if an index is sure to name the element that has it: it neither fails nor wraps."""
    stops = {loop.var: loop.stop for loop in use.loops}
    for index, size in zip(use.load.indices, producer.buffer.shape, strict=True):
        if isinstance(index, Var) and index in stops and fusion.ranges.same(stops[index], size):
            continue
        if not fusion.faults.is_inside(index, size):
            return False
    return True


# -- what is read meanwhile ----------------------------------------------------------------------


def _sources_stay(
    fusion: Fusion, stmts: Sequence[Stmt], producer: _Producer, uses: Sequence[_Use]
) -> bool:
    """True if what the elements are computed from is the same where they are read.

    A nest that changes it while it reads the elements is left to `merge`.
    """
    reads = fusion.footprint(stmts[producer.position]).reads
    sources = {name for name in reads if isinstance(name, Buffer)}
    last = max((use.position for use in uses), default=producer.position)
    for position in range(producer.position + 1, last + 1):
        found = fusion.footprint(stmts[position])
        if sources & found.writes or (found.acts and sources):
            return False
    return True


# -- rewriting -----------------------------------------------------------------------------------


class _Inline(ReplaceLoads):
    """Compute the elements of an array where they are read, right before the statement."""

    def __init__(self, producer: _Producer) -> None:
        super().__init__(producer.buffer)
        self.producer = producer

    def value_of(self, load: Load) -> Expr:
        pairs = zip(self.producer.variables, load.indices, strict=True)
        places = {var: index for var, index in pairs if var is not None}
        lets, value = element_at(places, self.producer.lets, self.producer.value)
        self.lets += lets
        return value
