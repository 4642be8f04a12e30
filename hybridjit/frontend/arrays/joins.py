"""Arrays put together along an axis, and taken apart."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from hybridjit.arith.ranges import ZERO, constant, minus, plus, tidy, times
from hybridjit.errors import ShapeMismatch
from hybridjit.frontend.arrays.arrangements import ArrayArrangements
from hybridjit.frontend.arrays.elementwise import shape_text
from hybridjit.frontend.values import (
    AnyArray,
    Array,
    ArrayExpr,
    Items,
    Nothing,
    Place,
    Value,
    View,
    describe,
)
from hybridjit.ir.dtype import DType
from hybridjit.ir.expr import Buffer, Const, Expr, FloorDiv, Lt, Max, Min, Mod, Select

# How many dimensions each part is given at least, and along which axis they are joined; hstack
# joins arrays of one dimension along their only axis.
_STACKING = {"hstack": (1, 1), "vstack": (2, 0), "dstack": (3, 2)}
_SPLITTING = {"vsplit": 0, "hsplit": 1, "dsplit": 2}


class ArrayJoins(ArrayArrangements):
    """One array from several, and several from one."""

    def concatenate(self, name: str, node: ast.Call) -> Value:
        """`np.concatenate((a, b), axis, dtype=...)`."""
        args = self.arguments(node, "arrays", "axis", "dtype", required=1)
        parts = self._array_items(args["arrays"])
        axis = 0
        if "axis" in args and isinstance(self.evaluate(args["axis"]), Nothing):
            parts = [self._flat(part, node) for part in parts]
        elif "axis" in args:
            axis = self._axis(args["axis"], parts[0])
        dtype = self.dtype_argument(args["dtype"]) if "dtype" in args else None
        return self.joined(parts, axis, node, dtype)

    def _flat(self, part: AnyArray, node: ast.Call) -> AnyArray:
        flat = self.reshape(part, (Const(-1),), node)
        assert isinstance(flat, AnyArray)
        return flat

    def stack_arrays(self, name: str, node: ast.Call) -> Value:
        """`np.stack((a, b), axis)`: along a new axis."""
        args = self.arguments(node, "arrays", "axis", required=1)
        parts = self._array_items(args["arrays"])
        axis = 0
        if "axis" in args:
            axis = self.axis_of(self.evaluate(args["axis"]), len(parts[0].shape) + 1, args["axis"])
        return self.joined([self.with_axis(part, axis, node) for part in parts], axis, node)

    def stack_along(self, name: str, node: ast.Call) -> Value:
        """np.hstack, np.vstack, np.dstack and np.column_stack."""
        args = self.arguments(node, "tup", required=1)
        parts = self._array_items(args["tup"])
        if name == "column_stack":
            parts = [
                self.with_axis(part, 1, node) if len(part.shape) == 1 else part for part in parts
            ]
            return self.joined(parts, 1, node)
        least, axis = _STACKING[name]
        parts = [self._at_least(part, least, node) for part in parts]
        return self.joined(parts, min(axis, len(parts[0].shape) - 1), node)

    def _at_least(self, part: AnyArray, ndim: int, node: ast.AST) -> AnyArray:
        """An array with so many axes: new ones in front, the third one at the end."""
        while len(part.shape) < min(ndim, 2):
            part = self.with_axis(part, 0, node)
        return self.with_axis(part, 2, node) if len(part.shape) < ndim else part

    def _array_items(self, node: ast.expr) -> list[AnyArray]:
        value = self.evaluate(node)
        if not isinstance(value, Items) or not value.items:
            raise self.mismatch(f"expected a tuple of arrays, found {describe(value)}", node)
        return [self.as_array(item, node) for item in value.items]

    def joined(
        self, parts: Sequence[AnyArray], axis: int, node: ast.expr, dtype: DType | None = None
    ) -> ArrayExpr:
        """Arrays one after the other along an axis, in memory of their own."""
        span, first = self.span(node), parts[0]
        self._check_joinable(parts, axis, node)
        size: Expr = ZERO
        for part in parts:
            self.require_natural(part.shape[axis], node)
            size = plus(size, part.shape[axis])
        dtype = dtype or self._common_dtype([self.array(part).dtype for part in parts], node)
        shape = (*first.shape[:axis], size, *first.shape[axis + 1 :])
        whole = ArrayExpr(shape, dtype, self.array(first).element)
        buffer = self.scratch("joined", whole, span)
        start: Expr = ZERO
        for part in parts:
            places = tuple(
                Place(start if k == axis else ZERO, 1, k) for k in range(len(first.shape))
            )
            self.store_array(View(buffer, places, part.shape), self.array(part), span)
            start = plus(start, part.shape[axis])
        return self.owned(buffer)

    def owned(self, buffer: Buffer) -> ArrayExpr:
        """An array in memory that nothing else refers to."""
        return replace(self.array(Array(buffer)), buffer=buffer)

    def _check_joinable(self, parts: Sequence[AnyArray], axis: int, node: ast.expr) -> None:
        first = parts[0]
        for part in parts[1:]:
            if len(part.shape) != len(first.shape):
                raise self._refuse_joining(parts, node)
            for k, (size, wanted) in enumerate(zip(part.shape, first.shape, strict=True)):
                if k == axis or self.ranges.same(size, wanted):
                    continue
                if isinstance(size, Const) and isinstance(wanted, Const):
                    raise self._refuse_joining(parts, node)
                self.require_size(size, wanted, node)

    def _refuse_joining(self, parts: Sequence[AnyArray], node: ast.expr) -> ShapeMismatch:
        shapes = " and ".join(shape_text(part.shape) for part in parts)
        return ShapeMismatch(
            f"the arrays in `{ast.unparse(node)}` do not fit together: their shapes are {shapes}",
            self.span(node),
            help="all but the size along the axis on which they are joined must be equal",
        )

    def block(self, name: str, node: ast.Call) -> Value:
        """`np.block([[a, b], [c, d]])`: lists are joined along the last axis, lists of lists
        along the one before it.
        """
        args = self.arguments(node, "arrays", required=1)
        value = self.evaluate(args["arrays"])
        return self._joined_lists(value, _depth(value), node)

    def _joined_lists(self, value: Value, depth: int, node: ast.Call) -> AnyArray:
        if not isinstance(value, Items):
            return self._at_least(self.as_array(value, node), max(depth, 1), node)
        parts = [self._joined_lists(item, depth, node) for item in value.items]
        ndim = max(len(part.shape) for part in parts)
        parts = [self._at_least(part, ndim, node) for part in parts]
        return self.joined(parts, ndim - _depth(value), node)

    # -- taken apart ---------------------------------------------------------------------------

    def split(self, name: str, node: ast.Call) -> Value:
        """np.split, np.array_split, np.hsplit, np.vsplit, np.dsplit: a view for each part."""
        names = ("ary", "indices_or_sections")
        args = self.arguments(node, *names, *(("axis",) if name in _ANY_AXIS else ()), required=2)
        owner = self.owner(args["ary"])
        axis = self._axis(args["axis"], owner) if "axis" in args else _SPLITTING.get(name, 0)
        axis = min(axis, len(owner.shape) - 1)  # hsplit of one dimension
        cuts = self._cuts(self.evaluate(args[names[1]]), owner.shape[axis], name, node)
        return Items(tuple(self._between(owner, axis, *ends, node) for ends in cuts))

    def _cuts(self, value: Value, size: Expr, name: str, node: ast.Call) -> list[tuple[Expr, Expr]]:
        """Where each part begins and ends."""
        if isinstance(value, Items):
            inner = [self.as_index(self.as_scalar(v, node), node, "an index") for v in value.items]
            places = [ZERO, *(self._clipped(self.fixed_index(cut), size) for cut in inner), size]
            return [(a, _not_before(a, b)) for a, b in pairwise(places)]
        number = self.as_scalar(value, node).constant
        if not isinstance(number, int) or number < 1:
            raise self.refuse(
                "the number of parts must be known when the script is compiled, and positive",
                node,
                help="give it as a number, as in np.split(a, 3)",
            )
        self._check_divisible(size, number, name, node)
        return _equal_parts(size, number)

    def _check_divisible(self, size: Expr, number: int, name: str, node: ast.Call) -> None:
        """np.array_split takes any size, the others need parts of the same size."""
        if name == "array_split":
            return
        known = constant(size)
        if known is None:
            self.require_size(times(FloorDiv(size, Const(number)), Const(number)), size, node)
        elif known % number:
            raise ShapeMismatch(
                f"an axis of size {known} cannot be split into {number} equal parts",
                self.span(node),
                help="use np.array_split, whose parts may differ by one",
            )

    def _clipped(self, cut: Expr, size: Expr) -> Expr:
        """An index as a slice takes it: from the end if negative, and inside of the array."""
        known = constant(cut)
        if known is None:
            cut = tidy(Select(Lt(cut, ZERO), plus(cut, size), cut))
        elif known < 0:
            cut = plus(cut, size)
        return tidy(Max(Min(cut, size), ZERO))

    def _between(
        self, owner: AnyArray, axis: int, start: Expr, stop: Expr, node: ast.Call
    ) -> AnyArray:
        places = tuple(Place(start if k == axis else ZERO, 1, k) for k in range(len(owner.shape)))
        shape = (*owner.shape[:axis], minus(stop, start), *owner.shape[axis + 1 :])
        return self.shown(owner, places, shape, node)


_ANY_AXIS = ("split", "array_split")


def _not_before(start: Expr, stop: Expr) -> Expr:
    """The end of a part, which is empty if it would come before its start."""
    return tidy(Max(start, stop))


def _equal_parts(size: Expr, number: int) -> list[tuple[Expr, Expr]]:
    """Parts of which the first ones are longer by one, if they cannot all be equal."""
    each, left = tidy(FloorDiv(size, Const(number))), tidy(Mod(size, Const(number)))
    places = [
        plus(times(each, Const(part)), tidy(Min(left, Const(part)))) for part in range(number + 1)
    ]
    return list(pairwise(places))


def _depth(value: Value) -> int:
    """How deep lists are nested."""
    return 1 + _depth(value.items[0]) if isinstance(value, Items) else 0
