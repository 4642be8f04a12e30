"""Recognise a small program inside a larger one: which buffers, and from which element on."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Mapping, Sequence
from dataclasses import field

from hybridjit.arith.linear import linear_form
from hybridjit.arith.simplify import simplify
from hybridjit.arith.totality import is_total
from hybridjit.ir.expr import Add, And, Binary, Buffer, Const, Eq, Expr, Load, Mul, Var
from hybridjit.ir.stmt import (
    Block,
    For,
    If,
    Iter,
    IterKind,
    Let,
    Seq,
    Stmt,
    Store,
    flat_stmts,
    seq,
)
from hybridjit.ir.visit import children, substitute, walk, walk_stmts
from hybridjit.record import record

COMMUTATIVE = (Add, Mul)


@record(eq=False)
class Place:
    """Where a buffer of the small program lies: in `buffer`, from the element at `base` on.

    The indices of the small program are added to the last ones of `base`.
    """

    buffer: Buffer
    base: tuple[Expr, ...]

    def indices(self, inner: tuple[Expr, ...]) -> tuple[Expr, ...]:
        """The indices of an element of the small buffer in the large one."""
        split = len(self.base) - len(inner)
        moved = zip(self.base[split:], inner, strict=True)
        return (*self.base[:split], *(simplify(base + index) for base, index in moved))


class Mismatch(Exception):
    """The programs differ; says where."""


@record(frozen=False)
class Matcher:
    """The correspondence found so far between a pattern and a program.

    `scalars` of the pattern stand for any numbers of the program: `numbers` are those found.
    """

    scalars: tuple[Var, ...] = ()
    numbers: dict[Var, Expr] = field(default_factory=dict[Var, Expr])
    variables: dict[Var, Expr] = field(default_factory=dict[Var, Expr])
    places: dict[Buffer, Place] = field(default_factory=dict[Buffer, Place])
    # Variables that the program binds inside: a base cannot mention them.
    inside: set[Var] = field(default_factory=set[Var])

    def match(self, pattern: Stmt, program: Stmt) -> Mapping[Buffer, Place]:
        """Where each buffer of `pattern` lies in `program`; raises `Mismatch`."""
        self.inside = {node.var for node in walk_stmts(program) if isinstance(node, For | Let)}
        self._stmt(without_blocks(pattern), without_blocks(program))
        return self.places

    def _stmt(self, pattern: Stmt, program: Stmt) -> None:
        ours, theirs = flat_stmts(pattern), flat_stmts(program)
        if len(ours) != len(theirs):
            raise Mismatch(f"{len(theirs)} statements where {len(ours)} are described")
        for a, b in zip(ours, theirs, strict=True):
            self._one(a, b)

    def _one(self, pattern: Stmt, program: Stmt) -> None:
        match pattern, program:
            case For(), For():
                if simplify(pattern.extent) != simplify(program.extent):
                    raise Mismatch(f"loop '{program.var.name}' runs another number of iterations")
                if not pattern.step == program.step == Const(1) or pattern.start != Const(0):
                    raise Mismatch("loops must count up by 1, those of the description from 0")
                self.variables[pattern.var] = simplify(program.var - program.start)
                self._stmt(pattern.body, program.body)
            case Store(), Store():
                self._access(pattern.buffer, pattern.indices, program.buffer, program.indices)
                self._expr(pattern.value, program.value)
            case If(otherwise=None), If(otherwise=None):
                self._expr(pattern.cond, program.cond)
                self._stmt(pattern.then, program.then)
            case _:
                raise Mismatch(
                    f"{type(program).__name__} where {type(pattern).__name__} is described"
                )

    def _expr(self, pattern: Expr, program: Expr) -> None:
        if isinstance(pattern, Var) and pattern in self.scalars:
            self._number(pattern, program)
            return
        if isinstance(pattern, Var):
            if simplify(substitute(pattern, self.variables)) != simplify(program):
                raise Mismatch(f"another value where '{pattern.name}' is described")
            return
        if isinstance(pattern, Load) and isinstance(program, Load):
            self._access(pattern.buffer, pattern.indices, program.buffer, program.indices)
            return
        if isinstance(pattern, COMMUTATIVE) and type(program) is type(pattern):
            self._either_order(pattern, program)
            return
        self._same_shape(pattern, program)

    def _number(self, scalar: Var, program: Expr) -> None:
        if scalar.dtype is not program.dtype or not is_total(program):
            raise Mismatch(f"no number of type {scalar.dtype} where '{scalar.name}' is described")
        if any(isinstance(node, Var) and node in self.inside for node in walk(program)):
            raise Mismatch(f"'{scalar.name}' would be another number in each iteration")
        if self.numbers.setdefault(scalar, program) != program:
            raise Mismatch(f"'{scalar.name}' would be two numbers")

    def _either_order(self, pattern: Binary, program: Expr) -> None:
        assert isinstance(program, Binary)
        saved = dict(self.places), dict(self.numbers)
        try:
            self._expr(pattern.lhs, program.lhs)
            self._expr(pattern.rhs, program.rhs)
        except Mismatch:
            self.places, self.numbers = saved
            self._expr(pattern.lhs, program.rhs)
            self._expr(pattern.rhs, program.lhs)

    def _same_shape(self, pattern: Expr, program: Expr) -> None:
        if type(pattern) is not type(program) or pattern.dtype is not program.dtype:
            raise Mismatch(f"{type(program).__name__} where {type(pattern).__name__} is described")
        ours, theirs = list(children(pattern)), list(children(program))
        if len(ours) != len(theirs) or (not ours and pattern != program):
            raise Mismatch("another constant or function than described")
        for a, b in zip(ours, theirs, strict=True):
            assert isinstance(a, Expr)
            assert isinstance(b, Expr)
            self._expr(a, b)
        if not _same_attributes(pattern, program):
            raise Mismatch("another function than described")

    def _access(
        self,
        pattern: Buffer,
        inner: tuple[Expr, ...],
        program: Buffer,
        indices: tuple[Expr, ...],
    ) -> None:
        if pattern.dtype is not program.dtype or len(inner) > len(indices):
            raise Mismatch(f"'{program.name}' has another type or rank than '{pattern.name}'")
        split = len(indices) - len(inner)
        base = list(indices[:split])
        for whole, part in zip(indices[split:], inner, strict=True):
            base.append(simplify(whole - substitute(part, self.variables)))
        place = Place(program, tuple(map(_normal, base)))
        if any(isinstance(n, Var) and n in self.inside for e in place.base for n in walk(e)):
            raise Mismatch(f"'{program.name}' is not accessed as '{pattern.name}' is described")
        if not all(map(is_total, place.base)):
            raise Mismatch(f"where '{program.name}' is accessed depends on memory")
        known = self.places.setdefault(pattern, place)
        if known.buffer is not program or known.base != place.base:
            raise Mismatch(f"'{pattern.name}' would lie in two places")


def _normal(expr: Expr) -> Expr:
    """`expr` in one form, if it is a sum: terms in the order of their names, the constant last."""
    form = linear_form(expr)
    if form is None:
        return expr
    total: Expr | None = None
    for var, factor in sorted(form.terms.items(), key=lambda term: term[0].name):
        term = var if factor == 1 else Mul(var, Const(factor))
        total = term if total is None else Add(total, term)
    if total is None:
        return Const(form.constant)
    return total if form.constant == 0 else Add(total, Const(form.constant))


def _same_attributes(a: Expr, b: Expr) -> bool:
    names = [f.name for f in dataclasses.fields(a) if f.type in ("str", "DType", "bool")]
    return all(getattr(a, name) == getattr(b, name) for name in names)


Starts = Mapping[Expr, Expr]  # of the loops around, by their variables


def without_blocks(stmt: Stmt, starts: Starts | None = None) -> Stmt:
    """`stmt` with iters and names replaced by their values, and an init under its condition."""
    starts = starts or {}
    match stmt:
        case Block(iters=iters):
            values = {item.var: item.value for item in iters}
            inner = without_blocks(substitute(stmt.body, values), starts)
            if stmt.init is None:
                return inner
            begin = without_blocks(substitute(stmt.init, values), starts)
            return seq(If(_is_first(iters, starts), begin), inner)
        case Seq(stmts):
            return _inlined(list(stmts), starts)
        case For():
            inside = {**starts, stmt.var: stmt.start}
            return dataclasses.replace(stmt, body=without_blocks(stmt.body, inside))
        case If(_, then, None):
            return dataclasses.replace(stmt, then=without_blocks(then, starts))
        case _:
            return stmt


def _is_first(iters: Sequence[Iter], starts: Starts) -> Expr:
    """Whether all iters that reduce are at their start."""
    conditions: list[Expr] = []
    for item in iters:
        if item.kind is not IterKind.SPATIAL:
            start = starts.get(item.value) if item.domain is None else item.domain[0]
            if start is None:
                raise Mismatch("a reduction with an init, which a loop around takes part in")
            conditions.append(Eq(simplify(item.value - start), Const(0)))
    return functools.reduce(And, conditions, Eq(Const(0), Const(0)))


def _inlined(stmts: list[Stmt], starts: Starts) -> Stmt:
    """`stmts` with the values of names in the place of the names.

    A value that is read from memory is the same later only if nothing is stored in between.
    """
    reads = any(isinstance(stmt, Let) and not is_total(stmt.value) for stmt in stmts)
    others = [stmt for stmt in stmts if not isinstance(stmt, Let)]
    if reads and not (len(others) == 1 and isinstance(_only_leaf(others[0]), Store)):
        raise Mismatch("a name for a value that may have changed when it is used")
    made: list[Stmt] = []
    values: dict[Var, Expr] = {}
    for stmt in stmts:
        current = substitute(stmt, values)
        if isinstance(current, Let):
            values[current.var] = current.value
        else:
            made.append(without_blocks(current, starts))
    return Seq(tuple(made))


def _only_leaf(stmt: Stmt) -> Stmt:
    """The one statement that a block amounts to, if it does; else `stmt`."""
    stmts = flat_stmts(stmt)
    if len(stmts) != 1:
        return stmt
    inner = stmts[0]
    return _only_leaf(inner.body) if isinstance(inner, Block) and inner.init is None else inner
