"""np.pad: an array with more elements around it.

The array is stored in the middle of the new one, then the sides are filled, axis by axis: those of
a later axis continue what was filled along earlier ones.
"""

from __future__ import annotations

import ast
from collections.abc import Callable

from hybridjit.arith.ranges import ONE, ZERO, constant, minus, plus, tidy, times
from hybridjit.arith.simplify import simplify
from hybridjit.frontend.arrays.calls import cast_element
from hybridjit.frontend.arrays.creation import evaluate_array
from hybridjit.frontend.arrays.joins import owned
from hybridjit.frontend.arrays.memory import elements_of, fixed_index, nest, scratch, store_array
from hybridjit.frontend.builder import Builder
from hybridjit.frontend.call_arguments import arguments, text_argument
from hybridjit.frontend.values import AnyArray, ArrayExpr, Items, Place, Value, View
from hybridjit.ir.expr import (
    And,
    Buffer,
    Const,
    Eq,
    Expr,
    Gt,
    Load,
    Lt,
    Max,
    Min,
    Mod,
    Select,
)
from hybridjit.ir.stmt import If, Raise, Store
from hybridjit.record import record
from hybridjit.scalars.scalar import integer

Pair = tuple[Value, Value]
# For an index before or after the array, given with its size: where its element is in the array.
Continuation = Callable[[Expr, Expr], Expr]


def _edge(at: Expr, size: Expr) -> Expr:
    return tidy(Max(Min(at, minus(size, ONE)), ZERO))


def _wrap(at: Expr, size: Expr) -> Expr:
    return tidy(Mod(at, size))


def _symmetric(at: Expr, size: Expr) -> Expr:
    """Forth and back, the ends twice."""
    period = times(size, Const(2))
    place = tidy(Mod(at, period))
    return Select(Lt(place, size), place, minus(minus(period, ONE), place))


def _reflect(at: Expr, size: Expr) -> Expr:
    """Forth and back, the ends once."""
    period = tidy(Max(times(minus(size, ONE), Const(2)), ONE))
    place = tidy(Mod(at, period))
    return Select(Lt(place, size), place, minus(period, place))


_MODES: dict[str, Continuation | None] = {
    **{"constant": None, "edge": _edge, "wrap": _wrap},
    **{"symmetric": _symmetric, "reflect": _reflect},
}


@record
class _Padded:
    """The new array: what is in its middle, and how wide its sides are along each axis."""

    buffer: Buffer
    sizes: tuple[Expr, ...]
    widths: tuple[tuple[Expr, Expr], ...]


def pad(build: Builder, name: str, node: ast.Call) -> Value:
    """`np.pad(a, width, mode, constant_values=...)`."""
    names = ("array", "pad_width", "mode", "constant_values")
    args = arguments(build, node, *names, required=2)
    mode = text_argument(build, args["mode"], "a mode") if "mode" in args else "constant"
    if mode not in _MODES:
        raise build.refuse(
            f"np.pad with the mode {mode!r} is not supported inside a script",
            args["mode"],
            help=f"use one of {', '.join(_MODES)}",
        )
    owner = evaluate_array(build, args["array"])
    widths = tuple(
        (_width(build, before, node), _width(build, after, node))
        for before, after in _pairs(build, args["pad_width"], len(owner.shape))
    )
    rule = _MODES[mode]
    if rule is None:
        return _with_constants(build, owner, widths, args, node)
    padded = _middle(build, owner, widths, node, zero=False)
    for axis, size in enumerate(owner.shape):
        _check_not_empty(build, axis, size, widths[axis], node)
        for side in (0, 1):
            _continue(build, padded, axis, side, rule)
    return owned(build, padded.buffer)


def _pairs(build: Builder, node: ast.expr, ndim: int) -> list[Pair]:
    """Two numbers for each axis: a number for all, two for all, or two for each."""
    value = build.evaluate(node)
    items = value.items if isinstance(value, Items) else (value, value)
    if not any(isinstance(item, Items) for item in items):
        items = (Items(items),)
    pairs = [
        (item.items[0], item.items[-1])
        for item in items
        if isinstance(item, Items) and 1 <= len(item.items) <= 2
    ]
    if len(pairs) == 1:
        pairs *= ndim
    if len(pairs) != ndim:
        raise build.mismatch(f"expected a pair for each of {ndim} axes", node)
    return pairs


