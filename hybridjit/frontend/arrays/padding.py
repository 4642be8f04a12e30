"""np.pad: an array with more elements around it.

The array is stored in the middle of the new one, then the sides are filled, axis by axis: those of
a later axis continue what was filled along earlier ones.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass

from hybridjit.arith.ranges import ONE, ZERO, constant, minus, plus, tidy, times
from hybridjit.arith.simplify import simplify
from hybridjit.frontend.arrays.calls import cast_element
from hybridjit.frontend.arrays.contractions import ArrayContractions
from hybridjit.frontend.values import (
    AnyArray,
    ArrayExpr,
    Items,
    Place,
    Value,
    View,
    integer,
)
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


@dataclass(frozen=True, slots=True)
class _Padded:
    """The new array: what is in its middle, and how wide its sides are along each axis."""

    buffer: Buffer
    sizes: tuple[Expr, ...]
    widths: tuple[tuple[Expr, Expr], ...]


class ArrayPadding(ArrayContractions):
    """Arrays with sides."""

    def pad(self, name: str, node: ast.Call) -> Value:
        """`np.pad(a, width, mode, constant_values=...)`."""
        names = ("array", "pad_width", "mode", "constant_values")
        args = self.arguments(node, *names, required=2)
        mode = self.text_argument(args["mode"], "a mode") if "mode" in args else "constant"
        if mode not in _MODES:
            raise self.refuse(
                f"np.pad with the mode {mode!r} is not supported inside a script",
                args["mode"],
                help=f"use one of {', '.join(_MODES)}",
            )
        owner = self.owner(args["array"])
        widths = tuple(
            (self._width(before, node), self._width(after, node))
            for before, after in self._pairs(args["pad_width"], len(owner.shape))
        )
        rule = _MODES[mode]
        if rule is None:
            return self._with_constants(owner, widths, args, node)
        padded = self._middle(owner, widths, node, zero=False)
        for axis, size in enumerate(owner.shape):
            self._check_not_empty(axis, size, widths[axis], node)
            for side in (0, 1):
                self._continue(padded, axis, side, rule)
        return self.owned(padded.buffer)

    def _pairs(self, node: ast.expr, ndim: int) -> list[Pair]:
        """Two numbers for each axis: a number for all, two for all, or two for each."""
        value = self.evaluate(node)
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
            raise self.mismatch(f"expected a pair for each of {ndim} axes", node)
        return pairs

    def _width(self, value: Value, node: ast.Call) -> Expr:
        scalar = self.as_scalar(value, node, "a width")
        width = self.fixed_index(self.as_index(scalar, node, "a width"))
        known = constant(width)
        if known is not None and known < 0:
            raise self.mismatch(f"a width must not be negative, found {known}", node)
        if not self.ranges.is_natural(width):
            span = self.span(node)
            failure = Raise("ValueError", ("index can't contain negative values",), span=span)
            self.emit(If(Lt(width, ZERO), failure, span=span))
        return width

    def _middle(
        self,
        owner: AnyArray,
        widths: tuple[tuple[Expr, Expr], ...],
        node: ast.Call,
        *,
        zero: bool,
    ) -> _Padded:
        source, span = self.array(owner), self.span(node)
        shape = tuple(
            plus(plus(before, size), after)
            for size, (before, after) in zip(owner.shape, widths, strict=True)
        )
        buffer = self.scratch(
            "padded", ArrayExpr(shape, source.dtype, source.element), span, zero=zero
        )
        places = tuple(Place(before, 1, axis) for axis, (before, _) in enumerate(widths))
        self.store_array(View(buffer, places, owner.shape), source, span)
        return _Padded(buffer, owner.shape, widths)

    def _with_constants(
        self,
        owner: AnyArray,
        widths: tuple[tuple[Expr, Expr], ...],
        args: dict[str, ast.expr],
        node: ast.Call,
    ) -> Value:
        span, ndim = self.span(node), len(owner.shape)
        pairs: list[Pair] = [(integer(0), integer(0))] * ndim
        if "constant_values" in args:
            pairs = self._pairs(args["constant_values"], ndim)
        dtype = self.array(owner).dtype
        values = [
            [self.let(self.as_scalar(value, node), "value", span) for value in pair]
            for pair in pairs
        ]
        is_zero = all(value.constant == 0 for pair in values for value in pair)
        padded = self._middle(owner, widths, node, zero=is_zero)
        for axis in range(0 if is_zero else ndim):
            for side in (0, 1):
                stored = cast_element(values[axis][side], dtype, span)
                self._fill_side(padded, axis, side, lambda _, value=stored: value.expr)
        return self.owned(padded.buffer)

    def _check_not_empty(
        self, axis: int, size: Expr, widths: tuple[Expr, Expr], node: ast.Call
    ) -> None:
        """NumPy's error for an axis of no elements that is made longer."""
        cond = simplify(And(Eq(size, ZERO), Gt(plus(*widths), ZERO)))
        if constant(cond) == 0:
            return
        message = f"can't extend empty axis {axis} using modes other than 'constant' or 'empty'"
        failure = Raise("ValueError", (message,), span=self.span(node))
        if constant(cond) == 1:
            self.fail(failure)
        else:
            self.emit(If(cond, failure, span=self.span(node)))

    def _continue(self, padded: _Padded, axis: int, side: int, rule: Continuation) -> None:
        """Fill a side with elements of the middle."""
        before, size = padded.widths[axis][0], padded.sizes[axis]

        def element(place: tuple[Expr, ...]) -> Expr:
            at = plus(before, rule(minus(place[axis], before), size))
            return Load(padded.buffer, (*place[:axis], at, *place[axis + 1 :]))

        self._fill_side(padded, axis, side, element)

    def _fill_side(
        self,
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
            self.emit(Store(padded.buffer, place, element(place)))

        self.nest(shape, body, None)
