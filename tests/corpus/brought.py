"""DESIGN 2.9: sizes that are computed, functions, loops, random numbers and small things, as people
bring them."""

from __future__ import annotations

from typing import Any

import numpy

from hybridjit import hybrid
from hybridjit.frontend.library import decompositions as lapack
from hybridjit.frontend.library import numpy_sorts, numpy_transforms
from tests.corpus.case import Array, Number, call, case, sweep

np: Any = numpy


# Results of computed size


@hybrid.script
def packed_positive(a: Array) -> Array:
    out = np.empty(a.shape[0], a.dtype)
    k = 0
    for i in range(a.shape[0]):
        if a[i] > 0:
            out[k] = a[i]
            k += 1
    return out[:k], k


@hybrid.script
def places_and_values(a: Array) -> Array:
    values, often = np.unique(a, return_counts=True)
    return np.nonzero(a)[0], np.argwhere(a > 2), a[a < 0], values, often, np.flatnonzero(a == 1)


@hybrid.script
def shrinking(a: Array, least: Number) -> Array:
    c = a * 1
    while len(c) > least:
        c = c[1:] if c[0] < c[-1] else c[:-1]
    return c


# Functions


def climb(k: Number) -> Number:
    return 1 if k < 2 else climb(k - 1) + climb(k - 2)


def scaled(x: Number, *others: Number, by: Number = 2) -> Number:
    return x * by + len(others)


@hybrid.script
def functions_of_all_kinds(a: Array, up: Number) -> Number:
    def shifted(x: Number) -> Number:
        return x + up

    total = 0.0
    for x in a:
        total += (lambda y: shifted(y) * 2)(x) + scaled(x, up, by=3)
    return total, climb(9)


# Loops


@hybrid.script
def loops_of_all_kinds(a: Array, x: Number) -> Number:
    total = 0.0
    for i, j in np.ndindex(a.shape):
        total += a[i, j] * (i - j)
    for (i, j), value in np.ndenumerate(a):
        if value == x:
            total += i * 100 + j
            break
    else:
        total -= 1
    for k in (3, 1, 2):
        if k == x:
            continue
        total += k
    return total


@hybrid.script
def loops_over_items(a: Array, x: Number) -> Number:
    total = 0.0
    for row, other in zip(a, reversed(a), strict=True):
        total += (row * other).sum()
    for value in a.flat:
        if (w := value * 2) > 4:
            total += w
    match x:
        case 1 | 2:
            total += 10
        case y if y > 2:
            total += y
        case _:
            total += a[x or None :].sum()
    return total


# Random numbers


@hybrid.script
def draws(seed: Number, n: Number) -> Array:
    g = np.random.default_rng(seed)
    a = g.random(n) + g.uniform(1.0, 2.0) + g.standard_normal(n)
    g.shuffle(a)
    order = g.permutation(n)
    return a, order, g.integers(0, 9, n), g.choice(5), g.exponential(), g.normal(1.0, 2.0)


# Small things


@hybrid.script
def small_things(a: Array, k: Number) -> Number:
    import math as m  # noqa: PLC0415

    q, r = divmod(k, 7)
    total = q * 10 + r + pow(3, 20, 7) + m.isqrt(abs(k)) + m.gcd(k, 12)
    zeros = np.zeros(3, dtype=None)
    zeros[1] = a.dtype.type(3)
    try:
        total += a[k]
    except IndexError:
        total -= 1
    else:
        total += 2
    finally:
        total *= 2
    assert total == total, f"{total} is no number"
    with np.errstate(all="ignore"):
        ratio = zeros[1] / (total - total)
    return total, zeros, ratio, np.finfo(zeros.dtype).eps, np.spacing(2.0), m.hypot(3.0, 4.0)


@hybrid.script
def grids(n: Number) -> Array:
    rows, columns = np.ogrid[0:3, 0:4]
    steps = np.mgrid[0:1:5j]
    return rows * columns + n, steps


# Transforms


@hybrid.script
def transforms(a: Array) -> Array:
    back = np.fft.ifft(np.fft.fft(a)).real
    return np.rint(back * 4) + 0.0, np.fft.fftfreq(len(a)), np.fft.fftshift(a)


@hybrid.script
def decompositions(a: Array) -> Array:
    symmetric = a @ a.T + np.eye(a.shape[0])
    values, vectors = np.linalg.eigh(symmetric)
    q, r = np.linalg.qr(symmetric)
    again = (vectors * values) @ vectors.T
    gaps = (again - symmetric, q @ r - symmetric, a @ np.linalg.pinv(a) @ a - a)
    return np.array([np.abs(gap).max() < 1e-9 for gap in gaps])


_REALS = ("float64", "int32")
_TRANSFORMS = {
    extern.name: extern for extern in (numpy_transforms.fft_rows, numpy_transforms.ifft_rows)
}
_LAPACK = {extern.name: extern for extern in (lapack.call_eigh, lapack.call_qr, lapack.call_pinv)}

CASES = (
    case(packed_positive, sweep(lambda d: (d(d.n),), dtypes=_REALS)),
    case(
        places_and_values,
        sweep(lambda d: (d(d.n),), dtypes=("int64", "float64")),
        names={"numpy_sort": numpy_sorts.sort_row},
    ),
    case(shrinking, sweep(lambda d: (d(d.n), 2), dtypes=_REALS)),
    case(functions_of_all_kinds, sweep(lambda d: (d(d.n), 3)), joined=True),
    case(
        loops_of_all_kinds,
        *(sweep(lambda d, x=x: (d(d.n, 3, high=3), x), dtypes=("int64",)) for x in (0, 1, 2, 5)),
        joined=True,
    ),
    case(
        loops_over_items,
        *(sweep(lambda d, x=x: (d(d.n, 3, high=3), x), dtypes=("int64",)) for x in (0, 1, 5)),
        joined=True,
    ),
    case(draws, call(3, 5), call(2026, 0), call(0, 17)),
    case(small_things, *(call(np.arange(4.0), k) for k in (0, 3, 4, -5, 100)), joined=True),
    case(grids, call(0), call(-2)),
    case(transforms, *(call(np.arange(float(n))) for n in (1, 5, 8, 12)), names=_TRANSFORMS),
    case(
        decompositions,
        *(call(np.arange(3.0 * n).reshape(n, 3) % 5) for n in (1, 2, 3)),
        names=_LAPACK,
    ),
)
