"""Prove that an index stays inside its array: reasoning over the loops and guards around.

To prove `e >= 0`, write e as a form and replace each loop variable, innermost first, by whichever
end of its range makes e smaller: `i - j - 1` with j in range(i) becomes `i - (i - 1) - 1 = 0`.
What remains are run-time dimensions, which are never negative. `min(n, x)` has two upper ends, of
which one may do; `q = x // m` has `q <= r` wherever `x <= r * m + m - 1`. A guard `if i > 0` is a
form that is known to be non-negative; subtracting it may finish the proof.

Proofs are over the integers, code computes modulo 2^64. A fact counts only where the two are the
same: `n + 1 < 5` says nothing about an n that may be 2^63 - 1. An index needs no such care: if
its form lies inside the array, so does its value.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import field

from hybridjit.analysis.forms import (
    MAX_INT,
    MIN_INT,
    Forms,
    Range,
    array_limits,
    clipped_factors,
    if_positive,
)
from hybridjit.arith.linear import Linear
from hybridjit.ir.dtype import INT64
from hybridjit.ir.expr import And, Compare, Const, Eq, Expr, Ge, Gt, Le, Lt, Ne, Not, Or, Var
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.header import MAX_EXTENT
from hybridjit.ir.signature import ScalarParam
from hybridjit.ir.stmt import For
from hybridjit.record import record

# Replacements tried before a proof is given up: those that succeed need about ten.
_MAX_STEPS = 64
# Guards used together in one proof.
_MAX_GUARDS = 2


@record(frozen=False)
class Facts(Forms):
    """What is known at a place: ranges of variables, innermost last, and guards that hold."""

    guards: list[Linear] = field(default_factory=list[Linear])
    _steps: int = 0

    @staticmethod
    def of(func: PrimFunc) -> Facts:
        """What is known where the body of `func` begins."""
        buffers = (*func.buffers, *func.outputs)
        sizes = [size for buffer in func.outputs for size in buffer.shape if isinstance(size, Var)]
        facts = Facts(frozenset((*func.dimensions, *sizes)), array_limits(buffers))
        for param in func.params:
            if isinstance(param, ScalarParam) and param.is_small:
                facts.position(param.var)
                facts.ranges[param.var] = Range(least=-MAX_EXTENT, most=MAX_EXTENT)
        return facts

    def enter_loop(self, loop: For) -> None:
        """Note what holds inside a loop: the range of its variable, and that it is not empty."""
        start, stop = self.exact(loop.start), self.exact(loop.stop)
        self.position(loop.var)
        match loop.step:
            case Const(int(step)) if step > 0:
                is_positive = start is not None and self.interval(start)[0] >= 0
                if stop is not None and is_positive:
                    stop = self._exact_if_positive(loop.stop, stop)
                self._limit(loop.var, start, _last(start, stop, step))
                if is_positive:
                    self._note_factors(loop.stop)
            case Const(int(step)) if step < 0:
                self._limit(loop.var, _last(start, stop, step), start)
            case _:
                pass

    def _exact_if_positive(self, expr: Expr, form: Linear) -> Linear:
        """The form of `expr`, which is more than 0; `form` is that of any value of it."""
        positive = self.exact(if_positive(expr))
        return form if positive is None else positive

    def _note_factors(self, expr: Expr) -> None:
        """Note that factors of `expr`, which is more than 0, such as max(n - 2, 0), are, too."""
        for factor in clipped_factors(expr):
            self._at_least(factor, Const(0), 1)

    def _limit(self, var: Var, low: Linear | None, high: Linear | None) -> None:
        if low is not None and high is not None and (low.terms or high.terms):
            self.guards.append(high.plus(low, -1))
        self.ranges[var] = Range(
            () if low is None else (low,),
            () if high is None else (high,),
            least=MIN_INT if low is None else self.interval(low)[0],
            most=MAX_INT if high is None else self.interval(high)[1],
        )

    def bind(self, var: Var, value: Expr) -> None:
        """Note the value of a `Let`."""
        form = self.form(value)
        if form is not None:
            self.lets[var] = form

    # -- guards --------------------------------------------------------------------------------

    def assume(self, condition: Expr) -> None:
        """Note that `condition` holds, until it is taken off `guards` again."""
        match condition:
            case And(a, b):
                self.assume(a)
                self.assume(b)
            case Not(Not(inner)):
                self.assume(inner)
            case Not(Or(a, b)):
                self.assume(Not(a))
                self.assume(Not(b))
            case Not(Compare(a, b) as inner):
                self.assume(_NEGATED[type(inner)](a, b))
            case Compare(a, b):
                self._compare(type(condition), a, b)
            case _:
                pass

    def _compare(self, kind: type[Expr], a: Expr, b: Expr) -> None:
        if kind in (Gt, Ge, Eq):
            self._at_least(a, b, 1 if kind is Gt else 0)
        if kind in (Lt, Le, Eq):
            self._at_least(b, a, 1 if kind is Lt else 0)

    def _at_least(self, larger: Expr, smaller: Expr, gap: int) -> None:
        """Note that larger - smaller - gap >= 0."""
        if larger.dtype is not INT64:
            return
        a, b = self.exact(larger), self.exact(smaller)
        if a is None or b is None:
            return
        is_positive = self.interval(b)[0] + gap > 0
        if is_positive:
            a = self._exact_if_positive(larger, a)
        self.guards.append(a.plus(b, -1).plus(Linear({}, -gap)))
        if is_positive:
            self._note_factors(larger)

    # -- proofs --------------------------------------------------------------------------------

    def prove_inside(self, index: Expr, size: Expr) -> bool:
        """True if an index is in [0, size)."""
        form, end = self.form(index), self.form(size)
        if form is None or end is None or not self.is_exact(end):
            return False
        below_end = end.plus(form, -1).plus(Linear({}, -1))
        return self.prove_non_negative(form) and self.prove_non_negative(below_end)

    def prove_non_negative(self, form: Linear) -> bool:
        """True if `form` is sure to be >= 0; False means not known."""
        # Most proofs need no guard: those that do must not use up the steps of those that do not.
        return any(self._holds_by(form, most) for most in range(_MAX_GUARDS + 1))

    def is_natural(self, form: Linear) -> bool:
        """True if `form` is sure not to be negative, whether guards hold or not."""
        steps, self._steps = self._steps, _MAX_STEPS
        found = self._holds(form, (), 0)
        self._steps = steps
        return found

    def _holds_by(self, form: Linear, most: int) -> bool:
        """Whether that many guards at most are enough to prove `form` >= 0."""
        self._steps = _MAX_STEPS
        return self._holds(form, self.guards, most)

    def prove(self, condition: Expr) -> bool:
        """True if `condition` is sure to hold; False means not known."""
        match condition:
            case And(a, b):
                return self.prove(a) and self.prove(b)
            case Or(a, b):
                return self.prove(a) or self.prove(b)
            case Not(Not(inner)):
                return self.prove(inner)
            case Not(And(a, b)):
                return self.prove(Not(a)) or self.prove(Not(b))
            case Not(Or(a, b)):
                return self.prove(Not(a)) and self.prove(Not(b))
            case Not(Compare(a, b) as inner):
                return self._prove_compared(_NEGATED[type(inner)], a, b)
            case Compare(a, b):
                return self._prove_compared(type(condition), a, b)
            case _:
                return False

    def _prove_compared(self, kind: type[Expr], a: Expr, b: Expr) -> bool:
        if a.dtype is not INT64:
            return False
        x, y = self.exact(a), self.exact(b)
        if x is None or y is None:
            return False
        more, less = x.plus(y, -1), y.plus(x, -1)
        strict = Linear({}, -1)
        proofs: dict[type[Expr], Callable[[], bool]] = {
            Ge: lambda: self.prove_non_negative(more),
            Gt: lambda: self.prove_non_negative(more.plus(strict)),
            Le: lambda: self.prove_non_negative(less),
            Lt: lambda: self.prove_non_negative(less.plus(strict)),
            Eq: lambda: self.prove_non_negative(more) and self.prove_non_negative(less),
            Ne: lambda: any(self.prove_non_negative(d.plus(strict)) for d in (more, less)),
        }
        return proofs[kind]()

    def _holds(self, form: Linear, guards: Sequence[Linear], most: int) -> bool:
        """Whether `form` is non-negative, with the help of at most so many of the guards."""
        form = _tightened(form)
        if self.interval(form)[0] >= 0:
            return True
        self._steps -= 1
        if self._steps < 0:
            return False
        # The guard nearest to a place says most about it.
        if most > 0 and any(
            self._holds(form.plus(guards[position], -scale), guards[:position], most - 1)
            for position in reversed(range(len(guards)))
            for scale in _scales(form, guards[position])
        ):
            return True
        var = self._innermost(form, self._is_fixed)
        return var is not None and any(
            all(self._holds(part, guards, most) for part in parts)
            for parts in self._eliminate(form, var)
        )

    def _is_fixed(self, var: Var) -> bool:
        return var not in self.ranges

    def lowest(self, form: Linear, is_kept: Callable[[Var], bool]) -> Iterator[Linear]:
        """Forms over the variables that are kept, such that `form` is at least each of them."""
        self._steps = _MAX_STEPS
        return self._lowest(form, is_kept)

    def _lowest(self, form: Linear, is_kept: Callable[[Var], bool]) -> Iterator[Linear]:
        var = self._innermost(form, is_kept)
        self._steps -= 1
        if var is None:
            yield form
        elif self._steps > 0 and var in self.ranges:
            for forms in self._eliminate(form, var):
                if len(forms) == 1:
                    yield from self._lowest(forms[0], is_kept)

    def _innermost(self, form: Linear, is_kept: Callable[[Var], bool]) -> Var | None:
        """The variable of `form`, of those not kept, that is bound last."""
        found = [
            factor for var in form.terms for factor in self.factors_of(var) if not is_kept(factor)
        ]
        return max(found, key=self.position, default=None)

    def _eliminate(self, form: Linear, var: Var) -> Iterator[tuple[Linear, ...]]:
        """Ways to prove `form` >= 0 without `var`: forms that suffice together."""
        known = self.ranges[var]
        signs = {self._sign(form, term, var) for term in self._terms_with(form, var)}
        lows, highs = _ends(known, signs)
        for low in lows:
            for high in highs:
                yield (self._replace(form, var, low, high),)
        coefficient = form.terms.get(var, 0)
        if known.quotient is not None and coefficient != 0 and self._is_linear(form, var):
            yield (self._without_quotient(form, var, *known.quotient),)
        if known.cases:
            yield tuple(self._replace(form, var, case, case) for case in known.cases)

    def _sign(self, form: Linear, term: Var, var: Var) -> int:
        """The sign of what `var` is multiplied with in a term; 0 if not known."""
        low, high = self.interval(self.without(term, var).times(form.terms[term]))
        return 1 if low >= 0 else -1 if high <= 0 else 0

    def _terms_with(self, form: Linear, var: Var) -> list[Var]:
        return [term for term in form.terms if var in self.factors_of(term)]

    def _is_linear(self, form: Linear, var: Var) -> bool:
        return self._terms_with(form, var) == [var]

    def _replace(self, form: Linear, var: Var, low: Linear, high: Linear) -> Linear:
        """`form` with the bounds of `var` in its place: a form that is at most as large."""
        result = form
        for term in self._terms_with(form, var):
            coefficient = form.terms[term]
            bound = high if self._sign(form, term, var) < 0 else low
            product = self.multiply(bound, self.without(term, var))
            result = result.plus(Linear({term: 1}), -coefficient).plus(product, coefficient)
        return result

    def _without_quotient(self, form: Linear, q: Var, x: Linear, m: Linear) -> Linear:
        """What makes c * q + rest >= 0, where q = x // m: m * q <= x <= m * q + m - 1."""
        c = form.terms[q]
        rest = self.multiply(form.plus(Linear({q: 1}), -c), m)
        match c:
            case 1:
                return rest.plus(x)
            case -1:
                return rest.plus(m).plus(x, -1).plus(Linear({}, -1))
            case _ if c > 0:
                return rest.plus(x.plus(m, -1).plus(Linear({}, 1)), c)
            case _:
                return rest.plus(x, c)


