"""Whole-array statements against NumPy itself: plain Python, the interpreter and native code."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

from hybridjit import Kernel, hybrid
from tests.support.array_results import assert_agree

np: Any = numpy  # its functions on arrays of any type have no types worth the name
RNG = np.random.default_rng(7)
Array = Any


def floats(*shape: int, dtype: str = "float64") -> Array:
    return (RNG.standard_normal(shape) * 3).astype(dtype)


def ints(*shape: int, dtype: str = "int64") -> Array:
    return RNG.integers(1, 9, shape).astype(dtype)


@hybrid.script
def scaled_sum(a: Array, b: Array):
    return a + b * 2.0


@hybrid.script
def broadcast(a: Array, b: Array):
    return a[:, None] * b - b[::-1] / 2


@hybrid.script
def strided(a: Array):
    return a[::2] + a[-1::-2]


@hybrid.script
def downward(a: Array):
    return a[5:1:-1] * 2


@hybrid.script
def stencil(a: Array, b: Array):
    for _ in range(3):
        b[1:-1] = (a[:-2] + a[1:-1] + a[2:]) / 3
        a[1:-1] = (b[:-2] + b[1:-1] + b[2:]) / 3


@hybrid.script
def overlapping(a: Array):
    a[1:] += a[:-1]
    a[::-1] = a
    a[: len(a) // 2] = a[len(a) - len(a) // 2 :]


@hybrid.script
def transposed_update(a: Array):
    a += a.T
    a[...] = a[::-1, ::-1] - a.T
    return a.T * 2


@hybrid.script
def rows(a: Array):
    a[0] = a[1] + 1
    for i in range(1, a.shape[0]):
        a[i] += a[i - 1]
        a[i, 1:] -= a[i, :-1]


@hybrid.script
def functions(a: Array, b: Array):
    t = np.where(a > b, np.minimum(a, 1), np.maximum(b, -1))
    return np.clip(t, -2, 2) + np.abs(a) - np.sign(b) + (a == b)


@hybrid.script
def full_reductions(a: Array):
    return a.sum(), a.prod(), a.min(), a.max(), a.mean(), a.any(), a.all()


@hybrid.script
def positions(a: Array):
    return a.argmin(), np.argmax(a), a.argmin(axis=0), np.argmax(a, axis=-1)


@hybrid.script
def axis_reductions(a: Array):
    return a.sum(axis=0), np.max(a, axis=1), np.min(a, axis=(0, 1)), a.mean(axis=-1, keepdims=True)


@hybrid.script
def spread(a: Array):
    return np.std(a), a.var(axis=0), np.std(a, axis=1, ddof=1, keepdims=True)


@hybrid.script
def softmax(x: Array):
    e = np.exp(x - np.max(x, axis=-1, keepdims=True))
    return e / np.sum(e, axis=-1, keepdims=True)


@hybrid.script
def creation(a: Array):
    n = a.shape[0]
    z = np.zeros((n, 3))
    z[:, 1] = np.arange(n)
    o = np.ones_like(a)
    f = np.full((n,), 7)
    return z, o + f, np.eye(n, 4, 1), np.linspace(0.0, 1.0, 5), np.arange(10, 0, -3)


@hybrid.script
def products(a: Array, b: Array, v: Array, w: Array):
    return a @ b, a @ v, w @ a, np.dot(v, v), np.outer(w, v), (a + 1) @ b


@hybrid.script
def batched(a: Array, b: Array):
    return a @ b + np.matmul(b[0].T, a[0].T).T


@hybrid.script
def masks(a: Array, b: Array):
    m = a > 0
    a[m] = b[m] * 2 + a[m]
    b[b < 0] = 0
    b[m] += 1
    return b[a > 1].sum(), (a > 0).sum()


@hybrid.script
def gather(a: Array, i: Array):
    return a[i] + a[0]


@hybrid.script
def shapes(a: Array):
    b = np.zeros((2, 6))
    b[:] = a.reshape(2, 6) + a.reshape((-1, 6))
    return (
        np.flip(a).copy(),
        a.transpose(1, 0).copy(),
        b.reshape(3, 4) + 1,
        a.ravel() * 2,
        a[None, :, None] + 0,
    )


@hybrid.script
def rebound(a: Array):
    x = a * 2
    for _ in range(3):
        x = x[::-1] + a
    x *= 2
    return x


@hybrid.script
def chained(a: Array):
    x = y = a + 1
    y[0] = 5
    return x + y


def square_sum(x: Array, y: Array):
    return x**2 + np.square(y)


@hybrid.script
def inlined(a: Array, b: Array):
    return square_sum(a + b, b)[1:] ** 0.5


@hybrid.script
def out_argument(a: Array, b: Array):
    np.add(a, b, b)
    np.multiply(a, 2, out=a[:])


@hybrid.script
def triangle(a: Array):
    for i in range(a.shape[0]):
        for j in range(i):
            a[i, j] -= a[i, :j] @ a[:j, j]
            a[i, j:i] *= 0.5


@hybrid.script
def symmetric_outer(a: Array, k: int):
    a[:] = np.minimum(a, np.add.outer(a[:, k], a[k, :]))


SIZES = (7, 1, 2, 0, 6)
CASES: list[tuple[Kernel[..., Any], tuple[Any, ...]]] = [
    *((scaled_sum, (floats(n), floats(n))) for n in SIZES),
    *((scaled_sum, (floats(n, dtype="float32"), ints(n, dtype="int16"))) for n in SIZES),
    (scaled_sum, (floats(3, 1), floats(1, 4))),
    (scaled_sum, (floats(4, 3).T, floats(4))),
    *((broadcast, (floats(n), floats(5))) for n in SIZES),
    *((strided, (floats(n),)) for n in SIZES),
    *((downward, (floats(n),)) for n in SIZES),
    *((stencil, (floats(n), floats(n))) for n in SIZES),
    *((overlapping, (floats(n),)) for n in SIZES),
    *((overlapping, (ints(n, dtype="uint8")[::-1],)) for n in SIZES),
    *((transposed_update, (floats(n, n),)) for n in SIZES),
    (rows, (floats(4, 5),)),
    (rows, (np.asfortranarray(ints(3, 2)),)),
    *((functions, (floats(n), floats(n))) for n in SIZES),
    (functions, (ints(3, 4, dtype="int32"), ints(4, dtype="int8"))),
    *(
        (full_reductions, (ints(n, dtype=dtype),))
        for n in (5, 1)
        for dtype in ("int8", "uint8", "int32", "uint64", "float64", "float32", "float16")
    ),
    (full_reductions, (np.array([True, False, True]),)),
    (full_reductions, (floats(3, 4, 2),)),
    (full_reductions, (np.array([1.0, np.nan, -np.inf]),)),
    (full_reductions, (np.zeros(0),)),
    *((positions, (ints(n, 3),)) for n in (4, 1)),
    (positions, (np.array([[1.0, np.nan], [np.nan, 3.0]]),)),
    (positions, (np.zeros((0, 3)),)),
    *((axis_reductions, (floats(n, 3),)) for n in (4, 1)),
    (axis_reductions, (ints(2, 3, dtype="int32"),)),
    (axis_reductions, (np.zeros((0, 3)),)),
    (spread, (floats(5, 3),)),
    (spread, (ints(5, 3),)),
    (spread, (floats(5, 3, dtype="float32"),)),
    (softmax, (floats(3, 4, 5, dtype="float32"),)),
    *((creation, (floats(n, dtype="float32"),)) for n in SIZES),
    (products, (floats(3, 4), floats(4, 2), floats(4), floats(3))),
    (products, (ints(3, 4, dtype="int8"), ints(4, 2), ints(4, dtype="uint8"), ints(3))),
    (products, (floats(0, 4), floats(4, 2), floats(4), floats(0))),
    (products, (floats(3, 0), floats(0, 2), floats(0), floats(3))),
    (batched, (floats(5, 3, 4), floats(5, 4, 3))),
    *((masks, (floats(n), floats(n))) for n in SIZES),
    (gather, (floats(5, 3), np.array([[0, -1], [3, 3]]))),
    (gather, (floats(5), np.array([2, 7]))),
    (shapes, (floats(3, 4),)),
    *((rebound, (floats(n),)) for n in SIZES),
    (chained, (floats(4),)),
    *((inlined, (floats(n), floats(n))) for n in (7, 1)),
    *((out_argument, (floats(n), floats(n))) for n in SIZES),
    (triangle, (floats(5, 5),)),
    (symmetric_outer, (ints(5, 5, dtype="int32"), 2)),
]


@pytest.mark.sampled(8)
@pytest.mark.parametrize(
    ("kernel", "args"), CASES, ids=[f"{k.__name__}-{i}" for i, (k, _) in enumerate(CASES)]
)
def test_agrees_with_numpy(kernel: Kernel[..., Any], args: tuple[Any, ...]):
    assert_agree(kernel, args)


@hybrid.script
def shifted(a: Array, b: Array):
    a[1:] = b[:-1] * 2
    a += b[::-1]


def test_arguments_that_share_memory():
    whole = floats(8)
    for a, b in ((whole, whole), (whole[1:], whole[:-1]), (whole[::-1], whole)):
        assert_agree(shifted, (a, b))


def reversed_copy(x: Array):
    made = np.zeros(x.shape[0])
    made[:] = x[::-1] * 0.5
    return made


@hybrid.script
def rebound_by_calls(a: Array):
    x = reversed_copy(a)
    for _ in range(3):
        a += x
        x = reversed_copy(a)
    return x


def test_a_name_rebound_to_what_a_call_made():
    assert_agree(rebound_by_calls, (floats(5),))
