"""Small random loop nests, and two oracles that judge the labels a classifier puts on them.

Everything is an int64, so that the order of additions does not show. An iteration that would
reach outside of an array is not run at all, as if a guard stood around it.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from hybridjit.arith.fold import fold_integer
from hybridjit.ir.dtype import INT64
from hybridjit.ir.expr import (
    Add,
    Binary,
    BitXor,
    Buffer,
    Const,
    Expr,
    FloorDiv,
    Gt,
    Load,
    Lt,
    Max,
    Min,
    Mod,
    Mul,
    Select,
    Sub,
    Var,
)
from hybridjit.ir.printer import format_stmt
from hybridjit.ir.stmt import Allocate, For, If, IterKind, Let, Seq, Stmt, Store
from tests.support.choices import Choose, pick

TABLE = Buffer("table", INT64, (Const(8),))
TABLE_DATA = (0, 2, 1, 1, 3, 0, -1, 2)


@dataclass(frozen=True, repr=False)
class Nest:
    """A statement, the loops around it, and what stands between them."""

    loops: tuple[For, ...]
    stmt: Stmt
    bindings: dict[Var, Expr]
    guards: tuple[Expr, ...]
    local: dict[Buffer, int]  # how many of the loops each buffer is allocated inside of

    def __repr__(self) -> str:
        return f"{format_stmt(self.loops[0])}\n# classified:\n{format_stmt(self.stmt)}"


@dataclass(frozen=True)
class Access:
    """One access of one iteration: the buffer, which instance of it, and the element."""

    buffer: Buffer
    instance: tuple[int, ...]
    element: tuple[int, ...]
    is_write: bool


class OutsideError(Exception):
    """An index is outside of the array."""


# --- running ---------------------------------------------------------------------------------

Memory = dict[tuple[Buffer, tuple[int, ...], tuple[int, ...]], int]


class Machine:
    """Runs single iterations of a nest on a memory, and notes what they access."""

    def __init__(self, nest: Nest) -> None:
        self.nest = nest
        self.memory: Memory = {}
        self.env: dict[Var, int] = {}
        self.log: list[Access] = []

    def iterations(self) -> list[tuple[int, ...]]:
        """All iterations, in the order of the program."""
        return list(self._iterations(0))

    def run(self, iteration: tuple[int, ...]) -> list[Access]:
        """Run one iteration; nothing happens if it goes outside of an array."""
        self.env = {loop.var: value for loop, value in zip(self.nest.loops, iteration, strict=True)}
        self.log = []
        before = dict(self.memory)
        try:
            if all([self.value(guard) for guard in self.nest.guards]):
                self.execute(self.nest.stmt)
            else:
                self.trace_only(self.nest.stmt)
        except OutsideError:
            self.memory = before
            return []
        return self.log

    def _iterations(self, depth: int) -> Iterator[tuple[int, ...]]:
        if depth == len(self.nest.loops):
            yield tuple(self.env[loop.var] for loop in self.nest.loops)
            return
        loop = self.nest.loops[depth]
        for value in self.values(loop):
            self.env[loop.var] = value
            yield from self._iterations(depth + 1)

    def values(self, loop: For) -> range:
        return range(self.value(loop.start), self.value(loop.stop), self.value(loop.step))

    def execute(self, stmt: Stmt) -> None:
        match stmt:
            case Seq(stmts):
                for child in stmts:
                    self.execute(child)
            case For():
                for value in self.values(stmt):
                    self.env[stmt.var] = value
                    self.execute(stmt.body)
            case If(cond, then, None):
                if self.value(cond):
                    self.execute(then)
                else:
                    self.trace_only(then)
            case Let(var, value):
                self.env[var] = self.value(value)
            case Store(buffer, indices, value):
                result = self.value(value)
                self.memory[self.locate(buffer, indices, is_write=True)] = result
            case _:
                raise NotImplementedError(type(stmt).__name__)

    def trace_only(self, stmt: Stmt) -> None:
        """Note what `stmt` would access: whether a condition holds is no one's to rely on."""
        before = dict(self.memory)
        self.execute(stmt)
        self.memory = before

    def value(self, expr: Expr) -> int:
        match expr:
            case Const(int(value)):
                return value
            case Var():
                bound = self.nest.bindings.get(expr)
                return self.env[expr] if bound is None else self.value(bound)
            case Load(buffer, indices):
                if buffer is TABLE:
                    return TABLE_DATA[self.position(self.value(indices[0]), len(TABLE_DATA))]
                place = self.locate(buffer, indices, is_write=False)
                unwritten = 1000 + sum(5**axis * x for axis, x in enumerate(place[2]))
                return self.memory.get(place, unwritten)
            case Select(cond, then, otherwise):
                both = self.value(then), self.value(otherwise)
                return both[0] if self.value(cond) else both[1]
            case Binary(lhs, rhs):
                folded = fold_integer(type(expr), self.value(lhs), self.value(rhs), INT64)
                assert folded is not None
                return folded
            case _:
                raise NotImplementedError(type(expr).__name__)

    def locate(
        self, buffer: Buffer, indices: Sequence[Expr], *, is_write: bool
    ) -> tuple[Buffer, tuple[int, ...], tuple[int, ...]]:
        element = tuple(
            self.position(self.value(index), self.value(extent))
            for index, extent in zip(indices, buffer.shape, strict=True)
        )
        inside = self.nest.loops[: self.nest.local.get(buffer, 0)]
        instance = tuple(self.env[loop.var] for loop in inside)
        self.log.append(Access(buffer, instance, element, is_write))
        return buffer, instance, element

    def position(self, index: int, extent: int) -> int:
        if not -extent <= index < extent:
            raise OutsideError
        return index % extent


