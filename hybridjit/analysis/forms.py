"""Index expressions as polynomials over variables, and what is known about each variable.

A form is a `Linear` over variables; a product of variables has a variable of its own, and so has
each part that is no polynomial: `x // 4`, `min(i, 3)`. Forms hold over the mathematical integers,
code computes modulo 2^64. The two agree wherever a form fits in int64, which is what `is_exact`
decides from bounds of the variables as numbers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import field, replace

from hybridjit.arith.linear import Linear
from hybridjit.ir.dtype import INT64
from hybridjit.ir.expr import (
    Add,
    Buffer,
    Cast,
    Const,
    Expr,
    ExternCall,
    FloorDiv,
    Load,
    Lt,
    Max,
    Min,
    Mod,
    Mul,
    Neg,
    Select,
    Sub,
    Var,
)
from hybridjit.ir.header import MAX_EXTENT
from hybridjit.ir.visit import walk
from hybridjit.record import record

MIN_INT, MAX_INT = -(1 << 63), (1 << 63) - 1

Interval = tuple[int, int]


@record
class Range:
    """What is known about a variable.

    It is at least each of `lows` and at most each of `highs`, and equal to one of `cases` unless
    there are none. `quotient` says that it is x // m, with m > 0. `least` and `most` are bounds
    as numbers.
    """

    lows: tuple[Linear, ...] = ()
    highs: tuple[Linear, ...] = ()
    cases: tuple[Linear, ...] = ()
    quotient: tuple[Linear, Linear] | None = None
    least: int = MIN_INT
    most: int = MAX_INT


@record(frozen=False)
class Forms:
    """Forms of expressions. Names and ranges of their parts are kept, later parts last.

    Expressions that read memory get a new name each time, since their value may have changed.
    """

    dimensions: frozenset[Var] = frozenset()
    # Arrays in memory: their run-time dimensions, and how large the product of those can be.
    arrays: tuple[tuple[Counter[Var], int], ...] = ()
    ranges: dict[Var, Range] = field(default_factory=dict[Var, Range])
    lets: dict[Var, Linear] = field(default_factory=dict[Var, Linear])
    named: dict[Expr, Var] = field(default_factory=dict[Expr, Var])
    products: dict[tuple[Var, ...], Var] = field(default_factory=dict[tuple[Var, ...], Var])
    factors: dict[Var, tuple[Var, ...]] = field(default_factory=dict[Var, tuple[Var, ...]])
    order: dict[Var, int] = field(default_factory=dict[Var, int])

    def form(self, expr: Expr) -> Linear | None:
        """`expr` as a form, or None."""
        if expr.dtype is not INT64:
            return None
        match expr:
            case Const(int(value)):
                return Linear({}, value)
            case Var():
                return self.lets.get(expr, Linear({expr: 1}))
            case Add(a, b) | Sub(a, b) | Mul(a, b):
                return self._combined(expr, self.form(a), self.form(b))
            case Neg(a):
                form = self.form(a)
                return None if form is None else form.times(-1)
            case FloorDiv() | Mod() | Min() | Max() | Select() | Cast():
                return Linear({self._name(expr): 1})
            case _:
                return None

    def _combined(self, expr: Add | Sub | Mul, a: Linear | None, b: Linear | None) -> Linear | None:
        if a is None or b is None:
            return None
        if isinstance(expr, Mul):
            return self.multiply(a, b)
        return a.plus(b, 1 if isinstance(expr, Add) else -1)

    def exact(self, expr: Expr) -> Linear | None:
        """`expr` as a form, if its value is sure to be that of the form."""
        form = self.form(expr)
        return form if form is not None and self.is_exact(form) else None

    # -- products ------------------------------------------------------------------------------

    def multiply(self, a: Linear, b: Linear) -> Linear:
        """The product of two forms."""
        result = a.times(b.constant).plus(Linear(b.terms), a.constant)
        for x, p in a.terms.items():
            for y, q in b.terms.items():
                result = result.plus(Linear({self._product(x, y): 1}), p * q)
        return result

    def _product(self, *parts: Var) -> Var:
        factors = [factor for part in parts for factor in self.factors_of(part)]
        if len(factors) == 1:
            return factors[0]
        key = tuple(sorted(factors, key=self.position))
        if key not in self.products:
            var = self.products[key] = Var("product")
            self.factors[var] = key
        return self.products[key]

    def factors_of(self, var: Var) -> tuple[Var, ...]:
        """The variables whose product `var` is; the variable itself if it is no product."""
        return self.factors.get(var, (var,))

    def without(self, product: Var, factor: Var) -> Linear:
        """What is left of a product without one factor."""
        rest = list(self.factors_of(product))
        rest.remove(factor)
        return Linear({self._product(*rest): 1}) if rest else Linear({}, 1)

    def position(self, var: Var) -> int:
        """When `var` was first met: later than all that its range mentions."""
        return self.order.setdefault(var, len(self.order))

    # -- parts that are no polynomials ---------------------------------------------------------

    def _name(self, expr: Expr) -> Var:
        known = self.named.get(expr)
        if known is not None:
            return known
        var, found = Var("part"), self._range_of(expr)
        self.position(var)
        self.ranges[var] = found
        if not any(isinstance(node, Load | ExternCall) for node in walk(expr)):
            self.named[expr] = var
        return var

    def _range_of(self, expr: Expr) -> Range:
        match expr:
            case FloorDiv(x, m):
                return self._quotient(self.exact(x), self._divisor(m))
            case Mod(x, m):
                return self._remainder(self.exact(x), self._divisor(m), self._name(FloorDiv(x, m)))
            case Min(a, b):
                return self._one_of([self.exact(a), self.exact(b)], at_most=True)
            case Max(a, b):
                return self._one_of([self.exact(a), self.exact(b)], at_least=True)
            case Select(cond, a, b):
                found = self._one_of([self.exact(a), self.exact(b)])
                return replace(found, least=max(found.least, self._least_chosen(cond, a, b)))
            case Cast(_, value) if value.dtype.is_integer or value.dtype.is_bool:
                low, high = value.dtype.bounds
                return Range(least=low, most=min(high, MAX_INT)) if high <= MAX_INT else Range()
            case _:
                return Range()

    def _least_chosen(self, cond: Expr, a: Expr, b: Expr) -> int:
        """A lower bound of `a if cond else b`, where b < 0 is what is asked: b is natural then."""
        form = self.exact(a)
        if form is None or cond != Lt(b, Const(0)):
            return MIN_INT
        return min(0, self.interval(form)[0])

    def _divisor(self, expr: Expr) -> Linear | None:
        """A divisor that is positive wherever the division has a value: 0 is an error."""
        form = self.exact(expr)
        if form is None:
            return None
        least, most = self.interval(form)
        return self.exact(if_positive(expr)) if least >= 0 and most > 0 else None

    def _quotient(self, x: Linear | None, m: Linear | None) -> Range:
        if m is None:
            return Range()
        # A dividend that has wrapped around is a number of 64 bits all the same.
        low, high = (MIN_INT, MAX_INT) if x is None else self.interval(x)
        if low < 0 and x is not None and self.is_natural(x):
            low = 0
        smallest, largest = self.interval(m)
        smallest = max(1, smallest)
        least = low // (smallest if low < 0 else largest)
        most = high // (smallest if high >= 0 else largest)
        return Range(quotient=None if x is None else (x, m), least=least, most=most)

    def _remainder(self, x: Linear | None, m: Linear | None, quotient: Var) -> Range:
        if m is None:
            return Range()
        below = m.plus(Linear({}, -1))
        most = self.interval(below)[1]
        if x is None:
            return Range((Linear({}),), (below,), least=0, most=most)
        cases = (x.plus(self.multiply(m, Linear({quotient: 1})), -1),)
        if not self.is_natural(x):
            return Range((Linear({}),), (below,), cases, least=0, most=most)
        most = min(most, self.interval(x)[1])
        return Range((Linear({}),), (below, x), cases, least=0, most=most)

    def _one_of(
        self, forms: Sequence[Linear | None], *, at_least: bool = False, at_most: bool = False
    ) -> Range:
        """The range of what is one of `forms`: the largest of them, the smallest, or any."""
        known = tuple(form for form in forms if form is not None)
        intervals = [(MIN_INT, MAX_INT) if f is None else self.interval(f) for f in forms]
        pick_least, pick_most = (max if at_least else min), (min if at_most else max)
        return Range(
            known if at_least else (),
            known if at_most else (),
            cases=known if len(known) == len(forms) else (),
            least=pick_least(low for low, _ in intervals),
            most=pick_most(high for _, high in intervals),
        )

    # -- numbers -------------------------------------------------------------------------------

    def is_natural(self, form: Linear) -> bool:
        """True if `form` is sure not to be negative, wherever its variables are known."""
        return self.interval(form)[0] >= 0

    def is_exact(self, form: Linear) -> bool:
        """True if `form`, computed in int64, does not overflow, whatever its variables are."""
        low, high = self.interval(form)
        return low >= MIN_INT and high <= MAX_INT

    def interval(self, form: Linear) -> Interval:
        """Bounds of `form` as numbers."""
        low = high = form.constant
        for var, coefficient in form.terms.items():
            ends = [coefficient * end for end in self._numbers(var)]
            low, high = low + min(ends), high + max(ends)
        return low, high

    def _numbers(self, var: Var) -> Interval:
        if var in self.factors:
            return self._numbers_of_product(self.factors[var])
        if var in self.dimensions:
            return 0, MAX_EXTENT
        known = self.ranges.get(var)
        return (MIN_INT, MAX_INT) if known is None else (known.least, known.most)

    def _numbers_of_product(self, factors: Sequence[Var]) -> Interval:
        low = high = 1
        for factor in factors:
            ends = [a * b for a in (low, high) for b in self._numbers(factor)]
            low, high = min(ends), max(ends)
        if low < 0:
            return low, high
        wanted = Counter(map(self._dimension_above, factors))
        for dimensions, most in self.arrays:
            if wanted <= dimensions:
                high = min(high, most)
        return low, high

    def _dimension_above(self, var: Var) -> Var:
        """A dimension that is at least as large as `var`, such as m for max(m - 1, 0), if any."""
        cases = self.ranges[var].cases if var in self.ranges else ()
        for dimension in self.dimensions if cases else ():
            above = (Linear({dimension: 1}).plus(case, -1) for case in cases)
            if all(self.interval(rest)[0] >= 0 for rest in above):
                return dimension
        return var


def if_positive(expr: Expr) -> Expr:
    """What `expr` amounts to where it is more than 0: `max(n - 2, 0) * m` is `(n - 2) * m`."""
    match expr:
        case Max(x, Const(0)):
            return x
        case Mul(x, y):
            return Mul(if_positive(x), if_positive(y))
        case _:
            return expr


def clipped_factors(expr: Expr) -> list[Expr]:
    """The x of each factor max(x, 0) of `expr`."""
    match expr:
        case Max(x, Const(0)):
            return [x]
        case Mul(x, y):
            return [*clipped_factors(x), *clipped_factors(y)]
        case _:
            return []


def array_limits(buffers: Sequence[Buffer]) -> tuple[tuple[Counter[Var], int], ...]:
    """The run-time dimensions of each array, and a bound of their product.

    NumPy makes no array whose dimensions, leaving out those that are 0, multiply to more bytes
    than int64 counts; an array without elements is no exception.
    """
    limits: list[tuple[Counter[Var], int]] = []
    for buffer in buffers:
        size = buffer.dtype.bits // 8
        dimensions: Counter[Var] = Counter()
        for extent in buffer.shape:
            match extent:
                case Var():
                    dimensions[extent] += 1
                case Const(int(number)):
                    size *= max(1, number)
                case _:
                    pass
        if dimensions.total() > 1:
            limits.append((dimensions, MAX_INT // size))
    return tuple(limits)
