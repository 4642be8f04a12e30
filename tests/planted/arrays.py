"""Bugs planted in array scripts: in slices, broadcasting, reductions and stores.

Each must make a random script differ from NumPy.
"""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from typing import Any

from hybridjit.analysis.distances import Order
from hybridjit.analysis.order import Iterations
from hybridjit.arith.ranges import ONE, ZERO, Ranges, minus, plus, tidy, times
from hybridjit.frontend.arrays import axis_groups
from hybridjit.frontend.arrays import elementwise as array_elementwise
from hybridjit.frontend.arrays import extents as array_extents
from hybridjit.frontend.arrays import extrema as array_extrema
from hybridjit.frontend.arrays import memory as array_memory
from hybridjit.frontend.arrays import reductions as array_reductions
from hybridjit.frontend.arrays import shapes as array_shapes
from hybridjit.frontend.arrays import stores as array_stores
from hybridjit.frontend.arrays import subscripts as array_subscripts
from hybridjit.frontend.arrays.reductions import Axes
from hybridjit.frontend.arrays.stores import Target
from hybridjit.frontend.builder import Builder
from hybridjit.frontend.values import AnyArray, ArrayExpr, Place, Value
from hybridjit.ir.dtype import DType
from hybridjit.ir.expr import Const, Expr, FloorDiv, Ge, Gt, Le, Lt, Max, Mod, Select, const
from hybridjit.scalars.comparisons import compare
from hybridjit.scalars.scalar import Scalar, index
from hybridjit.schedule.arrays.left_factor import PackedRows, RowsAt
from tests.arrays.check import Refused, check_program
from tests.arrays.generate import ANY, MULTIPLYING, make_program
from tests.arrays.style import Style
from tests.planted.bugs import Bug, Plant, RandomCheck, everywhere, replaced
from tests.support.small_machine import small_machine

# Scripts until a bug counts as missed.
MAX_SCRIPTS = 400
# In tiny arrays there is little to be done wrong.
ROOMY = dataclasses.replace(ANY, sizes=(1, 2, 3, 4, 5, 6, 7))

NANS = dataclasses.replace(
    ANY, sizes=(2, 3, 5), dtypes=("float64", "float32", "float16"), special=1
)


def at_random(first: int = 0, style: Style = ROOMY) -> RandomCheck:
    """Random array scripts give what NumPy gives, also for sizes known at run time only."""
    return RandomCheck("arrays", partial(_check_script, style), first, MAX_SCRIPTS)


def in_products(first: int) -> RandomCheck:
    """Random products of matrices, in tiles as for large ones, give what NumPy gives."""
    return RandomCheck("products", _check_product, first, MAX_SCRIPTS)


def _check_product(number: int) -> None:
    with small_machine():
        _check_script(MULTIPLYING, number)


def _check_script(style: Style, number: int) -> None:
    with suppress(Refused):
        program = make_program(f"planted/{number}", style)
        check_program(program, is_native=False, is_symbolic=True)


# -- products --------------------------------------------------------------------------------------


def packed_last_first(self: PackedRows, rows: RowsAt, r: Expr, row: Expr, d: Expr) -> None:
    """Rows that do not lie along memory are packed in each other's places."""
    last_first = minus(Const(self.tile.rows - 1), r) if self.factors.term_by_term else r
    _copy(self, rows, last_first, row, d)


_copy = vars(PackedRows)["_copy"]


# -- slices ----------------------------------------------------------------------------------------


def extent_rounded_down(low: Expr, high: Expr, step: int, ranges: Ranges) -> Expr:
    length = minus(high, low)
    if not ranges.is_natural(length):
        length = tidy(Max(length, ZERO))
    return length if step == 1 else tidy(FloorDiv(length, Const(step)))


def extent_of_empty_slices(low: Expr, high: Expr, step: int, ranges: Ranges) -> Expr:
    """Without the rule that there are no fewer than zero elements: |x| of them."""
    length = minus(high, low)
    if not ranges.is_natural(length):
        length = tidy(Max(length, minus(ZERO, length)))
    return length if step == 1 else tidy(FloorDiv(plus(length, Const(step - 1)), Const(step)))


def bound_from_the_front(bound: Expr, size: Expr, least: Expr | None, ranges: Ranges) -> Expr:
    """A negative bound that goes past the front is not clamped, but counted once more."""
    if ranges.is_natural(bound):
        return bound
    wrapped = plus(size, bound)
    return Select(Lt(bound, ZERO), wrapped, bound) if not isinstance(bound, Const) else wrapped


def composed_without_steps(outer: Sequence[Place], inner: Sequence[Place]) -> tuple[Place, ...]:
    places: list[Place] = []
    for place in outer:
        if place.axis is None:
            places.append(place)
            continue
        step = inner[place.axis]
        start = plus(place.start, step.start)
        places.append(Place(start, place.step * step.step, step.axis))
    return tuple(places)


def flip_all(build: Builder, owner: AnyArray, axes: Sequence[int], node: ast.AST) -> Value:
    del axes
    places = tuple(Place(minus(size, ONE), -1, axis) for axis, size in enumerate(owner.shape))
    return array_subscripts.shown(build, owner, places, owner.shape, node)


def column_major(flat: Expr, shape: Sequence[Expr]) -> list[Expr]:
    indices: list[Expr] = []
    for size in shape:
        indices.append(tidy(Mod(flat, size)))
        flat = tidy(FloorDiv(flat, size))
    return indices


# -- broadcasting and stores -----------------------------------------------------------------------


def never_stretched(self: Any, indices: Sequence[Expr]) -> Expr:
    """What is found to be of size one at run time is indexed as if it were not: at the end."""
    if self.is_one:
        return ZERO
    size: Expr | None = self.size
    axis: int = self.axis
    if size is None:
        return indices[axis]
    return tidy(Mod(plus(indices[axis], ONE), size))