# --- the oracles -------------------------------------------------------------------------------


def find_conflict(nest: Nest, kinds: Sequence[IterKind]) -> str | None:
    """Two iterations that differ in a SPATIAL variable and meet in an element, one writing."""
    machine = Machine(nest)
    traces = {iteration: machine.run(iteration) for iteration in machine.iterations()}
    for (a, trace_a), (b, trace_b) in itertools.combinations(traces.items(), 2):
        differs = any(
            x != y and kind is IterKind.SPATIAL for x, y, kind in zip(a, b, kinds, strict=True)
        )
        if differs and (shared := find_shared(trace_a, trace_b)):
            return f"iterations {a} and {b} meet in {shared.buffer.name}{shared.element}"
    return None


def find_shared(a: Sequence[Access], b: Sequence[Access]) -> Access | None:
    """An access in `a` to what is also accessed in `b`, if one of the two writes."""
    seen = {(y.buffer, y.instance, y.element, y.is_write) for y in b}
    for x in a:
        place = (x.buffer, x.instance, x.element)
        if (*place, True) in seen or (x.is_write and (*place, False) in seen):
            return x
    return None


def find_order_dependence(nest: Nest, kinds: Sequence[IterKind], shuffles: int = 3) -> str | None:
    """An order of execution that the labels allow and that changes the result.

    They allow every order in which iterations with the same SPATIAL and REDUCE variables keep
    their order: whatever depends on the order depends on the SCAN variables.
    """
    order = Machine(nest).iterations()
    expected = run_in_order(nest, order)
    scans = [axis for axis, kind in enumerate(kinds) if kind is IterKind.SCAN]
    rank = {iteration: position for position, iteration in enumerate(order)}
    generator = random.Random(0)
    for _ in range(shuffles):
        groups: dict[tuple[int, ...], list[tuple[int, ...]]] = {}
        for iteration in generator.sample(order, len(order)):
            fixed = tuple(x for axis, x in enumerate(iteration) if axis not in scans)
            groups.setdefault(fixed, []).append(iteration)
        shuffled = [
            iteration
            for group in groups.values()
            for iteration in sorted(group, key=lambda iteration: rank[iteration])
        ]
        if run_in_order(nest, shuffled) != expected:
            return f"the order {shuffled} gives another result"
    return None


def run_in_order(nest: Nest, order: Sequence[tuple[int, ...]]) -> Memory:
    machine = Machine(nest)
    for iteration in order:
        machine.run(iteration)
    return machine.memory


# --- random nests ------------------------------------------------------------------------------

FORMS = ("plain", "sum", "min", "select", "guarded", "near", "both", "any")
STEPS = (1, 1, 1, 1, 2, -1, 3)
LINE = Buffer("c", INT64, (Const(6),))
PLANE = Buffer("d", INT64, (Const(5), Const(4)))
BUFFERS = (LINE, PLANE)


def make_affine(choose: Choose, variables: Sequence[Var]) -> Expr:
    """A sum of a few variables with small coefficients, and a constant, written in some way."""
    expr: Expr = pick(choose, variables)
    shape = pick(choose, ("bare", "bare", "shifted", "sum", "sum"))
    if shape == "bare":
        return expr
    if shape == "sum":
        expr = Mul(expr, Const(pick(choose, (1, 2, 3, 4, -1))))
        other = pick(choose, variables)
        expr = pick(choose, (Add(expr, other), Add(other, expr), Sub(expr, other)))
    return pick(choose, (expr, Add(expr, Const(1)), Sub(Const(3), expr), expr - 2))


def make_index(choose: Choose, variables: Sequence[Var]) -> Expr:
    """An index: most are affine."""
    expr = make_affine(choose, variables)
    match pick(choose, ("affine",) * 6 + ("constant", "table", "mod", "div", "product")):
        case "constant":
            return Const(-1 + choose(4))
        case "table":
            return Load(TABLE, (expr,))
        case "mod":
            return Mod(expr, Const(2 + choose(3)))
        case "div":
            return FloorDiv(expr, Const(2 + choose(2)))
        case "product":
            return Mul(expr, pick(choose, variables))
        case _:
            return expr


