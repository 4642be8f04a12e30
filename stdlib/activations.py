"""Activation functions of neural networks."""

from __future__ import annotations

from typing import Any

from hybridjit.stdlib.parts.elements import call, maximum
from hybridjit.stdlib.parts.precision import rounded_once
from hybridjit.stdlib.parts.shapes import broadcast
from hybridjit.stdlib.parts.types import Number, T
from hybridjit.stdlib.running.elementwise import each, elementwise


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
def gelu(x: T) -> T:
    """x times the chance that a normal variable is below it: x * (1 + erf(x / sqrt(2))) / 2.

    >>> hs.gelu(np.array([0.0, 1.0]))
    array([0.        , 0.84134475])
    """
    element = rounded_once(lambda v: v * 0.5 * call("erfc", v * -(0.5**0.5)))
    return broadcast(element, x, name="gelu")


@elementwise
def softplus(x: T) -> T:
    """log(1 + exp(x)), without overflow.

    >>> hs.softplus(np.array([0.0, 1000.0]))
    array([6.93147181e-01, 1.00000000e+03])
    """

    def element(v: Any) -> Any:
        return maximum(v, 0) + call("log1p", call("exp", -call("abs", v)))

    return broadcast(rounded_once(element), x, name="softplus")