_NEGATED: dict[type[Expr], type[Compare]] = {Lt: Ge, Le: Gt, Gt: Le, Ge: Lt, Ne: Eq, Eq: Ne}


def _last(start: Linear | None, stop: Linear | None, step: int) -> Linear | None:
    """The last value of a loop that runs, or a bound of it."""
    if stop is None:
        return None
    sign = 1 if step > 0 else -1
    before = stop.plus(Linear({}, -sign))
    if start is None or step == sign:
        return before
    distance = before.plus(start, -1)
    if any(coefficient % step for coefficient in distance.terms.values()):
        return before
    # The steps taken are a whole number: what the constant leaves over is not reached.
    return before.plus(Linear({}, -(distance.constant - distance.constant // step * step)))


def _ends(known: Range, signs: set[int]) -> tuple[Sequence[Linear], Sequence[Linear]]:
    """The lower and the upper bounds to try for a variable that is multiplied with such signs.

    A side that is not needed has one bound, which means nothing.
    """
    if 0 in signs:
        return (), ()
    lows = _with_number(known.lows, known.least, MIN_INT) if 1 in signs else (_UNUSED,)
    highs = _with_number(known.highs, known.most, MAX_INT) if -1 in signs else (_UNUSED,)
    return lows, highs


_UNUSED = Linear({})


def _with_number(forms: tuple[Linear, ...], number: int, unknown: int) -> tuple[Linear, ...]:
    constant = Linear({}, number)
    return forms if number == unknown or constant in forms else (*forms, constant)


def _scales(form: Linear, guard: Linear) -> list[int]:
    """How often to subtract `guard` so that a variable of `form` goes away or changes its sign."""
    scales: dict[int, None] = {}
    for var, coefficient in guard.terms.items():
        own = form.terms.get(var, 0)
        if own * coefficient > 0:
            scales[max(1, own // coefficient)] = None
    return list(scales)


def _tightened(form: Linear) -> Linear:
    """The same inequality `form >= 0` over the integers, in smaller numbers."""
    divisor = math.gcd(*form.terms.values())
    if divisor <= 1:
        return form
    terms = {var: coefficient // divisor for var, coefficient in form.terms.items()}
    return Linear(terms, form.constant // divisor)
