"""Name what the indices of a loop are made of and the loop leaves as it is, before the loop.

    for k in range(first[i], first[i + 1]):          k_start = first[i]
        out[k] = a[base * 4 + k]                     k_stop = first[i + 1]
                                          -->        part = base * 4
                                                     for k in range(k_start, k_stop):
                                                         out[k] = a[part + k]

Here `base` is a variable that the loop does not assign. A name is what a test before the loop can
be about. The bounds of a loop are evaluated before it in any case; other parts are named only if
they cannot fail.
"""

from __future__ import annotations

import dataclasses
from functools import reduce
from itertools import product

from hybridjit.arith.simplify import simplify
from hybridjit.arith.totality import may_fail
from hybridjit.ir.dtype import INT64
from hybridjit.ir.expr import (
    Add,
    Bounded,
    Buffer,
    Const,
    Expr,
    Load,
    Mul,
    Neg,
    Node,
    Sub,
    Var,
)
from hybridjit.ir.stmt import Allocate, For, Let, Stmt, Store
from hybridjit.ir.visit import Mutator, map_children, walk

# An index has a term or two for each of its loops: more are not worth the trouble.
_MAX_TERMS = 8
_POLYNOMIAL = (Const, Var, Add, Sub, Mul, Neg)
Terms = dict[tuple[Var, ...], Expr]


def name_invariants(loop: For, unset: frozenset[Buffer]) -> tuple[list[Let], For]:
    """Names for parts of the indices in `loop`, and the loop that uses them.

    Of the variables in `unset` it is not known whether they have a value.
    """
    naming = _NameInvariants(loop, unset)
    start = naming.bound(f"{loop.var.name}_start", loop.start)
    stop = naming.bound(f"{loop.var.name}_stop", loop.stop)
    named = dataclasses.replace(loop, start=start, stop=stop, body=naming.rewrite(loop.body))
    return naming.lets, named if naming.lets else loop


class _NameInvariants(Mutator):
    def __init__(self, loop: For, unset: frozenset[Buffer]) -> None:
        nodes = list(walk(loop))
        self.inner = {node.var for node in nodes if isinstance(node, For | Let)}
        changed = {node.buffer for node in nodes if isinstance(node, Store | Allocate)}
        self.changing = changed | unset
        self.lets: list[Let] = []
        self.names: dict[Expr, Var] = {}

    def bound(self, name: str, bound: Expr) -> Expr:
        """A bound of the loop itself, with names for what is no sum or product.

        It stays `n // 8 * 8`, with a name for n // 8: that it is a multiple counts.
        """
        if isinstance(bound, Const | Var):
            return bound
        if isinstance(bound, _POLYNOMIAL):
            return map_children(bound, lambda part: self.bound(name, part))
        return self._bind(name, bound)

    def rewrite_Bounded(self, node: Bounded) -> Expr:
        inner = self.generic(node)
        return dataclasses.replace(inner, index=self._named(inner.index))

    def rewrite_For(self, node: For) -> Stmt:
        loop = self.generic(node)
        start, stop = self._named(loop.start), self._named(loop.stop)
        return dataclasses.replace(loop, start=start, stop=stop)

    def rewrite_Let(self, node: Let) -> Stmt:
        made = self.generic(node)
        value = self._named(made.value)
        # What does not change as a whole has a name already.
        return made if isinstance(value, Const | Var) else dataclasses.replace(made, value=value)

    def _named(self, expr: Expr) -> Expr:
        """`expr` with a name for each of the largest parts that do not change."""
        if isinstance(expr, Const | Var) or expr.dtype is not INT64:
            return expr
        if self._is_invariant(expr):
            return self._name(expr)
        terms = self._terms(expr)
        if terms is None or len(terms) > _MAX_TERMS or not any(map(_needs_name, terms.values())):
            return self._named_below(expr)
        return simplify(reduce(Add, (self._term(*term) for term in terms.items())))

    def _named_below(self, expr: Expr) -> Expr:
        # Below other operators, a test before the loop sees no sums.
        return map_children(expr, self._named) if isinstance(expr, _POLYNOMIAL) else expr

    def _terms(self, expr: Expr) -> Terms | None:
        """`expr` as a sum of products: those of changing variables, and what they are times."""
        if self._is_invariant(expr):
            return {(): expr}
        match expr:
            case Var():
                return {(expr,): Const(1)}
            case Add(a, b) | Sub(a, b) | Mul(a, b):
                first, second = self._terms(a), self._terms(b)
                if first is None or second is None:
                    return None
                return (
                    _times(first, second) if isinstance(expr, Mul) else _plus(expr, first, second)
                )
            case _:
                return None

    def _term(self, variables: tuple[Var, ...], factor: Expr) -> Expr:
        named = self._name(factor) if _needs_name(factor) else factor
        return reduce(Mul, variables, named)

    def _name(self, expr: Expr) -> Expr:
        if expr not in self.names:
            self.names[expr] = self._bind("part", expr)
        return self.names[expr]

    def _bind(self, name: str, value: Expr) -> Var:
        var = Var(name)
        self.lets.append(Let(var, value, span=value.span))
        return var

    def _is_invariant(self, expr: Expr) -> bool:
        """Whether `expr` has the same value all the time, and cannot fail."""
        return all(map(self._is_fixed, walk(expr)))

    def _is_fixed(self, node: Node) -> bool:
        match node:
            case Var():
                return node not in self.inner
            case Load(buffer):
                return buffer.is_register and buffer not in self.changing
            case _:
                return not may_fail(node)


def _needs_name(factor: Expr) -> bool:
    return not isinstance(factor, Const | Var)


def _plus(expr: Add | Sub, first: Terms, second: Terms) -> Terms:
    result = dict(first)
    for variables, factor in second.items():
        before = result.get(variables, Const(0))
        result[variables] = simplify(type(expr)(before, factor))
    return result


def _times(first: Terms, second: Terms) -> Terms:
    result: Terms = {}
    for (xs, x), (ys, y) in product(first.items(), second.items()):
        variables = tuple(sorted((*xs, *ys), key=lambda var: (var.name, id(var))))
        result = _plus(Add(x, y), result, {variables: simplify(Mul(x, y))})
    return result
