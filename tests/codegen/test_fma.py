"""A product and a sum with one rounding: native code, the interpreter and exact fractions agree."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from hybridjit import hybrid
from hybridjit.hybrid import fma
from tests.corpus.case import Array

INF, NAN = float("inf"), float("nan")
WORDS = {"float16": "uint16", "float32": "uint32", "float64": "uint64"}


@hybrid.script
def fused(x: Array, y: Array, z: Array) -> Array:
    out = np.empty_like(x)
    for i in range(x.shape[0]):
        out[i] = fma(x[i], y[i], z[i])
    return out


def random_bits(dtype: str, count: int) -> list[Array]:
    rng: Any = np.random.default_rng(5)
    word: Any = WORDS[dtype]
    most = int(np.iinfo(word).max)
    return [rng.integers(0, most, count, word, endpoint=True).view(dtype) for _ in range(3)]


@pytest.mark.parametrize("dtype", WORDS)
def test_all_ways_agree_on_any_bits(dtype: str) -> None:
    args = random_bits(dtype, 3000)
    interpreted = fused.interpret(*args)

    np.testing.assert_array_equal(fused(*args), interpreted)
    np.testing.assert_array_equal(fused.py_func(*args), interpreted)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_cancellation_shows_the_rounding_of_the_product(dtype: str) -> None:
    x, y = np.random.default_rng(6).random((2, 500)).astype(dtype)
    z = -(x * y)

    exact = [Fraction(float(a)) * Fraction(float(b)) for a, b in zip(x, y, strict=True)]
    rest = [float(p + Fraction(float(c))) for p, c in zip(exact, z, strict=True)]

    np.testing.assert_array_equal(fused(x, y, z), np.array(rest, dtype))
    np.testing.assert_array_equal(fused.interpret(x, y, z), np.array(rest, dtype))


def test_a_sum_next_to_the_middle_of_two_values_is_rounded_once() -> None:
    """97 * 172961 is 2 ** 24 + 1. Rounded to float64 first, all three sums would be the middle."""
    x, y = np.full(3, 97, "float32"), np.full(3, 172961 * 2.0**-24, "float32")
    z = np.array([-(2.0**-60), 0, 2.0**-60], "float32")

    for found in (fused(x, y, z), fused.interpret(x, y, z)):
        np.testing.assert_array_equal(found, np.array([1, 1, 1 + 2**-23], "float32"))


@pytest.mark.parametrize(
    "args",
    [(INF, 0.0, 1.0), (1e200, 1e200, -INF), (1e200, 1e200, 1.0), (1.0, NAN, 2.0), (2.0, 3.0, INF)],
)
def test_values_that_are_not_finite(args: tuple[float, float, float]) -> None:
    expected = {(1e200, 1e200, -INF): -INF, (1e200, 1e200, 1.0): INF, (2.0, 3.0, INF): INF}
    arrays = [np.array([value]) for value in args]

    for found in (fused(*arrays), fused.interpret(*arrays)):
        np.testing.assert_array_equal(found, [expected.get(args, NAN)])


@pytest.mark.parametrize("zeros", [(0.0, 1.0, -0.0), (-0.0, 1.0, -0.0), (1.0, 1.0, -1.0)])
def test_signs_of_zeros(zeros: tuple[float, float, float]) -> None:
    arrays = [np.array([value]) for value in zeros]
    sign = bool(np.signbit(zeros[0] * zeros[1] + zeros[2]))

    for found in (fused(*arrays), fused.interpret(*arrays)):
        assert bool(np.signbit(found[0])) is sign


@pytest.mark.parametrize("dtype", ["int8", "uint16", "int64"])
def test_integers_wrap(dtype: str) -> None:
    bounds = np.iinfo(dtype)
    x, y, z = np.random.default_rng(7).integers(bounds.min, bounds.max, (3, 40), dtype)  # pyright: ignore[reportArgumentType]

    np.testing.assert_array_equal(fused(x, y, z), x * y + z)
    np.testing.assert_array_equal(fused.interpret(x, y, z), x * y + z)
