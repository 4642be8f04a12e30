"""What sizes of the run have to be: a multiple of a number, or more than nothing.

Sizes that are known are looked at when an operator is called. Of others there is a stage without
axes that reduces over one place if all is well, and over none if not, which is refused before
anything is computed. What is returned makes elements read that stage, so that it is in the graph.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hybridjit.stdlib.parts.extrema import each_of
from hybridjit.stdlib.parts.shapes import are_equal
from hybridjit.te import compute, const, if_then_else, reduce_axis
from hybridjit.te import min as least
from hybridjit.tensors.function import NEEDS_ELEMENTS

Guard = Callable[[Any], Any]
"""An element, if a size is what it has to be."""


def multiple_of(name: str, size: Any, by: Any, message: str) -> Guard:
    """Elements of a tensor an axis of which is cut into parts of `by`."""
    if isinstance(size, int) and isinstance(by, int):
        return as_it_is
    rest = size % by
    return as_it_is if are_equal(rest, 0) else _guard(name, 1 - rest, message)


def not_empty(name: str, size: Any, message: str) -> Guard:
    """Elements of a tensor for which there is room: a size that is larger than 0."""
    return as_it_is if isinstance(size, int) else _guard(name, least(size, 1), message)


def both(first: Guard, second: Guard) -> Guard:
    """What two sizes have to be."""
    return lambda value: first(second(value))


def as_it_is(value: Any) -> Any:
    """An element of which nothing has to be."""
    return value


def _guard(name: str, room: Any, message: str) -> Guard:
    """Elements, if there is room for one."""
    k = reduce_axis((0, room), "k")
    is_fine = compute(
        (),
        lambda: each_of(k >= 0, axis=[k]),
        f"{name}_is_fine",
        attrs={NEEDS_ELEMENTS: f"{name}: {message}"},
    )
    return lambda value: if_then_else(is_fine[()], value, const(0, value.dtype))
