"""DESIGN 2.1: every loop kind, one to three arguments, negative steps, dependent bounds."""

import numpy as np

from hybridjit import hybrid
from hybridjit.hybrid import (
    bind,
    const_range,
    grid,
    output_tensor,
    parallel,
    prange,
    serial,
    unroll,
)
from hybridjit.scalars.builtins import vectorize
from tests.corpus.case import Array, Number, call, case, numbers, sweep


@hybrid.script
def range_forms(a: Array, lo: Number, hi: Number, step: Number) -> Array:
    c = output_tensor((4, a.shape[0]), "int64")
    for i in range(a.shape[0]):
        c[0, i] += a[i]
    for i in range(1, a.shape[0]):
        c[1, i] += a[i]
    for i in range(lo, hi, step):
        c[2, i] += a[i]
    for i in range(a.shape[0] - 1, -1, -2):
        c[3, i] += a[i] + i
    return c


@hybrid.script
def every_kind(a: Array) -> Array:
    b = output_tensor(a.shape, a.dtype)
    n = a.shape[0]
    for i in serial(n):
        b[i] += a[i]
    for i in parallel(n):
        b[i] += a[i]
    for i in vectorize(n):
        b[i] += a[i]
    for i in unroll(min(n, 3)):
        b[i] += a[i]
    for i in bind(n, "threadIdx.x"):
        b[i] += a[i]
    for i in bind(1, n, 2, "blockIdx.x"):
        b[i] -= a[i]
    for i in parallel(1, n, 3):
        b[i] *= a[i]
    for i in vectorize(n - 1, -1, -1):
        b[i] += i
    for i in prange(2, n):
        b[i] -= 1
    return b


@hybrid.script
def grid_three(a: Array) -> Array:
    b = output_tensor((a.shape[2], a.shape[1], a.shape[0]), a.dtype)
    for i, j, k in grid(a.shape[0], a.shape[1], a.shape[2]):
        b[k, j, i] = a[i, j, k]
    return b


@hybrid.script
def grid_one(a: Array) -> Number:
    i = -1
    for i in grid(a.shape[0]):
        a[i] += i
    return i


@hybrid.script
def grid_pairs(n: Number, m: Number) -> Number:
    count = 0
    for i, j in grid(n, m):
        if (i + j) % 2 == 0:
            continue
        count += i * j
    return count


@hybrid.script
def expand_range(a: Array) -> Array:
    b = output_tensor((3,), a.dtype)
    for k in const_range(3):
        for i in range(k, a.shape[0], 3):
            b[k] += a[i]
    for k in const_range(2, -1, -1):
        b[k] += k
    return b


@hybrid.script
def expand_tuple(a: Array) -> Array:
    b = output_tensor(a.shape, a.dtype)
    for weight, shift in ((1, 0), (2, 1), (3, 2)):
        for i in range(a.shape[0] - shift):
            b[i] += weight * a[i + shift]
    for c in [4, 5]:
        for i in range(a.shape[0]):
            b[i] += c
    return b


@hybrid.script
def triangular(a: Array) -> Array:
    c = output_tensor(a.shape, a.dtype)
    n = a.shape[0]
    for i in range(n):
        for j in range(i + 1):
            c[i, j] = a[i, j]
        for j in range(i + 1, n):
            c[i, j] = -a[j, i]
    return c


@hybrid.script
def skewed(n: Number) -> Array:
    c = output_tensor((12, 12), "int32")
    for t in range(2 * n - 1):
        for i in range(max(0, t - n + 1), min(t + 1, n)):
            c[i, t - i] = t
    return c


@hybrid.script
def bound_from_data(starts: Array, values: Array) -> Array:
    sums = output_tensor((max(starts.shape[0] - 1, 0),), values.dtype)
    for r in range(starts.shape[0] - 1):
        for k in range(starts[r], starts[r + 1]):
            sums[r] += values[k]
    return sums


