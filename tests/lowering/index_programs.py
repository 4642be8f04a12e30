"""Random loops around one access, and a machine that finds every value its index takes.

The access is a store, or a load that is a side of a choice: native code may load both sides.

The values of scalars include the ends of int64, where sums wrap. Of a loop with many iterations,
only those near its ends are run.
"""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

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
    Load,
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
from hybridjit.ir.stmt import Allocate, Assert, Break, Continue, For, If, Let, Seq, Stmt, Store
from hybridjit.ir.visit import walk
from tests.support.choices import Choose, pick

SIZES = (0, 1, 2, 5)
NUMBERS = (-(2**63), -2, 0, 1, 3, 2**63 - 1)
_MAX_PLACES = 200
_NOTHING = Seq(())
Access = Callable[[list[Expr]], Stmt]
MakeAccess = Callable[[Choose, list[Expr], Load], Stmt]
_NEAR = 4  # how many iterations are run at each end of a loop


@dataclass(frozen=True)
class Place:
    """A size of an axis, an index into it, and the values of all variables around."""

    index: int
    size: int
    is_checked: bool = field(compare=False)
    values: str = field(compare=False)


class DivisionError(Exception):
    """A division by zero: the program ends there."""


class LeaveError(Exception):
    """A failed check, assert, or a `break`: what follows is not run."""


class SkipError(Exception):
    """A `continue`."""


# --- making programs ------------------------------------------------------------------------------


def make_program(choose: Choose) -> PrimFunc:
    """A store to an array under a few loops, guards and bindings."""
    return _make_program(choose, _make_store)


def make_program_of_choices(choose: Choose) -> PrimFunc:
    """The same around a load that is a side of a choice."""
    return _make_program(choose, _make_choice)


def _make_program(choose: Choose, make_access: MakeAccess) -> PrimFunc:
    n, m, k = Var("n"), Var("m"), Var("k")
    sizes = pick(choose, [(n,), (Const(5),), (n, m), (n, Const(4)), (Const(6), m)])
    a, b = Buffer("a", FLOAT64, sizes), Buffer("b", FLOAT64, (n, m))

    def access(known: list[Expr]) -> Stmt:
        indices = tuple(_make_index(choose, known, extent) for extent in a.shape)
        return make_access(choose, known, Load(a, indices))

    body = _make_scope(choose, [n, m, k], access, 1 + choose(3))
    return PrimFunc("f", (b, a, ScalarParam(k)), body)


def _make_store(choose: Choose, known: list[Expr], place: Load) -> Stmt:
    return Store(place.buffer, place.indices, Const(1.0, FLOAT64))


def _make_choice(choose: Choose, known: list[Expr], load: Load) -> Stmt:
    """Often by a condition that keeps the first index inside."""
    first, cond = load.indices[0], _make_condition(choose, known)
    if choose(3) and not isinstance(first, Const):
        cond = And(Ge(first, Const(0)), Lt(first, load.buffer.shape[0]))
    zero = Const(0.0, FLOAT64)
    sides = pick(choose, [(cond, load, zero), (Not(cond), zero, load)])
    c = Buffer("c", FLOAT64, (), Buffer.REGISTER)
    return Seq((Allocate(c, zero=False), Store(c, (), Select(*sides))))


def _make_scope(choose: Choose, known: list[Expr], access: Access, depth: int) -> Stmt:
    if depth == 0:
        return access(known)
    match choose(9):
        case 0:
            body = _make_scope(choose, known, access, depth - 1)
            return If(_make_condition(choose, known), body)
        case 1:
            then = pick(choose, [Break(), Continue()])
            left = If(_make_condition(choose, known), then)
            return _make_loop(choose, known, access, depth, left)
        case 2:
            first = Assert(_make_condition(choose, known))
            return Seq((first, _make_scope(choose, known, access, depth - 1)))
        case 3:
            var = Var(f"x{len(known)}")
            value = Add(pick(choose, known), _make_expr(choose, known, 1))
            return Seq((Let(var, value), _make_scope(choose, [*known, var], access, depth - 1)))
        case _:
            return _make_loop(choose, known, access, depth)


