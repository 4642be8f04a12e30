"""Tensors and arrays out of numbers, and patterns of them.

What is made of options alone is an array, or a tensor if `like` is one or a size is an expression.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np

from hybridjit.errors import ArgumentError, ArgumentValueError
from hybridjit.ir.dtype import FLOAT64, INT64, DType
from hybridjit.stdlib.parts.constants import chosen, constant_vector
from hybridjit.stdlib.parts.elements import call, stored
from hybridjit.stdlib.parts.precision import working_type
from hybridjit.stdlib.parts.shapes import (
    are_equal,
    check_choice,
    check_integers,
    check_rank,
    count_elements,
    fill,
    normalize_axis,
    read_dtype,
    read_integers,
    read_shape,
    read_size,
    show,
    shown,
)
from hybridjit.stdlib.parts.types import Number, T
from hybridjit.stdlib.running.operator import operator
from hybridjit.te import Expression, Tensor, const, if_then_else
from hybridjit.te import min as least
from hybridjit.tensors.expression import as_scalar

# Numbers that are part of the code, of which each is a branch.
MAX_CONSTANTS = 256


@operator(differentiable=False)
def full(
    shape: int | Sequence[Any],
    value: T | Number,
    dtype: Any = None,
    *,
    like: T | None = None,
) -> Any:
    """One value everywhere.

    >>> hs.full((2, 2), 7)
    array([[7, 7],
           [7, 7]])
    """
    number = value[()] if isinstance(value, Tensor) else value
    return _filled("full", read_shape("full", shape), number, dtype)


@operator
def full_like(x: T, value: T | Number, dtype: Any = None) -> T:
    """One value everywhere, in the shape of x and its type, if no other is given.

    >>> hs.full_like(np.array([1.0, 2.0]), 3)
    array([3., 3.])
    """
    number = value[()] if isinstance(value, Tensor) else value
    return _filled("full_like", x.shape, number, x.dtype if dtype is None else dtype)


def _filled(name: str, shape: Sequence[Any], number: Any, dtype: Any) -> Any:
    wanted = Expression(as_scalar(number)).dtype if dtype is None else read_dtype(name, dtype)
    element = stored(number, wanted)
    return fill(name, shape, lambda at: element)


@operator(differentiable=False)
def arange(
    start: Any, stop: Any = None, step: Any = 1, dtype: Any = None, *, like: T | None = None
) -> Any:
    """Numbers from start, or 0, up to stop, which is not among them.

    >>> hs.arange(2, 10, 3)
    array([2, 5, 8])
    """
    first, last = (0, start) if stop is None else (start, stop)
    _check_range(first, last, step)
    wanted = _range_type((first, last, step)) if dtype is None else read_dtype("arange", dtype)
    working = working_type(wanted)
    count = _count_steps(first, last, step)
    # As in NumPy: the distance of the first two numbers is repeated, as the type rounds them.
    others = (first, first) if isinstance(count, int) and count < 2 else (first, first + step)
    base, second = (_number(value, wanted).astype(working) for value in others)

    def element(at: tuple[Any, ...]) -> Any:
        return (base + at[0].astype(working) * (second - base)).astype(wanted)

    return fill("arange", [count], element)


def _check_range(*bounds: Any) -> None:
    """Refuse what is no start, stop and step of a range."""
    for what, number in zip(("start", "stop", "step"), bounds, strict=True):
        if isinstance(number, Expression):
            continue
        if not isinstance(number, numbers.Real):
            raise ArgumentError(f"arange: {what} must be a real number, got {number!r}")
        if not math.isfinite(number):
            raise ArgumentValueError(f"arange: {what} must be finite, got {number!r}")
    if bounds[2] == 0:
        raise ArgumentValueError("arange: the step is not 0")


def _number(value: Any, dtype: DType) -> Any:
    return value.astype(dtype) if isinstance(value, Expression) else stored(value, dtype)


def _range_type(numbers: Sequence[Any]) -> DType:
    kinds = (float, np.floating)
    return FLOAT64 if any(isinstance(number, kinds) for number in numbers) else INT64


def _count_steps(first: Any, last: Any, step: Any) -> Any:
    if not any(isinstance(value, Expression) for value in (first, last)):
        return max(math.ceil((last - first) / step), 0)
    (whole,) = read_integers("arange", "the step", step, 1)
    room = last - first if whole > 0 else first - last
    return call("maximum", 0, (room + abs(whole) - 1) // abs(whole))


@operator(differentiable=False)
def const_vector(values: Sequence[Any], dtype: Any = None, *, like: T | None = None) -> Any:
    """These numbers, which are part of the code: for a few of them.

    >>> hs.const_vector((2, 3, 5))
    array([2, 3, 5])
    """
    found = np.array(values)
    if found.ndim != 1:
        raise ArgumentValueError(f"const_vector: numbers along one axis, got {found.ndim} axes")
    if len(values) > MAX_CONSTANTS:
        raise ArgumentValueError(
            f"const_vector: {len(values)} numbers are too many to be part of the code, of which "
            f"there are up to {MAX_CONSTANTS}",
            help="pass them as an array or a tensor",
        )
    wanted = read_dtype("const_vector", found.dtype if dtype is None else dtype)
    return constant_vector("const_vector", [value.item() for value in found], wanted)


@operator(differentiable=False)
def shape(x: T, dtype: Any = "int64") -> T:
    """The sizes of x, as numbers of a type.

    >>> hs.shape(np.ones((2, 3)))
    array([2, 3])
    """
    wanted = read_dtype("shape", dtype)
    sizes = [_number(size, wanted) for size in x.shape] or [const(0, wanted)]
    return fill("shape", (x.ndim,), lambda at: chosen(sizes, at[0]))


@operator(differentiable=False)
def size(x: T, dtype: Any = "int64") -> T:
    """How many elements x has, as a number of a type in an array without axes.

    >>> hs.size(np.ones((2, 3)))
    array(6)
    """
    count = count_elements(x.shape, range(x.ndim))
    number = _number(count, read_dtype("size", dtype))
    return fill("size", (), lambda at: number)


@operator(differentiable=False)
def eye(n: Any, m: Any = None, k: int = 0, dtype: Any = "float64", *, like: T | None = None) -> Any:
    """A matrix with ones along a diagonal: the main one, or the k-th above it.

    >>> hs.eye(2, 3, 1)
    array([[0., 1., 0.],
           [0., 0., 1.]])
    """
    wanted = read_dtype("eye", dtype)
    one, zero = const(1, wanted), const(0, wanted)
    rows = read_size("eye", "n", n)
    shape = (rows, rows if m is None else read_size("eye", "m", m))
    offset = _offset("eye", k)
    return fill("eye", shape, lambda at: if_then_else(at[1] - at[0] == offset, one, zero))


def _offset(name: str, k: Any) -> Any:
    return k if isinstance(k, Expression) else read_integers(name, "k", k, 1)[0]


@operator
def tril(x: T, k: int = 0) -> T:
    """x with zeros above a diagonal of the last two axes: the main one, or the k-th above it.

    >>> hs.tril(np.array([[1, 2], [3, 4]]))
    array([[1, 0],
           [3, 4]])
    """
    offset = _offset("tril", k)
    return _triangle("tril", x, lambda distance: distance <= offset)


@operator
def triu(x: T, k: int = 0) -> T:
    """x with zeros below a diagonal of the last two axes: the main one, or the k-th above it.

    >>> hs.triu(np.array([[1, 2], [3, 4]]))
    array([[1, 2],
           [0, 4]])
    """
    offset = _offset("triu", k)
    return _triangle("triu", x, lambda distance: distance >= offset)


def _triangle(name: str, x: Any, is_kept: Callable[[Any], Any]) -> Any:
    if x.ndim < 2:
        raise ArgumentValueError(f"{name}: {shown(x)} has no two axes")
    zero = const(0, x.dtype)
    return fill(name, x.shape, lambda at: if_then_else(is_kept(at[-1] - at[-2]), x[at], zero))


@operator
def matrix_set_diag(x: T, diagonal: T, k: int = 0) -> T:
    """x with other elements along a diagonal of the last two axes: the k-th above the main one.

    >>> hs.matrix_set_diag(np.zeros((2, 3)), np.array([1.0, 2.0]), 1)
    array([[0., 1., 0.],
           [0., 0., 2.]])
    """
    _check_diagonal(x, diagonal, k)

    def element(at: tuple[Any, ...]) -> Any:
        place = at[-1] if k < 0 else at[-2]
        found: Any = diagonal[(*at[:-2], place)]
        own: Any = x[at]
        return if_then_else(at[-1] - at[-2] == k, found.astype(own.dtype), own)

    return fill("matrix_set_diag", x.shape, element)


def _check_diagonal(x: Any, diagonal: Any, k: int) -> None:
    if x.ndim < 2 or diagonal.ndim != x.ndim - 1:
        raise ArgumentValueError(
            f"matrix_set_diag: {shown(diagonal)} are no diagonals of {shown(x)}",
            help="it must have one axis less",
        )
    rows, columns = x.shape[-2] + min(k, 0), x.shape[-1] - max(k, 0)
    if isinstance(rows, int) and isinstance(columns, int):
        length: Any = max(min(rows, columns), 0)
    else:
        length = rows if are_equal(rows, columns) else least(rows, columns)
    wanted = (*x.shape[:-2], length)
    if not all(map(are_equal, diagonal.shape, wanted)):
        raise ArgumentValueError(
            f"matrix_set_diag: {shown(diagonal)} must have the shape {show(wanted)}"
        )


@operator
def meshgrid(xs: Sequence[T], indexing: Literal["xy", "ij"] = "xy") -> tuple[T, ...]:
    """The coordinates of all points of a grid: for each of xs, its element at each point.

    With indexing="xy" the first of xs runs along columns, with "ij" along rows.

    >>> hs.meshgrid((np.array([1, 2]), np.array([3, 4])))
    (array([[1, 2],
           [1, 2]]), array([[3, 3],
           [4, 4]]))
    """
    check_choice("meshgrid", "indexing", indexing, ("xy", "ij"))
    for x in xs:
        check_rank("meshgrid", x, 1, "coordinates")
    order = list(range(len(xs)))
    if indexing == "xy" and len(xs) > 1:
        order[:2] = [1, 0]
    shape = [xs[axis].shape[0] for axis in order]

    def grid(place: int) -> Any:
        axis = order.index(place)
        return fill("meshgrid", shape, lambda at: xs[place][at[axis]])

    return tuple(map(grid, range(len(xs))))


@operator(differentiable=False)
def one_hot(
    indices: T,
    depth: int,
    on_value: T | Number = 1,
    off_value: T | Number = 0,
    *,
    axis: int = -1,
    dtype: Any = "float32",
) -> T:
    """on_value at the place that an index says along a new axis, off_value elsewhere.

    Negative indices count from the end; what is beyond is nowhere.

    >>> hs.one_hot(np.array([1, 0]), 3)
    array([[0., 1., 0.],
           [1., 0., 0.]], dtype=float32)
    """
    check_integers("one_hot", indices)
    size = read_size("one_hot", "depth", depth)
    wanted = read_dtype("one_hot", dtype)
    rank = indices.ndim + 1
    place = rank - 1 if axis == -1 else normalize_axis("one_hot", _Ranked(rank), axis)
    on, off = (stored(value, wanted) for value in (on_value, off_value))

    def element(at: tuple[Any, ...]) -> Any:
        found: Any = indices[(*at[:place], *at[place + 1 :])]
        wrapped = if_then_else(found < 0, found.astype(INT64) + size, found.astype(INT64))
        return if_then_else(wrapped == at[place], on, off)

    shape = (*indices.shape[:place], size, *indices.shape[place:])
    return fill("one_hot", shape, element)


class _Ranked:
    """The result of an operator, before it is made, of which axes are counted."""

    name = "result"

    def __init__(self, rank: int) -> None:
        self.ndim = rank
        self.shape = (1,) * rank
