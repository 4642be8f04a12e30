"""Views of arrays with other axes: exchanged, moved, new, left out, and those of diagonals."""

from __future__ import annotations

import ast

from hybridjit.arith.ranges import ONE, ZERO, constant, minus, tidy
from hybridjit.errors import ShapeMismatch
from hybridjit.frontend.arrays.creation import evaluate_array
from hybridjit.frontend.arrays.elementwise import require_size, shape_text
from hybridjit.frontend.arrays.memory import fixed_index
from hybridjit.frontend.arrays.shapes import axis_of, check_different, different_axes, transposed
from hybridjit.frontend.arrays.subscripts import element_or_part, shown
from hybridjit.frontend.builder import Builder
from hybridjit.frontend.call_arguments import arguments
from hybridjit.frontend.values import AnyArray, Items, Place, Value
from hybridjit.ir.expr import Const, Expr, Max, Min, Sub


def swap_axes(build: Builder, name: str, node: ast.Call) -> Value:
    """`np.swapaxes(a, i, j)`."""
    args = arguments(build, node, "a", "axis1", "axis2", required=3)
    owner = evaluate_array(build, args["a"])
    order = list(range(len(owner.shape)))
    first, second = (axis_at(build, args[key], owner) for key in ("axis1", "axis2"))
    order[first], order[second] = order[second], order[first]
    return transposed(build, owner, order, node)


def move_axis(build: Builder, name: str, node: ast.Call) -> Value:
    """`np.moveaxis(a, i, j)`, with an axis or several of them."""
    args = arguments(build, node, "a", "source", "destination", required=3)
    owner = evaluate_array(build, args["a"])
    ndim = len(owner.shape)
    sources = different_axes(build, args["source"], ndim) or ()
    targets = different_axes(build, args["destination"], ndim) or ()
    if len(sources) != len(targets):
        raise build.mismatch("`source` and `destination` name as many axes as each other", node)
    order = [axis for axis in range(ndim) if axis not in sources]
    for target, source in sorted(zip(targets, sources, strict=True)):
        order.insert(target, source)
    return transposed(build, owner, order, node)


def expand_axis(build: Builder, name: str, node: ast.Call) -> Value:
    """`np.expand_dims(a, i)`, with an axis or several of them."""
    args = arguments(build, node, "a", "axis", required=2)
    result = evaluate_array(build, args["a"])
    value = build.evaluate(args["axis"])
    items = value.items if isinstance(value, Items) else (value,)
    ndim = len(result.shape) + len(items)
    axes = [axis_of(build, item, ndim, args["axis"]) for item in items]
    check_different(build, axes, args["axis"])
    for axis in sorted(axes):
        result = with_axis(build, result, axis, node)
    return result


def with_axis(build: Builder, owner: AnyArray, axis: int, node: ast.AST) -> AnyArray:
    """A view with a new axis of size one."""
    places = tuple(Place(ZERO, 1, k + (k >= axis)) for k in range(len(owner.shape)))
    shape = (*owner.shape[:axis], ONE, *owner.shape[axis:])
    return shown(build, owner, places, shape, node)


def squeeze(build: Builder, name: str, node: ast.Call) -> Value:
    """`np.squeeze(a)`, `np.squeeze(a, axis)`: without axes of size one."""
    args = arguments(build, node, "a", "axis", required=1)
    owner = evaluate_array(build, args["a"])
    axes = different_axes(build, args.get("axis"), len(owner.shape))
    dropped = _unit_axes(build, owner, node) if axes is None else axes
    for axis in axes or ():
        _require_one(build, owner, axis, node)
    kept = [axis for axis in range(len(owner.shape)) if axis not in dropped]
    places = tuple(
        Place(ZERO, 1, kept.index(axis)) if axis in kept else Place(ZERO)
        for axis in range(len(owner.shape))
    )
    part = shown(build, owner, places, tuple(owner.shape[axis] for axis in kept), node)
    return element_or_part(build, part, node)


def _unit_axes(build: Builder, owner: AnyArray, node: ast.Call) -> list[int]:
    """The axes of size one. The result has as many dimensions as there are others, so that
    each size must be known; where only its name is, the script is compiled for exact sizes.
    """
    for axis, size in enumerate(owner.shape):
        if constant(size) is None and not build.ranges.is_at_most(Const(2), size):
            raise build.refuse(
                f"whether axis {axis} has the size 1 is known only when the script runs; the "
                "number of dimensions depends on it",
                node,
                help="name the axes to leave out, as in np.squeeze(a, axis=0)",
            )
    return [axis for axis, size in enumerate(owner.shape) if constant(size) == 1]


def _require_one(build: Builder, owner: AnyArray, axis: int, node: ast.Call) -> None:
    size = owner.shape[axis]
    if constant(size) is None:
        require_size(build, size, ONE, node)
    elif constant(size) != 1:
        raise ShapeMismatch(
            f"axis {axis} of an array of shape {shape_text(owner.shape)} does not have the size 1",
            build.span(node),
        )


def diagonal(build: Builder, name: str, node: ast.Call) -> Value:
    """`np.diagonal(a, offset, axis1, axis2)`: elements whose indices along two axes go
    together; their axis comes last.
    """
    args = arguments(build, node, "a", "offset", "axis1", "axis2", required=1)
    owner = evaluate_array(build, args["a"])
    if len(owner.shape) < 2:
        raise build.mismatch("a diagonal needs an array of at least two dimensions", node)
    first = axis_at(build, args["axis1"], owner) if "axis1" in args else 0
    second = axis_at(build, args["axis2"], owner) if "axis2" in args else 1
    if first == second:
        raise build.mismatch("axis1 and axis2 cannot be the same", node)
    offset = ZERO
    if "offset" in args:
        offset = fixed_index(build, build.index(args["offset"], "offset"))
    return diagonal_of(build, owner, (first, second), offset, node)


def diagonal_of(
    build: Builder, owner: AnyArray, axes: tuple[int, int], offset: Expr, node: ast.AST
) -> AnyArray:
    """A view in which two axes have become one, the last."""
    rest = [axis for axis in range(len(owner.shape)) if axis not in axes]
    down, right = tidy(Max(Sub(ZERO, offset), ZERO)), tidy(Max(offset, ZERO))
    rows, columns = (owner.shape[axis] for axis in axes)
    size = tidy(Max(Min(minus(rows, down), minus(columns, right)), ZERO))
    places = [
        Place(ZERO, 1, rest.index(axis) if axis in rest else len(rest))
        for axis in range(len(owner.shape))
    ]
    places[axes[0]] = Place(down, 1, len(rest))
    places[axes[1]] = Place(right, 1, len(rest))
    shape = (*(owner.shape[axis] for axis in rest), size)
    return shown(build, owner, tuple(places), shape, node)


def axis_at(build: Builder, node: ast.expr, owner: AnyArray) -> int:
    return axis_of(build, build.evaluate(node), len(owner.shape), node)
