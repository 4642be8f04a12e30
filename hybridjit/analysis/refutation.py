"""Find the access that is sure to fail: out of bounds, and reached by every run.

Every place that may end a run has a time: its position in the text, and the iteration of each
loop around it. `for i in range(65): out[i] = a[i]` with 64 elements ends at i = 64. A place whose
fate depends on data may end a run, or change where it goes, from its first iteration on. The
run is sure to end in an IndexError if the earliest place of all is one that surely fails.

A guard over loops, as splitting a loop makes it, leaves iterations out. The first one that fails
is looked for among all: if the guards let it run, it is also the first of those that run.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from itertools import chain

from hybridjit.analysis.initialization import find_unassigned_reads
from hybridjit.analysis.limits import loop_extent
from hybridjit.arith.linear import Linear, linear_form
from hybridjit.arith.totality import may_fail
from hybridjit.ir.expr import (
    And,
    Bounded,
    Buffer,
    Const,
    Expr,
    Le,
    Load,
    Lt,
    Node,
    Or,
    Select,
    Var,
)
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.stmt import Allocate, For, If, Let, Return, Seq, Stmt, Store
from hybridjit.ir.visit import children, walk
from hybridjit.record import record

_MIN_INT, _MAX_INT = -(1 << 63), (1 << 63) - 1
# Scratch memory of this many elements is sure to be there.
_SMALL_ARRAY = 1 << 20


@record
class Refutation:
    """An access that is sure to fail: its index there, and the iteration, outermost loop first."""

    access: Bounded
    index: int
    size: int
    iteration: tuple[tuple[str, int], ...]


@record
class _Loop:
    """A loop that is sure to run: its values are start, start + step, and so on."""

    var: Var
    start: int
    step: int
    trips: int

    def at(self, count: int) -> int:
        return self.start + self.step * count


# Positions in the text, with the loops around in between.
_Path = tuple["int | _Loop", ...]
_Time = tuple[int, ...]


def find_refutation(func: PrimFunc) -> Refutation | None:
    """The access that every run of `func`, whose indices are checked, fails at, if there is one."""
    if not any(isinstance(node, Bounded) for node in walk(func.body)):
        return None
    walker = _Walker(find_unassigned_reads(func))
    walker.visit(func.body, (), is_certain=True)
    return walker.first


@record(frozen=False)
class _Walker:
    """Keeps the earliest time at which a run may end, and why it surely does."""

    doubtful: frozenset[Buffer]
    lets: dict[Var, Linear] = field(default_factory=dict[Var, Linear])
    # The conditions around, in an `if` without other sides: each is `form >= 0`.
    guards: list[Linear] = field(default_factory=list[Linear])
    first: Refutation | None = None
    first_time: _Time | None = None

    def visit(self, stmt: Stmt, path: _Path, *, is_certain: bool) -> None:
        match stmt:
            case Seq(stmts):
                for position, child in enumerate(stmts):
                    self.visit(child, (*path, position), is_certain=is_certain)
            case For():
                self._visit_loop(stmt, path, is_certain=is_certain)
            case If(cond, then, otherwise):
                self._evaluate([cond], (*path, 0), is_certain=is_certain)
                guard = self._guard(cond) if otherwise is None else None
                self.guards += [] if guard is None else [guard]
                for side in (then, otherwise or Seq(())):
                    self.visit(side, (*path, 1), is_certain=is_certain and guard is not None)
                del self.guards[len(self.guards) - (guard is not None) :]
            case _:
                self._visit_leaf(stmt, path, is_certain=is_certain)

    def _guard(self, cond: Expr) -> Linear | None:
        """`cond` as a form that is not negative where it holds."""
        match cond:
            case Lt(lhs, rhs):
                lhs, rhs, gap = rhs, lhs, -1
            case Le(lhs, rhs):
                lhs, rhs, gap = rhs, lhs, 0
            case _:
                return None
        larger, smaller = self._form(lhs), self._form(rhs)
        if larger is None or smaller is None:
            return None
        return larger.plus(smaller, -1).plus(Linear({}, gap))

    def _visit_leaf(self, stmt: Stmt, path: _Path, *, is_certain: bool) -> None:
        match stmt:
            case Store(_, indices, value):
                self._evaluate([value], path, indices, is_certain=is_certain)
            case Let(var, value):
                self._evaluate([value], path, is_certain=is_certain)
                self._bind(var, value)
            case Return(values):
                self._evaluate(values, (*path, 0), is_certain=is_certain)
                self._note((*path, 1))
            case Allocate(buffer) if _elements(buffer) <= _SMALL_ARRAY:
                pass
            case _:
                self._note(path)

    def _bind(self, var: Var, value: Expr) -> None:
        form = self._form(value)
        if form is not None:
            self.lets[var] = form

    def _visit_loop(self, loop: For, path: _Path, *, is_certain: bool) -> None:
        bounds = [loop.start, loop.stop, loop.step]
        self._evaluate(bounds, (*path, 0), is_certain=is_certain)
        trips = loop_extent(loop)
        match loop.start, loop.step:
            case Const(int(start)), Const(int(step)) if trips is not None:
                around = _Loop(loop.var, start, step, trips)
            case _, Const():
                around, is_certain = _Loop(loop.var, 0, 0, 1), False
            case _:  # a step of 0 is an error
                self._note((*path, 0))
                return
        if trips != 0:
            self.visit(loop.body, (*path, 1, around), is_certain=is_certain)

    def _evaluate(
        self,
        exprs: Sequence[Expr],
        path: _Path,
        indices: Sequence[Expr] = (),
        *,
        is_certain: bool,
    ) -> None:
        """Take in expressions, and then the indices of a store."""
        places = chain(
            chain.from_iterable(_places(expr, self.doubtful, is_certain) for expr in exprs),
            _index_places(indices, self.doubtful, is_certain),
        )
        for position, (node, is_reached) in enumerate(places):
            if isinstance(node, Bounded):
                self._check(node, (*path, position), is_reached=is_reached)
            else:
                self._note((*path, position))

    def _check(self, access: Bounded, path: _Path, *, is_reached: bool) -> None:
        loops = [part for part in path if isinstance(part, _Loop)]
        form, size = self._form(access.index), self._form(access.extent)
        is_known = form is not None and size is not None and not size.terms
        if form is None or size is None or not (is_known and is_reached and _fits(form, loops)):
            self._note(path)
            return
        counts = _first_failure(form, size.constant, loops)
        if counts is None:
            return
        values = {loop.var: loop.at(count) for loop, count in zip(loops, counts, strict=True)}
        if not all(_fits(guard, loops) and _value(guard, values) >= 0 for guard in self.guards):
            self._note(path)
            return
        iteration = tuple((var.name, value) for var, value in values.items())
        refutation = Refutation(access, _value(form, values), size.constant, iteration)
        self._note(path, counts, refutation)

    def _note(
        self, path: _Path, counts: Sequence[int] = (), refutation: Refutation | None = None
    ) -> None:
        """Take in a place where a run may end; without `refutation` nothing is sure about it."""
        known = iter(counts)
        time = tuple(next(known, 0) if isinstance(part, _Loop) else part for part in path)
        if self.first_time is None or time < self.first_time:
            self.first, self.first_time = refutation, time

    def _form(self, expr: Expr) -> Linear | None:
        return linear_form(expr, lambda var: self.lets.get(var, Linear({var: 1})))


def _value(form: Linear, values: Mapping[Var, int]) -> int:
    return form.constant + sum(factor * values[var] for var, factor in form.terms.items())


def _places(
    expr: Node, doubtful: frozenset[Buffer], is_certain: bool
) -> Iterator[tuple[Node, bool]]:
    """What may end a run, in order of evaluation, and whether it is sure to be evaluated."""
    if isinstance(expr, Load):
        yield from _index_places(expr.indices, doubtful, is_certain)
        if expr.buffer in doubtful:
            yield expr, False
        return
    for position, child in enumerate(children(expr)):
        may_be_skipped = position > 0 and isinstance(expr, And | Or | Select)
        yield from _places(child, doubtful, is_certain and not may_be_skipped)
    if may_fail(expr):
        yield expr, is_certain


def _index_places(
    indices: Sequence[Expr], doubtful: frozenset[Buffer], is_certain: bool
) -> Iterator[tuple[Node, bool]]:
    """All indices into an array are evaluated before the first of them is checked."""
    for index in indices:
        inner = index.index if isinstance(index, Bounded) else index
        yield from _places(inner, doubtful, is_certain)
    yield from ((index, is_certain) for index in indices if isinstance(index, Bounded))


def _elements(buffer: Buffer) -> int:
    """The number of elements of a scratch array; huge if it is not known."""
    count = 1
    for extent in buffer.shape:
        count *= int(extent.value.real) if isinstance(extent, Const) else _SMALL_ARRAY + 1
    return count


def _fits(form: Linear, loops: Sequence[_Loop]) -> bool:
    """Whether `form` mentions only these loops, and never overflows."""
    known = {loop.var for loop in loops if loop.step != 0}
    low, high = _extremes(form, loops)
    is_known = all(var in known for var in form.terms)
    return is_known and low + form.constant >= _MIN_INT and high + form.constant <= _MAX_INT


def _extremes(form: Linear, loops: Sequence[_Loop]) -> tuple[int, int]:
    """The least and the greatest sum of the terms over `loops`."""
    low = high = 0
    for loop in loops:
        ends = [form.terms.get(loop.var, 0) * loop.at(count) for count in (0, loop.trips - 1)]
        low, high = low + min(ends), high + max(ends)
    return low, high


def _first_failure(form: Linear, size: int, loops: Sequence[_Loop]) -> list[int] | None:
    """The first iteration in which `form` is outside [-size, size), as counts of the loops."""
    counts: list[int] = []
    base = form.constant
    for depth, loop in enumerate(loops):
        low, high = _extremes(form, loops[depth + 1 :])
        coefficient = form.terms.get(loop.var, 0)
        first, slope = base + coefficient * loop.start, coefficient * loop.step
        too_high = _first_above(size - 1 - high, first, slope)
        too_low = _first_above(size + low, -first, -slope)
        found = [count for count in (too_high, too_low) if count is not None]
        if not found or min(found) >= loop.trips:
            return None
        counts.append(min(found))
        base = first + slope * counts[-1]
    return counts if not -size <= base < size else None


def _first_above(limit: int, first: int, slope: int) -> int | None:
    """The first count for which first + slope * count > limit."""
    if first > limit:
        return 0
    return (limit - first) // slope + 1 if slope > 0 else None
