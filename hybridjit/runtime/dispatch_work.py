"""How long does a kernel run? An estimate, to see whether giving up the GIL is worth it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hybridjit.ir.dtype import INT64
from hybridjit.ir.expr import Add, Call, Const, Expr, ExternCall, FloorDiv, Max, Min, Mul, Sub, Var
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.signature import ScalarParam
from hybridjit.ir.stmt import For, Print, Stmt, While
from hybridjit.ir.visit import children, walk
from hybridjit.runtime.translation import Work

# An estimate beyond every threshold: nobody knows how long it takes.
UNBOUNDED = 1 << 40
# A call of a math function, in iterations.
_CALL_COST = 8


def estimate_work(func: PrimFunc) -> Work:
    """About how many simple loop iterations a run of `func` takes. Guesses high."""
    numbers = [param.var for param in func.params if isinstance(param, ScalarParam)]
    estimator = _Estimator([*func.dimensions, *(var for var in numbers if var.dtype is INT64)])
    iterations = estimator.cost(func.body, {})
    return Work(min(iterations, UNBOUNDED), tuple(estimator.used))


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
    total = 0
    for node in walk(expr):
        if isinstance(node, ExternCall):
            return UNBOUNDED
        if isinstance(node, Call):
            total += _CALL_COST
    return total
