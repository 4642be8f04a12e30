"""Indices and sizes of arrays as expressions: their arithmetic, and what is known of them."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace

from hybridjit.arith.linear import Linear, expr_of_form, linear_form
from hybridjit.arith.simplify import simplify
from hybridjit.ir.expr import Add, Const, Expr, FloorDiv, Max, Min, Mul, Select, Sub, Var
from hybridjit.record import record

ZERO, ONE = Const(0), Const(1)


def constant(expr: Expr) -> int | None:
    """The value of an index expression that is known now."""
    return int(expr.value.real) if isinstance(expr, Const) else None


def tidy(expr: Expr) -> Expr:
    """An index expression in its shortest form."""
    form = linear_form(expr)
    return simplify(expr) if form is None else expr_of_form(form)


def plus(a: Expr, b: Expr) -> Expr:
    """`a + b`, tidy."""
    return tidy(Add(a, b))


def minus(a: Expr, b: Expr) -> Expr:
    """`a - b`, tidy."""
    return tidy(Sub(a, b))


def times(a: Expr, b: Expr) -> Expr:
    """`a * b`, tidy."""
    return tidy(Mul(a, b))


@record
class Ranges:
    """What is known of variables: the loops that count them, the values they stand for, and
    which of them, or sums of them, are sizes of arrays.
    """

    loops: Mapping[Var, tuple[Expr, Expr, Expr]]
    values: Mapping[Var, Expr]
    sizes: Collection[Expr]

    def inside(self, indices: Sequence[Expr], shape: Sequence[Expr]) -> Ranges:
        """What is known inside of loops over an array of that shape."""
        found = {
            index: (ZERO, extent, ONE)
            for index, extent in zip(indices, shape, strict=True)
            if isinstance(index, Var)
        }
        return replace(self, loops={**self.loops, **found})

    def is_at_most(self, a: Expr, b: Expr) -> bool:
        """True if `a <= b` is sure inside the loops around; False if it is not known."""
        form = self.form(Sub(b, a))
        if form is not None and self._least(form) >= 0:
            return True
        match self._meaning(a):
            case Min(x, y):
                return self.is_at_most(x, b) or self.is_at_most(y, b)
            case _:
                return False

    def same(self, a: Expr, b: Expr) -> bool:
        """True if two sizes are sure to be equal."""
        if a == b:
            return True
        form = self.form(Sub(b, a))
        return form is not None and not form.terms and form.constant == 0

    def is_natural(self, expr: Expr) -> bool:
        """True if `expr` is sure not to be negative."""
        match self._meaning(expr):
            case Max(a, b):
                return self.is_natural(a) or self.is_natural(b)
            case Min(a, b) | Select(_, a, b):
                return self.is_natural(a) and self.is_natural(b)
            case Mul(a, b) | FloorDiv(a, b) if self.is_natural(a) and self.is_natural(b):
                return True
            case _:
                return self.is_at_most(ZERO, expr)

    def _meaning(self, expr: Expr) -> Expr:
        """What a name stands for."""
        return self.values.get(expr, expr) if isinstance(expr, Var) else expr

    def form(self, expr: Expr) -> Linear | None:
        """`expr` as a sum, with what is known of its variables put in."""
        return linear_form(expr, self._inline)

    def _inline(self, var: Var) -> Linear | None:
        if var not in self.values:
            return Linear({var: 1})
        return linear_form(self.values[var], self._inline) or Linear({var: 1})

    def _least(self, form: Linear) -> float:
        """A lower bound of `form`: each loop variable where it makes the sum smallest."""
        bounds = [self._least_by_name(form)]
        var = self._innermost(form)
        if var is not None:
            ends = self._ends(var, lowest=form.terms[var] > 0)
            bounds += [self._least(form.replace(var, end)) for end in ends]
        elif all(factor > 0 and self._counts(var) for var, factor in form.terms.items()):
            bounds.append(form.constant)
        return max(*bounds, self._least_by_size(form))

    def _least_by_size(self, form: Linear) -> float:
        """A lower bound of what is the size of an array, or more."""
        found = (linear_form(size) for size in self.sizes if isinstance(size, Add | Sub | Mul))
        more = (form.plus(size, -1) for size in found if size is not None)
        return max((rest.constant for rest in more if not rest.terms), default=-math.inf)

    def _least_by_name(self, form: Linear) -> float:
        """A lower bound by what a name in `form` stands for: the smaller or larger of two sums."""
        for var, factor in form.terms.items():
            match self._meaning(var):
                case Min(a, b) | Max(a, b) as value:
                    sides = [self.form(side) for side in (a, b)]
                    found = [
                        -math.inf if side is None else self._least(form.replace(var, side))
                        for side in sides
                    ]
                    return min(found) if isinstance(value, Min) == (factor > 0) else max(found)
                case _:
                    pass
        return -math.inf

    def _counts(self, var: Var) -> bool:
        """True if a variable is not negative, by what it stands for."""
        return var in self.sizes or (var in self.values and self.is_natural(self.values[var]))

    def _innermost(self, form: Linear) -> Var | None:
        """The loop variable of `form` that was bound last: its bounds may hold the others."""
        found = [var for var in form.terms if var in self.loops]
        if len(found) < 2:
            return found[0] if found else None
        order = list(self.loops)
        return max(found, key=order.index)

    def _ends(self, var: Var, *, lowest: bool) -> list[Linear]:
        """The first or the last value of a loop variable, whichever is lower or not: bounds."""
        start, stop, step = self.loops[var]
        direction = constant(step)
        if direction is None or direction == 0:
            return []
        if lowest == (direction > 0):
            found = [self.form(start)]
        elif direction > 0:
            found = [self.form(Sub(limit, ONE)) for limit in _limits(start, stop)]
        else:
            found = [self.form(Add(stop, ONE))]
        return [form for form in found if form is not None]


def _limits(start: Expr, stop: Expr) -> list[Expr]:
    """What the variable of a loop that runs stays below."""
    match stop:
        case Min(a, b):
            return [*_limits(start, a), *_limits(start, b)]
        case Max(a, Const(0)) if constant(start) == 0:
            return _limits(start, a)
        case _:
            return [stop]


def all_of(expr: Expr, kind: type[Min | Max]) -> Iterator[Expr]:
    """What nested minima (or maxima) are taken of: a, b and c of min(a, min(b, c))."""
    if isinstance(expr, kind):
        yield from all_of(expr.lhs, kind)
        yield from all_of(expr.rhs, kind)
    else:
        yield expr
