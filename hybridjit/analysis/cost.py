"""What things cost: operations, statements, loops; and from when on more threads pay.

The one cost model. Its unit is a simple operation, such as an addition or an access. It is rough:
it tells what is worth doing twice, in lanes or on several threads, not how long that takes. Facts
of the processor, such as the sizes of its caches, are asked of the `Target`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import reduce

from hybridjit.analysis.limits import (
    Limits,
    find_limits,
    limits_of_loop,
    loop_extent,
    most_iterations,
    quiet_extent,
)
from hybridjit.arith.linear import linear_form
from hybridjit.arith.simplify import simplify
from hybridjit.arith.totality import is_total
from hybridjit.ir.dtype import INT64
from hybridjit.ir.expr import (
    Add,
    Call,
    Const,
    Div,
    Expr,
    ExternCall,
    FloorDiv,
    Max,
    Min,
    Mod,
    Mul,
    Node,
    Pow,
    Sub,
    Var,
)
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.signature import ScalarParam
from hybridjit.ir.stmt import For, If, Let, Print, Seq, Stmt, While, flat_stmts
from hybridjit.ir.visit import children, rewrite, substitute, walk, walk_stmts
from hybridjit.record import record

# A function of many instructions, such as a polynomial: all calls that are not listed.
FUNCTION = 8
_CALLS = {
    **dict.fromkeys(("abs", "minimum", "maximum", "floor", "ceil", "trunc", "round", "sqrt"), 1),
    **dict.fromkeys(("real", "imag", "conj", "complex", "isnan", "isinf", "isfinite", "fma"), 1),
    **dict.fromkeys(("sign", "copysign", "popcount", "clz", "dot_bytes"), 2),
    **dict.fromkeys(("rsqrt", "hypot"), 4),
}
_DIVISIONS = (Div, FloorDiv, Mod)
_DIVISION = 4
# A function is written out in place: so many nodes of code.
FUNCTION_NODES = 300

# Less work than this is done before another thread has woken up.
MIN_PARALLEL_WORK = 1 << 12
# Nobody asked for a loop that runs on several threads by itself: it has to pay even if they sleep.
MIN_AUTOMATIC_WORK = 1 << 18
# Threads share it in pieces: some get on faster than others.
AUTOMATIC_CHUNK = 1 << 15
# More than any of the two: work is not counted any further.
ENOUGH_WORK = 1 << 20
# An estimate beyond every threshold: nobody knows how long it takes.
UNBOUNDED = 1 << 40
_NOTHING_KNOWN: Mapping[Var, Limits] = {}


# -- operations ------------------------------------------------------------------------------------


def operation_cost(node: Node) -> int:
    """What the operator of `node` costs, its operands aside."""
    match node:
        case ExternCall():
            return UNBOUNDED
        case Call(name):
            return _CALLS.get(name, FUNCTION)
        case Pow():
            return FUNCTION
        case Const() | Var():
            return 0
        case Expr():
            return _DIVISION if isinstance(node, _DIVISIONS) else 1
        case _:
            return 0


def calls_function(root: Node) -> bool:
    """True if something in `root` calls a function of many instructions."""
    return any(map(is_function, walk(root)))


def is_dear(roots: Iterable[Node], *, divisions: bool) -> bool:
    """True if expressions call functions of many instructions; or divide, if that counts."""
    return any(
        calls_function(root)
        or (divisions and any(isinstance(node, _DIVISIONS) for node in walk(root)))
        for root in roots
    )


def count_nodes(stmt: Stmt) -> int:
    """How much code `stmt` is, roughly, where functions are written out."""
    nodes = list(walk(stmt))
    return len(nodes) + FUNCTION_NODES * sum(map(is_function, nodes))


def is_function(node: Node) -> bool:
    """True for a power, or a call of a function of many instructions."""
    return isinstance(node, Call | Pow) and operation_cost(node) >= FUNCTION


# -- statements ------------------------------------------------------------------------------------


def find_work(stmt: Stmt, known: Mapping[Var, Limits] = _NOTHING_KNOWN) -> int | None:
    """The simple statements that one execution of `stmt` runs, at most; None if not known.

    `known` are the limits of variables bound outside, where there are any.
    """
    match stmt:
        case Seq():
            return _sum([find_work(inner, names) for inner, names in _with_names(stmt, known)])
        case If(_, then, otherwise):
            sides = [find_work(side, known) for side in (then, otherwise) if side is not None]
            return None if None in sides else max(side or 0 for side in sides) + 1
        case For(body=body):
            extent, each = most_iterations(stmt, known), find_work(body, _with_loop(stmt, known))
            return None if extent is None or each is None else extent * (each + 1)
        case While():
            return None
        case _:
            return 1


def make_work(stmt: Stmt, unknown: Collection[Var] = (), *, unknown_trips: int = 8) -> Expr:
    """The simple operations that `stmt` runs, as an expression that is known before it.

    It stops at `ENOUGH_WORK`, so that nothing overflows. A loop whose end is not known before runs
    as often as it may at most, or `unknown_trips`. Nor are variables in `unknown` known.
    """
    inside = {*unknown, *(node.var for node in walk_stmts(stmt) if isinstance(node, For | Let))}
    loops = (node for node in walk_stmts(stmt) if isinstance(node, For))
    starts = {loop.var: loop.start for loop in loops if _goes_up(loop)}
    return simplify(_Work(inside, starts, unknown_trips).of(stmt, {}))


@record
class _Work:
    """Work as an expression: of loops that end where a variable `inside` says, by a guess.

    `starts` are the least values of variables of loops.
    """

    inside: Collection[Var]
    starts: Mapping[Var, Expr]
    unknown_trips: int

    def of(self, stmt: Stmt, names: Mapping[Var, Expr]) -> Expr:
        """The work of `stmt`, with the values that `names` stand for."""
        enough = Const(ENOUGH_WORK)
        match stmt:
            case For(body=body):
                return Min(
                    Min(self._trips(stmt, names), enough) * (self.of(body, names) + 1), enough
                )
            case While(body=body):
                return Min(self.of(body, names) * self.unknown_trips, enough)
            case Seq(stmts):
                works: list[Expr] = []
                for part in stmts:
                    works.append(self.of(part, names))
                    if isinstance(part, Let):
                        names = {**names, part.var: substitute(part.value, names)}
                return _total(works)
            case If(_, then, otherwise):
                sides = [side for side in (then, otherwise) if side is not None]
                return _total([self.of(side, names) for side in sides])
            case _:
                calls = (node for node in walk(stmt) if isinstance(node, Call | Pow | ExternCall))
                return Const(1 + min(ENOUGH_WORK, sum(map(operation_cost, calls))))

    def _trips(self, loop: For, names: Mapping[Var, Expr]) -> Expr:
        extent = loop_extent(loop)
        if extent is not None:
            return Const(extent)
        exact = simplify(substitute(loop.safe_extent, names))
        if self._is_known(exact):
            return Max(exact, Const(0))
        most = simplify(rewrite(_distance(loop, names), self._without_limit))
        return Max(most if self._is_known(most) else Const(self.unknown_trips), Const(0))

    def _without_limit(self, node: Node) -> Node | None:
        """A minimum as far as it is known: `n` of min(n, x), and min(n, m) of min(n, m - i)."""
        if not isinstance(node, Min):
            return None
        most = [self._at_most(side) for side in (node.lhs, node.rhs)]
        known = [side for side in most if side is not None]
        return reduce(Min, known) if known else None

    def _at_most(self, expr: Expr) -> Expr | None:
        """What `expr` is in the first iterations, if it becomes less in others."""
        if self._is_known(expr):
            return expr
        form = linear_form(expr)
        varying = {} if form is None else {v: c for v, c in form.terms.items() if v in self.inside}
        if not varying or any(c > 0 or var not in self.starts for var, c in varying.items()):
            return None
        first = simplify(substitute(expr, {var: self.starts[var] for var in varying}))
        return first if self._is_known(first) else None

    def _is_known(self, expr: Expr) -> bool:
        return is_total(expr) and not any(node in self.inside for node in walk(expr))


def _distance(loop: For, names: Mapping[Var, Expr]) -> Expr:
    """The iterations of a loop whose stop is not before its start: of range(i, i + x), x."""
    start, stop = (simplify(substitute(bound, names)) for bound in (loop.start, loop.stop))
    if not isinstance(loop.step, Const):
        return loop.safe_extent
    step = int(loop.step.value.real)
    ends = (start, stop) if step > 0 else (stop, start)
    return simplify(FloorDiv(simplify(ends[1] - ends[0]) + (abs(step) - 1), Const(abs(step))))


def _goes_up(loop: For) -> bool:
    return isinstance(loop.step, Const) and loop.step.value.real > 0


def _total(works: Sequence[Expr]) -> Expr:
    total = simplify(sum(works, Const(1)))
    return total if isinstance(total, Const) else Min(total, Const(ENOUGH_WORK))


def find_quiet_work(stmt: Stmt, most: int, known: Mapping[Var, Limits] = _NOTHING_KNOWN) -> int:
    """The work of `stmt` without the loops in it that note their own: when they are through.

    Those are all but loops of which the most iterations are known, with less work than `most`.
    """
    match stmt:
        case Seq():
            parts = _with_names(stmt, known)
            return sum(find_quiet_work(inner, most, names) for inner, names in parts)
        case If(_, then, otherwise):
            sides = [side for side in (then, otherwise) if side is not None]
            return 1 + max(find_quiet_work(side, most, known) for side in sides)
        case For(body=body):
            work, extent = find_work(stmt, known), quiet_extent(stmt)
            if work is None or work >= most or extent is None:
                return 0
            return extent * (find_quiet_work(body, most, _with_loop(stmt, known)) + 1)
        case While():
            return 0
        case _:
            return 1


def _with_loop(loop: For, known: Mapping[Var, Limits]) -> Mapping[Var, Limits]:
    """What is known inside `loop`."""
    limits = limits_of_loop(loop, known)
    return known if limits is None else {**known, loop.var: limits}


def _with_names(
    stmts: Seq, known: Mapping[Var, Limits]
) -> Iterator[tuple[Stmt, Mapping[Var, Limits]]]:
    """Each of `stmts`, with what is known there."""
    for stmt in flat_stmts(stmts):
        yield stmt, known
        limits = find_limits(stmt.value, known) if isinstance(stmt, Let) else None
        if isinstance(stmt, Let) and limits is not None:
            known = {**known, stmt.var: limits}


def _sum(parts: list[int | None]) -> int | None:
    return None if None in parts else sum(part or 0 for part in parts)


# -- a whole function ------------------------------------------------------------------------------


def estimate_work(func: PrimFunc) -> tuple[int, tuple[Var, ...]]:
    """About how many simple loop iterations a run of `func` takes. Guesses high.

    A number, to be multiplied with each of the run-time sizes.
    """
    numbers = [param.var for param in func.params if isinstance(param, ScalarParam)]
    estimator = _Estimator([*func.dimensions, *(var for var in numbers if var.dtype is INT64)])
    iterations = estimator.cost(func.body, {})
    return min(iterations, UNBOUNDED), tuple(estimator.used)


class _Estimator:
    def __init__(self, sizes: Sequence[Var]) -> None:
        self.sizes = sizes
        self.used: dict[Var, None] = {}

    def cost(self, stmt: Stmt, trips: Mapping[Var, int]) -> int:
        match stmt:
            case While() | Print():
                return UNBOUNDED
            case For():
                count = self.bound(stmt.extent, trips)
                inside = self.cost(stmt.body, {**trips, stmt.var: count})
                return min(UNBOUNDED, count * inside)
            case _:
                total = 1
                for child in children(stmt):
                    if isinstance(child, Stmt):
                        total += self.cost(child, trips)
                    elif isinstance(child, Expr):
                        total += _expression_cost(child)
                return total

    def bound(self, expr: Expr, trips: Mapping[Var, int]) -> int:
        """A number that `expr`, an extent, hardly exceeds."""
        match expr:
            case Const(value):
                return abs(int(value.real))
            case Var() if expr in trips:
                return trips[expr]
            case Var() if expr in self.sizes:
                self.used.setdefault(expr)
                return 1
            case Add(a, b) | Sub(a, b):
                return self.bound(a, trips) + self.bound(b, trips)
            case Mul(a, b):
                return self.bound(a, trips) * self.bound(b, trips)
            case Min(a, b):
                return min(self.bound(a, trips), self.bound(b, trips))
            case Max(a, b):
                return max(self.bound(a, trips), self.bound(b, trips))
            case FloorDiv(a, _):
                return self.bound(a, trips)
            case _:
                return UNBOUNDED


def _expression_cost(expr: Expr) -> int:
    """Calls count, and nothing else does: an iteration stands for a few simple operations."""
    calls = (node for node in walk(expr) if isinstance(node, Call | ExternCall))
    return min(UNBOUNDED, sum(map(operation_cost, calls)))
