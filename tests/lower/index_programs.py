"""Random loops around one access, and a machine that finds every value its index takes.

The values of scalars include the ends of int64, where sums wrap. Of a loop with many iterations,
only those near its ends are run.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

from hybridjit.arith.fold import fold_integer, fold_unary
from hybridjit.ir.dtype import FLOAT64, INT64
from hybridjit.ir.expr import (
    Add,
    And,
    Binary,
    Bounded,
    Buffer,
    Compare,
    Const,
    Expr,
    FloorDiv,
    Ge,
    Le,
    Lt,
    Max,
    Min,
    Mod,
    Mul,
    Ne,
    Not,
    Or,
    Select,
    Sub,
    Unary,
    Var,
)
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.signature import ScalarParam
from hybridjit.ir.stmt import Assert, Break, Continue, For, If, Let, Seq, Stmt, Store
from tests.choices import Choose, pick

SIZES = (0, 1, 2, 5)
NUMBERS = (-(2**63), -2, 0, 1, 3, 2**63 - 1)
_NOTHING = Seq(())
_NEAR = 4  # how many iterations are run at each end of a loop


@dataclass(frozen=True)
class Place:
    """A size of an axis, an index into it, and the values of all variables around."""

    index: int
    size: int
    values: str


class DivisionError(Exception):
    """A division by zero: the program ends there."""


class LeaveError(Exception):
    """A failed check, assert, or a `break`: what follows is not run."""


class SkipError(Exception):
    """A `continue`."""


# --- making programs ------------------------------------------------------------------------------


def make_program(choose: Choose) -> PrimFunc:
    """A store to an array under a few loops, guards and bindings."""
    n, m, k = Var("n"), Var("m"), Var("k")
    known: list[Expr] = [n, m, k]
    sizes = pick(choose, [(n,), (Const(5),), (n, m), (n, Const(4)), (Const(6), m)])
    a, b = Buffer("a", FLOAT64, sizes), Buffer("b", FLOAT64, (n, m))
    body = _make_scope(choose, known, a, 1 + choose(3))
    return PrimFunc("f", (b, a, ScalarParam(k)), body)


def _make_scope(choose: Choose, known: list[Expr], a: Buffer, depth: int) -> Stmt:
    if depth == 0:
        indices = tuple(_make_index(choose, known, extent) for extent in a.shape)
        return Store(a, indices, Const(1.0, FLOAT64))
    match choose(9):
        case 0:
            body = _make_scope(choose, known, a, depth - 1)
            return If(_make_condition(choose, known), body)
        case 1:
            then = pick(choose, [Break(), Continue()])
            return _make_loop(choose, known, a, depth, If(_make_condition(choose, known), then))
        case 2:
            first = Assert(_make_condition(choose, known))
            return Seq((first, _make_scope(choose, known, a, depth - 1)))
        case 3:
            var = Var(f"x{len(known)}")
            value = Add(pick(choose, known), _make_expr(choose, known, 1))
            return Seq((Let(var, value), _make_scope(choose, [*known, var], a, depth - 1)))
        case _:
            return _make_loop(choose, known, a, depth)


def _make_loop(
    choose: Choose, known: list[Expr], a: Buffer, depth: int, first: Stmt = _NOTHING
) -> Stmt:
    var = Var(f"i{len(known)}")
    start: Expr = pick(choose, [Const(0), Const(0), Const(1), _make_expr(choose, known, 1)])
    stop = _make_expr(choose, known, 2)
    step = pick(choose, [1, 1, 1, 2, 3, -1, -2])
    if step < 0:
        start, stop = stop, pick(choose, [Const(-1), Const(0), start])
    rest = _make_scope(choose, [*known, var], a, depth - 1)
    return For(var, start, stop, Const(step), Seq((first, rest)))


def _make_index(choose: Choose, known: list[Expr], extent: Expr) -> Expr:
    """An index; often one that is written to stay inside."""
    x = _make_expr(choose, known, 2)
    match choose(6):
        case 0:
            return Mod(x, extent)
        case 1:
            return Min(Max(x, Const(0)), Sub(extent, Const(1)))
        case 2:
            return FloorDiv(x, pick(choose, [Const(2), Const(4), known[1]]))
        case _:
            return x


def _make_expr(choose: Choose, known: list[Expr], depth: int) -> Expr:
    if depth == 0 or choose(3) == 0:
        leaf = choose(4)
        return Const(choose(7) - 1) if leaf == 0 else pick(choose, known)
    a, b = _make_expr(choose, known, depth - 1), _make_expr(choose, known, depth - 1)
    if choose(10) == 0:
        return Select(_make_condition(choose, known), a, b)
    kind = pick(choose, [Add, Sub, Add, Sub, Mul, FloorDiv, Mod, Min, Max])
    if kind is Mul or (kind in (FloorDiv, Mod) and choose(3)):
        b = pick(choose, [Const(1 + choose(5)), b])
    if isinstance(a, Const) and isinstance(b, Const):
        return a
    return kind(a, b)


def _make_condition(choose: Choose, known: list[Expr]) -> Expr:
    kind = pick(choose, [Lt, Le, Ge, Ne])
    one = kind(_make_expr(choose, known, 1), pick(choose, known))
    match choose(6):
        case 0:
            return Not(one)
        case 1:
            return And(one, Lt(_make_expr(choose, known, 1), pick(choose, known)))
        case 2:
            return Or(one, Lt(_make_expr(choose, known, 1), pick(choose, known)))
        case _:
            return one


# --- running them ---------------------------------------------------------------------------------


def find_wrong_index(func: PrimFunc) -> Place | None:
    """An index that is not checked, and a run of `func` in which it lies outside its axis."""
    n, m = func.dimensions[:2]
    (k,) = [param.var for param in func.params if isinstance(param, ScalarParam)]
    for values in itertools.product(SIZES, SIZES, NUMBERS):
        machine = Machine(dict(zip((n, m, k), values, strict=True)))
        for place in machine.run(func.body):
            if not 0 <= place.index < place.size:
                return place
    return None


class Machine:
    """Runs statements, and gives each index of a store that is not `Bounded`."""

    def __init__(self, values: dict[Var, int]) -> None:
        self.values = values
        self.fuel = 400

    def run(self, stmt: Stmt) -> list[Place]:
        found: list[Place] = []
        try:
            for place in self._execute(stmt):
                found.append(place)
        except (DivisionError, LeaveError, SkipError):
            pass
        return found

    def _execute(self, stmt: Stmt) -> Iterator[Place]:
        self.fuel -= 1
        if self.fuel < 0:
            raise LeaveError
        match stmt:
            case Seq(stmts):
                for child in stmts:
                    yield from self._execute(child)
            case For():
                yield from self._loop(stmt)
            case If(cond, then, otherwise):
                side = then if self.value(cond) else otherwise
                if side is not None:
                    yield from self._execute(side)
            case Let(var, value):
                self.values[var] = self.value(value)
            case Store(buffer, indices):
                for index, extent in zip(indices, buffer.shape, strict=True):
                    yield from self._index(index, extent)
            case _:
                self._leave(stmt)

    def _leave(self, stmt: Stmt) -> None:
        match stmt:
            case Assert(cond):
                if not self.value(cond):
                    raise LeaveError
            case Break():
                raise LeaveError  # the rest of the program is not looked at: never wrong
            case Continue():
                raise SkipError
            case _:
                raise NotImplementedError(type(stmt).__name__)

    def _loop(self, loop: For) -> Iterator[Place]:
        bounds = [self.value(bound) for bound in (loop.start, loop.stop, loop.step)]
        values = range(*bounds)
        near = dict.fromkeys([*values[:_NEAR], *values[-_NEAR:]])
        for value in near:
            self.values[loop.var] = value
            try:
                yield from self._execute(loop.body)
            except SkipError:
                continue

    def _index(self, index: Expr, extent: Expr) -> Iterator[Place]:
        size = self.value(extent)
        if isinstance(index, Bounded):
            if not -size <= self.value(index.index) < size:
                raise LeaveError
            return
        names = ", ".join(f"{var.name}={value}" for var, value in self.values.items())
        yield Place(self.value(index), size, names)

    def value(self, expr: Expr) -> int:
        match expr:
            case Const(int(value)):
                return value
            case Var():
                return self.values[expr]
            case And(a, b):
                return self.value(a) and self.value(b)
            case Or(a, b):
                return self.value(a) or self.value(b)
            case Select(cond, a, b):
                return self.value(a if self.value(cond) else b)
            case Unary(a):
                return fold_unary(type(expr), self.value(a), expr.value.dtype)  # type: ignore
            case Binary(a, b):
                dtype = INT64 if isinstance(expr, Compare) else expr.dtype
                folded = fold_integer(type(expr), self.value(a), self.value(b), dtype)
                if folded is None:
                    raise DivisionError
                return folded
            case _:
                raise NotImplementedError(type(expr).__name__)
