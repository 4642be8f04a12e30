"""Equations between indices: for which values of its axes an operation reads a given element.

X[i + k, 2 * j] == X[a, b]   -->   i = a - k  where 0 <= a - k < n,  k and j are left open,
                                   and 2 * j == b is a condition
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field

from hybridjit.analysis.bounds import Facts
from hybridjit.arith.linear import Linear, linear_form
from hybridjit.arith.simplify import simplify
from hybridjit.ir.dtype import INT64
from hybridjit.ir.expr import Add, Const, Eq, Expr, Ge, Load, Lt, Mul, Select, Sub, Var
from hybridjit.ir.stmt import For, seq
from hybridjit.ir.visit import substitute, walk
from hybridjit.record import record
from hybridjit.tensors.guarded_loads import visit_loads
from hybridjit.tensors.tensor import Axis, AxisKind


@record(frozen=False)
class Solution:
    """Axes with a value, ranges that these must be in, equations that must hold besides, and axes
    that are left open.

    Equations may read tensors, which they can only where ranges hold.
    """

    values: dict[Var, Expr] = field(default_factory=dict[Var, Expr])
    ranges: list[Expr] = field(default_factory=list[Expr])
    equations: list[Expr] = field(default_factory=list[Expr])
    open: list[Axis] = field(default_factory=list[Axis])

    def apply(self, expr: Expr) -> Expr:
        """`expr` with the values of axes in their place."""
        return substitute(expr, self.values)

    def placed(self, places: Mapping[Var, Expr]) -> Solution:
        """The solution for targets that are given as expressions."""
        values = {var: substitute(value, places) for var, value in self.values.items()}
        ranges, equations = (
            [substitute(condition, places) for condition in conditions]
            for conditions in (self.ranges, self.equations)
        )
        return Solution({**values, **places}, ranges, equations, self.open)


def from_start(
    value: Expr, element: Load, axes: Sequence[Axis], where: Expr | None, sizes: frozenset[Var]
) -> list[Expr]:
    """The indices of `element`, which `value` reads, counted from the start of the buffer.

    One that may be negative somewhere, and so counts from the end, becomes a choice. `sizes` are
    those that are known at run time.
    """
    facts = Facts(sizes, ())
    for axis in axes:
        facts.enter_loop(For(axis.var, axis.start, axis.stop, Const(1), seq()))
    if where is not None:
        facts.assume(where)
    doubtful: set[int] = set()

    def look(load: Load) -> None:
        if load == element:
            for dim, position in enumerate(load.indices):
                form = facts.exact(position)
                if form is None or not facts.prove_non_negative(form):
                    doubtful.add(dim)

    visit_loads(value, facts, look)
    return [
        Select(Lt(position, Const(0)), Add(position, extent), position)
        if dim in doubtful
        else position
        for dim, (position, extent) in enumerate(
            zip(element.indices, element.buffer.shape, strict=True)
        )
    ]


def solve(
    indices: Sequence[Expr], target: Sequence[Axis], axes: Sequence[Axis], sizes: frozenset[Var]
) -> Solution:
    """The values of `axes` for which all of `indices` are those of `target`."""
    solution = Solution()
    pairs = zip(indices, (axis.var for axis in target), strict=True)
    for place, wanted in sorted(pairs, key=_is_compound):
        axis = _choose(solution.apply(place), axes, solution)
        if axis is None:
            solution.equations.append(Eq(place, wanted))
        else:
            _set(solution, axis, _solved_for(solution.apply(place), wanted, axis.var))
    solution.open = [axis for axis in axes if axis.var not in solution.values]
    facts = Facts(sizes, ())
    for axis in (*target, *solution.open):
        start, stop = (solution.apply(bound) for bound in axis.dom)
        facts.enter_loop(For(axis.var, start, stop, Const(1), seq()))
    ranges = map(solution.apply, _range_conditions(axes, solution))
    solution.ranges = [condition for condition in ranges if not _holds(facts, condition)]
    solution.equations = list(map(solution.apply, solution.equations))
    return solution


def _is_compound(equation: tuple[Expr, Var]) -> bool:
    """Plain axes are solved for first: what they are is known without doubt."""
    return not isinstance(equation[0], Var)


def _holds(facts: Facts, condition: Expr) -> bool:
    """Whether a condition is known to hold."""
    match condition:
        case Ge(a, b):
            gap = facts.exact(Sub(a, b))
        case Lt(a, b):
            gap = facts.exact(Sub(Sub(b, a), Const(1)))
        case _:
            return False
    return gap is not None and facts.prove_non_negative(gap)


def _choose(place: Expr, axes: Sequence[Axis], solution: Solution) -> Axis | None:
    """The axis to solve an equation for: one with factor 1 or -1, better large than small.

    Where its value is made of axes that are still open, no other open axis may range to it: of
    X[i + k] with k < i, i would be a - k, and k would range to itself.
    """
    form = linear_form(place)
    if form is None:
        return None
    unsolved = [axis for axis in axes if axis.var not in solution.values]
    is_alone = sum(axis.var in form.terms for axis in unsolved) == 1
    bounds = {node for axis in unsolved for bound in axis.dom for node in walk(bound)}
    found = [
        axis
        for axis in unsolved
        if form.terms.get(axis.var) in (1, -1) and (is_alone or axis.var not in bounds)
    ]
    return max(found, key=_size, default=None)


def _size(axis: Axis) -> tuple[bool, int]:
    match axis.start, axis.stop:
        case Const(int(start)), Const(int(stop)):
            return axis.kind is AxisKind.DATA, stop - start
        case _:
            return axis.kind is AxisKind.DATA, 1 << 62


def _solved_for(place: Expr, wanted: Expr, var: Var) -> Expr:
    """The value of `var` where `place`, a sum with var or -var in it, equals `wanted`."""
    form = linear_form(place)
    assert form is not None
    sign = form.terms[var]
    rest = Linear({v: c for v, c in form.terms.items() if v is not var}, form.constant)
    difference = Sub(wanted, _as_expr(rest)) if sign == 1 else Sub(_as_expr(rest), wanted)
    return simplify(difference)


def _as_expr(form: Linear) -> Expr:
    result: Expr = Const(form.constant, INT64)
    for var, factor in form.terms.items():
        result = Add(result, Mul(var, Const(factor, INT64)))
    return simplify(result)


def _set(solution: Solution, axis: Axis, value: Expr) -> None:
    known = {axis.var: value}
    for var, old in solution.values.items():
        solution.values[var] = substitute(old, known)
    solution.values[axis.var] = value


def _range_conditions(axes: Iterable[Axis], solution: Solution) -> list[Expr]:
    """That the value of each solved axis is in its range."""
    found: list[Expr] = []
    for axis in axes:
        if axis.var in solution.values:
            found += [Ge(axis.var, axis.start), Lt(axis.var, axis.stop)]
    return found
