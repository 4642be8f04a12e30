"""Activation functions of neural networks."""

from __future__ import annotations

import math
from typing import Any, Literal

from hybridjit.errors import ArgumentValueError
from hybridjit.ir.dtype import BOOL, INT8
from hybridjit.stdlib.parts.elements import call, maximum, minimum
from hybridjit.stdlib.parts.precision import rounded_once
from hybridjit.stdlib.parts.requirements import multiple_of
from hybridjit.stdlib.parts.shapes import (
    are_equal,
    broadcast,
    check_choice,
    fill,
    normalize_axis,
    replaced,
    shown,
)
from hybridjit.stdlib.parts.types import Number, T
from hybridjit.stdlib.running.elementwise import each, elementwise
from hybridjit.stdlib.running.operator import operator

# Of SELU: with these, means of 0 and variances of 1 stay so from layer to layer.
SELU_ALPHA = 1.6732632423543772
SELU_SCALE = 1.0507009873554805


@elementwise
def relu(x: T) -> T:
    """x, but 0 where it is negative; NaN stays NaN.

    >>> hs.relu(np.array([-1.0, 2.0]))
    array([0., 2.])
    """
    return each("maximum", x, 0, name="relu")


@elementwise
def leaky_relu(x: T, slope: T | Number = 0.01) -> T:
    """x, but x * slope where it is negative.

    >>> hs.leaky_relu(np.array([-1.0, 2.0]), 0.1)
    array([-0.1,  2. ])
    """

    def element(v: Any, a: Any) -> Any:
        return call("select", v > 0, v, v * a)

    return broadcast(rounded_once(element), x, slope, name="leaky_relu")


@elementwise
def elu(x: T, alpha: T | Number = 1.0) -> T:
    """x, but alpha * (exp(x) - 1) where it is negative.

    >>> hs.elu(np.array([-1.0, 2.0]))
    array([-0.63212056,  2.        ])
    """

    def element(v: Any, a: Any) -> Any:
        return call("select", v > 0, v, call("expm1", v) * a)

    return broadcast(rounded_once(element), x, alpha, name="elu")


@elementwise
def sigmoid(x: T) -> T:
    """1 / (1 + exp(-x)).

    >>> hs.sigmoid(np.array([0.0, 1.0]))
    array([0.5       , 0.73105858])
    """
    return each("sigmoid", x)


@elementwise
def silu(x: T) -> T:
    """x * sigmoid(x), also called swish.

    >>> hs.silu(np.array([0.0, 1.0]))
    array([0.        , 0.73105858])
    """
    return broadcast(rounded_once(lambda v: v * call("sigmoid", v)), x, name="silu")


@elementwise
def gelu(x: T, approximate: Literal["none", "tanh"] = "none") -> T:
    """x times the chance that a normal variable is below it: x * (1 + erf(x / sqrt(2))) / 2.

    With approximate="tanh" by a formula that is sooner computed:
    x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 x³))) / 2.

    >>> hs.gelu(np.array([0.0, 1.0]))
    array([0.        , 0.84134475])
    """
    check_choice("gelu", "approximation", approximate, ("none", "tanh"))

    def by_tanh(v: Any) -> Any:
        inner = (v + v * v * v * 0.044715) * (2 / math.pi) ** 0.5
        return v * 0.5 * (call("tanh", inner) + 1)

    def exact(v: Any) -> Any:
        return v * 0.5 * call("erfc", v * -(0.5**0.5))

    return broadcast(rounded_once(exact if approximate == "none" else by_tanh), x, name="gelu")


@elementwise
def softplus(x: T) -> T:
    """log(1 + exp(x)), without overflow.

    >>> hs.softplus(np.array([0.0, 1000.0]))
    array([6.93147181e-01, 1.00000000e+03])
    """
    return broadcast(rounded_once(_softplus), x, name="softplus")


