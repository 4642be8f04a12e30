"""Bugs planted in the front end, the interpreter and the printer.

Each must make a program fail: a random one, or a given one for what random programs do too seldom.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from hybridjit.frontend import assignments, expressions, loops, variables
from hybridjit.frontend.arrays import memory
from hybridjit.frontend.returns import _Structure  # pyright: ignore[reportPrivateUsage]
from hybridjit.interp import expressions as interp_exprs
from hybridjit.interp import scalars
from hybridjit.interp import statements as interp_stmts
from hybridjit.interp.statements import Signal
from hybridjit.ir import expr, printer_exprs, stmt
from hybridjit.ir.dtype import FLOAT32, FLOAT64, WEAK_FLOAT, ScalarType
from hybridjit.ir.printer_stmts import StmtPrinter
from hybridjit.scalars import comparisons, conversion, operators
from tests.planted.bugs import Bug, Check, RandomCheck, entry, everywhere, replaced
from tests.programs.check import check_program
from tests.programs.kinds import TAME, WILD
from tests.programs.program import Program, forget_sources, program_from_seed

# Programs until a bug counts as missed.
MAX_PROGRAMS = 400
Run = Callable[[Any], Any]


def at_random(first: int) -> RandomCheck:
    """All ways to run a random program agree, and its text is the program."""
    return RandomCheck("programs", _check_number, first, MAX_PROGRAMS)


def _check_number(number: int) -> None:
    """Try the program of this number; every other one is wild."""
    check_program(program_from_seed(number // 2, WILD if number % 2 else TAME))
    forget_sources()


def given(source: str) -> Check:
    """All ways to run the program agree, and its text is the program."""

    def check() -> None:
        check_program(Program(source, [np.arange(3.0), 3]))

    check.__name__ = "given program"
    return check


# -- the interpreter -------------------------------------------------------------------------------


def truncated_division(x: Any, y: Any) -> Any:
    if isinstance(x, np.inexact):
        return x // y
    return type(x)(math.trunc(int(x) / int(y)))


def eager(node: Any, scope: Any) -> Run:
    lhs, rhs = (interp_exprs.compile_expr(side, scope) for side in (node.lhs, node.rhs))
    return lambda frame: (lhs(frame), rhs(frame))[1] and lhs(frame)


def eager_select(node: Any, scope: Any) -> Any:
    parts = [interp_exprs.compile_expr(p, scope) for p in (node.cond, node.then, node.otherwise)]

    def run(frame: Any) -> Any:
        cond, then, otherwise = [part(frame) for part in parts]
        return then if cond else otherwise

    return run


def rounding_cast(source: Any, to: Any, checked: bool = False) -> Run:
    convert = scalars.make_cast(source, to, checked)
    if not (source.is_float and to.is_integer):
        return convert
    return lambda value: convert(np.rint(value))


def leaving_by(signal: Signal) -> Callable[[Any, Any], Run]:
    return lambda node, scope: lambda frame: signal


def numpy_max(x: Any, y: Any) -> Any:
    return x if x > y else y


def logical_shift(x: Any, y: Any) -> Any:
    return abs(x) >> y


def from_the_start(indices: Any, buffer: Any, scope: Any) -> Run:
    compiled = _compile_index(indices, buffer, scope)
    return lambda frame: tuple(abs(index) for index in compiled(frame))


_compile_index = interp_exprs.compile_index


# -- the front end ---------------------------------------------------------------------------------


def swapped_augmented(op: Any, lhs: Any, rhs: Any, span: Any) -> Any:
    return operators.binary(op, rhs, lhs, span)


def wrong_join(a: ScalarType, b: ScalarType, span: Any) -> ScalarType:
    if {a, b} == {WEAK_FLOAT, ScalarType(FLOAT32)}:
        return ScalarType(FLOAT64)
    return conversion.join_types(a, b, span)


def out_of_order(self: Any, value: Any, mark: int) -> Any:
    return value


def lets_forever(web: Any) -> bool:
    real = [d for d in web.definitions if d.merges is None]
    return not web.may_be_unbound and len(real) <= 2


def no_last_value(build: Any, targets: Any, loops: Any) -> None:
    return None


def bounds_as_they_are(build: Any, bounds: Any) -> Any:
    return list(bounds)


def wrong_extent(start: Any, stop: Any, step: Any) -> Any:
    found = _extent(start, stop, step)
    is_falling = isinstance(step, expr.Const) and step.value.real < 0
    if isinstance(found, expr.Const) and is_falling:
        return expr.Const(int(found.value.real) + 1)
    return found


_extent = vars(stmt)["_extent"]


def chain_by_or(build: Any, lhs: Any, rhs: Any, node: ast.expr) -> Any:
    joined = operators.conjunction(expr.Or, lhs.expr, rhs.expr, None)
    return type(lhs)(joined, lhs.type)


def never_checked(source: Any, dtype: Any) -> bool:
    return False


def signed_compare(op: Any, lhs: Any, rhs: Any, span: Any) -> Any:
    sides = (expr.Cast(expr.INT64, side.expr) for side in (lhs, rhs))
    return op(*sides, span=span)


def skip_nothing(self: Any, rest: Any, *, in_loop: bool, set_flag: bool) -> Any:
    return self.block(rest, in_loop=in_loop, set_flag=set_flag)


def assigned_at_once(build: Any, targets: Any, value: Any, node: Any) -> None:
    for target, item in zip(targets, value.items, strict=True):
        assignments._assign_to(build, target, item, node)  # pyright: ignore[reportPrivateUsage]


# -- the printer and the comparison ----------------------------------------------------------------


def no_step(self: Any, loop: stmt.For) -> str:
    return self.exprs((loop.start, loop.stop))


def no_parentheses(operand: Any, names: Any) -> Any:
    parts = _parts(operand, names)
    return parts if len(parts.pieces) < 3 else parts._replace(pieces=_stripped(parts.pieces))


_parts = vars(printer_exprs)["_parts"]


def _stripped(pieces: Any) -> Any:
    if pieces[0] == "(" and pieces[-1] == ")":
        return pieces[1:-1]
    return pieces


_OPERATORS, _EXPRS = scalars.OPERATORS, vars(interp_exprs)["_COMPILERS"]
_STMTS = vars(interp_stmts)["_COMPILERS"]

# What random programs do, but not in the first hundred.
CASTS = """
def program(a, n):
    return int32(a[0] + 0.75), int8(a[1] - 1.5)