def make_place(choose: Choose, buffer: Buffer, variables: Sequence[Var]) -> tuple[Expr, ...]:
    return tuple(make_index(choose, variables) for _ in buffer.shape)


def make_update(choose: Choose, variables: Sequence[Var], values: Sequence[Expr]) -> Stmt:
    """A store: plain, a reduction, or one that reads the same buffer somewhere."""
    buffer = pick(choose, BUFFERS)
    place = make_place(choose, buffer, variables)
    element = Load(buffer, place)
    value: Expr = pick(choose, (*values, *variables, Const(1)))
    match pick(choose, FORMS):
        case "plain":
            return Store(buffer, place, value)
        case "sum":
            ordered = pick(choose, (Add(element, value), Add(value, element)))
            op = pick(choose, (Add, Sub, Mul, BitXor))
            return Store(buffer, place, pick(choose, (ordered, op(element, value))))
        case "min":
            op = pick(choose, (Min, Max))
            return Store(buffer, place, op(element, value))
        case "select":
            compare = pick(choose, (Lt, Gt))
            return Store(buffer, place, Select(compare(value, element), value, element))
        case "guarded":
            return If(Lt(value, element), Store(buffer, place, value))
        case "near":
            axis = choose(buffer.ndim)
            moved = tuple(x + int(axis == here) for here, x in enumerate(place))
            return Store(buffer, place, Add(Load(buffer, moved), value))
        case "both":
            other = Load(buffer, make_place(choose, buffer, variables))
            return Store(buffer, place, Add(Add(element, value), other))
        case _:
            other = make_place(choose, buffer, variables)
            return Store(buffer, place, Add(Load(buffer, other), value))


def make_loop(choose: Choose, name: str, outer: Sequence[Var]) -> For:
    """A loop of up to four iterations without a body; its start may be an outer variable."""
    step = pick(choose, STEPS)
    start: Expr = Const(-2 + choose(5)) if choose(4) == 0 else Const(0)
    if outer and choose(6) == 0:
        start = pick(choose, outer)
    length = choose(4 + 1) * step
    stop = Const(start.value + length) if isinstance(start, Const) else start + length
    return For(Var(name), start, stop, Const(step), Seq(()))


def make_nest(choose: Choose) -> Nest:
    """A nest of one to three loops around a statement of one or two stores."""
    loops: list[For] = []
    variables: list[Var] = []
    for name in "ijk"[: 1 + choose(3)]:
        loops.append(make_loop(choose, name, variables))
        variables.append(loops[-1].var)
    bindings: dict[Var, Expr] = {}
    values: list[Expr] = []
    visible = list(variables)
    if choose(4) == 0:
        let = Var("t")
        bindings[let] = make_index(choose, variables) + 1
        visible.append(let)
    if choose(4) == 0:
        let, buffer = Var("x"), pick(choose, BUFFERS)
        bindings[let] = Load(buffer, make_place(choose, buffer, visible)) + 1
        values.append(let)
    stmt = make_statement(choose, visible, values)
    guards: list[Expr] = []
    if choose(6) == 0:
        buffer = pick(choose, BUFFERS)
        guards.append(Lt(Load(buffer, make_place(choose, buffer, visible)), Const(1003)))
    depth = choose(len(loops) + 1)
    local = {LINE: depth} if depth and choose(4) == 0 else {}
    return assemble(loops, stmt, bindings, guards, local)


def make_statement(choose: Choose, variables: Sequence[Var], values: Sequence[Expr]) -> Stmt:
    stmt = make_update(choose, variables, values)
    match pick(choose, ("one", "one", "one", "two", "loop")):
        case "two":
            return Seq((stmt, make_update(choose, variables, values)))
        case "loop":
            inner = make_loop(choose, "m", variables)
            body = make_update(choose, [*variables, inner.var], values)
            return For(inner.var, inner.start, inner.stop, inner.step, body)
        case _:
            return stmt


def assemble(
    loops: Sequence[For],
    stmt: Stmt,
    bindings: dict[Var, Expr],
    guards: Sequence[Expr] = (),
    local: dict[Buffer, int] | None = None,
) -> Nest:
    """The nest with all its parts in place: `Let`s and guards are right around the statement."""
    body = stmt
    for guard in guards:
        body = If(guard, body)
    body = Seq((*(Let(var, value) for var, value in bindings.items()), body))
    finished: list[For] = []
    for depth in range(len(loops), 0, -1):
        allocated = [Allocate(b) for b, inside in (local or {}).items() if inside == depth]
        loop = loops[depth - 1]
        body = For(loop.var, loop.start, loop.stop, loop.step, Seq((*allocated, body)))
        finished.append(body)
    return Nest(tuple(finished[::-1]), stmt, bindings, tuple(guards), local or {})
