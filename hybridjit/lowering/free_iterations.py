"""Free the iterations of a loop from the variables that they hand on, where these are no sums.

    for i in range(n):                 for i in range(min(n, 1)):
        x = 2.0 * a[i]                     ...                       # the first, as it was
        b[i] = x - last                for i in range(1, n - 1):
        last = a[i]                        own_last = a[i - 1]
                                -->        own_x = 2.0 * a[i]
                                           b[i] = own_x - own_last
                                           own_last = a[i]
                                       if n > 1:                     # the last one, as it was
                                           last = a[n - 2]
                                           ...

The value of `last` is computed again from what it was computed from, an iteration before: so it
must be cheap, and made of arrays that the loop leaves alone. If `last` hands its value on to yet
another variable, that is two iterations before, and two of them come first. A variable that each
iteration sets before it reads it, as `x`, is private; the last iteration leaves its value behind.
Relies on: nothing in the loop that fails; a constant step; bounds that cannot fail.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence, Set

from hybridjit.analysis.cost import is_dear, operation_cost
from hybridjit.analysis.initialization import find_assignments
from hybridjit.arith.simplify import simplify
from hybridjit.ir.expr import Buffer, Const, Expr, Gt, Load, Min, Node, Var
from hybridjit.ir.stmt import Allocate, For, If, Let, Stmt, Store, flat_stmts, seq
from hybridjit.ir.visit import fresh_copy, rewrite, substitute, walk, walk_stmts
from hybridjit.kept_property import kept_property
from hybridjit.lowering.cut_loops import Names, at_most, loop_step
from hybridjit.record import record

# What may be computed again, in operations for each iteration, and from how far back.
_MAX_COST = 12
_MAX_DEPTH = 4


def find_free_iterations(loop: For, kept: Set[Buffer], live: Set[Buffer]) -> FreeIterations | None:
    """How `loop` is freed of all variables but those that are `kept`; None if it cannot be.

    `live` are the variables that are read outside of it.
    """
    nodes = list(walk(loop.body))
    made = {node.buffer for node in nodes if isinstance(node, Allocate)}
    stored = {node.buffer: None for node in nodes if isinstance(node, Store)}
    outside = [b for b in stored if b.is_register and b not in made and b not in kept]
    if not outside:
        return None
    doubtful, assigned = find_assignments(loop.body)
    carried = {buffer: None for buffer in outside if buffer in doubtful}
    earlier = _Earlier(loop, list(carried), set(stored))
    if not assigned.issuperset(outside) or not earlier.is_cheap:
        return None
    is_live = bool(carried) or not live.isdisjoint(outside)
    return FreeIterations(loop, tuple(outside), earlier, is_live)


class _Earlier:
    """The values that variables have when an iteration begins."""

    def __init__(self, loop: For, carried: Sequence[Buffer], stored: set[Buffer]) -> None:
        self.loop, self.carried, self.stored = loop, carried, stored - {*carried}
        self.ends = _Iteration(loop.body).variables

    @kept_property
    def is_cheap(self) -> bool:
        """Whether all of them are known, and may be computed again in each iteration."""
        if not all(self._is_known(buffer) for buffer in self.carried) or self.depth is None:
            return False
        values = list(self.values.values())
        cost = sum(operation_cost(node) for value in values for node in walk(value))
        return cost <= _MAX_COST and not is_dear(values, divisions=True)

    def _is_known(self, buffer: Buffer) -> bool:
        value = self.ends.get(buffer)
        return value is not None and not any(
            isinstance(node, Load) and node.buffer in self.stored for node in walk(value)
        )

    @kept_property
    def depth(self) -> int | None:
        """From how many iterations back values come; None if that has no end."""
        found: dict[Buffer, int] = {}
        for depth in range(1, _MAX_DEPTH + 1):
            found |= {
                buffer: depth
                for buffer in self.carried
                if buffer not in found and all(source in found for source in self._sources(buffer))
            }
            if len(found) == len(self.carried):
                return max(found.values(), default=0)
        return None

    def _sources(self, buffer: Buffer) -> Iterator[Buffer]:
        end = self.ends[buffer]
        for node in () if end is None else walk(end):
            if isinstance(node, Load) and node.buffer in self.carried:
                yield node.buffer

    @kept_property
    def values(self) -> Mapping[Buffer, Expr]:
        """The value of each at the begin of the iteration that the loop variable says."""
        return {buffer: self._value(buffer) for buffer in self.carried}

    def _value(self, buffer: Buffer) -> Expr:
        before = self.loop.var - loop_step(self.loop)
        end = self.ends[buffer]
        assert end is not None
        handed = {source: self._value(source) for source in self._sources(buffer)}
        return simplify(substitute(_with_values(end, handed), {self.loop.var: before}))


@record
class FreeIterations:
    """A loop, the variables to free its iterations from, and whether their last values count."""

    loop: For
    variables: tuple[Buffer, ...]
    earlier: _Earlier
    is_live: bool = True

    def parts(self) -> Parts:
        """The loop in the middle, what comes before it, and what comes after."""
        if not self.is_live:
            return Parts((), (), self._private(self.loop), ())
        names = Names(self.loop)
        loop = dataclasses.replace(self.loop, start=names.give("start", self.loop.start))
        trips = names.give("trips", loop.safe_extent)
        step, depth = loop_step(loop), self.earlier.depth or 0
        last = names.give("last", loop.start + (trips - 1) * step)
        begin = simplify(loop.start + depth * step)
        middle = self._private(dataclasses.replace(loop, start=begin, stop=last))
        first = self._first(loop, trips)
        return Parts(tuple(names.made), first, middle, self._last(loop, last, trips))

    def _first(self, loop: For, trips: Expr) -> tuple[Stmt, ...]:
        """The iterations that get values from before the loop."""
        depth = self.earlier.depth or 0
        if depth == 0:
            return ()
        stop = simplify(loop.start + Min(trips, Const(depth)) * loop_step(loop))
        return (fresh_copy(at_most(depth, dataclasses.replace(loop, stop=stop))),)

    def _private(self, loop: For) -> For:
        """`loop` with variables of its own, which begin with the values that they are handed."""
        own = {buffer: dataclasses.replace(buffer) for buffer in self.variables}
        begin = [Allocate(buffer, zero=False) for buffer in own.values()]
        given = [Store(own[b], (), value) for b, value in self.earlier.values.items()]
        body = substitute(loop.body, {}, own)
        return dataclasses.replace(loop, body=seq(*begin, *given, body))

    def _last(self, loop: For, last: Expr, trips: Expr) -> tuple[Stmt, ...]:
        """The iteration whose values stay, if there is one that was not among the first."""
        given = [Store(b, (), value) for b, value in self.earlier.values.items()]
        stop = simplify(last + loop_step(loop))
        end = dataclasses.replace(loop, start=last, stop=stop, body=seq(*given, loop.body))
        made = fresh_copy(at_most(1, end))
        is_there = simplify(Gt(trips, Const(self.earlier.depth or 0)))
        if isinstance(is_there, Const):
            return (made,) if is_there.value else ()
        return (If(is_there, made),)


@record
class Parts:
    """The loop whose iterations are free; the names and the iterations before it; those after."""

    names: tuple[Let, ...]
    first: tuple[Stmt, ...]
    middle: For
    last: tuple[Stmt, ...]

    def around(self, middle: Stmt) -> Stmt:
        """All of it, with what was made of the loop in its place."""
        return seq(*self.names, *self.first, middle, *self.last)


# -- values ----------------------------------------------------------------------------------------


class _Iteration:
    """What names and variables hold, statement by statement, in terms of what they held before."""

    def __init__(self, body: Stmt) -> None:
        # None if nobody knows.
        self.names: dict[Var, Expr | None] = {}
        self.variables: dict[Buffer, Expr | None] = {}
        for stmt in flat_stmts(body):
            self._take(stmt)

    def _take(self, stmt: Stmt) -> None:
        match stmt:
            case Let(var, value):
                self.names[var] = self._value(value)
            case Store(buffer, (), value):
                self.variables[buffer] = self._value(value)
            case _:
                touched = (node for node in walk_stmts(stmt) if isinstance(node, Store | Allocate))
                self.variables |= {node.buffer: None for node in touched}

    def _value(self, expr: Expr) -> Expr | None:
        found = {node: self._held(node) for node in walk(expr) if _is_name(node)}
        if any(value is None for value in found.values()):
            return None
        return rewrite(expr, found.get)

    def _held(self, node: Node) -> Node | None:
        if isinstance(node, Load):
            return self.variables.get(node.buffer, node)
        return self.names.get(node, node) if isinstance(node, Var) else None


def _is_name(node: Node) -> bool:
    return isinstance(node, Var) or (isinstance(node, Load) and node.buffer.is_register)


def _with_values(expr: Expr, values: Mapping[Buffer, Expr]) -> Expr:
    """`expr` with values in the place of variables."""
    return rewrite(expr, lambda node: values.get(node.buffer) if isinstance(node, Load) else None)
