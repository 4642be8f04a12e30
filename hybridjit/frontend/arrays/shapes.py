"""The same elements in another shape: reshape, transpose, flip, ravel."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import replace

from hybridjit.arith.ranges import ONE, ZERO, constant, minus, tidy, times
from hybridjit.arith.sizes import product, quotient
from hybridjit.errors import ShapeMismatch
from hybridjit.frontend.arrays.axis_groups import groups_of_axes
from hybridjit.frontend.arrays.elementwise import require_natural, require_size, shape_text
from hybridjit.frontend.arrays.memory import elements_of, whole
from hybridjit.frontend.arrays.subscripts import shown
from hybridjit.frontend.builder import Builder
from hybridjit.frontend.call_arguments import text_argument
from hybridjit.frontend.values import (
    AnyArray,
    Arranged,
    Array,
    ArrayExpr,
    Items,
    Nothing,
    Place,
    Value,
    describe,
)
from hybridjit.ir.expr import Const, Eq, Expr, FloorDiv, Gt, Max, Var
from hybridjit.ir.header import MAX_EXTENT
from hybridjit.ir.stmt import If, Raise
from hybridjit.ir.visit import walk
from hybridjit.scalars.scalar import Scalar

# So many copies of an axis, which has up to MAX_EXTENT elements, are sure not to wrap around.
MAX_COPIES = 1 << 14
_TOO_BIG = "array is too big"


def reshape(build: Builder, owner: AnyArray, shape: Sequence[Expr], node: ast.expr) -> Value:
    """The elements in row-major order, in another shape; one size may be -1."""
    owner = whole(build, owner, build.span(node))
    wanted = _completed(build, owner, shape, node)
    places = _by_ones(build, owner.shape, wanted)
    if places is not None:
        return shown(build, owner, places, wanted, node)
    _check_same_size(build, owner, wanted, node)
    source = elements_of(build, owner)
    groups = groups_of_axes(build.ranges, source.shape, wanted)

    def element(indices: Sequence[Expr]) -> Scalar:
        return source.element([index for group in groups for index in group.find(indices)])

    if isinstance(owner, ArrayExpr):
        return ArrayExpr(wanted, source.dtype, element, shown=owner.shown, may_be_copy=True)
    # Whatever its strides, one axis can be cut into several.
    may_be_copy = len(owner.shape) > 1 and not _is_contiguous(build, owner)
    made = ArrayExpr(wanted, source.dtype, element, shown=owner.buffer, may_be_copy=may_be_copy)
    return replace(made, arranged=Arranged(owner, "reshape"))


def ravel(build: Builder, owner: AnyArray, node: ast.expr) -> Value:
    """The elements in row-major order along one axis."""
    if len(owner.shape) == 1:
        return in_row_major_order(build, owner, "ravel")
    found = reshape(build, owner, [Const(-1)], node)
    if isinstance(found, ArrayExpr) and found.arranged is not None:
        # A copy by ravel has no base, one by reshape is a view of a new array.
        return replace(found, arranged=replace(found.arranged, way="ravel"))
    return found


def in_row_major_order(build: Builder, owner: AnyArray, way: str) -> Value:
    """The array itself if its elements lie one after the other, else a copy: where that is not
    known, it is a matter of strides. `way` is what NumPy calls it.
    """
    if _is_contiguous(build, owner) or (isinstance(owner, ArrayExpr) and owner.shown is None):
        return owner
    source = elements_of(build, owner)
    if isinstance(owner, ArrayExpr):
        return replace(source, buffer=None, may_be_copy=True, arranged=None)
    arranged = Arranged(owner, way)
    return replace(source, buffer=None, shown=owner.buffer, may_be_copy=True, arranged=arranged)


def _is_contiguous(build: Builder, owner: AnyArray) -> bool:
    """True for all of an array that the script makes; what it is given may have any strides."""
    return isinstance(owner, Array) and not owner.indices and build.is_made_here(owner.buffer)


def _completed(
    build: Builder, owner: AnyArray, shape: Sequence[Expr], node: ast.expr
) -> tuple[Expr, ...]:
    open_axes = [axis for axis, size in enumerate(shape) if constant(size) == -1]
    known = [size for size in shape if constant(size) != -1]
    for size in known:
        require_natural(build, size, node)
    if not open_axes:
        return tuple(shape)
    if len(open_axes) > 1:
        raise build.refuse("only one size can be -1", node)
    rest = product_of_sizes(build, known, node)
    _require_divisor(build, owner, rest, node)
    total = product(owner.shape)
    exact = quotient(total, rest)
    size = tidy(FloorDiv(total, rest)) if exact is None else exact
    return tuple(size if axis == open_axes[0] else s for axis, s in enumerate(shape))


def _require_divisor(build: Builder, owner: AnyArray, rest: Expr, node: ast.expr) -> None:
    """NumPy's error for an open size beside one of zero: any size would do."""
    if build.ranges.is_at_most(ONE, rest):
        return
    span = build.span(node)
    message = (f"cannot reshape an array of shape {shape_text(owner.shape)}: any size fits -1",)
    if constant(rest) == 0:
        raise ShapeMismatch(message[0], span)
    build.emit(If(Eq(rest, ZERO), Raise("ValueError", message, span=span), span=span))


