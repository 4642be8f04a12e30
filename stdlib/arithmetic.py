"""Arithmetic with broadcasting: NumPy's functions, by their names there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hybridjit.ir.dtype import BOOL, INT8, INT64, WEAK_INT
from hybridjit.stdlib.parts.elements import call
from hybridjit.stdlib.parts.shapes import broadcast
from hybridjit.stdlib.parts.types import Number, T
from hybridjit.stdlib.running.elementwise import each, elementwise
from hybridjit.te import Expression
from hybridjit.te import max as greatest
from hybridjit.te import min as least
from hybridjit.tensors.expression import as_scalar


@elementwise
def add(x: T | Number, y: T | Number) -> T:
    """x + y.

    >>> hs.add(np.array([1.0, 2.0]), 0.5)
    array([1.5, 2.5])
    """
    return each("+", x, y, name="add")


@elementwise
def subtract(x: T | Number, y: T | Number) -> T:
    """x - y.

    >>> hs.subtract(np.array([1.0, 2.0]), 0.5)
    array([0.5, 1.5])
    """
    return each("-", x, y, name="subtract")


@elementwise
def multiply(x: T | Number, y: T | Number) -> T:
    """x * y.

    >>> hs.multiply(np.array([1, 2]), np.array([[3], [4]]))
    array([[3, 6],
           [4, 8]])
    """
    return each("*", x, y, name="multiply")


@elementwise
def divide(x: T | Number, y: T | Number) -> T:
    """x / y; a float also of integers.

    >>> hs.divide(np.array([1, 2]), 4)
    array([0.25, 0.5 ])
    """
    return each("/", x, y, name="divide")


@elementwise
def floor_divide(x: T | Number, y: T | Number) -> T:
    """x // y, rounded down.

    >>> hs.floor_divide(np.array([-7, 7]), 2)
    array([-4,  3])
    """
    return each("//", x, y, name="floor_divide")


@elementwise
def remainder(x: T | Number, y: T | Number) -> T:
    """x % y, with the sign of y.

    >>> hs.remainder(np.array([-7, 7]), 3)
    array([2, 1])
    """
    return each("%", x, y, name="remainder")


@elementwise
def fmod(x: T | Number, y: T | Number) -> T:
    """The remainder of x / y with the sign of x, as in C.

    >>> hs.fmod(np.array([-7.0, 7.0]), 3.0)
    array([-1.,  1.])
    """

    def element(*values: Any) -> Any:
        a, b = (Expression(as_scalar(value)) for value in values)
        # Of two bools it is an int8, as in NumPy.
        return call("fmod", a.astype(INT8) if a.dtype is b.dtype is BOOL else a, b)

    return broadcast(element, x, y, name="fmod")


@elementwise
def power(x: T | Number, y: T | Number) -> T:
    """x to the power of y.

    >>> hs.power(np.array([1.0, 2.0, 3.0]), 2)
    array([1., 4., 9.])
    """
    return each("pow", x, y, name="power")


@elementwise
def maximum(x: T | Number, y: T | Number) -> T:
    """The larger of x and y; NaN, if one of them is.

    >>> hs.maximum(np.array([1.0, 5.0]), 3.0)
    array([3., 5.])
    """
    return each("maximum", x, y)


@elementwise
def minimum(x: T | Number, y: T | Number) -> T:
    """The smaller of x and y; NaN, if one of them is.

    >>> hs.minimum(np.array([1.0, 5.0]), 3.0)
    array([1., 3.])
    """
    return each("minimum", x, y)


@elementwise
def hypot(x: T | Number, y: T | Number) -> T:
    """The square root of x² + y², without overflow on the way.

    >>> hs.hypot(np.array([3.0]), 4.0)
    array([5.])
    """
    return each("hypot", x, y)


@elementwise
def arctan2(y: T | Number, x: T | Number) -> T:
    """The angle of the point (x, y) of the plane, from -pi to pi.

    >>> hs.arctan2(np.array([0.0, 1.0]), 1.0)
    array([0.        , 0.78539816])
    """
    return each("atan2", y, x, name="arctan2")


@elementwise
def copysign(x: T | Number, y: T | Number) -> T:
    """The size of x with the sign of y.

    >>> hs.copysign(np.array([1.0, 2.0]), -0.0)
    array([-1., -2.])
    """
    return each("copysign", x, y)


@elementwise
def negative(x: T) -> T:
    """-x.

    >>> hs.negative(np.array([1, -2]))
    array([-1,  2])
    """
    return each("negative", x)


@elementwise
def absolute(x: T) -> T:
    """The size of x, without its sign; of a complex number, its distance from 0.

    >>> hs.absolute(np.array([-1.5, 2.0]))
    array([1.5, 2. ])
    """
    return each("abs", x, name="absolute")


@elementwise
def sign(x: T) -> T:
    """-1, 0 or 1, as x is.

    >>> hs.sign(np.array([-1.5, 0.0, 2.0]))
    array([-1.,  0.,  1.])
    """
    return each("sign", x)


@elementwise
def square(x: T) -> T:
    """x * x.

    >>> hs.square(np.array([1.0, -2.0]))
    array([1., 4.])
    """
    return each("square", x)


@elementwise
def clip(x: T, low: T | Number | None = None, high: T | Number | None = None) -> T:
    """x, but at least `low` and at most `high`, where they are given.

    >>> hs.clip(np.array([1.0, 5.0, 9.0]), 2.0, 6.0)
    array([2., 5., 6.])
    """
    if low is None and high is None:
        return each("positive", x, name="clip")
    low, high = _beyond_type(x, low, greatest, 0), _beyond_type(x, high, least, 1)
    if low is None:
        return each("minimum", x, high, name="clip")
    if high is None:
        return each("maximum", x, low, name="clip")
    return each("clip", x, low, high)


def _beyond_type(x: Any, bound: Any, nearest: Callable[..., Any], end: int) -> Any:
    """A bound for integers: a Python integer beyond their type is as good as its limit."""
    given = Expression(as_scalar(bound)) if isinstance(bound, int) else bound
    is_plain = isinstance(given, Expression) and given.scalar.type == WEAK_INT
    if not is_plain or not x.dtype.is_integer:
        return bound
    limit = x.dtype.bounds[end]
    return nearest(given, limit) if limit <= INT64.bounds[1] else bound