def first_size(build: Builder, sizes: Sequence[Expr], shapes: object, node: object) -> Expr:
    del build, shapes, node
    return sizes[0]


def never_copied(build: Builder, target: object, value: object) -> bool:
    del build, target, value
    return False


def other_memory(
    build: Builder, load: Any, buffer: Any, place: tuple[Expr, ...], iterations: Iterations
) -> bool:
    """Arrays with other names are taken for other memory."""
    del build
    if load.buffer is not buffer:
        return False
    return Order.AFTER in iterations.meet(load.indices, place)


_put = vars(array_stores)["_put"]


def put_without_mask(build: Builder, target: Target, value: ArrayExpr, span: Any) -> None:
    _put(build, target, dataclasses.replace(value, mask=None), span)


def wrapped_late(build: Builder, position: Expr, size: Expr, axis: int, node: ast.AST) -> Expr:
    """A negative index into a part of an array counts from the wrong end."""
    del build, axis, node
    return plus(position, minus(size, ONE)) if isinstance(position, Const) else position


# -- reductions ------------------------------------------------------------------------------------


def narrow_sum(dtype: DType) -> DType:
    return dtype


def without_kept_axes(build: Builder, buffer: Any, axes: Axes) -> ArrayExpr:
    found = array_memory.elements_of(build, array_reductions.Array(buffer))
    return dataclasses.replace(found, buffer=buffer)


def kept_as_given(self: Axes) -> tuple[int, ...]:
    """Axes that are given in another order keep another order."""
    kept = [axis for axis in range(self.ndim) if axis not in self.reduced]
    return tuple(kept[::-1])


def last_extremum(build: Builder, order: Any, new: Scalar, old: Scalar, span: Any) -> Expr:
    del build
    return compare(Ge if order is Gt else Le, new, old, span).expr


def extremum_without_nan(build: Builder, order: Any, new: Scalar, old: Scalar, span: Any) -> Expr:
    del build
    return compare(order, new, old, span).expr


def zero_start(dtype: DType, *, lowest: bool) -> Const:
    del lowest
    return const(0, dtype)


def one_too_many(build: Builder, value: ArrayExpr, axes: Axes, span: Any) -> Scalar:
    del build, span
    size: Expr = ONE
    for axis in axes.reduced:
        size = times(size, value.shape[axis])
    return index(plus(size, ONE))


def not_squared(build: Builder, parts: Sequence[Scalar], span: Any) -> Scalar:
    return build.let(
        array_reductions.apply("-", array_reductions.Style.NUMPY, list(parts), span), "d", span
    )


def flat_in_columns(value: ArrayExpr, axes: Axes, indices: tuple[Expr, ...]) -> Expr:
    flat: Expr = ZERO
    for axis in reversed(axes.reduced):
        flat = plus(times(flat, value.shape[axis]), indices[axis])
    return flat


_STRETCH: Any = array_elementwise._Stretch  # pyright: ignore[reportPrivateUsage]


def _bug(name: str, plant: Plant, first: int = 0) -> Bug:
    return Bug(name, [plant], at_random(first))


BUGS = (
    Bug(
        "rows that are strided are packed in other places",
        [replaced(PackedRows, "_copy", packed_last_first)],
        in_products(0),
    ),
    _bug(
        "slices with steps are a bit short",
        replaced(array_extents, "_extent", extent_rounded_down),
        3,
    ),
    _bug("empty slices have elements", replaced(array_extents, "_extent", extent_of_empty_slices)),
    _bug(
        "bounds are not clamped", replaced(array_extents, "_from_front", bound_from_the_front), 21
    ),
    _bug(
        "views of views forget a step",
        replaced(array_subscripts, "compose", composed_without_steps),
        168,
    ),
    _bug("flip reverses all axes", everywhere(array_shapes, "flip", flip_all), 41),
    _bug("reshape takes columns first", replaced(axis_groups, "_unflat", column_major), 41),
    _bug("run-time broadcasting is off by one", replaced(_STRETCH, "index", never_stretched), 22),
    _bug(
        "the first operand has the size",
        replaced(array_elementwise, "_meeting_size", first_size),
        1,
    ),
    _bug(
        "overlapping stores are not buffered",
        replaced(array_memory, "_needs_copy", never_copied),
        117,
    ),
    Bug(
        "arguments never share memory",
        [replaced(array_memory, "_may_meet", other_memory)],
        at_random(4, style=dataclasses.replace(ROOMY, sharing=1)),
    ),
    _bug("masked stores ignore the mask", replaced(array_stores, "_put", put_without_mask)),
    _bug("indices into parts are off", everywhere(array_subscripts, "checked", wrapped_late), 78),
    _bug("sums are as narrow as elements", replaced(array_reductions, "sum_dtype", narrow_sum), 1),
    _bug("keepdims is forgotten", everywhere(array_reductions, "kept", without_kept_axes), 3),
    _bug("kept axes are turned around", replaced(Axes, "kept", property(kept_as_given))),
    _bug("argmax is the last one", replaced(array_extrema, "_beats", last_extremum), 21),
    Bug(
        "argmax does not see NaN",
        [replaced(array_extrema, "_beats", extremum_without_nan)],
        at_random(21, NANS),
    ),
    _bug("argmax counts columns first", replaced(array_extrema, "_flat", flat_in_columns), 9),
    _bug("extrema start at zero", replaced(array_reductions, "_worst", zero_start), 59),
    _bug("means count one more", replaced(array_reductions, "_reduced_count", one_too_many), 49),
    _bug(
        "variances are not squared",
        replaced(array_reductions, "_squared_distance", not_squared),
        137,
    ),
)
