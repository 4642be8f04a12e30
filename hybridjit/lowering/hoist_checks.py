"""Test before a loop whether all of its indices stay inside: if so, run it without checks.

    for i in range(n):                                     if 0 <= k and n + k <= m:
        out[i] = a[checked_index(i + k, m)]      -->           for i in range(n):
                                                                   out[i] = a[i + k]
                                                           else:
                                                               for i in range(n):
                                                                   out[i] = a[checked_index(...)]

The checked loop is as it was, so that errors come from the same iteration, after the same
effects; a vector loop that is sure to fail becomes a plain one. Relies on: checked indices.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator
from functools import reduce
from itertools import chain, islice
from typing import TYPE_CHECKING

from hybridjit.analysis.bounds import Facts
from hybridjit.analysis.forms import Range
from hybridjit.analysis.initialization import find_unassigned_reads
from hybridjit.arith.linear import Linear
from hybridjit.errors import Span
from hybridjit.ir.dtype import INT64
from hybridjit.ir.expr import (
    Add,
    And,
    Bounded,
    Buffer,
    Const,
    Expr,
    Le,
    Load,
    Mul,
    Node,
    Or,
    Select,
    Var,
)
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.header import MAX_EXTENT
from hybridjit.ir.stmt import Break, Continue, For, If, Let, LoopKind, Return, Stmt, While, seq
from hybridjit.ir.visit import Mutator, fresh_copy, rewrite, walk
from hybridjit.kept_property import kept_property
from hybridjit.lazy import lazy_module
from hybridjit.record import record

if TYPE_CHECKING:
    from hybridjit.lowering import name_invariants
else:
    # Where checks depend on what is loaded.
    name_invariants = lazy_module("hybridjit.lowering.name_invariants")


# A second copy of a larger loop costs more to compile than its checks cost to run.
MAX_NODES = 1000
# A larger loop that keeps some of its checks anyway has inner loops that are tested on their own:
# their tests are nearer to what they are about, and their second copies are smaller.
_MAX_PARTLY_CHECKED = 200
# Values beyond this are left to the checked loop: sums of a few smaller ones do not overflow.
_LIMIT = MAX_EXTENT
_SMALL_LIMIT = 1 << 30  # and sums of products of two do not overflow, if all are below this
_LARGEST_CONSTANT = 1 << 40
_LARGEST_FACTOR = 1 << 24  # larger ones come from limits, and no array is that large
# Of the ways to test one index, so many are tried at run time: `min(n, m)` has two.
_MAX_WAYS = 2
# The test would take as long as the checks of such a loop.
_SHORT = (LoopKind.VECTORIZED, LoopKind.UNROLLED)
# What may leave a check out.
_CHOICES = (If, While, Select, And, Or, Break, Continue, Return)


def hoist_checks(func: PrimFunc) -> PrimFunc:
    """`func` with a version without checks of every loop whose indices can be tested before it."""
    body = _HoistChecks(func).rewrite(func.body)
    return func if body is func.body else dataclasses.replace(func, body=body)


Place = tuple[Span | None, str, int]
"""Which index is meant: where it stands, of which array, along which axis."""


def find_hoisted(func: PrimFunc) -> dict[Place, For]:
    """The checks that `hoist_checks` takes out, each with the loop that it is tested before."""
    hoisting = _HoistChecks(func)
    hoisting.rewrite(func.body)
    return hoisting.taken_out


def place_of(check: Bounded) -> Place:
    """The place of a check, which later passes do not change."""
    return check.span, check.buffer, check.axis


class _HoistChecks(Mutator):
    """Outer loops first; the version that keeps its checks is left alone."""

    def __init__(self, func: PrimFunc) -> None:
        self.func = func
        self.taken_out: dict[Place, For] = {}

    @kept_property
    def unset(self) -> frozenset[Buffer]:
        return find_unassigned_reads(self.func)

    def rewrite_For(self, node: For) -> Stmt:
        nodes = list(walk(node))
        if not any(isinstance(item, Bounded) for item in nodes):
            return node
        if len(nodes) > MAX_NODES:
            return self.generic(node)
        plan = _Plan.of(self.func, node)
        if node.kind in _SHORT or (plan.hoists_all and not _has_loaded_bounds(node)):
            return self._run(plan)
        lets, named = name_invariants.name_invariants(node, self.unset)
        other = _Plan.of(self.func, named) if lets else plan
        # What is read from memory is not known, but by its name it can be tested.
        least = max(1, len(plan.hoisted) + (0 if _has_loaded_bounds(node) else 1))
        return seq(*lets, self._run(other)) if len(other.hoisted) >= least else self._run(plan)

    def _run(self, plan: _Plan) -> Stmt:
        if not plan.hoisted or not plan.is_worth_it:
            return self.generic(plan.loop)
        for check in plan.nodes:  # one test is for all that are equal
            if isinstance(check, Bounded) and check in plan.hoisted:
                self.taken_out.setdefault(place_of(check), plan.loop)
        fast = self.rewrite(_DropChecks(frozenset(plan.hoisted)).rewrite(plan.loop))
        if not plan.conditions:
            return fast
        rest = fresh_copy(plan.loop)
        if not any(isinstance(item, _CHOICES) for item in plan.nodes):
            rest = rewrite(rest, _in_order)
        return If(_all(plan.conditions), fast, rest, span=plan.loop.span)


def _has_loaded_bounds(loop: For) -> bool:
    bounds = (loop.start, loop.stop)
    return any(isinstance(node, Load) for bound in bounds for node in walk(bound))


@record
class _Plan:
    """A loop, the checks in it that can be left out, and when."""

    loop: For
    nodes: list[Node]
    hoisted: list[Bounded]
    conditions: list[Expr]
    hoists_all: bool

    @property
    def is_worth_it(self) -> bool:
        return self.hoists_all or len(self.nodes) <= _MAX_PARTLY_CHECKED

    @staticmethod
    def of(func: PrimFunc, loop: For) -> _Plan:
        """What can be tested before `loop`."""
        nodes = list(walk(loop))
        checks = dict.fromkeys(item for item in nodes if isinstance(item, Bounded))
        tests = _LoopTests(func, nodes)
        found = {check: tests.find(check) for check in checks}
        needed = {check: each for check, each in found.items() if each is not None}
        conditions = tests.with_assumptions(list(chain.from_iterable(needed.values())))
        return _Plan(loop, nodes, list(needed), conditions, len(needed) == len(checks))


def _in_order(node: Node) -> Node | None:
    """No lanes where every check is met, and one of them fails: they would all get that far."""
    if isinstance(node, For) and node.kind is LoopKind.VECTORIZED:
        return dataclasses.replace(node, kind=LoopKind.SERIAL)
    return None


class _DropChecks(Mutator):
    def __init__(self, checks: frozenset[Bounded]) -> None:
        self.checks = checks

    def rewrite_Bounded(self, node: Bounded) -> Expr:
        return self.rewrite(node.index) if node in self.checks else self.generic(node)


class _LoopTests:
    """What has to be tested before a loop, for each of the checks inside it.

    All that is known is about the loop itself. Of variables bound outside, `assumptions` are
    tested as well: they are small enough for sums of them to be exact.
    """

    def __init__(self, func: PrimFunc, nodes: list[Node]) -> None:
        self.facts = Facts.of(func)
        small = frozenset(self.facts.ranges)  # of ints that the caller gives
        outside = [var for var in _outside(nodes) if var not in self.facts.dimensions]
        scaling = _find_scaling(nodes, outside)
        if not scaling:
            outside = [var for var in outside if var not in small]
        self.known = self.facts.dimensions | small
        most = _SMALL_LIMIT if scaling else _LIMIT
        # A variable that scales others has to be of a known sign.
        self.outside = {
            var: Range(least=0 if var in scaling else -most, most=most) for var in outside
        }
        for var, assumed in self.outside.items():
            self.facts.position(var)
            self.facts.ranges[var] = assumed
        for item in nodes:
            if isinstance(item, For):
                self.facts.enter_loop(item)
            elif isinstance(item, Let):
                self.facts.bind(item.var, item.value)

    def find(self, check: Bounded) -> list[Expr] | None:
        """Conditions for the index to stay inside [0, n) in all iterations; None if not known."""
        index, size = self.facts.form(check.index), self.facts.exact(check.extent)
        if index is None or size is None:
            return None
        below = size.plus(index, -1).plus(Linear({}, -1))
        lower, upper = self._test(index), self._test(below)
        return None if lower is None or upper is None else [*lower, *upper]

    def _test(self, form: Linear) -> list[Expr] | None:
        """What to test before the loop so that `form` >= 0 inside it: at most one condition."""
        found = list(islice(filter(self._is_useful, self._lowest(form)), _MAX_WAYS))
        if any(self.facts.interval(lowest)[0] >= 0 for lowest in found):
            return []
        return [_any(map(self._at_least_zero, found))] if found else None

    def _lowest(self, form: Linear) -> Iterator[Linear]:
        return self.facts.lowest(form, self._is_outside)

    def _is_useful(self, form: Linear) -> bool:
        """Whether `form >= 0` may hold and can be computed: no sum of its terms overflows."""
        if any(abs(c) >= _LARGEST_FACTOR for c in form.terms.values()):
            return False
        ends = [self.facts.interval(Linear({var: c})) for var, c in form.terms.items()]
        size = sum(max(abs(low), abs(high)) for low, high in ends)
        may_hold = self.facts.interval(form)[1] >= 0
        return may_hold and size < 1 << 62 and abs(form.constant) < _LARGEST_CONSTANT

    def _is_outside(self, var: Var) -> bool:
        return var in self.known or var in self.outside

    def _at_least_zero(self, form: Linear) -> Expr:
        """`form >= 0`, as a comparison of two sums."""
        constant = form.constant
        more = [self._term(var, c) for var, c in form.terms.items() if c > 0]
        less = [self._term(var, -c) for var, c in form.terms.items() if c < 0]
        return Le(_sum(less, max(0, -constant)), _sum(more, max(0, constant)))

    def _term(self, var: Var, coefficient: int) -> Expr:
        product: Expr = reduce(Mul, self.facts.factors_of(var))
        return product if coefficient == 1 else Mul(product, Const(coefficient))

    def with_assumptions(self, conditions: list[Expr]) -> list[Expr]:
        """`conditions`, and that the variables bound outside are as small as was assumed."""
        assumed: list[Expr] = []
        for var, known in self.outside.items():
            is_positive = Le(Const(0), var)
            low = is_positive if is_positive in conditions else Le(Const(known.least), var)
            assumed += [low, Le(var, Const(known.most))]
        return list(dict.fromkeys([*assumed, *conditions]))


def _sum(terms: list[Expr], constant: int) -> Expr:
    if not terms:
        return Const(constant)
    total = reduce(Add, terms)
    return Add(total, Const(constant)) if constant else total


def _find_scaling(nodes: list[Node], outside: list[Var]) -> frozenset[Var]:
    """The variables bound outside that others are multiplied with."""
    products = (node for node in nodes if isinstance(node, Mul) and node.dtype is INT64)
    factors = [(each.lhs, each.rhs) for each in products]
    scaling = [pair for pair in factors if not any(isinstance(each, Const) for each in pair)]
    return frozenset(var for var in outside if any(var in pair for pair in scaling))


def _outside(nodes: list[Node]) -> list[Var]:
    """The variables that indices and loops are made of and that are bound outside the loop."""
    bound = {item.var for item in nodes if isinstance(item, For | Let)}
    used: dict[Var, None] = {}
    for item in nodes:
        match item:
            case For(start=start, stop=stop, step=step):
                parts = [start, stop, step]
            case Let(value=value) if value.dtype is INT64:
                parts = [value]
            case Bounded(index, extent):
                parts = [index, extent]
            case _:
                continue
        inner = (node for part in parts for node in walk(part) if isinstance(node, Var))
        used.update((var, None) for var in inner if var.of is INT64 and var not in bound)
    return list(used)


def _all(conditions: Iterable[Expr]) -> Expr:
    return reduce(And, conditions)


def _any(conditions: Iterable[Expr]) -> Expr:
    return reduce(Or, dict.fromkeys(conditions))
