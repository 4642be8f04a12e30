"""DESIGN 2.4: the math set, as the language's own functions, NumPy's and math's."""

import math

import numpy as np

from hybridjit import hybrid
from hybridjit.hybrid import (
    acos,
    acosh,
    asin,
    asinh,
    atan,
    atan2,
    atanh,
    cbrt,
    ceil,
    copysign,
    cos,
    cosh,
    erf,
    erfc,
    exp,
    exp2,
    expm1,
    floor,
    fma,
    fmod,
    gamma,
    hypot,
    inf,
    isfinite,
    isinf,
    isnan,
    lgamma,
    log,
    log1p,
    log2,
    log10,
    nan,
    output_tensor,
    power,
    rint,
    rsqrt,
    sigmoid,
    sign,
    sin,
    sinh,
    sqrt,
    tan,
    tanh,
    trunc,
)
from tests.corpus.case import FLOATS, Array, Number, call, case, sweep


@hybrid.script
def exponentials(a: Array) -> Array:
    b = output_tensor((9, a.shape[0]), a.dtype)
    for i in range(a.shape[0]):
        x = abs(a[i])
        b[0, i] = exp(a[i])
        b[1, i] = exp2(a[i])
        b[2, i] = expm1(a[i])
        b[3, i] = log(x)
        b[4, i] = log2(x)
        b[5, i] = log10(x)
        b[6, i] = log1p(x)
        b[7, i] = sigmoid(a[i])
        b[8, i] = power(x, a[i])
    return b


@hybrid.script
def roots(a: Array) -> Array:
    b = output_tensor((5, a.shape[0]), a.dtype)
    for i in range(a.shape[0]):
        b[0, i] = sqrt(a[i])
        b[1, i] = rsqrt(a[i])
        b[2, i] = cbrt(a[i])
        b[3, i] = hypot(a[i], a[i] + 1)
        b[4, i] = a[i] ** 2 + pow(a[i], 0.5)
    return b


@hybrid.script
def trigonometry(a: Array) -> Array:
    b = output_tensor((14, a.shape[0]), a.dtype)
    for i in range(a.shape[0]):
        x = a[i]
        u = x / 10
        b[0, i] = sin(x)
        b[1, i] = cos(x)
        b[2, i] = tan(x)
        b[3, i] = asin(u)
        b[4, i] = acos(u)
        b[5, i] = atan(x)
        b[6, i] = atan2(x, u)
        b[7, i] = sinh(x)
        b[8, i] = cosh(x)
        b[9, i] = tanh(x)
        b[10, i] = asinh(x)
        b[11, i] = acosh(abs(x) + 1)
        b[12, i] = atanh(u)
        b[13, i] = atan2(u, -1)
    return b


@hybrid.script
def special_functions(a: Array) -> Array:
    b = output_tensor((4, a.shape[0]), a.dtype)
    for i in range(a.shape[0]):
        b[0, i] = erf(a[i])
        b[1, i] = erfc(a[i])
        b[2, i] = gamma(a[i])
        b[3, i] = lgamma(a[i])
    return b


@hybrid.script
def rounding(a: Array) -> Array:
    b = output_tensor((11, a.shape[0]), a.dtype)
    for i in range(a.shape[0]):
        b[0, i] = floor(a[i])
        b[1, i] = ceil(a[i])
        b[2, i] = trunc(a[i])
        b[3, i] = rint(a[i])
        b[4, i] = round(a[i])
        b[5, i] = np.round(a[i])
        b[6, i] = abs(a[i])
        b[7, i] = sign(a[i])
        b[8, i] = copysign(3, a[i])
        b[9, i] = fmod(a[i], 2)
        b[10, i] = fma(a[i], a[i], 1)
    return b


@hybrid.script
def number_tests(a: Array) -> Array:
    b = output_tensor((4, a.shape[0]), "bool")
    for i in range(a.shape[0]):
        b[0, i] = isnan(a[i])
        b[1, i] = isinf(a[i])
        b[2, i] = isfinite(a[i])
        b[3, i] = a[i] != inf and not isnan(nan)
    return b