@operator
def prelu(x: T, slope: T, axis: int = 1) -> T:
    """x, but x * slope where it is negative, with a slope for each place along an axis.

    >>> hs.prelu(np.array([[-1.0, -2.0]]), np.array([0.5, 0.1]))
    array([[-0.5, -0.2]])
    """
    place = normalize_axis("prelu", x, axis)
    _check_slopes(x, slope, place)
    element = rounded_once(lambda v, a: call("select", v > 0, v, v * a))
    return fill("prelu", x.shape, lambda at: element(x[at], slope[at[place]]))


def _check_slopes(x: Any, slope: Any, axis: int) -> None:
    if slope.ndim != 1 or not are_equal(slope.shape[0], x.shape[axis]):
        raise ArgumentValueError(
            f"prelu: {shown(slope)} has no slope for each place along axis {axis} of {shown(x)}"
        )


@elementwise
def selu(x: T, alpha: T | Number = SELU_ALPHA, scale: T | Number = SELU_SCALE) -> T:
    """scale * x, but scale * alpha * (exp(x) - 1) where x is negative.

    >>> hs.selu(np.array([-1.0, 1.0]))
    array([-1.11133074,  1.05070099])
    """

    def element(v: Any, a: Any, s: Any) -> Any:
        return call("select", v > 0, v * s, call("expm1", v) * (a * s))

    return broadcast(rounded_once(element), x, alpha, scale, name="selu")


@elementwise
def celu(x: T, alpha: T | Number = 1.0) -> T:
    """x, but alpha * (exp(x / alpha) - 1) where it is negative.

    >>> hs.celu(np.array([-1.0, 1.0]), 2.0)
    array([-0.78693868,  1.        ])
    """

    def element(v: Any, a: Any) -> Any:
        return call("select", v > 0, v, call("expm1", v / a) * a)

    return broadcast(rounded_once(element), x, alpha, name="celu")


@elementwise
def mish(x: T) -> T:
    """x * tanh(softplus(x)).

    >>> hs.mish(np.array([0.0, 1.0]))
    array([0.        , 0.86509839])
    """
    return broadcast(rounded_once(lambda v: v * call("tanh", _softplus(v))), x, name="mish")


@elementwise
def swish(x: T, beta: T | Number = 1.0) -> T:
    """x * sigmoid(beta * x).

    >>> hs.swish(np.array([0.0, 1.0]), 2.0)
    array([0.        , 0.88079708])
    """
    element = rounded_once(lambda v, b: v * call("sigmoid", v * b))
    return broadcast(element, x, beta, name="swish")


@elementwise
def hard_sigmoid(x: T, alpha: T | Number = 0.2, beta: T | Number = 0.5) -> T:
    """alpha * x + beta, but at least 0 and at most 1.

    >>> hs.hard_sigmoid(np.array([-3.0, 1.0, 3.0]))
    array([0. , 0.7, 1. ])
    """
    element = rounded_once(lambda v, a, b: maximum(minimum(v * a + b, 1), 0))
    return broadcast(element, x, alpha, beta, name="hard_sigmoid")


@elementwise
def hard_swish(x: T) -> T:
    """x times x / 6 + 0.5, which is at least 0 and at most 1.

    >>> hs.hard_swish(np.array([-4.0, 0.0, 3.0]))
    array([-0.,  0.,  3.])
    """
    element = rounded_once(lambda v: v * maximum(minimum(v / 6 + 0.5, 1), 0))
    return broadcast(element, x, name="hard_swish")


@elementwise
def hard_tanh(x: T, low: T | Number = -1.0, high: T | Number = 1.0) -> T:
    """x, but at least low and at most high.

    >>> hs.hard_tanh(np.array([-3.0, 0.5, 3.0]))
    array([-1. ,  0.5,  1. ])
    """
    return broadcast(lambda v, a, b: minimum(maximum(v, a), b), x, low, high, name="hard_tanh")


