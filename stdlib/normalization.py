"""Normalization: elements less a mean, divided by a deviation, scaled and shifted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hybridjit.errors import ArgumentValueError
from hybridjit.ir.dtype import DType
from hybridjit.stdlib.padding import extend_by
from hybridjit.stdlib.parts.accumulation import add_up, float_type, working_average
from hybridjit.stdlib.parts.accumulation import variance as spread_along
from hybridjit.stdlib.parts.elements import call
from hybridjit.stdlib.parts.precision import in_type, working_type
from hybridjit.stdlib.parts.requirements import multiple_of
from hybridjit.stdlib.parts.shapes import (
    are_equal,
    broadcast,
    fill,
    normalize_axes,
    normalize_axis,
    replaced,
    show,
    shown,
)
from hybridjit.stdlib.parts.types import Axes, T
from hybridjit.stdlib.running.compiled import scheduled_by
from hybridjit.stdlib.running.operator import operator
from hybridjit.stdlib.running.schedules import along_rows, as_written, row_by_row
from hybridjit.te import compute, reduce_axis
from hybridjit.te import sum as added

BATCH = scheduled_by(as_written, fastmath=("contract",))
BATCHES = scheduled_by(along_rows, fastmath=("contract", "reassoc"))
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
    axes = (normalize_axis("batch_norm", x, axis),)
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


@operator(recipe=BATCHES)
def batch_norm_train(
    x: T,
    moving_mean: T,
    moving_variance: T,
    gamma: T | None = None,
    beta: T | None = None,
    *,
    axis: int = 1,
    epsilon: float = 1e-5,
    momentum: float = 0.1,
) -> tuple[T, T, T]:
    """x normalized with its own means and variances, one for each place along an axis; and the
    moving mean and variance, of which a share of `momentum` is new.

    (x - mean) / sqrt(variance + epsilon) * gamma + beta, and (1 - momentum) * moving + momentum *
    own. Variances are averages over all elements: nothing is taken off their number.

    >>> hs.batch_norm_train(np.array([[1.0], [3.0]]), np.array([0.0]), np.array([1.0]))[1:]
    (array([0.2]), array([1.]))
    """
    name = "batch_norm_train"
    place = normalize_axis(name, x, axis)
    for operand in (moving_mean, moving_variance, gamma, beta):
        _check_shape(name, x, operand, (place,))
    if not 0 <= momentum <= 1:
        raise ArgumentValueError(f"{name}: the momentum is from 0 to 1, got {momentum!r}")
    others = tuple(other for other in range(x.ndim) if other != place)
    center = working_average(f"{name}_mean", x, others)
    spread = spread_along(f"{name}_variance", x, others, ddof=0, keepdims=False)
    dtype = _type_of(x, gamma, beta)
    working = working_type(dtype)

    def element(at: tuple[Any, ...]) -> Any:
        own = at[place]
        found = (x[at] - center[own]) / call("sqrt", spread[own] + epsilon)
        return _scaled(found, own, gamma, beta, working).astype(dtype)

    means = _mixed(f"{name}_moving_mean", moving_mean, center, momentum)
    variances = _mixed(f"{name}_moving_variance", moving_variance, spread, momentum)
    return fill(name, x.shape, element), means, variances


def _mixed(name: str, moving: Any, new: Any, momentum: float) -> Any:
    """A moving average with a share of what is new, in its own type."""
    dtype = float_type(moving.dtype)
    working = working_type(dtype)
    return broadcast(
        lambda old, found: (
            in_type(old, working) * (1 - momentum) + in_type(found, working) * momentum
        ).astype(dtype),
        *(moving, new),
        name=name,
    )


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
    axes, in the order in which x has them.

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


@operator(recipe=LAYER)
def group_norm(
    x: T,
    groups: int,
    gamma: T | None = None,
    beta: T | None = None,
    *,
    epsilon: float = 1e-5,
) -> T:
    """x normalized with the mean and variance of each group of channels, which are axis 1.

    gamma and beta have one element for each channel.

    >>> hs.group_norm(np.array([[1.0, 3.0, 0.0, 4.0]]), 2)
    array([[-0.999995  ,  0.999995  , -0.99999875,  0.99999875]])
    """
    return _normalize_groups("group_norm", x, groups, (gamma, beta), epsilon)


@operator(recipe=LAYER)
def instance_norm(
    x: T, gamma: T | None = None, beta: T | None = None, *, epsilon: float = 1e-5
) -> T:
    """x normalized with the mean and variance of each channel, which is axis 1, of each of a batch.

    >>> hs.instance_norm(np.array([[[1.0, 3.0], [0.0, 4.0]]]))
    array([[[-0.999995  ,  0.999995  ],
            [-0.99999875,  0.99999875]]])
    """
    return _normalize_groups("instance_norm", x, None, (gamma, beta), epsilon)


def _normalize_groups(
    name: str, x: Any, groups: int | None, scaling: tuple[Any, Any], epsilon: float
) -> Any:
    """`x` normalized over groups of channels and all that follows; None for as many as channels."""
    _check_groups(name, x, groups)
    for operand in scaling:
        _check_shape(name, x, operand, (1,))
    channels, size = x.shape[1], x.shape[1] // groups if groups is not None else 1
    count = channels if groups is None else groups
    guard = multiple_of(name, channels, count, f"the channels are not {count} equal groups")
    split = fill(
        f"{name}_groups",
        (x.shape[0], count, size, *x.shape[2:]),
        lambda at: guard(x[(at[0], at[1] * size + at[2], *at[3:])]),
    )
    axes = tuple(range(2, split.ndim))
    center = working_average(f"{name}_mean", split, axes)
    spread = spread_along(f"{name}_variance", split, axes, ddof=0, keepdims=False)
    dtype = _type_of(x, *scaling)
    working = working_type(dtype)

    def element(at: tuple[Any, ...]) -> Any:
        own = (at[0], at[1] // size)
        found = (x[at] - center[own]) / call("sqrt", spread[own] + epsilon)
        return _scaled(found, at[1], *scaling, working).astype(dtype)

    return fill(name, x.shape, element)


def _scaled(value: Any, place: Any, gamma: Any, beta: Any, working: DType) -> Any:
    """A normalized element times its factor, plus its summand, where there are any."""
    value = value if gamma is None else value * in_type(gamma[place], working)
    return value if beta is None else value + in_type(beta[place], working)


def _check_groups(name: str, x: Any, groups: int | None) -> None:
    if x.ndim < 2:
        raise ArgumentValueError(f"{name}: {shown(x)} has no channels, which are axis 1")
    channels = x.shape[1]
    if groups is not None and (
        groups < 1 or (isinstance(channels, int) and channels % groups != 0)
    ):
        raise ArgumentValueError(
            f"{name}: {channels} channels of '{x.name}' are not {groups} equal groups"
        )


@operator(recipe=LAYER)
def rms_norm(x: T, gamma: T | None = None, *, axis: Axes = -1, epsilon: float = 1e-5) -> T:
    """x divided by the root of the mean of its squares along axes, times gamma.

    >>> hs.rms_norm(np.array([[3.0, 4.0]]))
    array([[0.8485278, 1.1313704]])
    """
    axes = normalize_axes("rms_norm", x, axis)
    _check_shape("rms_norm", x, gamma, axes)
    dtype = _type_of(x, gamma)
    working = working_type(dtype)
    squares = working_average(
        "rms_norm_mean", _squares("rms_norm", x, working), axes, keepdims=True
    )

    def element(at: tuple[Any, ...]) -> Any:
        own = tuple(0 if axis in axes else index for axis, index in enumerate(at))
        found = in_type(x[at], working) / call("sqrt", squares[own] + epsilon)
        place = tuple(at[axis] for axis in axes)
        return _scaled(found, place, gamma, None, working).astype(dtype)

    return fill("rms_norm", x.shape, element)


def _squares(name: str, x: Any, working: DType) -> Any:
    def element(at: tuple[Any, ...]) -> Any:
        value = in_type(x[at], working)
        return value * value

    return fill(f"{name}_squares", x.shape, element)


@operator(recipe=LAYER)
def l2_normalize(x: T, axis: Axes = -1, *, epsilon: float = 1e-12) -> T:
    """x divided by the root of the sum of its squares along axes, which is at least epsilon.

    >>> hs.l2_normalize(np.array([[3.0, 4.0]]))
    array([[0.6, 0.8]])
    """
    axes = normalize_axes("l2_normalize", x, axis)
    dtype = _type_of(x)
    working = working_type(dtype)
    squares = _squares("l2_normalize", x, working)
    total = add_up("l2_normalize_sum", added, squares, axes, keepdims=True)

    def element(at: tuple[Any, ...]) -> Any:
        own = tuple(0 if axis in axes else index for axis, index in enumerate(at))
        size = call("sqrt", call("maximum", total[own], epsilon))
        return (in_type(x[at], working) / size).astype(dtype)

    return fill("l2_normalize", x.shape, element)


@operator(recipe=LAYER)
def weight_norm(v: T, g: T, axis: int = 0, *, epsilon: float = 0.0) -> T:
    """v in the lengths g: v * g / (the root of the sum of squares of v), for each along an axis.

    >>> hs.weight_norm(np.array([[3.0, 4.0]]), np.array([10.0]))
    array([[6., 8.]])
    """
    place = normalize_axis("weight_norm", v, axis)
    _check_shape("weight_norm", v, g, (place,))
    dtype = _type_of(v, g)
    working = working_type(dtype)
    axes = tuple(other for other in range(v.ndim) if other != place)
    total = add_up("weight_norm_sum", added, _squares("weight_norm", v, working), axes)

    def element(at: tuple[Any, ...]) -> Any:
        length = call("sqrt", total[at[place]] + epsilon)
        return (in_type(v[at], working) * (in_type(g[at[place]], working) / length)).astype(dtype)

    return fill("weight_norm", v.shape, element)


@operator(recipe=BATCH)
def lrn(
    x: T,
    size: int = 5,
    *,
    axis: int = 1,
    alpha: float = 1e-4,
    beta: float = 0.75,
    bias: float = 1.0,
) -> T:
    """x divided by (bias + alpha / size * the sum of squares of its neighbours) ** beta.

    Neighbours are the places along an axis, `size` of them, x itself in the middle.

    >>> hs.lrn(np.array([[1.0, 2.0, 3.0]]), 3, alpha=3.0, beta=0.5)
    array([[0.40824829, 0.51639778, 0.80178373]])
    """
    place = normalize_axis("lrn", x, axis)
    if size < 1:
        raise ArgumentValueError(f"lrn: there are no {size} neighbours")
    dtype = _type_of(x)
    working = working_type(dtype)
    before = (size - 1) // 2
    squares = extend_by(
        "lrn",
        _squares("lrn", x, working),
        [(before, size - 1 - before) if axis == place else (0, 0) for axis in range(x.ndim)],
        "constant",
        0,
    )
    k = reduce_axis((0, size), "k")
    total = fill(
        "lrn_sum",
        x.shape,
        lambda at: added(squares[replaced(at, place, at[place] + k)], axis=k),
    )

    def element(at: tuple[Any, ...]) -> Any:
        scale = call("pow", total[at] * (alpha / size) + bias, beta)
        return (in_type(x[at], working) / scale).astype(dtype)

    return fill("lrn", x.shape, element)


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