"""
CONTINUE = """
def program(a, n):
    for i in range(4):
        if i == 1:
            continue
        a[0] += i
"""
ORDER = """
def helper(q):
    q[0] += 5
    return q[0]

def program(a, n):
    return a[0] + helper(a)
"""
BOUNDS = """
def program(a, n):
    k = n
    for i in range(k):
        k = k - 1
    return i
"""
RETURN = """
def helper(q, n):
    for i in range(n):
        if i == 1:
            return i
        q[0] += 1
    q[0] = 100
    return n

def program(a, n):
    return helper(a, n)
"""
UINT64 = """
def program(a, n):
    return uint64(n) > int64(n - 4), uint64(n) == int64(n - 4)
"""

BUGS = (
    Bug(
        "floor division truncates",
        [entry(scalars, "OPERATORS", expr.FloorDiv, truncated_division)],
        at_random(6),
    ),
    Bug(
        "max keeps the other side of NaN",
        [entry(scalars, "OPERATORS", expr.Max, numpy_max)],
        at_random(686),
    ),
    Bug(
        "shift right is logical",
        [entry(scalars, "OPERATORS", expr.ShiftRight, logical_shift)],
        at_random(221),
    ),
    Bug("`and` is not lazy", [entry(interp_exprs, "_COMPILERS", expr.And, eager)], at_random(147)),
    Bug(
        "a conditional computes both sides",
        [entry(interp_exprs, "_COMPILERS", expr.Select, eager_select)],
        at_random(47),
    ),
    Bug("casts round", [replaced(interp_exprs, "make_cast", rounding_cast)], given(CASTS)),
    Bug(
        "break leaves every loop",
        [entry(interp_stmts, "_COMPILERS", stmt.Break, leaving_by(Signal.RETURN))],
        at_random(27),
    ),
    Bug(
        "continue leaves the loop",
        [entry(interp_stmts, "_COMPILERS", stmt.Continue, leaving_by(Signal.BREAK))],
        given(CONTINUE),
    ),
    Bug(
        "negative indices count from the start",
        [replaced(interp_stmts, "compile_index", from_the_start)],
        at_random(0),
    ),
    Bug("x -= y is y - x", [replaced(assignments, "binary", swapped_augmented)], at_random(0)),
    Bug(
        "float32 and a Python float are float64",
        [replaced(operators, "join_types", wrong_join)],
        at_random(3),
    ),
    Bug(
        "operands are read too late", [everywhere(memory, "as_it_was", out_of_order)], given(ORDER)
    ),
    Bug(
        "variables are plain values",
        [replaced(variables, "_is_plain_value", lets_forever)],
        at_random(0),
    ),
    Bug(
        "loops lose their last value",
        [replaced(loops, "_keep_last_values", no_last_value)],
        at_random(6),
    ),
    Bug(
        "bounds are read again",
        [replaced(loops, "_frozen_bounds", bounds_as_they_are)],
        given(BOUNDS),
    ),
    Bug("a falling range is one longer", [replaced(stmt, "_extent", wrong_extent)], at_random(84)),
    Bug(
        "chains are joined by or",
        [replaced(expressions, "_both", chain_by_or)],
        at_random(8),
    ),
    Bug(
        "Python ints wrap in a cast",
        [replaced(conversion, "_needs_check", never_checked)],
        at_random(499),
    ),
    Bug(
        "uint64 is compared as signed",
        [replaced(comparisons, "_compare_with_uint64", signed_compare)],
        given(UINT64),
    ),
    Bug("code after a return runs", [replaced(_Structure, "after", skip_nothing)], given(RETURN)),
    Bug(
        "tuples are assigned one by one",
        [replaced(assignments, "_unpack", assigned_at_once)],
        at_random(0),
    ),
    Bug("the printer drops the step", [replaced(StmtPrinter, "_range", no_step)], at_random(0)),
    Bug(
        "the printer drops parentheses",
        [replaced(printer_exprs, "_parts", no_parentheses)],
        at_random(1),
    ),
)
