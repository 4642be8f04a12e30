"""Mathematical functions of each element, by NumPy's names."""

from __future__ import annotations

from typing import Any

from hybridjit.ir.dtype import INT64, UINT64
from hybridjit.stdlib.parts.shapes import broadcast
from hybridjit.stdlib.parts.types import T
from hybridjit.stdlib.running.elementwise import each, elementwise
from hybridjit.te import clz, const, if_then_else


@elementwise
def exp(x: T) -> T:
    """e to the power of x.

    >>> hs.exp(np.array([0.0, 1.0]))
    array([1.        , 2.71828183])
    """
    return each("exp", x)


@elementwise
def exp2(x: T) -> T:
    """2 to the power of x.

    >>> hs.exp2(np.array([0.0, 3.0]))
    array([1., 8.])
    """
    return each("exp2", x)


@elementwise
def expm1(x: T) -> T:
    """exp(x) - 1, exact also near 0.

    >>> hs.expm1(np.array([0.0, 1e-10]))
    array([0.e+00, 1.e-10])
    """
    return each("expm1", x)


@elementwise
def log(x: T) -> T:
    """The natural logarithm of x.

    >>> hs.log(np.array([1.0, 10.0]))
    array([0.        , 2.30258509])
    """
    return each("log", x)


@elementwise
def log2(x: T) -> T:
    """The logarithm of x to the base 2.

    >>> hs.log2(np.array([1.0, 8.0]))
    array([0., 3.])
    """
    return each("log2", x)


@elementwise
def ceil_log2(x: T) -> T:
    """The logarithm of x to the base 2, rounded up.

    That of integers is exact, an int64, and -1 if they are not above 0; of floats it is
    ceil(log2(x)), in their type.

    >>> hs.ceil_log2(np.array([1, 5, 8, 0]))
    array([ 0,  3,  3, -1])
    """
    return _ceil_log2(x)


def _ceil_log2(x: Any) -> Any:
    if not x.dtype.is_integer:
        return ceil(log2(x))
    wide = UINT64 if x.dtype is UINT64 else INT64

    def element(value: Any) -> Any:
        own = value.astype(wide)
        # One less has as many bits as the power of 2 that is not below it has zeros.
        bits = 64 - clz(if_then_else(own > 1, own - 1, own * 0)).astype(INT64)
        return if_then_else(own > 0, bits, const(-1, INT64))

    return broadcast(element, x, name="ceil_log2")


@elementwise
def log10(x: T) -> T:
    """The logarithm of x to the base 10.

    >>> hs.log10(np.array([1.0, 100.0]))
    array([0., 2.])
    """
    return each("log10", x)


@elementwise
def log1p(x: T) -> T:
    """log(1 + x), exact also near 0.

    >>> hs.log1p(np.array([0.0, 1e-10]))
    array([0.e+00, 1.e-10])
    """
    return each("log1p", x)


@elementwise
def sqrt(x: T) -> T:
    """The square root of x.

    >>> hs.sqrt(np.array([4.0, 9.0]))
    array([2., 3.])
    """
    return each("sqrt", x)


@elementwise
def rsqrt(x: T) -> T:
    """1 / sqrt(x).

    >>> hs.rsqrt(np.array([4.0, 16.0]))
    array([0.5 , 0.25])
    """
    return each("rsqrt", x)


@elementwise
def cbrt(x: T) -> T:
    """The cube root of x.

    >>> hs.cbrt(np.array([8.0, -27.0]))
    array([ 2., -3.])
    """
    return each("cbrt", x)


@elementwise
def sin(x: T) -> T:
    """The sine of x, an angle in radians.

    >>> hs.sin(np.array([0.0, 1.0]))
    array([0.        , 0.84147098])
    """
    return each("sin", x)


@elementwise
def cos(x: T) -> T:
    """The cosine of x, an angle in radians.

    >>> hs.cos(np.array([0.0, 1.0]))
    array([1.        , 0.54030231])
    """
    return each("cos", x)


@elementwise
def tan(x: T) -> T:
    """The tangent of x, an angle in radians.

    >>> hs.tan(np.array([0.0, 1.0]))
    array([0.        , 1.55740772])
    """
    return each("tan", x)


