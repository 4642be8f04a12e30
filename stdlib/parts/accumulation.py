"""Reductions over some axes of a tensor; sums, and the types in which they are added up."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from hybridjit.ir.dtype import FLOAT64, INT64, UINT64, DType, Kind
from hybridjit.stdlib.parts.elements import call
from hybridjit.stdlib.parts.precision import working_type
from hybridjit.stdlib.parts.shapes import (
    Shape,
    broadcast,
    count_elements,
    normalize_axes,
    read_dtype,
)
from hybridjit.stdlib.parts.types import Axes
from hybridjit.te import compute, reduce_axis
from hybridjit.te import sum as added
from hybridjit.tensors.reduction import Reducer

Indices = Mapping[int, Any]
"""Indices of an element, by axis."""


def sum_type(dtype: DType) -> DType:
    """The type of a sum: as in NumPy, small integers are added up in large ones."""
    match dtype.kind:
        case Kind.BOOL | Kind.INT:
            return INT64
        case Kind.UINT:
            return UINT64
        case Kind.FLOAT | Kind.COMPLEX:
            return dtype


def float_type(dtype: Any) -> DType:
    """The type of an average."""
    return dtype if dtype.is_inexact else FLOAT64


def meeting_type(first: Any, *others: Any) -> DType:
    """The type of a product of elements."""
    dtype = first.dtype
    for value in others:
        dtype = call("*", first.astype(dtype), value).dtype
    return dtype


def meeting_float(*values: Any) -> DType:
    """The float type in which elements meet: integers are too narrow for their differences."""
    return float_type(meeting_type(*values))


def spread_type(dtype: Any) -> DType:
    """The type of a variance: that of distances, which are real."""
    found = float_type(dtype)
    return found.component if found.is_complex else found


def add_up(
    name: str,
    reducer: Reducer,
    x: Any,
    axis: Axes,
    *,
    dtype: object = None,
    keepdims: bool = False,
) -> Any:
    """The elements of `x` added up, or multiplied, in a type that is wide enough."""
    wanted = sum_type(x.dtype) if dtype is None else read_dtype(name, dtype)
    working = working_type(wanted)

    def read(value: Any) -> Any:
        return value.astype(working)

    found = reduce_axes(name, reducer, x, axis, read=read, keepdims=keepdims)
    return convert(name, found, wanted)


def convert(name: str, x: Any, dtype: DType) -> Any:
    """`x` as a tensor of `dtype`: itself, if it is one."""
    if x.dtype is dtype:
        return x
    return broadcast(lambda value: value.astype(dtype), x, name=name)


def average(name: str, x: Any, axis: Axes, *, keepdims: bool = False) -> Any:
    """The elements of `x` added up and divided by their number."""
    wanted = float_type(x.dtype)
    return convert(name, working_average(name, x, axis, keepdims=keepdims), wanted)


def working_average(
    name: str, x: Any, axis: Axes, *, keepdims: bool = False, ddof: float = 0
) -> Any:
    """The average, n - ddof in the place of n but never below 0, not yet rounded to half."""
    working = working_type(float_type(x.dtype))
    count = count_elements(x.shape, normalize_axes(name, x, axis)) - ddof
    count = max(count, 0) if isinstance(count, int | float) else call("maximum", count, 0)
    total = add_up(f"{name}_sum", added, x, axis, dtype=working, keepdims=keepdims)
    return broadcast(lambda value: value / count, total, name=name)


def variance(name: str, x: Any, axis: Axes, *, ddof: float, keepdims: bool) -> Any:
    """The average of the squared distances of `x` from its mean, not yet rounded to half."""
    working = working_type(float_type(x.dtype))
    middle = working_average(f"{name}_mean", x, axis, keepdims=True)

    def squared(value: Any, center: Any) -> Any:
        distance = value.astype(working) - center
        if not working.is_complex:
            return distance * distance
        real, imag = call("real", distance), call("imag", distance)
        return real * real + imag * imag

    distances = broadcast(squared, x, middle, name=f"{name}_squares")
    return working_average(name, distances, axis, keepdims=keepdims, ddof=ddof)


# -- reductions of any kind ------------------------------------------------------------------------


def reduce_axes(
    name: str,
    reducer: Reducer,
    x: Any,
    axis: Axes,
    *,
    read: Callable[[Any], Any] = lambda value: value,
    keepdims: bool = False,
    attrs: dict[str, Any] | None = None,
) -> Any:
    """The elements of `x` along axes, as `read` sees them, reduced to one each."""

    def element(value: Any, own: Indices, loops: Indices) -> Any:
        return reducer(read(value), axis=reduced_loops(loops))

    axes = normalize_axes(name, x, axis)
    return reduce_elements(name, x, axes, element, keepdims=keepdims, attrs=attrs)


def reduce_elements(
    name: str,
    x: Any,
    axes: Sequence[int],
    element: Callable[[Any, Indices, Indices], Any],
    *,
    keepdims: bool,
    attrs: dict[str, Any] | None = None,
) -> Any:
    """A tensor of what `element` makes of an element of `x`.

    It is given the indices along the axes of the result, and the loops along the others, by axis.
    """
    loops = {axis: reduce_axis((0, x.shape[axis]), f"k{axis}") for axis in axes}
    kept = [axis for axis in range(x.ndim) if keepdims or axis not in loops]

    def at(*indices: Any) -> Any:
        own = dict(zip(kept, indices, strict=True))
        return element(x[tuple({**own, **loops}[axis] for axis in range(x.ndim))], own, loops)

    return compute(reduced_shape(x.shape, axes, keepdims=keepdims), at, name, attrs=attrs)


def reduced_loops(loops: Indices) -> list[Any]:
    """What to reduce over: where there is no axis, each element by itself."""
    return list(loops.values()) or [reduce_axis((0, 1), "k")]


def reduced_shape(shape: Shape, axes: Sequence[int], *, keepdims: bool) -> Shape:
    """The shape that is left when `axes` are reduced."""
    if keepdims:
        return tuple(1 if axis in axes else size for axis, size in enumerate(shape))
    return tuple(size for axis, size in enumerate(shape) if axis not in axes)