@elementwise
def relu6(x: T) -> T:
    """x, but at least 0 and at most 6.

    >>> hs.relu6(np.array([-1.0, 3.0, 9.0]))
    array([0., 3., 6.])
    """
    return broadcast(lambda v: minimum(maximum(v, 0), 6), x, name="relu6")


@elementwise
def thresholded_relu(x: T, threshold: T | Number = 1.0) -> T:
    """x, but 0 where it is not above a threshold; NaN stays NaN.

    >>> hs.thresholded_relu(np.array([0.5, 2.0]))
    array([0., 2.])
    """
    element = rounded_once(lambda v, t: call("select", v <= t, 0, v))
    return broadcast(element, x, threshold, name="thresholded_relu")


@elementwise
def softsign(x: T) -> T:
    """x / (1 + |x|).

    >>> hs.softsign(np.array([-1.0, 3.0]))
    array([-0.5 ,  0.75])
    """
    return broadcast(rounded_once(lambda v: v / (call("abs", v) + 1)), x, name="softsign")


@elementwise
def hard_shrink(x: T, threshold: T | Number = 0.5) -> T:
    """x, but 0 where it is at most a threshold away from 0; NaN stays NaN.

    >>> hs.hard_shrink(np.array([-1.0, 0.25]))
    array([-1.,  0.])
    """
    element = rounded_once(lambda v, t: call("select", call("abs", v) <= t, 0, v))
    return broadcast(element, x, threshold, name="hard_shrink")


@elementwise
def soft_shrink(x: T, threshold: T | Number = 0.5) -> T:
    """x, nearer to 0 by a threshold, and 0 where it is not further away; NaN stays NaN.

    >>> hs.soft_shrink(np.array([-1.0, 0.25, 2.0]))
    array([-0.5,  0. ,  1.5])
    """

    def element(v: Any, t: Any) -> Any:
        return call("select", v > t, v - t, call("select", v >= -t, 0, v + t))

    return broadcast(rounded_once(element), x, threshold, name="soft_shrink")


@elementwise
def tanh_shrink(x: T) -> T:
    """x - tanh(x).

    >>> hs.tanh_shrink(np.array([0.0, 1.0]))
    array([0.        , 0.23840584])
    """
    return broadcast(rounded_once(lambda v: v - call("tanh", v)), x, name="tanh_shrink")


@elementwise
def log_sigmoid(x: T) -> T:
    """The logarithm of sigmoid(x), without overflow.

    >>> hs.log_sigmoid(np.array([0.0, -1000.0]))
    array([-6.93147181e-01, -1.00000000e+03])
    """
    return broadcast(rounded_once(lambda v: -_softplus(-_signed(v))), x, name="log_sigmoid")


@operator
def glu(x: T, axis: int = -1) -> T:
    """The first half of x along an axis, times sigmoid of the second half.

    >>> hs.glu(np.array([2.0, 4.0, 0.0, 0.0]))
    array([1., 2.])
    """
    place = normalize_axis("glu", x, axis)
    half = _half_of(x, place)
    guard = multiple_of("glu", x.shape[place], 2, f"there are no two halves along axis {place}")
    element = rounded_once(lambda a, b: a * call("sigmoid", b))

    def at_place(at: tuple[Any, ...]) -> Any:
        return guard(element(x[at], x[replaced(at, place, at[place] + half)]))

    return fill("glu", replaced(x.shape, place, half), at_place)


def _half_of(x: Any, axis: int) -> Any:
    size = x.shape[axis]
    if isinstance(size, int) and size % 2:
        raise ArgumentValueError(f"glu: {shown(x)} has no two halves along axis {axis}")
    return size // 2


def _signed(value: Any) -> Any:
    """An element that has an opposite, which bools do not have."""
    return value.astype(INT8) if value.dtype is BOOL else value


def _softplus(value: Any) -> Any:
    value = _signed(value)
    return maximum(value, 0) + call("log1p", call("exp", -call("abs", value)))