def _width(build: Builder, value: Value, node: ast.Call) -> Expr:
    scalar = build.as_scalar(value, node, "a width")
    width = fixed_index(build, build.as_index(scalar, node, "a width"))
    known = constant(width)
    if known is not None and known < 0:
        raise build.mismatch(f"a width must not be negative, found {known}", node)
    if not build.ranges.is_natural(width):
        span = build.span(node)
        failure = Raise("ValueError", ("index can't contain negative values",), span=span)
        build.emit(If(Lt(width, ZERO), failure, span=span))
    return width


def _middle(
    build: Builder,
    owner: AnyArray,
    widths: tuple[tuple[Expr, Expr], ...],
    node: ast.Call,
    *,
    zero: bool,
) -> _Padded:
    source, span = elements_of(build, owner), build.span(node)
    shape = tuple(
        plus(plus(before, size), after)
        for size, (before, after) in zip(owner.shape, widths, strict=True)
    )
    buffer = scratch(
        build, "padded", ArrayExpr(shape, source.dtype, source.element), span, zero=zero
    )
    places = tuple(Place(before, 1, axis) for axis, (before, _) in enumerate(widths))
    store_array(build, View(buffer, places, owner.shape), source, span)
    return _Padded(buffer, owner.shape, widths)


def _with_constants(
    build: Builder,
    owner: AnyArray,
    widths: tuple[tuple[Expr, Expr], ...],
    args: dict[str, ast.expr],
    node: ast.Call,
) -> Value:
    span, ndim = build.span(node), len(owner.shape)
    pairs: list[Pair] = [(integer(0), integer(0))] * ndim
    if "constant_values" in args:
        pairs = _pairs(build, args["constant_values"], ndim)
    dtype = elements_of(build, owner).dtype
    values = [
        [build.let(build.as_scalar(value, node), "value", span) for value in pair] for pair in pairs
    ]
    is_zero = all(value.constant == 0 for pair in values for value in pair)
    padded = _middle(build, owner, widths, node, zero=is_zero)
    for axis in range(0 if is_zero else ndim):
        for side in (0, 1):
            stored = cast_element(values[axis][side], dtype, span)
            _fill_side(build, padded, axis, side, lambda _, value=stored: value.expr)
    return owned(build, padded.buffer)


def _check_not_empty(
    build: Builder, axis: int, size: Expr, widths: tuple[Expr, Expr], node: ast.Call
) -> None:
    """NumPy's error for an axis of no elements that is made longer."""
    cond = simplify(And(Eq(size, ZERO), Gt(plus(*widths), ZERO)))
    if constant(cond) == 0:
        return
    message = f"can't extend empty axis {axis} using modes other than 'constant' or 'empty'"
    failure = Raise("ValueError", (message,), span=build.span(node))
    if constant(cond) == 1:
        build.fail(failure)
    else:
        build.emit(If(cond, failure, span=build.span(node)))


def _continue(build: Builder, padded: _Padded, axis: int, side: int, rule: Continuation) -> None:
    """Fill a side with elements of the middle."""
    before, size = padded.widths[axis][0], padded.sizes[axis]

    def element(place: tuple[Expr, ...]) -> Expr:
        at = plus(before, rule(minus(place[axis], before), size))
        return Load(padded.buffer, (*place[:axis], at, *place[axis + 1 :]))

    _fill_side(build, padded, axis, side, element)


def _fill_side(
    build: Builder,
    padded: _Padded,
    axis: int,
    side: int,
    element: Callable[[tuple[Expr, ...]], Expr],
) -> None:
    """Fill one side along an axis: all of the axes before it, the middle of those after it."""
    width = padded.widths[axis][side]
    if constant(width) == 0:
        return
    starts = [ZERO if k < axis else before for k, (before, _) in enumerate(padded.widths)]
    starts[axis] = plus(padded.widths[axis][0], padded.sizes[axis]) if side else ZERO
    shape = (*padded.buffer.shape[:axis], width, *padded.sizes[axis + 1 :])

    def body(indices: tuple[Expr, ...]) -> None:
        place = tuple(plus(start, at) for start, at in zip(starts, indices, strict=True))
        build.emit(Store(padded.buffer, place, element(place)))

    nest(build, shape, body, None)
