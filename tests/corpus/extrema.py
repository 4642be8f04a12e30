"""DESIGN 2.1: Python's min and max, NumPy's minimum and maximum, and what they do with NaN."""

import numpy as np

from hybridjit import hybrid
from hybridjit.hybrid import bind, maximum, minimum, output_tensor
from hybridjit.scalars.builtins import max_num_threads, ninf
from tests.corpus.case import REALS, Array, Number, call, case, sweep


@hybrid.script
def python_extrema(a: Array, b: Array) -> Array:
    c = output_tensor((6, a.shape[0]), a.dtype)
    for i in range(a.shape[0]):
        c[0, i] = min(a[i], b[i])
        c[1, i] = max(a[i], b[i])
        c[2, i] = min(a[i], b[i], a[i] + 1)
        c[3, i] = max((b[i], a[i]))
        c[4, i] = min(a[i], 2)
        c[5, i] = max(0, a[i])
    return c


@hybrid.script
def numpy_extrema(a: Array, b: Array) -> Array:
    c = output_tensor((5, a.shape[0]), a.dtype)
    for i in range(a.shape[0]):
        c[0, i] = np.minimum(a[i], b[i])
        c[1, i] = np.maximum(a[i], b[i])
        c[2, i] = minimum(a[i], 2)
        c[3, i] = maximum(a[i], b[i])
        c[4, i] = np.clip(a[i], 1, 3)  # pyright: ignore[reportUnknownMemberType]
    return c


@hybrid.script
def argmax(a: Array) -> Number:
    best = 0
    for i in range(1, a.shape[0]):
        if a[i] > a[best]:
            best = i
    return best


@hybrid.script
def row_argmin(a: Array) -> Array:
    where = output_tensor((a.shape[0],), "int32")
    for i in range(a.shape[0]):
        lowest = a[i, 0]
        for j in range(1, a.shape[1]):
            if a[i, j] < lowest:
                lowest = a[i, j]
                where[i] = j
    return where


@hybrid.script
def running_extrema(a: Array) -> Array:
    b = output_tensor((2, a.shape[0]), a.dtype)
    for i in range(a.shape[0]):
        b[0, i] = a[i] if i == 0 else min(b[0, i - 1], a[i])
        b[1, i] = a[i] if i == 0 else max(b[1, i - 1], a[i])
    return b


@hybrid.script
def weak_extrema(x: Number, y: Number) -> Number:
    return min(x, y), max(x, y), min(x, y, 3)


@hybrid.script
def extremes_of_types(a: Array) -> Number:
    largest = ninf("float64")
    for i in bind("threadIdx.x", min(a.shape[0], max_num_threads())):
        largest = max(largest, a[i])
    return largest


_NAN = np.array([np.nan, 1.0, np.nan, 0.0, -0.0, np.inf, -np.inf, 2.5])

CASES = (
    case(
        python_extrema,
        sweep(lambda d: (d(d.n), d(d.n)), dtypes=(*REALS, "float16")),
        call(_NAN, _NAN[::-1]),
    ),
    case(
        numpy_extrema,
        sweep(lambda d: (d(d.n), d(d.n)), dtypes=(*REALS, "float16")),
        call(_NAN, _NAN[::-1]),
        call(_NAN.astype(np.float32), np.roll(_NAN, 1).astype(np.float32)),
    ),
    case(argmax, sweep(lambda d: (d(d.n),), dtypes=REALS), call(_NAN)),
    case(row_argmin, sweep(lambda d: (d(d.n, 5),), dtypes=REALS)),
    case(running_extrema, sweep(lambda d: (d(d.n),), dtypes=REALS)),
    case(extremes_of_types, sweep(lambda d: (d(d.n),), dtypes=("float64",))),
    case(weak_extrema, call(1, 2), call(5, 4), call(2.5, 1.5)),
)
