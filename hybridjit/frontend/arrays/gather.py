"""Arrays as indices: `a[idx]`, `a[:, idx]`, `a[i, idx]` gather elements, `a[m]` selects some.

NumPy's rules: arrays of indices are broadcast together, single indices among them; their axes
stand where the first of them does, or in front if something else stands between them.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import replace
from types import EllipsisType

from hybridjit.arith.ranges import ONE, ZERO
from hybridjit.frontend.arrays.elementwise import (
    broadcast_shape,
    broadcast_to,
    refuse_mask,
    require_size,
)
from hybridjit.frontend.arrays.memory import (
    at,
    copied,
    elements_of,
    locate,
    materialize,
    view_of,
    whole,
)
from hybridjit.frontend.arrays.subscripts import (
    checked,
    element_or_part,
    entries,
    select,
    shown,
    single_index,
    sliced,
    spread,
)
from hybridjit.frontend.builder import Builder
from hybridjit.frontend.values import AnyArray, Array, ArrayExpr, Mask, Nothing, Place, Value, View
from hybridjit.ir.expr import Const, Expr
from hybridjit.record import record
from hybridjit.scalars.scalar import Scalar

Entry = Value | EllipsisType | None
Locate = Callable[[Sequence[Expr]], tuple[Expr, ...]]


@record
class Gathered:
    """Elements of a view at places that are computed: their shape, and where each one is."""

    view: View
    shape: tuple[Expr, ...]
    locate: Locate


@record
class _Entries:
    """A subscript, taken apart: for each axis of the array the array of indices or the place.

    `basic` are the sizes of the axes that slices and None leave; those of the arrays of indices
    come before number `front` of them.
    """

    axes: tuple[ArrayExpr | Place, ...]
    basic: tuple[Expr, ...]
    front: int


def indexed_by_arrays(
    build: Builder, owner: AnyArray, values: Sequence[Entry], node: ast.Subscript
) -> ArrayExpr:
    """What arrays of indices or a mask take."""
    if has_mask(values):
        view, mask = masked_part(build, owner, values, node)
        return replace(elements_of(build, view), mask=mask, buffer=None, shown=None)
    found = gathered(build, owner, values, node)
    source = elements_of(build, found.view)

    def element(indices: Sequence[Expr]) -> Scalar:
        return source.element(found.locate(indices))

    return ArrayExpr(found.shape, source.dtype, element)


# arrays of indices


def gathered(
    build: Builder, owner: AnyArray, values: Sequence[Entry], node: ast.Subscript
) -> Gathered:
    """What arrays of indices, with slices and single indices beside them, take."""
    if isinstance(owner, ArrayExpr):  # its elements are taken in any order, and repeatedly
        owner = materialize(build, owner, "t", build.span(node))
    nodes = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    view = view_of(build, owner)
    entries = _taken_apart(build, view, values, nodes, node)
    arrays = [axis for axis in entries.axes if isinstance(axis, ArrayExpr)]
    shape = broadcast_shape(build, [array.shape for array in arrays], node)
    first, last = entries.front, entries.front + len(shape)
    spread = [
        broadcast_to(build, axis, shape, node) if isinstance(axis, ArrayExpr) else axis
        for axis in entries.axes
    ]

    def locate(indices: Sequence[Expr]) -> tuple[Expr, ...]:
        rest = [*indices[:first], *indices[last:]]
        return tuple(
            _index_at(build, part, indices[first:last], view, axis, node)
            if isinstance(part, ArrayExpr)
            else at(part, rest)
            for axis, part in enumerate(spread)
        )

    whole = (*entries.basic[:first], *shape, *entries.basic[first:])
    return Gathered(view, whole, locate)


def scattered(
    build: Builder, owner: Array | View, values: Sequence[Entry], node: ast.Subscript
) -> Gathered:
    """Where `owner[...]` stores: the indices are found before anything is stored."""
    span = build.span(node)
    values = [whole(build, v, span) if isinstance(v, AnyArray) else v for v in values]
    kept = [
        Array(copied(build, elements_of(build, value), "indices", span))
        if isinstance(value, AnyArray) and _may_change(build, value, owner)
        else value
        for value in values
    ]
    return gathered(build, owner, kept, node)


def _may_change(build: Builder, indices: AnyArray, owner: Array | View) -> bool:
    if build.unit.shares_memory or isinstance(indices, ArrayExpr):
        return True
    return indices.buffer is owner.buffer


def _taken_apart(
    build: Builder,
    view: View,
    values: Sequence[Entry],
    nodes: Sequence[ast.expr],
    node: ast.Subscript,
) -> _Entries:
    axes: list[ArrayExpr | Place] = []
    basic: list[Expr] = []
    fronts: list[int] = []  # how many basic axes stand before each index that is not a slice
    for value, entry in spread(build, view, values, nodes, node):
        if isinstance(value, Nothing):
            basic.append(ONE)
        elif entry is None or isinstance(entry, ast.Slice):
            place, size = sliced(build, entry, view.shape[len(axes)], len(basic))
            axes.append(place)
            basic.append(size)
        else:
            fronts.append(len(basic))
            axes.append(_index_entry(build, value, view, len(axes), entry))
    return _Entries(tuple(axes), tuple(basic), fronts[0] if _stand_together(values) else 0)


def _stand_together(values: Sequence[Entry]) -> bool:
    """True if no slice, new axis or `...`, even one of no axes, stands between the indices."""
    places = [
        k for k, value in enumerate(values) if not isinstance(value, EllipsisType | Nothing | None)
    ]
    return places[-1] - places[0] + 1 == len(places)


def _index_entry(
    build: Builder, value: Value | None, view: View, axis: int, node: ast.expr
) -> ArrayExpr | Place:
    if not isinstance(value, AnyArray):
        assert value is not None
        single = build.as_scalar(value, node, "an index")
        return Place(single_index(build, single, view, axis, node))
    indices = elements_of(build, whole(build, value, build.span(node)))
    if not indices.dtype.is_integer:
        raise build.mismatch(f"an index must be an integer, found {indices.dtype}", node)
    return indices


def _index_at(
    build: Builder, indices: ArrayExpr, where: Sequence[Expr], view: View, axis: int, node: ast.AST
) -> Expr:
    """One index out of an array of them; a whole axis of a buffer checks it when it is used."""
    found = build.let(indices.element(where), "t", build.span(node))
    position = build.as_index(found, node, "an index")
    if _is_whole(build, view, axis):
        return position
    return checked(build, position, view.shape[axis], axis, node)


def _is_whole(build: Builder, view: View, axis: int) -> bool:
    """True if an axis of a view is a dimension of its buffer, from its start to its end."""
    shown = [
        build.ranges.same(size, view.shape[axis]) and place.start == ZERO and place.step == 1
        for place, size in zip(view.places, view.buffer.shape, strict=True)
        if place.axis == axis
    ]
    return shown == [True]


# masks


def has_mask(values: Sequence[Entry]) -> bool:
    """True if a subscript selects with a mask."""
    return any(map(_is_mask, values))


def masked_part(
    build: Builder, owner: AnyArray, values: Sequence[Entry], node: ast.Subscript
) -> tuple[View | ArrayExpr, Mask]:
    """`a[m]`, `a[:, m]`: the array without the mask, and the mask."""
    owner = whole(build, owner, build.span(node))
    arrays = [value for value in values if isinstance(value, AnyArray)]
    if len(arrays) > 1:
        raise build.refuse(
            "a mask cannot be used together with another mask or an array of indices",
            node,
            help="combine masks with &, or write a loop with an if",
        )
    mask = elements_of(build, whole(build, arrays[0], build.span(node)))
    position = next(k for k, value in enumerate(values) if _is_mask(value))
    here = slice(position, position + 1)
    nodes = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    everything = ast.copy_location(ast.Slice(None, None, None), node)
    around = [*values]
    around[here] = [None] * len(mask.shape)
    entries = [*nodes]
    entries[here] = [everything] * len(mask.shape)
    selection = select(build, owner, around, entries, node)
    first = _axes_before(build, owner, around[:position], around[position:])
    part = shown(build, owner, selection.places, selection.shape, node)
    if not _stand_together(values):
        part = _with_axes_in_front(build, part, range(first, first + len(mask.shape)), node)
        first = 0
    return part, _spread_mask(build, mask, part, first, node)


def _with_axes_in_front(
    build: Builder, part: View | ArrayExpr, axes: range, node: ast.Subscript
) -> View | ArrayExpr:
    others = [axis for axis in range(len(part.shape)) if axis not in axes]
    order = [*axes, *others]
    places = tuple(Place(ZERO, 1, order.index(axis)) for axis in range(len(order)))
    return shown(build, part, places, tuple(part.shape[axis] for axis in order), node)


def _axes_before(
    build: Builder, owner: AnyArray, before: Sequence[Entry], after: Sequence[Entry]
) -> int:
    """How many axes of the result stand before the mask."""
    count = sum(value is None or isinstance(value, Nothing) for value in before)
    if any(value is ... for value in before):
        given = [value for value in (*before, *after) if value is not ...]
        count += len(owner.shape) - sum(not isinstance(value, Nothing) for value in given)
    return count


def _spread_mask(
    build: Builder, mask: ArrayExpr, part: View | ArrayExpr, first: int, node: ast.Subscript
) -> Mask:
    """The mask with the shape of what it selects from."""
    spread = Mask(mask, first, tuple(part.shape))
    for size, wanted in zip(mask.shape, part.shape[first : spread.last], strict=True):
        if build.ranges.same(size, wanted):
            continue
        if isinstance(size, Const) and isinstance(wanted, Const):
            raise refuse_mask(build, mask.shape, part.shape, node)
        require_size(build, size, wanted, node, error="IndexError")
    return spread


def _is_mask(value: Entry) -> bool:
    match value:
        case Array(buffer) | View(buffer):
            return buffer.dtype.is_bool
        case ArrayExpr(_, dtype):
            return dtype.is_bool
        case _:
            return False


def place_in(found: Gathered, indices: Sequence[Expr]) -> tuple[Expr, ...]:
    """The indices in the buffer of a gathered element."""
    return locate(found.view, found.locate(indices))


def array_part(build: Builder, owner: AnyArray, node: ast.Subscript) -> Value:
    """The value of `owner[...]`: an array, or one element."""
    return element_or_part(build, part(build, owner, node), node)


def part(build: Builder, owner: AnyArray, node: ast.Subscript) -> AnyArray:
    """The part of an array that a subscript names."""
    nodes = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    return part_at(build, owner, entries(build, nodes), node)


def part_at(
    build: Builder,
    owner: AnyArray,
    values: Sequence[Value | EllipsisType | None],
    node: ast.Subscript,
) -> AnyArray:
    """The part of an array for entries whose values are given; slices have none."""
    nodes = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    if any(isinstance(value, AnyArray) for value in values):
        return indexed_by_arrays(build, owner, values, node)
    selection = select(build, owner, values, nodes, node)
    return shown(build, owner, selection.places, selection.shape, node)