def _make_loop(
    choose: Choose, known: list[Expr], access: Access, depth: int, first: Stmt = _NOTHING
) -> Stmt:
    var = Var(f"i{len(known)}")
    start: Expr = pick(choose, [Const(0), Const(0), Const(1), _make_expr(choose, known, 1)])
    stop = _make_expr(choose, known, 2)
    step = pick(choose, [1, 1, 1, 2, 3, -1, -2])
    if step < 0:
        start, stop = stop, pick(choose, [Const(-1), Const(0), start])
    rest = _make_scope(choose, [*known, var], access, depth - 1)
    return For(var, start, stop, Const(step), Seq((first, rest)))


def _make_index(choose: Choose, known: list[Expr], extent: Expr) -> Expr:
    """An index; often one that is written to stay inside."""
    x = _make_expr(choose, known, 2)
    match choose(6):
        case 0:
            return _made(Mod, x, extent)
        case 1:
            return _made(Min, _made(Max, x, Const(0)), _made(Sub, extent, Const(1)))
        case 2:
            return _made(FloorDiv, x, pick(choose, [Const(2), Const(4), known[1]]))
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
    return _made(kind, a, b)


def _made(kind: type[Binary], a: Expr, b: Expr) -> Expr:
    """An operator, its value if that is known: what the front end makes."""
    match a, b:
        case Const(int(x)), Const(int(y)):
            folded = fold_integer(kind, x, y, INT64)
            return a if folded is None else Const(folded)
        case _:
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
    for trace in traces(func):
        for place in trace:
            if not place.is_checked and not 0 <= place.index < place.size:
                return place
    return None


def traces(func: PrimFunc) -> Iterator[list[Place]]:
    """The indices that runs of `func` get to, each up to the one that fails."""
    n, m = func.dimensions[:2]
    (k,) = [param.var for param in func.params if isinstance(param, ScalarParam)]
    for values in itertools.product(SIZES, SIZES, NUMBERS):
        yield Machine(dict(zip((n, m, k), values, strict=True))).run(func.body)


class Machine:
    """Runs statements, and notes the indices of stores."""

    def __init__(self, values: dict[Var, int]) -> None:
        self.values = values
        self.found: list[Place] = []

    def run(self, stmt: Stmt) -> list[Place]:
        with contextlib.suppress(DivisionError, LeaveError, SkipError):
            self._execute(stmt)
        return self.found

    def _execute(self, stmt: Stmt) -> None:
        match stmt:
            case Seq(stmts):
                for child in stmts:
                    self._execute(child)
            case For():
                self._loop(stmt)
            case If(cond, then, otherwise):
                self._execute(then if self.value(cond) else otherwise or _NOTHING)
            case Let(var, value):
                self.values[var] = self.value(value)
            case Allocate():
                pass
            case Store(buffer, indices, value):
                self._loads(value)
                for index, extent in zip(indices, buffer.shape, strict=True):
                    self._index(index, extent)
            case _:
                self._leave(stmt)

    def _loads(self, value: Expr) -> None:
        """What may be loaded to get a value: of a choice both sides, unless they are checked."""
        for load in walk(value):
            if isinstance(load, Load):
                for index, extent in zip(load.indices, load.buffer.shape, strict=True):
                    if not isinstance(index, Bounded):
                        with contextlib.suppress(DivisionError):
                            self._index(index, extent)

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

    def _loop(self, loop: For) -> None:
        bounds = [self.value(bound) for bound in (loop.start, loop.stop, loop.step)]
        values = range(*bounds)
        near = dict.fromkeys([*values[:_NEAR], *values[-_NEAR:]])
        for value in near:
            self.values[loop.var] = value
            with contextlib.suppress(SkipError):
                self._execute(loop.body)

    def _index(self, index: Expr, extent: Expr) -> None:
        size = self.value(extent)
        is_checked = isinstance(index, Bounded)
        value = self.value(index.index if is_checked else index)
        names = ", ".join(f"{var.name}={value}" for var, value in self.values.items())
        self.found.append(Place(value, size, is_checked, names))
        too_many = len(self.found) > _MAX_PLACES
        if too_many or (is_checked and not -size <= value < size):
            raise LeaveError

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