@hybrid.script
def last_value(a: Array, lo: Number, step: Number) -> Number:
    i = 100
    for i in range(lo, a.shape[0], step):
        a[i] = i
    for j in range(3):
        for k in range(j + 1):
            a[0] += k
    return i, j, k  # pyright: ignore[reportPossiblyUnboundVariable]


@hybrid.script
def last_value_after_break(a: Array) -> Number:
    i = -1
    for i in range(a.shape[0]):
        if a[i] > 3:
            break
    return i


@hybrid.script
def never_entered(n: Number) -> Number:
    total = 0
    for i in range(n):
        total += i
    return total + i  # pyright: ignore[reportPossiblyUnboundVariable]


@hybrid.script
def reassigned_variable(n: Number) -> Number:
    total = 0
    for i in range(n):
        total += i
        i = i * 2
        total += i
    return total


@hybrid.script
def same_name_twice(a: Array) -> Array:
    b = output_tensor(a.shape, a.dtype)
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            b[i, j] = a[i, j]
    for j in range(a.shape[1]):
        for i in range(a.shape[0]):
            b[i, j] += 1
    return b


@hybrid.script
def bounds_read_once(n: Number) -> Number:
    count = 0
    for _ in range(n):
        n = 0
        count += 1
    return count, n


@hybrid.script
def step_zero(n: Number, step: Number) -> Number:
    count = 0
    for _ in range(0, n, step):
        count += 1
    return count


@hybrid.script
def perfect_nest(a: Array) -> Number:
    total = 0
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            for k in range(a.shape[2]):
                for m in range(a.shape[3]):
                    total += a[i, j, k, m] * (i + 2 * j + 3 * k + 4 * m)
    return total


CASES = (
    case(
        range_forms,
        sweep(lambda d: (d(d.n), 0, d.n, 2), dtypes=("int64", "uint8")),
        call(numbers((9,), "int64", 0, 9, 1), 7, 1, -3),
        call(numbers((9,), "int64", 0, 9, 1), 8, 8, 1),
    ),
    case(every_kind, sweep(lambda d: (d(d.n),), dtypes=("float64", "float32", "int32"))),
    case(grid_three, sweep(lambda d: (d(d.n, 2, 3),), dtypes=("float32", "int16"))),
    case(grid_one, sweep(lambda d: (d.out(d.n),))),
    case(grid_pairs, call(3, 4), call(0, 3), call(1, 1)),
    case(expand_range, sweep(lambda d: (d(d.n),), dtypes=("int64", "float32"))),
    case(expand_tuple, sweep(lambda d: (d(d.n),), dtypes=("int64", "float32"))),
    case(triangular, sweep(lambda d: (d(d.n, d.n),), dtypes=("float64", "int8"))),
    case(skewed, call(0), call(1), call(5)),
    case(
        bound_from_data,
        call(numbers((0,), "int64", 0, 1, 1), numbers((4,), "float32", 0, 9, 1)),
        sweep(
            lambda d: (np.array([0, 2, 2, d.n]), d(d.n)),
            dtypes=("float64", "int32"),
            sizes=(7, 2, 3),
        ),
    ),
    case(last_value, sweep(lambda d: (d.out(d.n), 1, 2), sizes=(7, 1, 2))),
    case(last_value_after_break, sweep(lambda d: (d(d.n),), dtypes=("float64", "int32", "uint8"))),
    case(never_entered, call(0), call(3)),
    case(reassigned_variable, call(0), call(6)),
    case(same_name_twice, sweep(lambda d: (d(d.n, 3),))),
    case(bounds_read_once, call(0), call(4)),
    case(step_zero, call(5, 2), call(5, -1), call(5, 0)),
    case(
        perfect_nest,
        sweep(lambda d: (d(2, d.n, 1, 3),), dtypes=("int64", "float64")),
        joined=True,
    ),
)
