"""Prove that iterations meet in no element that one of them writes, whatever order they run in.

    for i in range(n):
        for j in range(m):
            c[i, j] = ...

Either both touch the array at the same index along some axis, one that moves with the loop; or the
indices along some axis always differ: `k` and `j`, where k runs over range(j). For quick proofs of
what loops usually do, without isl.

Relies on: indices inside their arrays, so that different ones are different elements (a function
that `is_checked`); arrays that share no memory. Whether anything in the loops fails, leaves them
or acts otherwise is not looked at, nor are variables: callers see to that.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hybridjit.analysis.bounds import Facts
from hybridjit.arith.linear import Linear, linear_form
from hybridjit.ir.expr import Buffer, Expr, Load, Node, Var
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.stmt import Allocate, For, Let, Stmt, Store
from hybridjit.ir.visit import children, substitute, walk

Scope = tuple[For | Let, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Access:
    """A load or a store of an array, and the loops and names that it stands in, outermost first."""

    buffer: Buffer
    indices: tuple[Expr, ...]
    is_store: bool
    scope: Scope


def find_accesses(stmt: Stmt, scope: Scope = ()) -> list[Access]:
    """Every access of an array in `stmt`, which stands in `scope`."""
    found: list[Access] = []
    _collect(stmt, list(scope), found)
    return found


def _collect(node: Node, scope: list[For | Let], found: list[Access]) -> None:
    match node:
        case Load(buffer, indices) | Store(buffer, indices) if not buffer.is_register:
            found.append(Access(buffer, indices, isinstance(node, Store), tuple(scope)))
        case _:
            pass
    known = len(scope)
    for child in children(node):
        # The bounds of a loop come before its body, and are evaluated outside.
        if isinstance(node, For) and child is node.body:
            scope.append(node)
        _collect(child, scope, found)
        if isinstance(child, Let):
            scope.append(child)
    del scope[known:]


class Separation:
    """What can be proved about accesses in one place of a function."""

    def __init__(self, func: PrimFunc, around: Scope) -> None:
        assert func.is_checked, "a negative index would be another element than it says"
        self.func, self.around = func, around

    def prove_independent(self, loops: Sequence[For], body: Stmt) -> bool:
        """True if iterations of the nest `loops` around `body` may run in any order.

        What the bounds of the loops read is read before and between iterations: it may not change.
        """
        found = [*_accesses_of_bounds(loops), *find_accesses(body, tuple(loops))]
        accesses = {(a.buffer, a.indices, a.is_store, a.scope): a for a in found}.values()
        inner = _bound_in(loops, body)
        made = {node.buffer for node in walk(body) if isinstance(node, Allocate)}
        return all(
            self._apart(store, other, loops, inner)
            for store in accesses
            if store.is_store and store.buffer not in made
            for other in accesses
            if other.buffer is store.buffer
        )

    def prove_own_updates(self, loops: Sequence[For], body: Stmt, store: Store) -> bool:
        """True if `body` reads and writes the array of `store` at that one element only.

        Each element is updated in those iterations of the nest `loops` alone that agree in all the
        loops whose variables its indices mention.
        """
        inner, variables = _bound_in(loops, body), {loop.var for loop in loops}
        for var in (node for index in store.indices for node in walk(index) if node in inner):
            is_alone = any(_is_shifted(index, var, inner) for index in store.indices)
            if var not in variables or not is_alone:
                return False
        accesses = [a for a in find_accesses(body, tuple(loops)) if a.buffer is store.buffer]
        update = next(access for access in accesses if access.is_store)
        others = [access for access in accesses if access.indices != store.indices]
        return all(self.prove_never_meet(update, other) for other in others)

    def _apart(self, x: Access, y: Access, loops: Sequence[For], inner: frozenset[Var]) -> bool:
        if all(_moves_with(loop.var, x, y, inner) for loop in loops):
            return True
        return self.prove_never_meet(x, y)

    def prove_never_meet(self, x: Access, y: Access) -> bool:
        """True if no iteration of one access touches what any iteration of the other does."""
        facts = Facts.of(self.func)
        for item in (*self.around, *x.scope):
            _enter(facts, item)
        other = _renamed(y)
        for item in other.scope:
            _enter(facts, item)
        return any(
            _prove_different(facts, a, b) for a, b in zip(x.indices, other.indices, strict=True)
        )


def _accesses_of_bounds(loops: Sequence[For]) -> list[Access]:
    found: list[Access] = []
    for depth, loop in enumerate(loops):
        for bound in (loop.start, loop.stop, loop.step):
            _collect(bound, list(loops[:depth]), found)
    return found


def _bound_in(loops: Sequence[For], body: Stmt) -> frozenset[Var]:
    inside = (node.var for node in walk(body) if isinstance(node, For | Let))
    return frozenset((*inside, *(loop.var for loop in loops)))


def _moves_with(var: Var, x: Access, y: Access, inner: frozenset[Var]) -> bool:
    """True if both have, along some axis, the index `var`, shifted equally in all iterations."""
    return any(
        a == b and _is_shifted(a, var, inner) for a, b in zip(x.indices, y.indices, strict=True)
    )


def _is_shifted(index: Expr, var: Node, inner: frozenset[Var]) -> bool:
    """True if `index` is `var` plus what no iteration changes."""
    form = linear_form(index)
    if form is None or not isinstance(var, Var) or form.terms.get(var) != 1:
        return False
    return all(other is var or other not in inner for other in form.terms)


def _enter(facts: Facts, item: For | Let) -> None:
    if isinstance(item, For):
        facts.enter_loop(item)
    else:
        facts.bind(item.var, item.value)


def _renamed(access: Access) -> Access:
    """The access in another iteration: all that the iteration binds has new names."""
    names: dict[Var, Expr] = {}
    scope: list[For | Let] = []
    for item in access.scope:
        fresh = Var(item.var.name, item.var.of)
        scope.append(_with_name(item, fresh, names))
        names[item.var] = fresh
    indices = tuple(substitute(index, names) for index in access.indices)
    return Access(access.buffer, indices, access.is_store, tuple(scope))


def _with_name(item: For | Let, var: Var, names: dict[Var, Expr]) -> For | Let:
    if isinstance(item, Let):
        return Let(var, substitute(item.value, names))
    start, stop = substitute(item.start, names), substitute(item.stop, names)
    return For(var, start, stop, substitute(item.step, names), item.body)


def _prove_different(facts: Facts, a: Expr, b: Expr) -> bool:
    x, y = facts.exact(a), facts.exact(b)
    if x is None or y is None:
        return False
    differences = (x.plus(y, -1), y.plus(x, -1))
    return any(facts.prove_non_negative(each.plus(Linear({}, -1))) for each in differences)
