"""Normalization: elements less a mean, divided by a deviation, scaled and shifted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hybridjit.errors import ArgumentValueError
from hybridjit.ir.dtype import DType
from hybridjit.stdlib.parts.accumulation import float_type, working_average
from hybridjit.stdlib.parts.accumulation import variance as spread_along
from hybridjit.stdlib.parts.elements import call
from hybridjit.stdlib.parts.precision import in_type, working_type
from hybridjit.stdlib.parts.shapes import are_equal, broadcast, normalize_axes, show
from hybridjit.stdlib.parts.types import Axes, T
from hybridjit.stdlib.running.compiled import scheduled_by
from hybridjit.stdlib.running.operator import operator
from hybridjit.stdlib.running.schedules import in_chunks, row_by_row
from hybridjit.te import compute

BATCH = scheduled_by(in_chunks, fastmath=("contract",))
LAYER = scheduled_by(row_by_row, fastmath=("contract", "reassoc"))


@operator(recipe=BATCH)
def batch_norm(
    x: T,
    mean: T,
    variance: T,
    gamma: T | None = None,
    beta: T | None = None,
    *,
    axis: int = 1,
    epsilon: float = 1e-5,
) -> T:
    """x normalized with known means and variances, one for each place along an axis.

    (x - mean) / sqrt(variance + epsilon) * gamma + beta, as batch normalization does once a
    network is trained. The first part is one factor for each place, the second one summand.

    >>> hs.batch_norm(np.array([[1.0, 2.0]]), np.array([1.0, 1.0]), np.array([1.0, 4.0]))
    array([[0.        , 0.49999938]])
    """
    axes = normalize_axes("batch_norm", x, axis)
    for operand in (mean, variance, gamma, beta):
        _check_shape("batch_norm", x, operand, axes)
    one, zero = 1 if gamma is None else gamma, 0 if beta is None else beta
    dtype = _type_of(x, mean, variance, gamma, beta)
    working = working_type(dtype)
    scale = broadcast(
        lambda spread, factor: (
            in_type(factor, working) / call("sqrt", in_type(spread, working) + epsilon)
        ),
        *(variance, one),
        name="batch_norm_scale",
    )
    shift = broadcast(
        lambda center, factor, summand: (
            in_type(summand, working) - in_type(center, working) * factor
        ),
        *(mean, scale, zero),
        name="batch_norm_shift",
    )

    def element(*indices: Any) -> Any:
        place = tuple(indices[axis] for axis in axes)
        return (x[indices].astype(working) * scale[place] + shift[place]).astype(dtype)

    return compute(x.shape, element, name="batch_norm")


@operator(recipe=LAYER)
def layer_norm(
    x: T,
    gamma: T | None = None,
    beta: T | None = None,
    *,
    axis: Axes = -1,
    epsilon: float = 1e-5,
) -> T:
    """x normalized with its own mean and variance along axes.

    (x - mean) / sqrt(variance + epsilon) * gamma + beta; gamma and beta have the sizes of the
    axes.

    >>> hs.layer_norm(np.array([[1.0, 3.0], [0.0, 4.0]]))
    array([[-0.999995  ,  0.999995  ],
           [-0.99999875,  0.99999875]])
    """
    axes = normalize_axes("layer_norm", x, axis)
    for operand in (gamma, beta):
        _check_shape("layer_norm", x, operand, axes)
    center = working_average("layer_norm_mean", x, axes, keepdims=True)
    spread = spread_along("layer_norm_variance", x, axes, ddof=0, keepdims=True)
    dtype = _type_of(x, gamma, beta)
    working = working_type(dtype)

    def element(*indices: Any) -> Any:
        own = tuple(0 if axis in axes else index for axis, index in enumerate(indices))
        place = tuple(indices[axis] for axis in axes)
        found = (x[indices] - center[own]) / call("sqrt", spread[own] + epsilon)
        found = found if gamma is None else found * in_type(gamma[place], working)
        found = found if beta is None else found + in_type(beta[place], working)
        return found.astype(dtype)

    return compute(x.shape, element, name="layer_norm")


def _type_of(x: Any, *others: Any) -> DType:
    """The type of the result: a float to which all operands convert."""
    parts = [x, *(other for other in others if other is not None)]
    elements = [part[(0,) * part.ndim] for part in parts]
    found = elements[0].astype(float_type(x.dtype))
    for element in elements[1:]:
        found = found + element
    return found.dtype


def _check_shape(name: str, x: Any, operand: Any, axes: Sequence[int]) -> None:
    """Refuse an operand that has not one element for each place along the axes."""
    wanted = tuple(x.shape[axis] for axis in axes)
    if operand is None or (
        operand.ndim == len(axes) and all(map(are_equal, operand.shape, wanted))
    ):
        return
    raise ArgumentValueError(
        f"{name}: '{operand.name}' has shape {show(operand.shape)}, and '{x.name}' {show(x.shape)}",
        help=f"it must have shape {show(wanted)}: one for each place along {list(axes)}",
    )
