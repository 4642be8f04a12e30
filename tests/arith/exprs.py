"""Random integer expressions and conditions, and their value."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping

from hybridjit.arith.fold import fold_integer, fold_unary, wrap
from hybridjit.ir.dtype import BOOL, INT8, INT32, INT64, UINT8, UINT64, DType
from hybridjit.ir.expr import (
    Add,
    And,
    Binary,
    BitAnd,
    BitOr,
    BitXor,
    Buffer,
    Cast,
    Const,
    Eq,
    Expr,
    FloorDiv,
    Ge,
    Gt,
    Invert,
    Le,
    Load,
    Lt,
    Max,
    Min,
    Mod,
    Mul,
    Ne,
    Neg,
    Not,
    Or,
    Pow,
    Select,
    ShiftLeft,
    ShiftRight,
    Sub,
    Unary,
    Var,
)
from tests.support.choices import Choose, pick

TYPES = (INT64, INT64, INT64, INT32, INT8, UINT8, UINT64)
VARS = {dtype: [Var(f"{name}_{dtype}", dtype) for name in "ijk"] for dtype in (*TYPES, BOOL)}
ALL_VARS = [var for group in VARS.values() for var in group]
FORMS = (*("common",) * 6, *("nested",) * 5, "rare", "rare", "unary", "select", "cast", "load")
CONDITIONS = (*("compare",) * 4, *("nested",) * 2, *("logic",) * 4, "not", "select", "cast")
TABLE = Buffer("table", INT64, (Const(3),))
TABLE_DATA = (1, 0, -5)

COMMON = (Add, Add, Add, Sub, Sub, Sub, Mul, Mul, FloorDiv, Mod)
RARE = (Min, Max, BitAnd, BitOr, BitXor, Pow, ShiftLeft, ShiftRight)
NESTED = (Add, Sub, Mul, FloorDiv, Mod, Min, Max)
COMPARISONS = (Eq, Ne, Lt, Le, Gt, Ge)
LOGIC = (And, And, Or, Or, BitAnd, BitOr, BitXor, Min, Max, Eq, Ne, Lt, Ge)


class FailsError(Exception):
    """Evaluating the expression is an error."""


def evaluate(expr: Expr, env: Mapping[Var, int]) -> int:
    """The value of `expr`; raises FailsError where the language says it is an error."""
    match expr:
        case Const(int(value)):
            return value
        case Var():
            return env[expr]
        case Load(_, (index,)):
            position = evaluate(index, env)
            if not -len(TABLE_DATA) <= position < len(TABLE_DATA):
                raise FailsError
            return TABLE_DATA[position]
        case Select(cond, then, otherwise):
            return evaluate(then if evaluate(cond, env) else otherwise, env)
        case And(lhs, rhs):
            return evaluate(lhs, env) and evaluate(rhs, env)
        case Or(lhs, rhs):
            return evaluate(lhs, env) or evaluate(rhs, env)
        case _:
            return _evaluate_operator(expr, env)


def _evaluate_operator(expr: Expr, env: Mapping[Var, int]) -> int:
    match expr:
        case Cast(to, value, checked):
            return _convert(to, evaluate(value, env), checked)
        case Unary(value):
            result = fold_unary(type(expr), evaluate(value, env), value.dtype)
        case Binary(lhs, rhs):
            left, right = evaluate(lhs, env), evaluate(rhs, env)
            result = fold_integer(type(expr), left, right, lhs.dtype)
        case _:
            raise NotImplementedError(type(expr).__name__)
    if result is None:
        raise FailsError
    return result


def _convert(to: DType, value: int, checked: bool) -> int:
    if to.is_bool:
        return value != 0
    if checked and wrap(value, to) != value:
        raise FailsError
    return wrap(value, to)


def random_value(generator: random.Random, dtype: DType) -> int:
    """A value of `dtype`: small, at the edge, a power of two, or anything."""
    if dtype.is_bool:
        return generator.random() < 0.5
    low, high = dtype.bounds
    match generator.randrange(3):
        case 0:
            return generator.randint(max(low, -4), 9)
        case 1:
            half = 1 << (dtype.bits // 2)
            return generator.choice((low, low + 1, high - 1, high, half, 1 << (dtype.bits - 2)))
        case _:
            return generator.randint(low, high)


def make_literal(choose: Choose, dtype: DType) -> Const:
    """A constant, small more often than not, and at times at the edge of its type."""
    if dtype.is_bool:
        return Const(bool(choose(2)), dtype)
    low, high = dtype.bounds
    values = (0, 1, 2, 3, 4, 8, max(low, -1), max(low, -4), low, high)
    return Const(pick(choose, values), dtype)


def make_expr(choose: Choose, dtype: DType, depth: int, seen: list[Expr]) -> Expr:
    """An expression of `dtype`; now and then one that was `seen` before, so that laws apply."""
    again = [expr for expr in seen if expr.dtype is dtype]
    if again and choose(4) == 0:
        return pick(choose, again)
    if depth == 0 or choose(6) == 0:
        expr = _make_leaf(choose, dtype)
    elif dtype.is_bool:
        expr = _make_condition(choose, depth, seen)
    else:
        expr = _make_integer(choose, dtype, depth, seen)
    seen.append(expr)
    return expr


def _make_leaf(choose: Choose, dtype: DType) -> Expr:
    if choose(3) == 0:
        return make_literal(choose, dtype)
    return pick(choose, VARS[dtype])


def _make_integer(choose: Choose, dtype: DType, depth: int, seen: list[Expr]) -> Expr:
    def operand(of: DType = dtype) -> Expr:
        return make_expr(choose, of, depth - 1, seen)

    match pick(choose, FORMS):
        case "common":
            return pick(choose, COMMON)(operand(), operand())
        case "nested":
            return _make_nested(choose, operand())
        case "rare":
            return pick(choose, RARE)(operand(), operand())
        case "unary":
            return pick(choose, (Neg, Neg, Invert))(operand())
        case "select":
            return Select(operand(BOOL), operand(), operand())
        case "cast":
            source = pick(choose, (*TYPES, BOOL))
            checked = not source.is_bool and bool(choose(2))
            return Cast(dtype, operand(source), checked)
        case _:
            load = Load(TABLE, (operand(INT64),))
            return load if dtype is INT64 else Cast(dtype, load)


def _make_nested(choose: Choose, operand: Expr) -> Binary:
    """(x op a) op b, the shape of most laws, with constants that often divide each other."""
    constants = [Const(value, operand.dtype) for value in (1, 2, 3, 4, 4, 4, 8, 12)]
    inner = pick(choose, NESTED)(operand, pick(choose, constants))
    return pick(choose, NESTED)(inner, pick(choose, constants))


def _make_condition(choose: Choose, depth: int, seen: list[Expr]) -> Expr:
    def operand(of: DType = BOOL) -> Expr:
        return make_expr(choose, of, depth - 1, seen)

    match pick(choose, CONDITIONS):
        case "compare":
            dtype = pick(choose, TYPES)
            return pick(choose, COMPARISONS)(operand(dtype), operand(dtype))
        case "nested":
            nested = _make_nested(choose, operand(pick(choose, TYPES)))
            return pick(choose, COMPARISONS)(nested.lhs, nested.rhs)
        case "logic":
            return pick(choose, LOGIC)(operand(), operand())
        case "not":
            return Not(operand())
        case "select":
            return Select(operand(), operand(), operand())
        case _:
            return Cast(BOOL, operand(pick(choose, TYPES)))


def make_integer_expr(choose: Choose) -> Expr:
    """An expression over integers of one width, or over bool."""
    dtype = pick(choose, (*TYPES, BOOL, BOOL))
    return make_expr(choose, dtype, 1 + choose(4), [])


def environments(seed: int, count: int = 12) -> Iterator[dict[Var, int]]:
    """Several assignments of values to all variables, made from `seed`."""
    generator = random.Random(seed)
    for _ in range(count):
        yield {var: random_value(generator, var.dtype) for var in ALL_VARS}
