"""Arrays put together along an axis, and taken apart."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from hybridjit.arith.ranges import ZERO, constant, minus, plus, tidy, times
from hybridjit.errors import ShapeMismatch
from hybridjit.frontend.arrays.arrangements import as_array, common_dtype
from hybridjit.frontend.arrays.axes import axis_at, with_axis
from hybridjit.frontend.arrays.creation import evaluate_array
from hybridjit.frontend.arrays.elementwise import require_natural, require_size, shape_text
from hybridjit.frontend.arrays.memory import elements_of, fixed_index, scratch, store_array
from hybridjit.frontend.arrays.shapes import axis_of, reshape
from hybridjit.frontend.arrays.subscripts import shown
from hybridjit.frontend.builder import Builder
from hybridjit.frontend.call_arguments import arguments, find_dtype_argument
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


def concatenate(build: Builder, name: str, node: ast.Call) -> Value:
    """`np.concatenate((a, b), axis, dtype=...)`."""
    args = arguments(build, node, "arrays", "axis", "dtype", required=1)
    parts = _array_items(build, args["arrays"])
    axis = 0
    if "axis" in args and isinstance(build.evaluate(args["axis"]), Nothing):
        parts = [flat(build, part, node) for part in parts]
    elif "axis" in args:
        axis = axis_at(build, args["axis"], parts[0])
    dtype = find_dtype_argument(build, args)
    return joined(build, parts, axis, node, dtype)


def flat(build: Builder, part: AnyArray, node: ast.Call) -> AnyArray:
    """All elements along one axis."""
    if len(part.shape) == 1:
        return part
    found = reshape(build, part, (Const(-1),), node)
    assert isinstance(found, AnyArray)
    return found


def stack_arrays(build: Builder, name: str, node: ast.Call) -> Value:
    """`np.stack((a, b), axis)`: along a new axis."""
    args = arguments(build, node, "arrays", "axis", required=1)
    parts = _array_items(build, args["arrays"])
    axis = 0
    if "axis" in args:
        axis = axis_of(build, build.evaluate(args["axis"]), len(parts[0].shape) + 1, args["axis"])
    return joined(build, [with_axis(build, part, axis, node) for part in parts], axis, node)


def stack_along(build: Builder, name: str, node: ast.Call) -> Value:
    """np.hstack, np.vstack, np.dstack and np.column_stack."""
    args = arguments(build, node, "tup", required=1)
    parts = _array_items(build, args["tup"])
    if name == "column_stack":
        parts = [_at_least(build, part, 1, node) for part in parts]
        parts = [
            with_axis(build, part, 1, node) if len(part.shape) == 1 else part for part in parts
        ]
        return joined(build, parts, 1, node)
    least, axis = _STACKING[name]
    parts = [_at_least(build, part, least, node) for part in parts]
    return joined(build, parts, min(axis, len(parts[0].shape) - 1), node)


def _at_least(build: Builder, part: AnyArray, ndim: int, node: ast.AST) -> AnyArray:
    """An array with so many axes: new ones in front, the third one at the end."""
    while len(part.shape) < min(ndim, 2):
        part = with_axis(build, part, 0, node)
    return with_axis(build, part, 2, node) if len(part.shape) < ndim else part


def _array_items(build: Builder, node: ast.expr) -> list[AnyArray]:
    value = build.evaluate(node)
    if not isinstance(value, Items) or not value.items:
        raise build.mismatch(f"expected a tuple of arrays, found {describe(value)}", node)
    return [as_array(build, item, node) for item in value.items]


def joined(
    build: Builder, parts: Sequence[AnyArray], axis: int, node: ast.expr, dtype: DType | None = None
) -> ArrayExpr:
    """Arrays one after the other along an axis, in memory of their own."""
    span, first = build.span(node), parts[0]
    _check_joinable(build, parts, axis, node)
    size: Expr = ZERO
    for part in parts:
        require_natural(build, part.shape[axis], node)
        size = plus(size, part.shape[axis])
    dtype = dtype or common_dtype(build, [elements_of(build, part).dtype for part in parts], node)
    shape = (*first.shape[:axis], size, *first.shape[axis + 1 :])
    whole = ArrayExpr(shape, dtype, elements_of(build, first).element)
    buffer = scratch(build, "joined", whole, span)
    start: Expr = ZERO
    for part in parts:
        places = tuple(Place(start if k == axis else ZERO, 1, k) for k in range(len(first.shape)))
        store_array(build, View(buffer, places, part.shape), elements_of(build, part), span)
        start = plus(start, part.shape[axis])
    return owned(build, buffer)


def owned(build: Builder, buffer: Buffer) -> ArrayExpr:
    """An array in memory that nothing else refers to."""
    return replace(elements_of(build, Array(buffer)), buffer=buffer)


def _check_joinable(build: Builder, parts: Sequence[AnyArray], axis: int, node: ast.expr) -> None:
    first = parts[0]
    if not first.shape:
        raise ShapeMismatch("numbers cannot be joined: they have no axis", build.span(node))
    for part in parts[1:]:
        if len(part.shape) != len(first.shape):
            raise _refuse_joining(build, parts, node)
        for k, (size, wanted) in enumerate(zip(part.shape, first.shape, strict=True)):
            if k == axis or build.ranges.same(size, wanted):
                continue
            if isinstance(size, Const) and isinstance(wanted, Const):
                raise _refuse_joining(build, parts, node)
            require_size(build, size, wanted, node)


def _refuse_joining(build: Builder, parts: Sequence[AnyArray], node: ast.expr) -> ShapeMismatch:
    shapes = " and ".join(shape_text(part.shape) for part in parts)
    return ShapeMismatch(
        f"the arrays in `{ast.unparse(node)}` do not fit together: their shapes are {shapes}",
        build.span(node),
        help="all but the size along the axis on which they are joined must be equal",
    )


def block(build: Builder, name: str, node: ast.Call) -> Value:
    """`np.block([[a, b], [c, d]])`: lists are joined along the last axis, lists of lists
    along the one before it.
    """
    args = arguments(build, node, "arrays", required=1)
    value = build.evaluate(args["arrays"])
    return _joined_lists(build, value, _depth(value), node)


def _joined_lists(build: Builder, value: Value, depth: int, node: ast.Call) -> AnyArray:
    if not isinstance(value, Items):
        return _at_least(build, as_array(build, value, node), depth, node)
    parts = [_joined_lists(build, item, depth, node) for item in value.items]
    ndim = max(len(part.shape) for part in parts)
    parts = [_at_least(build, part, ndim, node) for part in parts]
    return joined(build, parts, ndim - _depth(value), node)


# taken apart


def split(build: Builder, name: str, node: ast.Call) -> Value:
    """np.split, np.array_split, np.hsplit, np.vsplit, np.dsplit: a view for each part."""
    names = ("ary", "indices_or_sections")
    args = arguments(build, node, *names, *(("axis",) if name in _ANY_AXIS else ()), required=2)
    owner = evaluate_array(build, args["ary"])
    axis = axis_at(build, args["axis"], owner) if "axis" in args else _SPLITTING.get(name, 0)
    axis = min(axis, len(owner.shape) - 1)  # hsplit of one dimension
    cuts = _cuts(build, build.evaluate(args[names[1]]), owner.shape[axis], name, node)
    return Items(tuple(_between(build, owner, axis, *ends, node) for ends in cuts))


def _cuts(
    build: Builder, value: Value, size: Expr, name: str, node: ast.Call
) -> list[tuple[Expr, Expr]]:
    """Where each part begins and ends."""
    if isinstance(value, Items):
        inner = [build.as_index(build.as_scalar(v, node), node, "an index") for v in value.items]
        places = [ZERO, *(_clipped(build, fixed_index(build, cut), size) for cut in inner), size]
        return [(a, _not_before(a, b)) for a, b in pairwise(places)]
    number = build.as_scalar(value, node).constant
    if not isinstance(number, int) or number < 1:
        raise build.refuse(
            "the number of parts must be known when the script is compiled, and positive",
            node,
            help="give it as a number, as in np.split(a, 3)",
        )
    _check_divisible(build, size, number, name, node)
    return _equal_parts(size, number)


def _check_divisible(build: Builder, size: Expr, number: int, name: str, node: ast.Call) -> None:
    """np.array_split takes any size, the others need parts of the same size."""
    if name == "array_split":
        return
    known = constant(size)
    if known is None:
        require_size(build, times(FloorDiv(size, Const(number)), Const(number)), size, node)
    elif known % number:
        raise ShapeMismatch(
            f"an axis of size {known} cannot be split into {number} equal parts",
            build.span(node),
            help="use np.array_split, whose parts may differ by one",
        )


def _clipped(build: Builder, cut: Expr, size: Expr) -> Expr:
    """An index as a slice takes it: from the end if negative, and inside of the array."""
    known = constant(cut)
    if known is None:
        cut = tidy(Select(Lt(cut, ZERO), plus(cut, size), cut))
    elif known < 0:
        cut = plus(cut, size)
    return tidy(Max(Min(cut, size), ZERO))


def _between(
    build: Builder, owner: AnyArray, axis: int, start: Expr, stop: Expr, node: ast.Call
) -> AnyArray:
    places = tuple(Place(start if k == axis else ZERO, 1, k) for k in range(len(owner.shape)))
    shape = (*owner.shape[:axis], minus(stop, start), *owner.shape[axis + 1 :])
    return shown(build, owner, places, shape, node)


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
