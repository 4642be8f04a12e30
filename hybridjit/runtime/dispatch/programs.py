"""Programs for sizes of outputs that depend on run-time sizes, such as `a.shape[0] - 2`."""

from __future__ import annotations

from collections.abc import Mapping

from hybridjit.codegen.dispatcher.layout import MAX_STACK, Step
from hybridjit.ir.dtype import INT64
from hybridjit.ir.expr import (
    Add,
    Binary,
    Compare,
    Const,
    Eq,
    Expr,
    FloorDiv,
    Ge,
    Gt,
    Le,
    Lt,
    Max,
    Min,
    Mul,
    Ne,
    Neg,
    Select,
    Sub,
    Var,
)
from hybridjit.runtime.dispatch.memory import Unsupported

_STEPS: dict[type[Binary], Step] = {
    Add: Step.ADD,
    Sub: Step.SUBTRACT,
    Mul: Step.MULTIPLY,
    Min: Step.LEAST,
    Max: Step.GREATEST,
    Lt: Step.LESS,
    Eq: Step.EQUAL,
}
# How much higher a step leaves the stack; the others take two numbers and give one.
_GROWTH = {Step.CONSTANT: 1, Step.WORD: 1, Step.DIVIDE: 0, Step.CHOOSE: -2}
_OPPOSITES: dict[type[Compare], type[Compare]] = {Ge: Lt, Ne: Eq}
_MIRRORED: dict[type[Compare], type[Compare]] = {Gt: Lt, Le: Ge}


def program_of(expr: Expr, places: Mapping[Var, int]) -> list[tuple[int, int]]:
    """The steps that compute `expr` from the argument words in `places`."""
    steps = _steps(expr, places)
    if _depth(steps) > MAX_STACK:
        raise Unsupported
    return [(int(step), operand) for step, operand in steps]


def _steps(expr: Expr, places: Mapping[Var, int]) -> list[tuple[Step, int]]:
    if expr.dtype is not INT64:
        raise Unsupported
    match expr:
        case Const(value):
            return [(Step.CONSTANT, int(value.real))]
        case Var() if expr in places:
            return [(Step.WORD, places[expr])]
        case Neg(value):
            return [(Step.CONSTANT, 0), *_steps(value, places), (Step.SUBTRACT, 0)]
        case FloorDiv(lhs, Const(value)) if value.real > 0:
            return [*_steps(lhs, places), (Step.DIVIDE, int(value.real))]
        case Select(Compare() as cond, then, otherwise):
            return _choice(cond, (then, otherwise), places)
        case Binary(lhs, rhs) if type(expr) in _STEPS:
            return [*_steps(lhs, places), *_steps(rhs, places), (_STEPS[type(expr)], 0)]
        case _:
            raise Unsupported


def _choice(
    cond: Compare, sides: tuple[Expr, Expr], places: Mapping[Var, int]
) -> list[tuple[Step, int]]:
    """Both sides are computed, as no step can fail, and one of them is chosen."""
    kind, lhs, rhs = type(cond), cond.lhs, cond.rhs
    if kind in _MIRRORED:
        kind, lhs, rhs = _MIRRORED[kind], rhs, lhs
    then, otherwise = sides
    if kind in _OPPOSITES:
        kind, then, otherwise = _OPPOSITES[kind], otherwise, then
    operands = [step for expr in (lhs, rhs) for step in _steps(expr, places)]
    choices = [step for expr in (then, otherwise) for step in _steps(expr, places)]
    return [*operands, (_STEPS[kind], 0), *choices, (Step.CHOOSE, 0)]


def _depth(steps: list[tuple[Step, int]]) -> int:
    """How high the stack grows."""
    height = highest = 0
    for step, _ in steps:
        height += _GROWTH.get(step, -1)
        highest = max(highest, height)
    return highest
