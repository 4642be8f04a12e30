"""Expressions of the IR from functions and sets of isl: the way back from arith/polyhedra.py."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce

from hybridjit.arith.linear import Linear, linear_form
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
)
from hybridjit.ir.visit import walk

Variables = Mapping[str, Expr]
"""What the parameters of isl stand for: variables, or quotients of variables."""

_Bound = tuple[str, Expr]
"""One number in both languages: isl's and ours."""


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
    start, stop = _bounds_of(points, context, variables)
    if not (_is_choice(start) or _is_choice(stop)):
        return start, stop
    quotients, known = _quotients_in(points, variables)
    if not quotients:
        return start, stop
    points = points.intersect_params(known).detect_equalities()
    context = context.intersect_params(known)
    others = _bounds_of(points, context, {**variables, **quotients})
    return others[0] if _is_choice(start) else start, others[1] if _is_choice(stop) else stop


def _is_choice(bound: Expr) -> bool:
    return any(isinstance(node, Select) for node in walk(bound))


def _quotients_in(points: Polyhedron, variables: Variables) -> tuple[Variables, Polyhedron]:
    """The quotients of parameters that a set speaks of, with a parameter for each, and what holds
    of these.

    With i // 3 as a parameter q, the rows from i // 3 * 2 that a matrix of 5 has go from q * 2 to
    min(q * 2 + 2, 5); without, a tile where i is at most 5 is one case, and the last one another.
    """
    isl, found = load_isl(), dict[str, tuple[str, Expr]]()
    for part in points.compute_divs().get_basic_sets():
        for k in range(part.dim(isl.dim_type.div)):
            function = part.get_div(k)
            if _is_of_parameters(function):
                divisor = function.get_denominator_val().to_python()
                text, dividend = _dividend(function, divisor, variables)
                name, quotient = f"q{len(found)}", FloorDiv(dividend, Const(divisor))
                found.setdefault(f"floor({text}/{divisor})", (name, quotient))
    quotients = dict(found.values())
    names = ", ".join([*variables, *quotients])
    facts = " and ".join(f"{name} = {text}" for text, (name, _) in found.items())
    return quotients, isl.Set(f"[{names}] -> {{ : {facts} }}")


def _is_of_parameters(function: Polyhedron) -> bool:
    kinds = load_isl().dim_type
    return not any(
        function.involves_dims(kind, 0, function.dim(kind)) for kind in (kinds.in_, kinds.div)
    )


def _dividend(function: Polyhedron, divisor: int, variables: Variables) -> _Bound:
    """What is divided in a function that is one quotient, up to its sign and whole numbers:
    (-x - 1) // 3 is -(x // 3) - 1.
    """
    terms, constant = _terms(function, divisor)
    if all(factor < 0 for factor, _ in terms):
        terms, constant = [(-factor, name) for factor, name in terms], divisor - 1 - constant
    return _sum(terms, constant % divisor, variables)


def _bounds_of(points: Polyhedron, context: Polyhedron, variables: Variables) -> tuple[Expr, Expr]:
    hull = points.gist_params(context).coalesce().simple_hull()
    stop = points.dim_max(0).add_constant_val(load_isl().Val(1))
    lower, upper = _half_planes(hull, variables)
    return (
        _exact(lower, Max, points.dim_min(0), context, variables),
        _exact(upper, Min, stop, context, variables),
    )


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
    return _sum(*_terms(constraint, sign), variables)


def _terms(function: Polyhedron, scale: int) -> tuple[list[tuple[int, str]], int]:
    """The parameters with their factors, and the constant, of `function` times `scale`."""
    kind, times = load_isl().dim_type.param, load_isl().Val(scale)
    factors = (
        (function.get_coefficient_val(kind, k).mul(times).to_python(), k)
        for k in range(function.dim(kind))
    )
    terms = [(factor, function.get_dim_name(kind, k)) for factor, k in factors if factor != 0]
    return terms, function.get_constant_val().mul(times).to_python()


def _sum(terms: Sequence[tuple[int, str]], constant: int, variables: Variables) -> _Bound:
    text = " + ".join([*(f"({factor} * {name})" for factor, name in terms), str(constant)])
    factors = {_variable(name, variables): factor for factor, name in terms}
    for quotient in [part for part in factors if isinstance(part, FloorDiv)]:
        # x - x // 3 * 3 is x % 3
        whole, divisor = quotient.lhs, quotient.rhs
        factor = factors.get(whole, 0)
        if (
            factor != 0
            and isinstance(divisor, Const)
            and factors[quotient] == -factor * divisor.value
        ):
            del factors[whole], factors[quotient]
            factors[Mod(whole, divisor)] = factor
    ordered = sorted(factors.items(), key=lambda term: term[1] < 0)
    exprs = [expr * factor for expr, factor in ordered]
    return f"({text})", simplify(reduce(Add, [*exprs, Const(constant)]))


def _divided(bound: _Bound, divisor: int, shift: int) -> _Bound:
    """(bound + shift) // divisor."""
    text, expr = bound
    if divisor == 1:
        return f"({text} + {shift})", simplify(expr + shift)
    return f"floor(({text} + {shift})/{divisor})", simplify((expr + shift) // divisor)


def _variable(name: str, variables: Variables) -> Expr:
    found = variables[name]
    return found if found.dtype is INT64 else Cast(INT64, found)


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
        return _extremum(*operands) or Select(*operands)
    make: type[Add] = node  # type: ignore[assignment]
    return reduce(make, operands)


def _extremum(cond: Expr, then: Expr, otherwise: Expr) -> Expr | None:
    """The choice as the least or the greatest of two linear forms, if it is one.

    Then it can be written as text again. Let d be the form that is at most 0 just where `then` is
    chosen, and `then - otherwise` = a * d + b: it is at most b if a > 0 and `then` is chosen, and
    at least a + b where `otherwise` is.
    """
    excess = _excess(cond)
    forms = [linear_form(then), linear_form(otherwise)]
    if excess is None or forms[0] is None or forms[1] is None:
        return None
    gap = forms[0].plus(forms[1], -1)
    if not gap.terms or gap.terms.keys() != excess.terms.keys():
        return None
    var = next(iter(gap.terms))
    factor = gap.terms[var] // excess.terms[var]
    rest = gap.plus(excess, -factor)
    if rest.terms:
        return None
    if factor > 0 and rest.constant <= 0 <= factor + rest.constant:
        return Min(then, otherwise)
    if factor < 0 and rest.constant >= 0 >= factor + rest.constant:
        return Max(then, otherwise)
    return None


def _excess(cond: Expr) -> Linear | None:
    """What is at most 0 just where the comparison holds."""
    match cond:
        case Le(x, y) | Ge(y, x):
            found, more = linear_form(Sub(x, y)), 0
        case Lt(x, y) | Gt(y, x):
            found, more = linear_form(Sub(x, y)), 1
        case _:
            return None
    return None if found is None else found.plus(Linear({}, more))