def product_of_sizes(build: Builder, sizes: Sequence[Expr], node: ast.AST) -> Expr:
    """The product of sizes that are not negative; an error where it is past every array."""
    total: Expr = ONE
    for size in sizes:
        total = _times(build, total, size, node)
    return total


def _times(build: Builder, a: Expr, b: Expr, node: ast.AST) -> Expr:
    span = build.span(node)
    known = constant(a), constant(b)
    if known[0] is not None and known[1] is not None:
        if known[0] * known[1] > MAX_EXTENT:
            raise ShapeMismatch(f"{_TOO_BIG}: {known[0]} times {known[1]} elements", span)
        return Const(known[0] * known[1])
    if not all(_is_size_of_array(build, factor) for factor in (a, b)):
        limit = tidy(FloorDiv(Const(MAX_EXTENT), tidy(Max(a, ONE))))
        build.emit(If(Gt(b, limit), Raise("ValueError", (_TOO_BIG,), span=span), span=span))
    return times(a, b)


def _is_size_of_array(build: Builder, size: Expr) -> bool:
    """True for a small number, and for what is made of sizes of arrays that there are: their
    product wraps around only where the arrays have no memory of their own.
    """
    known = constant(size)
    if known is not None:
        return known <= MAX_COPIES
    return all(node in build.unit.sizes for node in walk(size) if isinstance(node, Var))


def _by_ones(build: Builder, old: Sequence[Expr], new: Sequence[Expr]) -> tuple[Place, ...] | None:
    """Places if only axes of size one come or go: then it is a view."""
    axes = [axis for axis, size in enumerate(new) if constant(size) != 1]
    places: list[Place] = []
    for size in old:
        if constant(size) == 1:
            places.append(Place(ZERO))
        elif axes and build.ranges.same(new[axes[0]], size):
            places.append(Place(ZERO, 1, axes.pop(0)))
        else:
            return None
    return None if axes else tuple(places)


def _check_same_size(
    build: Builder, owner: AnyArray, wanted: tuple[Expr, ...], node: ast.expr
) -> None:
    old, new = product(owner.shape), product(wanted)
    if build.ranges.same(old, new):
        return
    new = product_of_sizes(build, wanted, node)
    if isinstance(old, Const) and isinstance(new, Const):
        raise ShapeMismatch(
            f"cannot reshape an array of shape {shape_text(owner.shape)} into "
            f"{shape_text(wanted)}: {old.value} and {new.value} elements",
            build.span(node),
        )
    require_size(build, old, new, node)


