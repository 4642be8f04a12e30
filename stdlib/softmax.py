"""softmax and its logarithm, along any axis."""

from __future__ import annotations

from typing import Any

from hybridjit.stdlib.accumulation import convert, float_type, reduce_axes, working_type
from hybridjit.stdlib.compiled import scheduled_by
from hybridjit.stdlib.elementwise import each
from hybridjit.stdlib.extrema import largest
from hybridjit.stdlib.operator import operator
from hybridjit.stdlib.schedules import row_by_row
from hybridjit.stdlib.shapes import broadcast, normalize_axis
from hybridjit.stdlib.types import T
from hybridjit.te import sum as added

RECIPE = scheduled_by(row_by_row, fastmath=("reassoc",))


@operator(recipe=RECIPE)
def softmax(x: T, axis: int = -1) -> T:
    """exp(x) divided by its sum along an axis, without overflow.

    >>> hs.softmax(np.array([[0.0, 0.0], [0.0, 1000.0]]))
    array([[0.5, 0.5],
           [0. , 1. ]])
    """
    shifted = _below_zero("softmax", x, axis)
    powers = each("exp", shifted, name="softmax_exp")
    total = reduce_axes("softmax_sum", added, powers, axis, keepdims=True)
    return _as_result("softmax", each("/", powers, total, name="softmax"), x)


@operator(recipe=RECIPE)
def log_softmax(x: T, axis: int = -1) -> T:
    """The logarithm of softmax, exact also where softmax is close to 0 or 1.

    >>> hs.log_softmax(np.array([[0.0, 0.0], [0.0, 1000.0]]))
    array([[-6.93147181e-01, -6.93147181e-01],
           [-1.00000000e+03,  0.00000000e+00]])
    """
    shifted = _below_zero("log_softmax", x, axis)
    powers = each("exp", shifted, name="log_softmax_exp")
    total = reduce_axes("log_softmax_sum", added, powers, axis, keepdims=True)
    logarithm = each("log", total, name="log_softmax_log")
    return _as_result("log_softmax", each("-", shifted, logarithm, name="log_softmax"), x)


def _below_zero(name: str, x: Any, axis: int) -> Any:
    """`x` less its maximum along an axis, so that its exponential is at most 1."""
    normalize_axis(name, x, axis)
    working = working_type(float_type(x.dtype))
    highest = reduce_axes(f"{name}_max", largest, x, axis, keepdims=True)
    return broadcast(
        lambda value, top: value.astype(working) - top.astype(working),
        x,
        highest,
        name=f"{name}_shifted",
    )


def _as_result(name: str, found: Any, x: Any) -> Any:
    return convert(name, found, float_type(x.dtype))
