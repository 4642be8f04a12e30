"""The quick proof that iterations are independent: on linear forms and ranges, without isl.

    for i in range(n):
        for j in range(m):
            c[i, j] = c[i, j] + a[i, k] * b[k, j]

Two iterations of a nest are independent if they meet in no element that one of them writes. An
index is written as a sum over the *counters* of the loops around it, `start + step * counter`, and
over what is the same in all iterations. Where two accesses have the same factors of the counters of
the nest, the difference of the two indices, which is 0 if they meet, is an equation for the
distance of the iterations; counters of loops inside, which have any value, make it an interval
(distances.py). Elements may also be counted row by row (places.py). What is left are indices that
always differ: `k` and `j`, where k runs over range(j); that is asked of the ranges of the variables
(bounds.py).

This is the one place that is asked. What it does not see is left to isl where that is worth it
(concurrency.py), which takes longer to import than most functions take to compile.

What it assumes:
- Arrays share no memory. Callers know: code for arguments that overlap is in the order as written.
- Different indices are different elements. They are if they are inside of their arrays, in a
  function that `is_checked`. In any other one a negative index counts from the end; there an index
  says something only if it is proved not to be negative. One past the end is an error.
- Every variable is bound once.
- Whether an iteration fails or leaves the loop is not looked at: callers see to that. Effects
  that others see (print, calls of functions that are given arrays) are: there is no proof then.
"""

from __future__ import annotations

from collections.abc import Collection, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import field

from hybridjit.analysis.accesses import (
    Access,
    Scope,
    find_accesses,
    in_another_iteration,
    scopes_of_loops,
)
from hybridjit.analysis.bounds import Facts
from hybridjit.analysis.distances import Distances, Equation, Order
from hybridjit.analysis.forms import Interval
from hybridjit.analysis.places import Places, find_places
from hybridjit.arith.linear import Linear
from hybridjit.arith.totality import is_total
from hybridjit.ir.expr import Bounded, Buffer, BufferRef, Const, Expr, ExternCall, Node, Var
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.stmt import Allocate, Assert, For, Let, Print, Raise, Stmt, Store
from hybridjit.ir.visit import walk, walk_stmts
from hybridjit.kept_property import kept_property
from hybridjit.record import record

# Code computes indices modulo 2^64: a sum that is 0 there is 0, if it is smaller than that.
_MODULUS = 1 << 64
# No loop comes as far as this: it would take days. So the distance of two iterations is smaller.
_MOST_TRIPS = 1 << 48


@record
class _Counter:
    """A loop inside: its variable is `start`, plus `step` times a counter below `trips`."""

    start: _Index
    step: int
    trips: int


@record
class _Index:
    """The sum of `factors[loop] * its counter`, and `rest`, the same in all iterations."""

    factors: Mapping[Var, int]
    rest: Linear


