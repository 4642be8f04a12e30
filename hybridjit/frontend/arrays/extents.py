"""Slices of arrays: which elements they take, as expressions."""

from __future__ import annotations

from hybridjit.arith.ranges import ONE, ZERO, Ranges, constant, minus, plus, tidy
from hybridjit.ir.dtype import INT64
from hybridjit.ir.expr import Const, Expr, FloorDiv, Gt, Lt, Max, Min, Select, Sub
from hybridjit.record import record


@record
class Span1D:
    """The elements `start`, `start + step` ... of a dimension, `extent` of them."""

    start: Expr
    step: int | Expr
    extent: Expr


def slice_at_run_time(
    size: Expr, bounds: tuple[Expr | None, Expr | None], step: Expr, ranges: Ranges
) -> Span1D:
    """What a slice takes whose step is a variable: upward or downward, as its sign says."""
    up, down = (slice_span(size, bounds, sign, ranges) for sign in (1, -1))
    if ranges.is_at_most(ONE, step):
        length, start, width = up.extent, up.start, step
    else:
        is_up = Gt(step, ZERO)
        length, start = Select(is_up, up.extent, down.extent), Select(is_up, up.start, down.start)
        width = Select(is_up, step, Sub(ZERO, Max(step, Const(-INT64.bounds[1]))))
    # Steps may be as large as numbers are: nothing is added to them.
    return Span1D(start, step, plus(FloorDiv(minus(length, ONE), width), ONE))


def slice_span(
    size: Expr, bounds: tuple[Expr | None, Expr | None], step: int, ranges: Ranges
) -> Span1D:
    """What `lower:upper:step` takes of a dimension of `size` elements, as Python clamps it."""
    if step > 0:
        return _upward(size, bounds, step, ranges)
    return _downward(size, bounds, step, ranges)


def _upward(
    size: Expr, bounds: tuple[Expr | None, Expr | None], step: int, ranges: Ranges
) -> Span1D:
    lower, upper = bounds
    # With no element in the slice, its start is of no account: it need not be clamped from above.
    start = ZERO if lower is None else _from_front(lower, size, ZERO, ranges)
    stop = size
    if upper is not None:
        stop = _from_front(upper, size, _least_end(upper, ZERO), ranges)
        if not _is_from_end(upper) and not ranges.is_at_most(stop, size):
            stop = tidy(Min(stop, size))
    return Span1D(start, step, _extent(start, stop, step, ranges))


def _downward(
    size: Expr, bounds: tuple[Expr | None, Expr | None], step: int, ranges: Ranges
) -> Span1D:
    lower, upper = bounds
    last = minus(size, ONE)
    start = last
    if lower is not None:
        start = _from_front(lower, size, _least_end(lower, Const(-1)), ranges)
        if not _is_from_end(lower) and not ranges.is_at_most(start, last):
            start = tidy(Min(start, last))
    stop = Const(-1) if upper is None else _from_front(upper, size, Const(-1), ranges)
    return Span1D(start, step, _extent(stop, start, -step, ranges))


def _extent(low: Expr, high: Expr, step: int, ranges: Ranges) -> Expr:
    length = minus(high, low)
    if not ranges.is_natural(length):
        length = tidy(Max(length, ZERO))
    if step == 1:
        return length
    return tidy(FloorDiv(plus(length, Const(step - 1)), Const(step)))


def _least_end(bound: Expr, least: Expr) -> Expr | None:
    """Where a slice ends that has no elements; None if its bound is a number.

    The distance from an end that is far below it would overflow.
    """
    return least if constant(bound) is None else None


def _is_from_end(bound: Expr) -> bool:
    value = constant(bound)
    return value is not None and value < 0


def _from_front(bound: Expr, size: Expr, least: Expr | None, ranges: Ranges) -> Expr:
    """A bound counted from the front, where a negative one counts from the end."""
    if ranges.is_natural(bound):
        return bound
    wrapped = plus(size, bound)
    if least is not None and not ranges.is_at_most(least, wrapped):
        wrapped = tidy(Max(wrapped, least))
    if _is_from_end(bound):
        return wrapped
    return Select(Lt(bound, Const(0, INT64)), wrapped, bound)
