"""Programs for sizes of outputs that depend on run-time sizes, such as `a.shape[0] - 2`."""

from __future__ import annotations

from collections.abc import Mapping

from hybridjit.codegen.stub_layout import MAX_STACK, Step
from hybridjit.ir.dtype import INT64
from hybridjit.ir.expr import Add, Binary, Const, Expr, FloorDiv, Max, Min, Mul, Sub, Var
from hybridjit.runtime.dispatch_memory import Unsupported

_STEPS: dict[type[Binary], Step] = {
    Add: Step.ADD,
    Sub: Step.SUBTRACT,
    Mul: Step.MULTIPLY,
    Min: Step.LEAST,
    Max: Step.GREATEST,
}


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
        case FloorDiv(lhs, Const(value)) if value.real > 0:
            return [*_steps(lhs, places), (Step.DIVIDE, int(value.real))]
        case Binary(lhs, rhs) if type(expr) in _STEPS:
            return [*_steps(lhs, places), *_steps(rhs, places), (_STEPS[type(expr)], 0)]
        case _:
            raise Unsupported


def _depth(steps: list[tuple[Step, int]]) -> int:
    """How high the stack grows."""
    height = highest = 0
    for step, _ in steps:
        height += 1 if step in (Step.CONSTANT, Step.WORD) else 0 if step is Step.DIVIDE else -1
        highest = max(highest, height)
    return highest