@record(eq=False, frozen=False)
class Independence:
    """What can be proved about accesses in one place, which `facts` are known of."""

    facts: Facts
    is_checked: bool
    # What stands around: loops, and parts of expressions that are no polynomials.
    _outer: frozenset[Var]
    # The loops inside, None for those that cannot be counted, and other names for values.
    _counters: dict[Var, _Counter | None] = field(default_factory=dict[Var, "_Counter | None"])
    _names: set[Var] = field(default_factory=set[Var])
    _indices: dict[Access, list[_Index | None]] = field(
        default_factory=dict[Access, "list[_Index | None]"]
    )

    @staticmethod
    def at(func: PrimFunc, around: Scope = ()) -> Independence:
        """What can be proved in a place of `func` that `around` stands around."""
        return Independence.within(Facts.of(func), around, is_checked=func.is_checked)

    @staticmethod
    def within(facts: Facts, around: Scope, *, is_checked: bool = False) -> Independence:
        """The same where `facts` hold outside of `around`."""
        for item in around:
            enter(facts, item)
        return Independence(facts, is_checked, frozenset(facts.ranges))

    # -- questions -----------------------------------------------------------------------------

    def prove_independent(
        self, loops: Sequence[For], body: Stmt, besides: Collection[Buffer] = ()
    ) -> bool:
        """True if iterations of the nest `loops` around `body` may run in any order.

        What the bounds of the loops read is read between iterations: it may not change. Accesses
        of the arrays in `besides` do not count.
        """
        if has_effects(body):
            return False
        pairs = _pairs(_accesses_of(loops, body), _made_in(body).union(besides))
        return all(self._never_cross(x, y, loops) for x, y in pairs)

    def prove_independent_along(self, loops: Sequence[For], loop: For, body: Stmt) -> bool:
        """True if iterations of the nest `loops` that meet are the same along `loop`, one of them.

        Then whatever differs along it may run in any order.
        """
        if _may_stop(body):
            return False
        return all(
            self.meet(x, y, loops).is_zero(loop.var) or self.prove_never_meet(x, y)
            for x, y in _pairs(_accesses_of(loops, body), _made_in(body))
        )

    def prove_reordered(self, loops: Sequence[For], order: Sequence[For], body: Stmt) -> bool:
        """True if iterations of the nest `loops` that meet keep their order with that in `order`.

        An error counts as an effect here: another one might come first.
        """
        if _may_stop(body):
            return False
        variables = [loop.var for loop in order]
        return all(
            self.meet(x, y, loops).keeps_order(variables) or self.prove_never_meet(x, y)
            for x, y in _pairs(_accesses_of(loops, body), _made_in(body))
        )

    def prove_first_goes_ahead(self, loop: For, first: Stmt, second: Stmt) -> bool:
        """True if no iteration of `first` meets an earlier one of `second`, both run in `loop`.

        Then all of `first` may run before all of `second`, and the other way round: two loops, one
        after the other, may be one.
        """
        if _may_stop(first) or _may_stop(second):
            return False
        made = _made_in(first) | _made_in(second)
        return all(
            Order.AFTER not in self.meet(x, y, [loop]).order() or self.prove_never_meet(x, y)
            for x in find_accesses(first, scope=(loop,))
            for y in find_accesses(second, scope=(loop,))
            if x.buffer is y.buffer and (x.is_write or y.is_write) and x.buffer not in made
        )

    def prove_own_updates(self, loops: Sequence[For], body: Stmt, store: Store) -> bool:
        """True if `body` reads and writes the array of `store` at that one element only.

        Each element is updated in those iterations of the nest `loops` alone that agree in all the
        loops whose variables its indices mention.
        """
        mentioned = {node for index in store.indices for node in walk(index)}
        inside = {node.var for node in walk_stmts(body) if isinstance(node, For | Let)}
        if not inside.isdisjoint(mentioned):
            return False
        accesses = [a for a in find_accesses(body, scope=tuple(loops)) if a.buffer is store.buffer]
        update = next(access for access in accesses if access.is_write)
        others = [access for access in accesses if access.indices != store.indices]
        apart = self.meet(update, update, loops)
        return all(apart.is_zero(loop.var) for loop in loops if loop.var in mentioned) and all(
            self.prove_never_meet(update, other) for other in others
        )

    def prove_distinct(self, loop: For, store: Store) -> bool:
        """True if the element that `store`, in the body of `loop`, sets differs between iterations.

        One index has to be `c * i + rest`, i being the loop's variable, where what the rest may be
        inside an iteration spans less than c: `i`, `32 * i + j` with j in range(32).
        """
        accesses = find_accesses(loop.body, scope=(loop,))
        access = next(access for access in accesses if access.node is store)
        return self.meet(access, access, [loop]).is_same

    def meet(self, x: Access, y: Access, loops: Sequence[For]) -> Distances:
        """How many iterations of the nest `loops` later `x` can be, where it meets `y`."""
        pairs = [*zip(self._indices_of(x), self._indices_of(y), strict=True), *self._places(x, y)]
        found = Distances.within({loop.var: self._farthest(loop.var) for loop in loops})
        equations = (self._equation(a, b, found.low) for a, b in pairs if a is not None)
        found.solve([equation for equation in equations if equation is not None])
        return found

    def _places(self, x: Access, y: Access) -> Iterator[tuple[_Index | None, _Index | None]]:
        """More pairs of indices that are equal where two accesses meet: see places.py."""
        for a, b in zip(x.indices, y.indices, strict=True):
            ours, theirs = self._places_of(a, x), self._places_of(b, y)
            are_same = ours.sizes == theirs.sizes and all(map(self._stays, ours.sizes))
            if ours.sizes and are_same:
                pairs = zip(ours.indices, theirs.indices, strict=True)
                yield from ((self._index(one), self._index(other)) for one, other in pairs)

    def _places_of(self, index: Expr, access: Access) -> Places:
        """What an index is made of. If it is not known to be inside, it may be negative, and count
        from the end.
        """
        if self.is_checked and not isinstance(index, Bounded):
            return find_places(index, access.scope)
        inside = index.index if isinstance(index, Bounded) else index
        found = find_places(inside, access.scope)
        forms = [self.facts.form(each) for each in found.indices]
        is_natural = all(form and self.facts.prove_non_negative(form) for form in forms)
        return found if is_natural else Places((index,))

    def _stays(self, size: Expr) -> bool:
        """True if a size is the same in all iterations."""
        return is_total(size) and all(self._is_fixed(v) for v in walk(size) if isinstance(v, Var))

    def prove_never_meet(self, x: Access, y: Access) -> bool:
        """True if no iteration of one access touches what any iteration of the other does."""
        scope, indices = in_another_iteration(y)
        with self._guards():
            for item in (*x.scope, *scope):
                enter(self.facts, item)
            pairs = zip(x.indices, indices, strict=True)
            return any(self._prove_different(a, b) for a, b in pairs)

    def _never_cross(self, x: Access, y: Access, loops: Sequence[For]) -> bool:
        return self.meet(x, y, loops).is_same or self.prove_never_meet(x, y)

    def _prove_different(self, a: Expr, b: Expr) -> bool:
        x, y = self.facts.exact(a), self.facts.exact(b)
        if x is None or y is None:
            return False
        if not self.is_checked and not all(map(self.facts.prove_non_negative, (x, y))):
            return False
        differences = (x.plus(y, -1), y.plus(x, -1))
        return any(self.facts.prove_non_negative(each.plus(Linear({}, -1))) for each in differences)

    # -- indices over counters -----------------------------------------------------------------

    @contextmanager
    def _guards(self) -> Generator[None]:
        """Forget the guards of a place after it. Ranges stay known: each variable is bound once."""
        before = len(self.facts.guards)
        yield
        del self.facts.guards[before:]

    def _enter(self, scope: Scope) -> None:
        """Know what holds in `scope`, which is inside of the iterations.

        Guards are of use only where it has to be proved that indices are not negative.
        """
        for item in scope:
            if self.is_checked and self._is_entered(item):
                continue
            enter(self.facts, item)
            if isinstance(item, For) and item.var not in self._counters:
                self._counters[item.var] = self._count(item)
            elif isinstance(item, Let):
                self._names.add(item.var)

    def _is_entered(self, item: For | Let | Expr) -> bool:
        if isinstance(item, Expr):
            return True
        return item.var in (self._counters if isinstance(item, For) else self._names)

    def _count(self, loop: For) -> _Counter | None:
        start, stop = self.facts.form(loop.start), self.facts.form(loop.stop)
        index = None if start is None else self._counted(start)
        if start is None or index is None or not isinstance(loop.step, Const):
            return None
        step = int(loop.step.value.real)
        is_exact = self.facts.is_exact(start) and stop is not None and self.facts.is_exact(stop)
        if stop is None or step == 0:
            return None if step == 0 else _Counter(index, step, _MOST_TRIPS)
        distance = stop.plus(start, -1).times(1 if step > 0 else -1)
        # A constant distance above 0 is right even if both ends overflow: else there is no trip.
        is_known = is_exact or (not distance.terms and distance.constant > 0)
        most = self.facts.interval(distance)[1] if is_known else _MODULUS
        return _Counter(index, step, min(max(1, -(-most // abs(step))), _MOST_TRIPS))

    def _indices_of(self, access: Access) -> list[_Index | None]:
        if access not in self._indices:
            with self._guards():
                self._enter(access.scope)
                self._indices[access] = [self._index(index) for index in access.indices]
        return self._indices[access]

    def _index(self, index: Expr) -> _Index | None:
        """`index` over counters; None if it says nothing of the element."""
        form = self.facts.form(index)
        counted = None if form is None else self._counted(form)
        if form is None or counted is None or self.is_checked:
            return counted
        is_natural = self.facts.prove_non_negative(form) and self._most(counted) < _MODULUS // 2
        return counted if is_natural else None

    def _most(self, index: _Index) -> int:
        most = self.facts.interval(index.rest)[1]
        return most + sum(max(0, c * self._farthest(var)) for var, c in index.factors.items())

    def _farthest(self, loop: Var) -> int:
        counter = self._counters.get(loop)
        return (_MOST_TRIPS if counter is None else counter.trips) - 1

    def _counted(self, form: Linear) -> _Index | None:
        """`form` with counters in the place of the variables of loops inside."""
        factors: dict[Var, int] = {}
        rest = Linear({}, form.constant)
        for var, coefficient in form.terms.items():
            counter = self._counters.get(var)
            if counter is not None:
                rest = rest.plus(counter.start.rest, coefficient)
                steps = {**counter.start.factors, var: counter.step}
                for loop, step in steps.items():
                    factors[loop] = factors.get(loop, 0) + coefficient * step
            elif self._is_fixed(var):
                rest = rest.plus(Linear({var: 1}), coefficient)
            else:
                return None
        return _Index({loop: factor for loop, factor in factors.items() if factor}, rest)

    def _is_fixed(self, var: Var) -> bool:
        """True if a variable of a form is the same in all iterations."""
        facts = self.facts
        if var in self._counters or var in self._names:
            return False
        if var in facts.factors:
            return all(map(self._is_fixed, facts.factors[var]))
        if var not in facts.ranges or var in self._outer:
            return True
        # A part that is no polynomial: one that reads memory has no expression.
        expr = next((expr for expr, name in facts.named.items() if name is var), None)
        if expr is None:
            return False
        return all(self._is_fixed(node) for node in walk(expr) if isinstance(node, Var))

    # -- equations -----------------------------------------------------------------------------

    def _equation(self, a: _Index, b: _Index | None, loops: Iterable[Var]) -> Equation | None:
        """What the distance of two iterations has to be for the indices to be equal."""
        if b is None:
            return None
        rest = a.rest.plus(b.rest, -1)
        low = high = 0
        factors: dict[Var, int] = {}
        for loop in dict.fromkeys((*a.factors, *b.factors)):
            ours, theirs = a.factors.get(loop, 0), b.factors.get(loop, 0)
            if loop in loops and ours == theirs:
                factors[loop] = ours
                continue
            far = self._farthest(loop)
            low += min(0, ours * far) - max(0, theirs * far)
            high += max(0, ours * far) - min(0, theirs * far)
        low, high = self._interval(rest, (low, high))
        reach = sum(abs(factor) * self._farthest(loop) for loop, factor in factors.items())
        if reach + max(abs(low), abs(high)) >= _MODULUS:
            return None
        return Equation(factors, (low, high))

    def _interval(self, rest: Linear, inside: Interval) -> Interval:
        """Bounds of what is the same in all iterations, and of something in `inside`, together."""
        low, high = self.facts.interval(rest)
        low, high = low + inside[0], high + inside[1]
        if not rest.terms:
            return low, high
        least = rest.plus(Linear({}, inside[0]))
        below = rest.plus(Linear({}, inside[1])).times(-1)
        return max(low, self._find_low(least)), min(high, -self._find_low(below))

    def _find_low(self, form: Linear) -> int:
        """1 or 0 if `form` is at least that; else less than it can be."""
        prove = self.facts.prove_non_negative
        return 1 if prove(form.plus(Linear({}, -1))) else 0 if prove(form) else -_MODULUS


class LoopProofs:
    """Proofs about loops of one statement, which is looked through once."""

    def __init__(self, root: Stmt) -> None:
        self._root = root

    @kept_property
    def _scopes(self) -> dict[Var, Scope]:
        return scopes_of_loops(self._root)

    def prove_independent(self, loop: For) -> bool:
        """True if each iteration of `loop` only writes to what no other one touches.

        It may be another loop than the one that binds its variable in the root, in the same place.
        """
        around = self._scopes[loop.var]
        return Independence.within(Facts(), around).prove_independent([loop], loop.body)


def enter(facts: Facts, item: For | Let | Expr) -> None:
    """Know what holds inside of `item`."""
    match item:
        case For():
            facts.enter_loop(item)
        case Let(var, value):
            facts.bind(var, value)
        case _:
            facts.assume(item)


def has_effects(stmt: Stmt) -> bool:
    """True if others see that `stmt` runs, but for elements and errors."""
    return any(map(_is_effect, walk(stmt)))


def _is_effect(node: Node) -> bool:
    if isinstance(node, ExternCall):
        return not node.callee.is_reentrant
    return isinstance(node, Print | BufferRef)


def _may_stop(stmt: Stmt) -> bool:
    """True if others see when `stmt` runs, errors that it raises included."""
    return has_effects(stmt) or any(isinstance(node, Assert | Raise) for node in walk_stmts(stmt))


def _made_in(body: Stmt) -> set[Buffer]:
    return {node.buffer for node in walk_stmts(body) if isinstance(node, Allocate)}


def _accesses_of(loops: Sequence[For], body: Stmt) -> list[Access]:
    """What a nest touches, with its bounds, which are read between iterations; each thing once."""
    found = find_accesses(body, scope=tuple(loops))
    if len(loops) > 1:
        for depth, loop in enumerate(loops):
            bounds = (loop.start, loop.stop, loop.step)
            found += find_accesses(*bounds, scope=tuple(loops[:depth]))
    return list({(a.buffer, a.indices, a.is_write, a.scope): a for a in found}.values())


def _pairs(accesses: Sequence[Access], made: set[Buffer]) -> Iterator[tuple[Access, Access]]:
    """Every store, with all that touches the same array, if it is not made in an iteration."""
    stores = [access for access in accesses if access.is_write and access.buffer not in made]
    done: set[Access] = set()
    for store in stores:
        done.add(store)
        for other in accesses:
            if other.buffer is store.buffer and (other is store or other not in done):
                yield store, other
