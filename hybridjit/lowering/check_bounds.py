"""Put a run-time check around every index that cannot be proved to be inside its array.

    a[idx[i]]  -->  a[checked_index(idx[i], 10)]        a[-1]  -->  a[n - 1]

What is known of indices settles tests of them as well: a branch that is never taken goes.

Where a choice inside an expression is what keeps an index inside, it becomes a branch. Expressions
may be evaluated although nobody asked, statements in a branch are not.

                                                        if i >= 1:
    b[i] = a[i - 1] if i >= 1 else 0.0         -->          chosen = a[i - 1]
                                                        else:
                                                            chosen = 0.0
                                                        b[i] = chosen

A size of the result that takes a while to find, as `4 ** k`, is found once, before everything else.

Relies on: no blocks. Afterwards every index of a `Load` or `Store` is inside [0, n) wherever the
statement around it is run.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from typing import TypeVar

from hybridjit.analysis.bounds import Facts
from hybridjit.analysis.scoped_facts import ScopedFacts
from hybridjit.arith.linear import Linear
from hybridjit.arith.simplify import simplify
from hybridjit.arith.totality import is_total, operation_may_fail
from hybridjit.ir.expr import (
    Add,
    And,
    Bounded,
    Buffer,
    BufferRef,
    Const,
    Expr,
    ExternCall,
    Load,
    Lt,
    Max,
    Min,
    Mul,
    Not,
    Or,
    Select,
    Sub,
    Var,
)
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.stmt import Allocate, If, Let, Seq, Stmt, Store, flat_stmts, seq
from hybridjit.ir.visit import Mutator, walk

Access = TypeVar("Access", Load, Store)
_QUICK = (Const, Var, Add, Sub, Mul, Min, Max)


def check_bounds(func: PrimFunc) -> PrimFunc:
    """`func` with every index proved or checked."""
    checks = _CheckBounds(Facts.of(func), _slow_sizes(func))
    body = checks.rewrite(func.body)
    if checks.named:
        body = seq(*(Let(var, size) for size, var in checks.named.items()), *flat_stmts(body))
    is_same = body is func.body and func.is_checked
    return func if is_same else dataclasses.replace(func, body=body, is_checked=True)


def _slow_sizes(func: PrimFunc) -> dict[Expr, Var]:
    """Names for sizes of outputs that are more than sums and products of what the caller gives."""
    sizes = (size for output in func.outputs for size in output.shape)
    slow = (size for size in sizes if not all(isinstance(node, _QUICK) for node in walk(size)))
    return {size: Var("size") for size in slow}


def check_all_bounds(func: PrimFunc) -> PrimFunc:
    """`func` with every index checked, whatever is proved."""
    body = _CheckAll().rewrite(func.body)
    return dataclasses.replace(func, body=body, is_checked=True)


class _CheckAll(Mutator):
    def rewrite_Load(self, node: Load) -> Expr:
        return _with_checks(self.generic(node))

    def rewrite_Store(self, node: Store) -> Stmt:
        return _with_checks(self.generic(node))


def _with_checks(access: Access) -> Access:
    buffer = access.buffer
    indices = tuple(
        index
        if isinstance(index, Bounded) or (buffer.is_growing and axis == 0)
        else Bounded(index, buffer.shape[axis], buffer.name, axis, span=access.span)
        for axis, index in enumerate(access.indices)
    )
    return dataclasses.replace(access, indices=indices)


class _CheckBounds(ScopedFacts):
    def __init__(self, facts: Facts, slow_sizes: Mapping[Expr, Var]) -> None:
        super().__init__(facts)
        self.slow_sizes = slow_sizes
        self.named: dict[Expr, Var] = {}  # those of them that are used
        # What runs before the store around, None where that would not do.
        self.before: list[Stmt] | None = None

    def rewrite_Load(self, node: Load) -> Expr:
        return self._checked(self.generic(node))

    def rewrite_Store(self, node: Store) -> Stmt:
        is_alone = not any(isinstance(part, ExternCall) for part in walk(node))
        before: list[Stmt] = []
        with self._hoisting(before if is_alone else None):
            store = self._checked(self.generic(node))
        return seq(*before, store)

    def rewrite_Seq(self, node: Seq) -> Stmt:
        changed = super().rewrite_Seq(node)
        return node if changed is node else seq(*flat_stmts(changed))

    def rewrite_And(self, node: And) -> Expr:
        with self._hoisting(None):  # the right side may not be evaluated at all
            return self.generic(node)

    def rewrite_Or(self, node: Or) -> Expr:
        with self._hoisting(None):
            return self.generic(node)

    def rewrite_Select(self, node: Select) -> Expr:
        before = self.before
        with self._hoisting(None):
            plain = self.generic(node)
            branch = None if before is None or not _fails(plain) else self._branch(node)
        if before is None or branch is None:
            return plain
        chosen, chooses = branch
        before += [Allocate(chosen, zero=False), chooses]
        return Load(chosen, span=node.span)

    def _branch(self, node: Select) -> tuple[Buffer, If] | None:
        """A choice as a branch in which nothing fails, and what it sets; None if something does."""
        cond = self.rewrite(node.cond)
        then = self._under(node.cond, node.then)
        otherwise = self._under(Not(node.cond), node.otherwise)
        if any(map(_fails, (cond, then, otherwise))):
            return None
        chosen = Buffer("chosen", node.dtype, (), Buffer.REGISTER)
        sides = [Store(chosen, (), side, span=node.span) for side in (then, otherwise)]
        return chosen, If(cond, *sides, span=node.span)

    @contextmanager
    def _hoisting(self, before: list[Stmt] | None) -> Generator[None]:
        outer, self.before = self.before, before
        yield
        self.before = outer

    def rewrite_If(self, node: If) -> Stmt:
        if not is_total(node.cond):
            return super().rewrite_If(node)
        if self.facts.prove(node.cond):
            return self.rewrite(node.then)
        if self.facts.prove(Not(node.cond)):
            return self.rewrite(node.otherwise or Seq(()))
        return super().rewrite_If(node)

    def rewrite_BufferRef(self, node: BufferRef) -> Expr:
        if not node.starts:
            return node
        starts: list[Expr] = []
        extents: list[Expr | None] = []
        for axis, (start, extent) in enumerate(zip(node.starts, node.extents, strict=True)):
            start, size = self.rewrite(start), node.buffer.shape[axis]
            if extent is None:
                starts.append(self._index(start, node, axis))
                extents.append(None)
                continue
            extent = self._inside(self.rewrite(extent), simplify(size + 1), node, axis)
            starts.append(self._inside(start, simplify(size - extent + 1), node, axis))
            extents.append(extent)
        return dataclasses.replace(node, starts=tuple(starts), extents=tuple(extents))

    def _inside(self, value: Expr, count: Expr, part: BufferRef, axis: int) -> Expr:
        """`value`, proved or checked to be inside [0, count); none counts from the end."""
        if self.facts.prove_inside(value, count):
            return value
        form = self.facts.form(value)
        is_positive = form is not None and self.facts.prove_non_negative(form)
        checked = value if is_positive else Select(Lt(value, Const(0)), count, value)
        return Bounded(checked, count, part.buffer.name, axis, span=part.span)

    def _checked(self, access: Access) -> Access:
        indices = tuple(
            self._index(index, access, axis) for axis, index in enumerate(access.indices)
        )
        if all(new is old for new, old in zip(indices, access.indices, strict=True)):
            return access
        return dataclasses.replace(access, indices=indices)

    def _index(self, index: Expr, access: Load | Store | BufferRef, axis: int) -> Expr:
        if access.buffer.is_growing and axis == 0:  # who emitted it knows
            return index
        extent = access.buffer.shape[axis]
        if self.facts.prove_inside(index, extent):
            return index
        if self._is_from_end(index, extent):
            return _from_end(index, extent)
        if extent in self.slow_sizes:
            self.named[extent] = self.slow_sizes[extent]
            extent = self.slow_sizes[extent]
        return Bounded(index, extent, access.buffer.name, axis, span=access.span)

    def _is_from_end(self, index: Expr, extent: Expr) -> bool:
        """Surely inside [-n, 0)."""
        form, size = self.facts.form(index), self.facts.form(extent)
        if form is None or size is None or not self.facts.is_exact(size):
            return False
        before_start = form.times(-1).plus(Linear({}, -1))
        return all(map(self.facts.prove_non_negative, (before_start, size.plus(form))))


def _fails(expr: Expr) -> bool:
    return any(map(operation_may_fail, walk(expr)))


def _from_end(index: Expr, extent: Expr) -> Expr:
    """`index`, which is negative, counted from the start; of constants, what that comes to."""
    if isinstance(index, Const) and isinstance(extent, Const):
        return Const(int(extent.value.real) + int(index.value.real), index.dtype, span=index.span)
    return Add(extent, index, span=index.span)