def flip(build: Builder, owner: AnyArray, axes: Sequence[int], node: ast.AST) -> Value:
    """The array with the order along some axes reversed."""
    places = tuple(
        Place(minus(size, ONE), -1, axis) if axis in axes else Place(ZERO, 1, axis)
        for axis, size in enumerate(owner.shape)
    )
    return shown(build, owner, places, owner.shape, node)


def axes_argument(build: Builder, node: ast.expr | None, ndim: int) -> tuple[int, ...] | None:
    """The axes that an argument names, counted from the front; None for all of them."""
    value: Value = Nothing() if node is None else build.evaluate(node)
    if isinstance(value, Nothing) or node is None:
        return None
    items = value.items if isinstance(value, Items) else (value,)
    # NumPy lets axis 0 of a number pass.
    axes = tuple(axis_of(build, item, max(ndim, 1), node) for item in items)
    return axes if ndim else ()


def different_axes(build: Builder, node: ast.expr | None, ndim: int) -> tuple[int, ...] | None:
    """The axes that an argument names, none of them twice; None for all of them."""
    axes = axes_argument(build, node, ndim)
    if axes is not None and node is not None:
        check_different(build, axes, node)
    return axes


def check_different(build: Builder, axes: Sequence[int], node: ast.expr) -> None:
    """Refuse axes that name one twice."""
    for place, axis in enumerate(axes):
        if axis in axes[:place]:
            raise ShapeMismatch(f"axis {axis} is named twice", build.span(node))


def axis_of(build: Builder, value: Value, ndim: int, node: ast.expr) -> int:
    """One axis, counted from the front."""
    axis = value.constant if isinstance(value, Scalar) else None
    if not isinstance(axis, int):
        raise build.refuse(
            f"an axis must be a number known when the script is compiled, found {describe(value)}",
            node,
            help="write it as a number, pass it to the script, or loop over axes with const_range",
        )
    if not -ndim <= axis < ndim:
        raise ShapeMismatch(
            f"axis {axis} is out of bounds for an array of {ndim} dimensions", build.span(node)
        )
    return axis % ndim


def transposed(build: Builder, owner: AnyArray, axes: Sequence[int] | None, node: ast.AST) -> Value:
    """The array with its axes in another order, by default reversed."""
    order = tuple(reversed(range(len(owner.shape)))) if axes is None else tuple(axes)
    if sorted(order) != list(range(len(owner.shape))):
        raise ShapeMismatch("the axes must name each dimension once", build.span(node))
    places = tuple(Place(ZERO, 1, order.index(axis)) for axis in range(len(order)))
    if not order:
        return owner
    return shown(build, owner, places, tuple(owner.shape[axis] for axis in order), node)


# orders of elements


def reshape_in_order(
    build: Builder,
    owner: AnyArray,
    sizes: Sequence[Expr],
    order: ast.expr | None,
    node: ast.Call,
) -> Value:
    """The elements in another shape; `order` is the argument of that name."""
    if not _is_by_columns(build, order):
        return reshape(build, owner, sizes, node)
    turned = _turned(build, whole(build, owner, build.span(node)), node)
    return _turned(build, reshape(build, turned, sizes[::-1], node), node)


def ravel_in_order(
    build: Builder, owner: AnyArray, order: ast.expr | None, node: ast.Call
) -> Value:
    """The elements along one axis; `order` is the argument of that name."""
    if _is_by_columns(build, order):
        owner = _turned(build, whole(build, owner, build.span(node)), node)
    return ravel(build, owner, node)


def _turned(build: Builder, value: Value, node: ast.Call) -> AnyArray:
    assert isinstance(value, AnyArray)
    if len(value.shape) < 2:
        return value
    found = transposed(build, value, None, node)
    assert isinstance(found, AnyArray)
    return found


def _is_by_columns(build: Builder, order: ast.expr | None) -> bool:
    """Whether the first index changes fastest, as in FORTRAN."""
    text = "C" if order is None else text_argument(build, order, "an order")
    if order is not None and text not in ("C", "F"):
        raise build.refuse(
            f"the order {text!r} is not supported inside a script", order, help="use 'C' or 'F'"
        )
    return text == "F"
