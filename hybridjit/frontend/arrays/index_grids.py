"""Arrays of the numbers along each axis of a grid: np.mgrid, np.ogrid and np.indices."""

from __future__ import annotations

import ast
import math
from collections.abc import Sequence

from hybridjit.arith.ranges import ONE, ZERO, constant, minus, plus, tidy, times
from hybridjit.errors import ParseError
from hybridjit.frontend.arrays.calls import cast_element
from hybridjit.frontend.arrays.memory import fixed_index
from hybridjit.frontend.builder import Builder
from hybridjit.frontend.call_arguments import arguments, shape_argument
from hybridjit.frontend.values import ArrayExpr, Items, Value
from hybridjit.ir.dtype import FLOAT64, INT64, DType, ScalarType
from hybridjit.ir.expr import Add, Const, Div, Eq, Expr, FloorDiv, Max, Mul, Sub
from hybridjit.record import record
from hybridjit.scalars.operators import binary, select
from hybridjit.scalars.scalar import Scalar, index, integer


@record
class _Bounds:
    """The integers along an axis of a grid."""

    start: Expr
    step: Expr
    extent: Expr

    def at(self, position: Expr) -> Scalar:
        """The number at a position."""
        return Scalar(plus(times(position, self.step), self.start), ScalarType(INT64))


@record
class _FloatBounds:
    """The floats along an axis: so many from `start` on, in steps."""

    start: Scalar
    step: Scalar
    extent: Expr

    def at(self, position: Expr) -> Scalar:
        """The number at a position, rounded as NumPy rounds it."""
        place = cast_element(index(position), FLOAT64, None)
        return binary(Add, binary(Mul, place, self.step, None), self.start, None)


_AnyBounds = _Bounds | _FloatBounds


def index_grid(build: Builder, node: ast.Subscript, *, is_open: bool) -> Value:
    """`np.mgrid[0:n, 0:m]`: for each axis, the numbers along it; np.ogrid: without repeating
    them along the others.
    """
    is_tuple = isinstance(node.slice, ast.Tuple)
    entries = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    bounds = [_grid_bounds(build, entry) for entry in entries]
    if is_open and is_tuple:
        return Items(tuple(_open(axis, bounds) for axis in range(len(bounds))))
    grid = _indices(bounds)
    if is_tuple:
        return grid
    return ArrayExpr(grid.shape[1:], grid.dtype, lambda indices: grid.element([ZERO, *indices]))


def _dtype(bounds: Sequence[_AnyBounds]) -> DType:
    return FLOAT64 if any(isinstance(axis, _FloatBounds) for axis in bounds) else INT64


def _open(axis: int, bounds: Sequence[_AnyBounds]) -> ArrayExpr:
    here, dtype = bounds[axis], _dtype(bounds)
    shape = tuple(here.extent if k == axis else ONE for k in range(len(bounds)))
    return ArrayExpr(
        shape, dtype, lambda indices: cast_element(here.at(indices[axis]), dtype, None)
    )


def _grid_bounds(build: Builder, entry: ast.expr) -> _AnyBounds:
    if not isinstance(entry, ast.Slice) or entry.upper is None:
        raise build.refuse(
            "a grid takes slices with a stop",
            entry,
            help="write it as in np.mgrid[0:n, 0:m]",
        )
    given = (entry.lower, entry.upper, entry.step)
    numbers = [None if part is None else build.scalar(part) for part in given]
    if any(number is not None and number.type.dtype.is_inexact for number in numbers):
        usual = (integer(0), integer(0), integer(1))
        known = [number or other for number, other in zip(numbers, usual, strict=True)]
        return _float_bounds(build, known, entry)
    return _integer_bounds(build, entry, entry.upper)


def _integer_bounds(build: Builder, entry: ast.Slice, upper: ast.expr) -> _Bounds:
    start = ZERO if entry.lower is None else build.index(entry.lower, "a bound of a grid")
    start = fixed_index(build, start)
    stop = fixed_index(build, build.index(upper, "a bound of a grid"))
    step = ONE if entry.step is None else build.index(entry.step, "a step of a grid")
    known = constant(step)
    if known is None or known < 1:
        raise _refuse_step(build, entry)
    size = minus(stop, start)
    if known > 1:
        size = tidy(FloorDiv(plus(size, Const(known - 1)), step))
    is_natural = build.ranges.is_natural(size)
    return _Bounds(start, step, size if is_natural else tidy(Max(size, ZERO)))


def _float_bounds(build: Builder, numbers: Sequence[Scalar], entry: ast.Slice) -> _FloatBounds:
    """`0:1:5j` is five numbers up to the end; `0:1:0.25` is as np.arange has it."""
    span, step = build.span(entry), numbers[2].constant
    if step is None or (isinstance(step, complex) and int(abs(step)) < 1):
        raise _refuse_step(build, entry)
    low, high = (cast_element(number, FLOAT64, span) for number in numbers[:2])
    start = build.let(low, "start", span)
    if isinstance(step, complex):
        count = int(abs(step))
        width = binary(Sub, high, start, span)
        parts = cast_element(integer(max(count - 1, 1)), FLOAT64, span)
        by = binary(Div, width, parts, span) if count > 1 else integer(1)
    else:
        first, last = numbers[0].constant, numbers[1].constant
        if first is None or last is None:
            raise _refuse_step(build, entry)
        count, by = max(0, math.ceil((last - first) / step)), numbers[2]
    width = build.let(cast_element(by, FLOAT64, span), "step", span)
    return _FloatBounds(start, width, Const(count))


def _refuse_step(build: Builder, entry: ast.expr) -> ParseError:
    return build.refuse(
        "the step of a grid must be a positive number, known when the script is compiled, and "
        "between floats so must be its bounds",
        entry,
        help="say how many numbers there are, as in 0:x:5j, or scale the indices afterwards",
    )


def make_indices(build: Builder, name: str, node: ast.Call) -> Value:
    """`np.indices(shape)`."""
    args = arguments(build, node, "dimensions", required=1)
    extents = [fixed_index(build, size) for size in shape_argument(build, args["dimensions"])]
    return _indices([_Bounds(ZERO, ONE, extent) for extent in extents])


def _indices(bounds: Sequence[_AnyBounds]) -> ArrayExpr:
    dtype = _dtype(bounds)

    def along(axis: int, indices: Sequence[Expr]) -> Scalar:
        return cast_element(bounds[axis].at(indices[axis + 1]), dtype, None)

    def element(indices: Sequence[Expr]) -> Scalar:
        which = constant(indices[0])
        if which is not None:
            return along(which, indices)
        found = along(len(bounds) - 1, indices)
        for axis in reversed(range(len(bounds) - 1)):
            is_axis = Eq(indices[0], Const(axis))
            found = select(is_axis, along(axis, indices), found, None)
        return found

    return ArrayExpr((Const(len(bounds)), *(b.extent for b in bounds)), dtype, element)
