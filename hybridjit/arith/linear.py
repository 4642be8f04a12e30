"""Index expressions as sums: coefficient * variable + ... + constant."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from hybridjit.ir.dtype import INT64
from hybridjit.ir.expr import Add, Const, Expr, Mul, Neg, Sub, Var
from hybridjit.record import record


@record
class Linear:
    """The sum of `terms[var] * var`, no coefficient zero, and `constant`."""

    terms: Mapping[Var, int]
    constant: int = 0

    def plus(self, other: Linear, scale: int = 1) -> Linear:
        """`self + scale * other`."""
        terms = dict(self.terms)
        for var, coefficient in other.terms.items():
            total = terms.pop(var, 0) + scale * coefficient
            if total != 0:
                terms[var] = total
        return Linear(terms, self.constant + scale * other.constant)

    def times(self, factor: int) -> Linear:
        """`factor * self`."""
        return Linear({}).plus(self, factor)

    def replace(self, var: Var, by: Linear) -> Linear:
        """`self` with `by` put in the place of `var`."""
        coefficient = self.terms.get(var, 0)
        if coefficient == 0:
            return self
        rest = {other: c for other, c in self.terms.items() if other is not var}
        return Linear(rest, self.constant).plus(by, coefficient)


def linear_form(expr: Expr, inline: Callable[[Var], Linear | None] | None = None) -> Linear | None:
    """The int64 expression `expr` as a linear form over its variables, or None.

    Exact over the mathematical integers, and so modulo 2^64 too: only sums, differences and
    products with a constant are taken apart. `inline` may give the form of a variable; None from
    it, as anywhere else, says that there is no linear form.
    """
    match expr:
        case Var():
            if expr.of is not INT64:
                return None
            return Linear({expr: 1}) if inline is None else inline(expr)
        case Const(int(value)) if expr.of is INT64:
            return Linear({}, value)
        case Add(x, y):
            return _sum(linear_form(x, inline), linear_form(y, inline), 1)
        case Sub(x, y):
            return _sum(linear_form(x, inline), linear_form(y, inline), -1)
        case Neg(x):
            return _product(linear_form(x, inline), Linear({}, -1))
        case Mul(x, y):
            return _product(linear_form(x, inline), linear_form(y, inline))
        case _:
            return None


def _sum(a: Linear | None, b: Linear | None, sign: int) -> Linear | None:
    return None if a is None or b is None else a.plus(b, sign)


def _product(a: Linear | None, b: Linear | None) -> Linear | None:
    if a is None or b is None:
        return None
    if not b.terms:
        return a.times(b.constant)
    return None if a.terms else b.times(a.constant)


def expr_of_form(form: Linear) -> Expr:
    """`form` as an expression: what is added first, then what is taken away, then the constant."""
    total: Expr | None = None
    for var, factor in sorted(form.terms.items(), key=lambda term: term[1] < 0):
        part = var if abs(factor) == 1 else Mul(var, Const(abs(factor)))
        if total is None:
            total = part if factor > 0 else Mul(var, Const(factor))
        else:
            total = Add(total, part) if factor > 0 else Sub(total, part)
    if total is None or form.constant == 0:
        return Const(form.constant) if total is None else total
    is_sum = form.constant > 0
    return (Add if is_sum else Sub)(total, Const(abs(form.constant)))
