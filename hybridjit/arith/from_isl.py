"""Expressions of the IR from functions and sets of isl: the way back from arith/polyhedra.py."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce

from hybridjit.arith.polyhedra import Polyhedron, load_isl
from hybridjit.arith.simplify import simplify
from hybridjit.ir.dtype import BOOL, INT64
from hybridjit.ir.expr import (
    Add,
    And,
    Cast,
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
    Mod,
    Mul,
    Or,
    Select,
    Sub,
    Var,
)

Variables = Mapping[str, Var]
"""What the parameters of isl stand for."""


def expr_of(function: Polyhedron, context: Polyhedron, variables: Variables) -> Expr:
    """The value of `function`, a piecewise affine one of parameters, where `context` holds."""
    build = load_isl().AstBuild.from_context(context)
    return simplify(_convert(build.expr_from_pw_aff(function.gist_params(context)), variables))


def condition_of(params: Polyhedron, context: Polyhedron, variables: Variables) -> Expr:
    """The condition that is true, where `context` holds, for just the parameters in `params`."""
    build = load_isl().AstBuild.from_context(context)
    found = _convert(build.expr_from_set(params.gist_params(context)), variables)
    return Const(bool(found.value), BOOL) if isinstance(found, Const) else simplify(found)


def range_of(points: Polyhedron, context: Polyhedron, variables: Variables) -> tuple[Expr, Expr]:
    """The least of `points`, numbers that depend on parameters, and the one after the greatest.

    Written with min and max where that is exact, and as a choice of cases elsewhere. They mean
    nothing for parameters without points.
    """
    hull = points.gist_params(context).coalesce().simple_hull()
    stop = points.dim_max(0).add_constant_val(load_isl().Val(1))
    lower, upper = _half_planes(hull, variables)
    return (
        _exact(lower, Max, points.dim_min(0), context, variables),
        _exact(upper, Min, stop, context, variables),
    )


_Bound = tuple[str, Expr]
"""One number in both languages: isl's and ours."""


def _exact(
    bounds: Sequence[_Bound],
    join: type[Max] | type[Min],
    wanted: Polyhedron,
    context: Polyhedron,
    variables: Variables,
) -> Expr:
    """The join of the fewest `bounds` that is what is wanted; else `wanted`, case by case."""
    for chosen in (*([bound] for bound in bounds), bounds if len(bounds) > 1 else ()):
        if not chosen:
            continue
        name, names = join.__name__.lower(), ", ".join(variables)
        text = reduce(lambda x, y: f"{name}({x}, {y})", [text for text, _ in chosen])
        found = load_isl().PwAff(f"[{names}] -> {{ [{text}] }}").intersect_params(context)
        if _agree(found, wanted):
            return simplify(reduce(join, [expr for _, expr in chosen]))
    return expr_of(wanted, context, variables)


def _agree(found: Polyhedron, wanted: Polyhedron) -> bool:
    """Whether both are equal wherever `wanted` is defined."""
    return wanted.domain().is_subset(found.eq_set(wanted))


def _half_planes(hull: Polyhedron, variables: Variables) -> tuple[list[_Bound], list[_Bound]]:
    """The constraints of a convex set of numbers: where they let it start, and where stop."""
    isl = load_isl()
    lower: list[_Bound] = []
    upper: list[_Bound] = []
    for constraint in hull.get_constraints():
        factor = constraint.get_coefficient_val(isl.dim_type.set, 0).to_python()
        if factor == 0 or _uses_division(constraint):
            continue
        sides = (1, -1) if constraint.is_equality() else (1,)
        for side in sides:
            if factor * side > 0:
                start = _linear(constraint, -side, variables)
                lower.append(_divided(start, factor * side, abs(factor) - 1))
            else:
                last = _linear(constraint, side, variables)
                upper.append(_divided(last, -factor * side, abs(factor)))
    return lower, upper


def _uses_division(constraint: Polyhedron) -> bool:
    kind = load_isl().dim_type.div
    count = constraint.dim(kind)
    return any(not constraint.get_coefficient_val(kind, k).is_zero() for k in range(count))


def _linear(constraint: Polyhedron, sign: int, variables: Variables) -> _Bound:
    """The part of a constraint without its dimension, times `sign`."""
    kind = load_isl().dim_type.param
    constant = constraint.get_constant_val().to_python() * sign
    terms: list[tuple[int, str]] = []
    for k in range(constraint.dim(kind)):
        factor = constraint.get_coefficient_val(kind, k).to_python() * sign
        if factor != 0:
            terms.append((factor, constraint.get_dim_name(kind, k)))
    terms.sort(key=lambda term: term[0] < 0)
    text = " + ".join([*(f"({factor} * {name})" for factor, name in terms), str(constant)])
    exprs = [_variable(name, variables) * factor for factor, name in terms]
    return f"({text})", simplify(reduce(Add, [*exprs, Const(constant)]))


def _divided(bound: _Bound, divisor: int, shift: int) -> _Bound:
    """(bound + shift) // divisor."""
    text, expr = bound
    if divisor == 1:
        return f"({text} + {shift})", simplify(expr + shift)
    return f"floor(({text} + {shift})/{divisor})", simplify((expr + shift) // divisor)


def _variable(name: str, variables: Variables) -> Expr:
    var = variables[name]
    return var if var.dtype is INT64 else Cast(INT64, var)


# What isl calls exact or non-negative division is a floor division, too.
_OPERATORS: dict[str, type[Expr]] = {
    "add": Add,
    "sub": Sub,
    "mul": Mul,
    "min": Min,
    "max": Max,
    "div": FloorDiv,
    "fdiv_q": FloorDiv,
    "pdiv_q": FloorDiv,
    "pdiv_r": Mod,
    "zdiv_r": Mod,
    "eq": Eq,
    "le": Le,
    "lt": Lt,
    "ge": Ge,
    "gt": Gt,
    "and_": And,
    "and_then": And,
    "or_": Or,
    "or_else": Or,
    "cond": Select,
    "select": Select,
}


def _convert(expr: Polyhedron, variables: Variables) -> Expr:
    """An expression of isl's code generator as one of ours."""
    isl = load_isl()
    kind = expr.get_type()
    if kind == isl.ast_expr_type.int:
        return Const(expr.get_val().to_python())
    if kind == isl.ast_expr_type.id:
        return _variable(expr.get_id().get_name(), variables)
    operator = expr.get_op_type()
    operands = [_convert(expr.get_op_arg(k), variables) for k in range(expr.get_op_n_arg())]
    if operator == isl.ast_expr_op_type.minus:
        return simplify(Const(0) - operands[0])
    node = _OPERATORS[isl.ast_expr_op_type(operator).name]
    return operands[0] if len(operands) == 1 else _nested(node, operands)


def _nested(node: type[Expr], operands: Sequence[Expr]) -> Expr:
    if node is Select:
        return Select(*operands)
    make: type[Add] = node  # type: ignore[assignment]
    return reduce(make, operands)