@hybrid.script
def numpy_functions(a: Array) -> Array:
    b = output_tensor((12, a.shape[0]), a.dtype)
    for i in range(a.shape[0]):
        x = np.absolute(a[i])
        b[0, i] = np.exp(a[i]) + np.log(x)
        b[1, i] = np.sqrt(x) * np.cbrt(a[i])
        b[2, i] = np.arctan2(a[i], x)
        b[3, i] = np.tanh(a[i])
        b[4, i] = np.floor(a[i]) + np.ceil(a[i])
        b[5, i] = np.power(x, 2)
        b[6, i] = np.square(a[i])
        b[7, i] = np.clip(a[i], -1, 1)  # pyright: ignore[reportUnknownMemberType]
        b[8, i] = np.where(a[i] > 0, a[i], 0)
        b[9, i] = np.hypot(a[i], x)
        b[10, i] = np.add(a[i], np.multiply(x, 2)) - np.divide(x, 2)
        b[11, i] = np.remainder(a[i], 3)
    return b


@hybrid.script
def math_functions(a: Array) -> Array:
    b = output_tensor((8, a.shape[0]), "float64")
    for i in range(a.shape[0]):
        x = math.fabs(a[i])
        b[0, i] = math.exp(a[i])
        b[1, i] = math.log(x + 1)
        b[2, i] = math.sqrt(x)
        b[3, i] = math.sin(a[i]) * math.cos(a[i])
        b[4, i] = math.floor(a[i]) + math.ceil(a[i])
        b[5, i] = math.trunc(float(a[i]))
        b[6, i] = math.erf(a[i])
        b[7, i] = math.atan2(a[i], x)
    return b


@hybrid.script
def weak_functions(n: Number) -> Number:
    return sqrt(n), exp(2), floor(n / 2), np.sqrt(n), math.sqrt(n), abs(-n), round(n / 3)


@hybrid.script
def functions_of_integers(a: Array) -> Array:
    b = output_tensor((5, a.shape[0]), "float64")
    for i in range(a.shape[0]):
        b[0, i] = sqrt(a[i])
        b[1, i] = exp(a[i])
        b[2, i] = np.sin(a[i])
        b[3, i] = abs(a[i]) + sign(a[i])
        b[4, i] = hypot(a[i], 2)
    return b


_SPECIAL = np.array([0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 1e-310, 0.5, 1.5, 2.5, -2.5])

CASES = (
    case(exponentials, sweep(lambda d: (d(d.n),), dtypes=FLOATS), call(_SPECIAL), ulp=4),
    case(roots, sweep(lambda d: (d(d.n),), dtypes=FLOATS), call(_SPECIAL), ulp=4),
    case(trigonometry, sweep(lambda d: (d(d.n),), dtypes=FLOATS), call(_SPECIAL), ulp=4),
    case(special_functions, sweep(lambda d: (d(d.n),), dtypes=FLOATS), call(_SPECIAL), ulp=4),
    case(
        rounding,
        sweep(lambda d: (d(d.n),), dtypes=FLOATS),
        call(_SPECIAL[np.isfinite(_SPECIAL)].astype(np.float32)),
    ),
    case(
        number_tests,
        call(_SPECIAL),
        call(_SPECIAL.astype(np.float16)),
        call(_SPECIAL.astype(np.complex64)),
        sweep(lambda d: (d(d.n),), dtypes=FLOATS),
    ),
    case(numpy_functions, sweep(lambda d: (d(d.n),), dtypes=FLOATS), ulp=4),
    case(math_functions, sweep(lambda d: (d(d.n),), dtypes=(*FLOATS, "int32")), ulp=4),
    case(weak_functions, call(2), call(7), ulp=4),
    case(
        functions_of_integers,
        sweep(lambda d: (d(d.n, low=0),), dtypes=("int64", "int32", "int16", "int8", "uint8")),
        ulp=4,
    ),
)
