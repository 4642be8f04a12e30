"""How large loop variables can become, as numbers: how long a loop over range(j) takes at most.

for i in range(100):
    for j in range(i):        i is in [0, 99], j in [0, 98], and there are at most 99 of them
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from hybridjit.arith.linear import Linear, linear_form
from hybridjit.arith.ranges import all_of
from hybridjit.ir.expr import (
    Add,
    And,
    Const,
    Expr,
    FloorDiv,
    Load,
    Max,
    Min,
    Mul,
    Or,
    Select,
    Sub,
    Var,
)
from hybridjit.ir.stmt import AT_MOST, For, Let, LoopKind, Stmt, Store, While, flat_stmts
from hybridjit.ir.visit import walk, walk_stmts

Limits = tuple[int, int]
"""The least and the largest value, both of which may be reached."""

# Sums of a few smaller numbers do not overflow, so that they are what code computes.
_LARGEST = 1 << 48


def find_limits(expr: Expr, known: Mapping[Var, Limits]) -> Limits | None:
    """The least and the largest value of an index, from those of its variables; None if unknown."""
    match expr:
        case Min(a, b) | Max(a, b):
            first, second = find_limits(a, known), find_limits(b, known)
            if first is None or second is None:
                return None
            pick = min if isinstance(expr, Min) else max
            return pick(first[0], second[0]), pick(first[1], second[1])
        case FloorDiv(a, Const(int(divisor))) if divisor > 0:
            limits = find_limits(a, known)
            return None if limits is None else (limits[0] // divisor, limits[1] // divisor)
        case _:
            form = linear_form(expr)
            if form is not None:
                return _limits_of_form(form, known)
            return _limits_of_parts(expr, known)


def _limits_of_parts(expr: Expr, known: Mapping[Var, Limits]) -> Limits | None:
    """The limits of a sum or a product with a constant, from those of its operands."""
    if not isinstance(expr, Add | Sub | Mul):
        return None
    x, y = find_limits(expr.lhs, known), find_limits(expr.rhs, known)
    if x is None or y is None:
        return None
    match expr:
        case Add():
            low, high = x[0] + y[0], x[1] + y[1]
        case Sub():
            low, high = x[0] - y[1], x[1] - y[0]
        case _:
            products = [a * b for a in x for b in y]
            low, high = min(products), max(products)
    return (low, high) if low >= -_LARGEST and high <= _LARGEST else None


def _limits_of_form(form: Linear, known: Mapping[Var, Limits]) -> Limits | None:
    if any(var not in known for var in form.terms):
        return None
    low = high = form.constant
    for var, factor in form.terms.items():
        ends = sorted(factor * end for end in known[var])
        low, high = low + ends[0], high + ends[1]
    return (low, high) if low >= -_LARGEST and high <= _LARGEST else None


def limits_of_loop(loop: For, known: Mapping[Var, Limits]) -> Limits | None:
    """The limits of the variable of `loop`; those of one that never runs mean nothing."""
    start, stop = find_limits(loop.start, known), find_limits(loop.stop, known)
    if start is None or stop is None or not isinstance(loop.step, Const):
        return None
    if loop.step.value.real > 0:
        return start[0], max(start[0], stop[1] - 1)
    return min(start[1], stop[0] + 1), start[1]


def limits_in(scope: Iterable[For | Let | Expr]) -> dict[Var, Limits]:
    """The limits of the variables that are bound around a place, outermost first, if known."""
    known: dict[Var, Limits] = {}
    for item in scope:
        if isinstance(item, Expr):
            continue
        is_loop = isinstance(item, For)
        limits = limits_of_loop(item, known) if is_loop else find_limits(item.value, known)
        if limits is not None:
            known[item.var] = limits
    return known


def most_iterations(loop: For, known: Mapping[Var, Limits]) -> int | None:
    """A number of iterations that `loop` does not exceed; None if there is none known."""
    if not isinstance(loop.step, Const) or loop.step.value == 0:
        return None
    step = int(loop.step.value.real)
    few = dict(loop.annotations).get(AT_MOST)
    if isinstance(few, int):
        return few
    distance = _distance(loop, known)
    if distance is not None:
        return len(range(0, distance, step))
    return min(_iterations_by_accesses(loop, step), default=None)


def _iterations_by_accesses(loop: For, step: int) -> Iterator[int]:
    """For each element that every iteration touches, another one each time: how many there are.

    Once lowering has checked the indices, those of loads and stores are inside their arrays.
    """
    inner = {node.var for node in walk_stmts(loop) if isinstance(node, For | Let)} - {loop.var}
    vectors = [stmt for stmt in flat_stmts(loop.body) if isinstance(stmt, For)]
    first = {stmt.var: stmt.start for stmt in vectors if stmt.kind is LoopKind.VECTORIZED}

    def of_first_lane(var: Var) -> Linear | None:
        return linear_form(first[var]) if var in first else Linear({var: 1})

    for stmt in _sure_stmts(loop.body):
        for access in _sure_accesses(stmt):
            for index, extent in zip(access.indices, access.buffer.shape, strict=True):
                form = linear_form(index, of_first_lane)
                if form is not None and isinstance(extent, Const) and inner.isdisjoint(form.terms):
                    stride = abs(form.terms.get(loop.var, 0) * step)
                    yield from [len(range(0, int(extent.value.real), stride))] if stride else []


def _sure_stmts(body: Stmt) -> Iterator[Let | Store]:
    """The simple statements that `body` runs each time: vectors have a first lane."""
    for stmt in flat_stmts(body):
        if isinstance(stmt, Let | Store):
            yield stmt
        elif isinstance(stmt, For) and stmt.kind is LoopKind.VECTORIZED:
            yield from _sure_stmts(stmt.body)
        else:
            return  # what follows may be skipped


def _sure_accesses(stmt: Let | Store) -> Iterator[Load | Store]:
    """The accesses that `stmt` makes each time."""
    if isinstance(stmt, Store):
        yield stmt
    choices = [node for node in walk(stmt) if isinstance(node, And | Or | Select)]
    doubtful = {id(node) for choice in choices for node in walk(choice)}
    for node in walk(stmt):
        if isinstance(node, Load) and id(node) not in doubtful:
            yield node


def _distance(loop: For, known: Mapping[Var, Limits]) -> int | None:
    """The largest distance, in the direction of the step, from the start to the stop."""
    assert isinstance(loop.step, Const)
    is_up = loop.step.value.real > 0
    end = 1 if is_up else 0
    # That to the least of two stops is not more than either.
    stops = all_of(loop.stop, Min if is_up else Max)
    found = [_distance_between(loop.start, stop, end, known) for stop in stops]
    return (min if is_up else max)((each for each in found if each is not None), default=None)


def _distance_between(start: Expr, stop: Expr, end: int, known: Mapping[Var, Limits]) -> int | None:
    forms = linear_form(start), linear_form(stop)
    if forms[0] is not None and forms[1] is not None:
        # What both have in common, as in range(i, i + 8), goes away.
        limits = _limits_of_form(forms[1].plus(forms[0], -1), known)
        return None if limits is None else limits[end]
    first, last = find_limits(start, known), find_limits(stop, known)
    return None if first is None or last is None else last[end] - first[1 - end]


def loop_extent(loop: For) -> int | None:
    """The number of iterations, if it is a constant: also that of range(i * 16, i * 16 + 16)."""
    extent = loop.extent
    if isinstance(extent, Const):
        return int(extent.value.real)
    start, stop = linear_form(loop.start), linear_form(loop.stop)
    step = int(loop.step.value.real) if isinstance(loop.step, Const) else 0
    if start is None or stop is None or step == 0:
        return None
    distance = stop.plus(start, -1)
    return None if distance.terms else len(range(0, distance.constant, step))


def quiet_extent(loop: For) -> int | None:
    """The number of iterations, or the most there are, of a loop that does not note its work."""
    extent = loop_extent(loop)
    few = dict(loop.annotations).get(AT_MOST)
    return few if extent is None and isinstance(few, int) else extent


def is_innermost(loop: For) -> bool:
    """True if no loop is left inside `loop`: vectors, copies and single iterations are none."""
    return not any(isinstance(node, For | While) and _counts(node) for node in walk(loop.body))


def _counts(loop: For | While) -> bool:
    extent = None if isinstance(loop, While) else loop_extent(loop)
    is_code = isinstance(loop, For) and loop.kind in (LoopKind.VECTORIZED, LoopKind.UNROLLED)
    return extent is None or (extent > 1 and not is_code)
