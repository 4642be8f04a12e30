"""softmax and its logarithm, along any axis."""

from __future__ import annotations

from typing import Any

from hybridjit.stdlib.parts.accumulation import float_type, reduce_axes
from hybridjit.stdlib.parts.elements import call
from hybridjit.stdlib.parts.extrema import largest
from hybridjit.stdlib.parts.precision import working_type
from hybridjit.stdlib.parts.shapes import broadcast, normalize_axis
from hybridjit.stdlib.parts.types import T
from hybridjit.stdlib.running.compiled import scheduled_by
from hybridjit.stdlib.running.operator import operator
from hybridjit.stdlib.running.schedules import row_by_row
from hybridjit.te import sum as added

RECIPE = scheduled_by(row_by_row, fastmath=("reassoc",))


@operator(recipe=RECIPE)
def softmax(x: T, axis: int = -1) -> T:
    """exp(x) divided by its sum along an axis, without overflow.

    >>> hs.softmax(np.array([[0.0, 0.0], [0.0, 1000.0]]))
    array([[0.5, 0.5],
           [0. , 1. ]])
    """
    highest = _find_highest("softmax", x, axis)
    powers = broadcast(_power, x, highest, name="softmax_exp")
    total = reduce_axes("softmax_sum", added, powers, axis, keepdims=True)
    dtype = _result_type(x)
    return broadcast(
        lambda power, whole: (power / whole).astype(dtype), powers, total, name="softmax"
    )


@operator(recipe=RECIPE)
def log_softmax(x: T, axis: int = -1) -> T:
    """The logarithm of softmax, exact also where softmax is close to 0 or 1.

    >>> hs.log_softmax(np.array([[0.0, 0.0], [0.0, 1000.0]]))
    array([[-6.93147181e-01, -6.93147181e-01],
           [-1.00000000e+03,  0.00000000e+00]])
    """
    highest = _find_highest("log_softmax", x, axis)
    powers = broadcast(_power, x, highest, name="log_softmax_exp")
    total = reduce_axes("log_softmax_sum", added, powers, axis, keepdims=True)
    dtype = _result_type(x)
    return broadcast(
        lambda value, top, whole: (_shift(value, top) - call("log", whole)).astype(dtype),
        *(x, highest, total),
        name="log_softmax",
    )


def _result_type(x: Any) -> Any:
    return float_type(x.dtype)


def _find_highest(name: str, x: Any, axis: int) -> Any:
    """The maximum along an axis."""
    place = normalize_axis(name, x, axis)
    return reduce_axes(f"{name}_max", largest, x, place, keepdims=True)


def _shift(value: Any, highest: Any) -> Any:
    """An element less the maximum, so that its exponential is at most 1."""
    working = working_type(float_type(value.dtype))
    return value.astype(working) - highest.astype(working)


def _power(value: Any, highest: Any) -> Any:
    return call("exp", _shift(value, highest))
