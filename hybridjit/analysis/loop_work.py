"""What each loop of a program does in one call: floating-point operations, bytes, share of all.

    for i in range(100):              i: runs once, 60 kflop, 81 kB
        for j in range(i):            j: runs 100 times
            c[i] += a[i, j] * b[j]

Loops whose bounds follow from sizes and arguments are counted, a triangle by its mean row. What is
under a condition counts as if it ran. A loop whose length only a run tells has no numbers.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

from hybridjit.analysis.cost import operation_cost
from hybridjit.ir.expr import (
    Add,
    Binary,
    Buffer,
    BufferRef,
    Call,
    Cast,
    Compare,
    Const,
    Div,
    Expr,
    ExternCall,
    FloorDiv,
    Load,
    Max,
    Min,
    Mod,
    Mul,
    Neg,
    Node,
    Pow,
    Sub,
    Var,
)
from hybridjit.ir.stmt import Block, For, If, Let, Seq, Stmt, Store, While, flat_stmts
from hybridjit.ir.visit import children, walk
from hybridjit.record import record

# What one operation on complex numbers is in real ones.
_COMPLEX: dict[type[Node], int] = {Add: 2, Sub: 2, Mul: 6, Div: 9}
# Powers that are written out, by how many products they are; a square root is one operation.
_PRODUCTS: dict[complex, int] = {2: 1, 3: 2, 4: 2, 0.5: 1}
_Touched = dict[tuple[Buffer, frozenset[Var]], float]
"""Elements of arrays, by the array and the loops that its index depends on."""


@record
class LoopWork:
    """What all runs of a loop do in one call, and the share of that in the work of the function.

    `bytes` go between memory and the shared cache, at least: what a run touches, each element once
    as long as the rest of the loop leaves it there. `footprint` is what one run touches, and
    `operations` are the simple ones that one run takes.
    """

    runs: float
    flops: float
    bytes: float
    footprint: float
    operations: float
    share: float | None = None


@record
class _Amounts:
    """What one run of a statement does."""

    flops: float = 0
    operations: float = 0
    traffic: float = 0
    footprint: float = 0


def find_loop_work(
    body: Stmt, known: Mapping[Var, float], cache_bytes: int
) -> dict[For, LoopWork | None]:
    """The work of every loop in `body`; None where only a run tells.

    `known` are the values of parameters, as far as there are any.
    """
    counter = _Counter(known, cache_bytes)
    total, _ = counter.count(body)
    found: dict[For, LoopWork | None] = {}
    _collect(body, 1.0, counter, total, found)
    return found


def _collect(
    stmt: Stmt,
    runs: float | None,
    counter: _Counter,
    total: _Amounts | None,
    found: dict[For, LoopWork | None],
) -> None:
    inside = runs
    if isinstance(stmt, For):
        each, trips = counter.loops.get(stmt, (None, None))
        found[stmt] = None
        if each is not None and runs is not None:
            found[stmt] = _work_of(each, runs, total)
        inside = None if runs is None or trips is None else runs * trips
    elif isinstance(stmt, While):
        inside = None
    for child in children(stmt):
        if isinstance(child, Stmt):
            _collect(child, inside, counter, total, found)


def _work_of(each: _Amounts, runs: float, total: _Amounts | None) -> LoopWork:
    share = None
    if total is not None and total.operations > 0:
        share = min(1.0, runs * each.operations / total.operations)
    traffic = runs * each.traffic
    return LoopWork(runs, runs * each.flops, traffic, each.footprint, each.operations, share)


class _Counter:
    """Counts what one run of a statement does; `loops` keeps what it found of each."""

    def __init__(self, known: Mapping[Var, float], cache_bytes: int) -> None:
        self.values = dict(known)  # of variables; of those of loops, the mean
        self.depends: dict[Var, frozenset[Var]] = {}  # on which loops
        self.cache_bytes = cache_bytes
        self.loops: dict[For, tuple[_Amounts | None, float | None]] = {}

    def count(self, stmt: Stmt) -> tuple[_Amounts | None, _Touched]:
        match stmt:
            case Seq():
                return self._sum([self.count(inner) for inner in flat_stmts(stmt)])
            case For():
                return self._count_loop(stmt)
            case While():
                self.count(stmt.body)
                return None, {}
            case If(cond, then, otherwise):
                sides = [self.count(side) for side in (then, otherwise) if side is not None]
                return self._sum([self._count_nodes([cond]), max(sides, key=_weight)])
            case Block(iters=iters, body=body):
                for item in iters:
                    self._bind(item.var, item.value)
                return self.count(body)
            case Let(var, value):
                self._bind(var, value)
                return self._count_nodes([value])
            case _:
                return self._count_nodes([stmt])

    def _count_loop(self, loop: For) -> tuple[_Amounts | None, _Touched]:
        trips = _positive(self.value_of(loop.extent))
        start, step = self.value_of(loop.start), self.value_of(loop.step)
        if trips is not None and start is not None and step is not None:
            self.values[loop.var] = start + step * max(0.0, trips - 1) / 2
        self.depends[loop.var] = frozenset([loop.var])
        each, touched = self.count(loop.body)
        if trips is None or each is None:
            self.loops[loop] = None, trips
            return None, {}
        spread = {
            (buffer, loops): count * trips if loop.var in loops else min(count, count * trips)
            for (buffer, loops), count in touched.items()
        }
        footprint = self._footprint(spread)
        fits = each.footprint <= self.cache_bytes
        traffic = footprint if fits else max(footprint, trips * each.traffic)
        made = _Amounts(trips * each.flops, trips * (each.operations + 1), traffic, footprint)
        self.loops[loop] = made, trips
        return made, spread

    def _count_nodes(self, roots: Iterable[Node]) -> tuple[_Amounts | None, _Touched]:
        nodes = [node for root in roots for node in walk(root)]
        if any(isinstance(node, ExternCall) for node in nodes):
            return None, {}
        touched: _Touched = {}
        for node in nodes:
            if isinstance(node, Load | Store) and not node.buffer.is_register:
                touched[node.buffer, self._loops_of(node.indices)] = 1
            elif isinstance(node, BufferRef):
                return None, {}
        footprint = self._footprint(touched)
        operations = sum(map(operation_cost, nodes)) + sum(isinstance(n, Store) for n in nodes)
        return _Amounts(sum(map(_flops, nodes)), operations, footprint, footprint), touched

    def _sum(
        self, parts: list[tuple[_Amounts | None, _Touched]]
    ) -> tuple[_Amounts | None, _Touched]:
        known = [amounts for amounts, _ in parts if amounts is not None]
        if len(known) < len(parts):
            return None, {}
        touched: _Touched = {}
        for _, some in parts:
            for key, count in some.items():
                touched[key] = max(count, touched.get(key, 0))
        footprint = self._footprint(touched)
        traffic = sum(part.traffic for part in known)
        made = _Amounts(
            sum(part.flops for part in known),
            sum(part.operations for part in known),
            footprint if footprint <= self.cache_bytes else max(footprint, traffic),
            footprint,
        )
        return made, touched

    def _footprint(self, touched: _Touched) -> float:
        """Bytes: of each array, what its widest access touches, and not more than there is."""
        most: dict[Buffer, float] = {}
        for (buffer, _), count in touched.items():
            most[buffer] = max(count, most.get(buffer, 0))
        return sum(
            min(count, self._size(buffer)) * buffer.dtype.bits / 8 for buffer, count in most.items()
        )

    def _size(self, buffer: Buffer) -> float:
        sizes = [self.value_of(size) for size in buffer.shape]
        known = [size for size in sizes if size is not None]
        return math.prod(known) if len(known) == len(sizes) and not buffer.is_growing else math.inf

    def _loops_of(self, indices: Iterable[Expr]) -> frozenset[Var]:
        found = (node for index in indices for node in walk(index) if isinstance(node, Var))
        return frozenset[Var]().union(*(self.depends.get(var, frozenset()) for var in found))

    def _bind(self, var: Var, value: Expr) -> None:
        self.depends[var] = self._loops_of([value])
        known = self.value_of(value)
        if known is not None:
            self.values[var] = known

    def value_of(self, expr: Expr) -> float | None:
        """The value of an index, or its mean; None if it is not known."""
        match expr:
            case Const(value):
                return float(value.real)
            case Var():
                return self.values.get(expr)
            case Cast(value=operand):
                return self.value_of(operand)
            case Neg(operand):
                known = self.value_of(operand)
                return None if known is None else -known
            case Binary(lhs, rhs):
                first, second = self.value_of(lhs), self.value_of(rhs)
                return None if first is None or second is None else _apply(expr, first, second)
            case _:
                return None


def _apply(expr: Binary, first: float, second: float) -> float | None:
    match expr:
        case Add():
            return first + second
        case Sub():
            return first - second
        case Mul():
            return first * second
        case FloorDiv() | Mod() if second != 0:
            return first // second if isinstance(expr, FloorDiv) else first % second
        case Min() | Max():
            return min(first, second) if isinstance(expr, Min) else max(first, second)
        case _:
            return None


def _positive(value: float | None) -> float | None:
    return None if value is None else max(0.0, value)


def _weight(counted: tuple[_Amounts | None, _Touched]) -> float:
    amounts, _ = counted
    return math.inf if amounts is None else amounts.operations


def _flops(node: Node) -> int:
    """Floating-point operations; a function is as many as it costs."""
    match node:
        case Compare(lhs):
            return 1 if lhs.dtype.is_inexact else 0
        case Call(name) if node.dtype.is_inexact:
            return 2 if name == "fma" else operation_cost(node)
        case Pow(rhs=Const(exponent)) if node.dtype.is_inexact and exponent in _PRODUCTS:
            return _PRODUCTS[exponent]
        case Pow() if node.dtype.is_inexact:
            return operation_cost(node)
        case Binary() | Neg() if node.dtype.is_inexact:
            return _COMPLEX.get(type(node), 2) if node.dtype.is_complex else 1
        case _:
            return 0
