"""Values of every type at which an operation may go wrong, and how results are compared."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from hybridjit.interp.scalars import cast
from hybridjit.ir.dtype import COMPLEX64, COMPLEX128, DTYPES, DType, Kind

Array = Any  # of whatever element type: NumPy's annotations do not follow

INTEGERS = [dtype for dtype in DTYPES.values() if dtype.is_integer]
FLOATS = [dtype for dtype in DTYPES.values() if dtype.is_float]
COMPLEXES = [COMPLEX64, COMPLEX128]
NUMBERS = [*INTEGERS, *FLOATS, *COMPLEXES]
INF, NAN = math.inf, math.nan

Ufunc = Callable[..., Array]
SAMPLES: dict[Kind, list[Any]] = {
    Kind.BOOL: [False, True],
    Kind.INT: [0, 1, -1, 5, 127, -128],
    Kind.UINT: [0, 1, 5, 255],
    Kind.FLOAT: [0.0, -0.0, 1.5, -2.5, 60000.0, -1e-7, INF, -INF, NAN],
    Kind.COMPLEX: [0j, 1 + 2j, -3.5j, complex(INF, 1), complex(0, NAN), complex(-INF, INF)],
}


def samples(dtype: DType) -> list[Any]:
    return [cast(value, dtype) for value in SAMPLES[dtype.kind]]


def assert_same(actual: Any, expected: Any, what: object = None) -> None:
    """Same type and same bits, any NaN for a NaN."""
    assert type(actual) is type(expected), (what, type(actual), type(expected))
    if actual != actual and expected != expected:
        return
    assert actual.tobytes() == expected.tobytes(), (what, actual, expected)


def integer_edges(dtype: DType, count: int) -> Array:
    """The values near the bounds, near zero and near powers of two, and random ones."""
    low, high = dtype.bounds
    powers = [1 << shift for shift in range(0, dtype.bits, 5)]
    near = {c + d for c in (low, 0, high, *powers, *(-p for p in powers)) for d in (-1, 0, 1)}
    edges = sorted(value for value in near if low <= value <= high)
    rng = np.random.default_rng(7)
    random = rng.integers(low, high, count, dtype=dtype.numpy, endpoint=True)
    return np.unique(np.concatenate([np.array(edges, dtype.numpy), random]))


def pairs(xs: Array, ys: Array) -> tuple[Array, Array]:
    return np.repeat(xs, len(ys)), np.tile(ys, len(xs))


def from_bits(bits: Array, dtype: DType) -> Array:
    return np.frombuffer(np.asarray(bits, f"uint{dtype.bits}").tobytes(), dtype.numpy)


def float_values(dtype: DType, count: int) -> Array:
    """Special values, the limits of the type, and random bit patterns."""
    special = [0.0, -0.0, 1.0, -1.0, 2.5, -3.0, INF, -INF, NAN]
    infinity = int(dtype.numpy.type(INF).view(f"uint{dtype.bits}"))
    smallest_and_largest = from_bits([1, 2, infinity - 1], dtype)
    random = np.random.default_rng(3).bytes(count * dtype.bits // 8)
    fixed = np.array([dtype.numpy.type(value) for value in special], dtype.numpy)
    return np.concatenate([fixed, smallest_and_largest, np.frombuffer(random, dtype.numpy)])
