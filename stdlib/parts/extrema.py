"""The largest and smallest elements of tensors, their places, and whether any or all are true."""

from __future__ import annotations

from functools import partial
from typing import Any

from hybridjit.errors import ArgumentValueError
from hybridjit.stdlib.parts.accumulation import Indices, reduce_axes, reduce_elements, reduced_loops
from hybridjit.stdlib.parts.elements import call, maximum, minimum
from hybridjit.stdlib.parts.shapes import Shape, count_elements, normalize_axes, show
from hybridjit.stdlib.parts.types import Axes
from hybridjit.te import comm_reducer, const, if_then_else, max_value, min_value
from hybridjit.te import min as least
from hybridjit.tensors.function import NEEDS_ELEMENTS
from hybridjit.tensors.reduction import Reducer

largest = comm_reducer(maximum, min_value, "max")
smallest = comm_reducer(minimum, max_value, "min")
# te.any and te.all stop at the first element that decides: these make vectors.
one_of = comm_reducer(partial(call, "|"), partial(const, False), "any")
each_of = comm_reducer(partial(call, "&"), partial(const, True), "all")


def is_true(value: Any) -> Any:
    """Whether an element is true, as every number but 0 is."""
    return call("!=", value, 0)


def find_extremum(name: str, reducer: Reducer, x: Any, axis: Axes, *, keepdims: bool) -> Any:
    """The extremum of `x` along axes."""
    check_has_elements(name, x, axis)
    attrs = {NEEDS_ELEMENTS: f"{name} of no elements: nothing has no {name}"}
    return reduce_axes(name, reducer, x, axis, keepdims=keepdims, attrs=attrs)


def check_has_elements(name: str, x: Any, axis: Axes) -> None:
    """Refuse an extremum of nothing; sizes of the run are looked at when it runs."""
    axes = normalize_axes(name, x, axis)
    if any(isinstance(x.shape[axis], int) and x.shape[axis] == 0 for axis in axes):
        raise ArgumentValueError(
            f"{name}: '{x.name}' of shape {show(x.shape)} has no elements along the axes {axes}, "
            f"and nothing has no {name}"
        )


def find_place(name: str, reducer: Reducer, x: Any, axis: int | None, *, keepdims: bool) -> Any:
    """Where the extremum is: the first place that has its value, or that has NaN.

    The extremum is NaN if any element is, and no element equals it then. To look for it once it
    is known is faster than to carry a place along: both loops run as vectors.
    """
    axes = normalize_axes(name, x, axis)
    check_has_elements(name, x, axis)
    attrs = {NEEDS_ELEMENTS: f"{name} of no elements: nothing has no {name}"}
    extremum = reduce_axes(f"{name}_value", reducer, x, axis, keepdims=True, attrs=attrs)
    end = count_elements(x.shape, axes)

    def element(value: Any, own: Indices, loops: Indices) -> Any:
        found = extremum[tuple(0 if axis in loops else own[axis] for axis in range(x.ndim))]
        is_found = call("logical_or", value == found, value != value)
        place = if_then_else(is_found, _count_places(x.shape, loops), end)
        return least(place, axis=reduced_loops(loops))

    return reduce_elements(name, x, axes, element, keepdims=keepdims)


def _count_places(shape: Shape, loops: Indices) -> Any:
    """The place of an element among all that are reduced."""
    place: Any = 0
    for axis, loop in loops.items():
        place = place * shape[axis] + loop
    return place