@elementwise
def arcsin(x: T) -> T:
    """The angle whose sine is x.

    >>> hs.arcsin(np.array([0.0, 1.0]))
    array([0.        , 1.57079633])
    """
    return each("asin", x, name="arcsin")


@elementwise
def arccos(x: T) -> T:
    """The angle whose cosine is x.

    >>> hs.arccos(np.array([0.0, 1.0]))
    array([1.57079633, 0.        ])
    """
    return each("acos", x, name="arccos")


@elementwise
def arctan(x: T) -> T:
    """The angle whose tangent is x.

    >>> hs.arctan(np.array([0.0, 1.0]))
    array([0.        , 0.78539816])
    """
    return each("atan", x, name="arctan")


@elementwise
def sinh(x: T) -> T:
    """The hyperbolic sine of x.

    >>> hs.sinh(np.array([0.0, 1.0]))
    array([0.        , 1.17520119])
    """
    return each("sinh", x)


@elementwise
def cosh(x: T) -> T:
    """The hyperbolic cosine of x.

    >>> hs.cosh(np.array([0.0, 1.0]))
    array([1.        , 1.54308063])
    """
    return each("cosh", x)


@elementwise
def tanh(x: T) -> T:
    """The hyperbolic tangent of x.

    >>> hs.tanh(np.array([0.0, 1.0]))
    array([0.        , 0.76159416])
    """
    return each("tanh", x)


@elementwise
def arcsinh(x: T) -> T:
    """The number whose hyperbolic sine is x.

    >>> hs.arcsinh(np.array([0.0, 1.0]))
    array([0.        , 0.88137359])
    """
    return each("asinh", x, name="arcsinh")


@elementwise
def arccosh(x: T) -> T:
    """The number whose hyperbolic cosine is x.

    >>> hs.arccosh(np.array([1.0, 2.0]))
    array([0.       , 1.3169579])
    """
    return each("acosh", x, name="arccosh")


@elementwise
def arctanh(x: T) -> T:
    """The number whose hyperbolic tangent is x.

    >>> hs.arctanh(np.array([0.0, 0.5]))
    array([0.        , 0.54930614])
    """
    return each("atanh", x, name="arctanh")


@elementwise
def erf(x: T) -> T:
    """The error function of x.

    >>> hs.erf(np.array([0.0, 1.0]))
    array([0.        , 0.84270079])
    """
    return each("erf", x)


@elementwise
def floor(x: T) -> T:
    """The largest whole number that is at most x.

    >>> hs.floor(np.array([-1.5, 1.5]))
    array([-2.,  1.])
    """
    return each("floor", x)


@elementwise
def ceil(x: T) -> T:
    """The smallest whole number that is at least x.

    >>> hs.ceil(np.array([-1.5, 1.5]))
    array([-1.,  2.])
    """
    return each("ceil", x)


@elementwise
def trunc(x: T) -> T:
    """The whole number next to x on the side of 0.

    >>> hs.trunc(np.array([-1.5, 1.5]))
    array([-1.,  1.])
    """
    return each("trunc", x)


@elementwise
def rint(x: T) -> T:
    """The whole number next to x; halves go to the even one.

    >>> hs.rint(np.array([0.5, 1.5, 2.4]))
    array([0., 2., 2.])
    """
    return each("rint", x)


@elementwise(differentiable=False)
def isnan(x: T) -> T:
    """Whether x is not a number.

    >>> hs.isnan(np.array([1.0, np.nan]))
    array([False,  True])
    """
    return each("isnan", x)


@elementwise(differentiable=False)
def isinf(x: T) -> T:
    """Whether x is infinite.

    >>> hs.isinf(np.array([1.0, -np.inf]))
    array([False,  True])
    """
    return each("isinf", x)


@elementwise(differentiable=False)
def isfinite(x: T) -> T:
    """Whether x is neither infinite nor NaN.

    >>> hs.isfinite(np.array([1.0, np.inf]))
    array([ True, False])
    """
    return each("isfinite", x)
