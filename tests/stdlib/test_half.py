"""Half precision: computed in float32 and rounded once, against float64.

The bound is in units of the last place of float16: half a unit is what one rounding costs, the rest
is what float32 adds where a value lies between two halves.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy
import pytest

from hybridjit import stdlib as hs

np: Any = numpy
FINFO: Any = ml_dtypes.finfo
Array = Any
Case = tuple[Callable[[Any], Any], Callable[[Any], Any]]
BOUND = 0.51
ERFC: Any = np.vectorize(math.erfc)
VALUES = np.concatenate([np.linspace(-12, 12, 3001), [0, 65504, -65504, 6e-8, -3e-5, 300, -300]])
ROWS = np.random.default_rng(5).standard_normal((6, 300)) * [[1], [100], [0.01], [6000], [3], [1]]
SHIFTED = ROWS / 10 + [[100], [10], [1], [-900], [0], [-50]]
SCALES = np.random.default_rng(6).random(300) + 0.5


def sigmoid(x: Array) -> Array:
    return np.exp(-np.logaddexp(0, -x))


def softmax(x: Array) -> Array:
    powers = np.exp(x - x.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


def normalized(x: Array) -> Array:
    return (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-5)


def assert_rounded_once(found: Array, expected: Array, bound: float = BOUND) -> None:
    limits = FINFO(found.dtype)
    with np.errstate(all="ignore"):
        rounded = expected.astype(found.dtype)
        exponent = np.maximum(np.floor(np.log2(np.abs(expected))), limits.minexp)
        distance = np.abs(found.astype(float) - expected) / 2.0 ** (exponent - limits.nmant)
    wrong = ~(distance <= bound) & (found != rounded)
    assert not wrong.any(), (found[wrong][:4], expected[wrong][:4])


ELEMENTS: dict[str, Case] = {
    "relu": (hs.relu, lambda x: np.maximum(x, 0)),
    "leaky_relu": (hs.leaky_relu, lambda x: np.where(x > 0, x, x * 0.01)),
    "elu": (hs.elu, lambda x: np.where(x > 0, x, np.expm1(np.minimum(x, 0)))),
    "sigmoid": (hs.sigmoid, sigmoid),
    "silu": (hs.silu, lambda x: x * sigmoid(x)),
    "gelu": (hs.gelu, lambda x: x * 0.5 * ERFC(-x * 0.5**0.5)),
    "softplus": (hs.softplus, lambda x: np.logaddexp(0, x)),
    "tanh": (hs.tanh, np.tanh),
    "expm1": (hs.expm1, lambda x: np.expm1(x)),
    "exp": (hs.exp, lambda x: np.exp(x)),
}


@pytest.mark.parametrize("name", ELEMENTS)
@pytest.mark.filterwarnings("ignore:overflow")
def test_functions_of_elements(name: str) -> None:
    function, reference = ELEMENTS[name]
    x = VALUES.astype(np.float16)
    assert_rounded_once(function(x), reference(x.astype(float)))


REDUCTIONS: dict[str, Case] = {
    "sum": (lambda x: hs.sum(x, axis=1), lambda x: x.sum(1)),
    "mean": (lambda x: hs.mean(x, axis=1), lambda x: x.mean(1)),
    "var": (lambda x: hs.var(x, axis=1), lambda x: x.var(1)),
    "std": (lambda x: hs.std(x, axis=1, ddof=1), lambda x: x.std(1, ddof=1)),
    "cumsum": (lambda x: hs.cumsum(x, axis=1), lambda x: x.cumsum(1)),
    "softmax": (hs.softmax, softmax),
    "log_softmax": (hs.log_softmax, lambda x: np.log(softmax(x))),
    "layer_norm": (hs.layer_norm, normalized),
    "matmul": (lambda x: hs.matmul(x, x.T), lambda x: x @ x.T),
}


@pytest.mark.parametrize("name", REDUCTIONS)
@pytest.mark.filterwarnings("ignore:overflow", "ignore:divide by zero")
def test_reductions_of_rows(name: str) -> None:
    function, reference = REDUCTIONS[name]
    for rows in (ROWS, SHIFTED):
        x = (rows if name not in ("log_softmax", "cumsum") else rows / 100).astype(np.float16)
        # A mean that is far from 0 costs float32 a few digits of the distances from it.
        bound = 8.0 if name == "layer_norm" else BOUND
        assert_rounded_once(function(x), reference(x.astype(float)), bound)


def test_layer_norm_with_a_scale_and_a_shift() -> None:
    x, gamma, beta = (a.astype(np.float16) for a in (SHIFTED, SCALES, -SCALES))
    expected = normalized(x.astype(float)) * gamma.astype(float) + beta.astype(float)
    assert_rounded_once(hs.layer_norm(x, gamma, beta), expected, 1.0)


def test_batch_norm() -> None:
    x, mean, scale = (a.astype(np.float16) for a in (ROWS[4:, :5], ROWS[1, :5], SCALES[:5]))
    spread = (scale * np.float16(1e-6)).astype(np.float16)
    found = hs.batch_norm(x, mean, spread, scale, mean)
    wide = [a.astype(float) for a in (x, mean, spread, scale)]
    factor = wide[3] / np.sqrt(wide[2] + 1e-5)
    assert_rounded_once(found, wide[0] * factor + (wide[1] - wide[1] * factor), 1.0)


def test_bfloat16_is_computed_so_too() -> None:
    x = VALUES.astype(ml_dtypes.bfloat16)
    found = hs.gelu(x)
    assert found.dtype == x.dtype
    assert_rounded_once(found, ELEMENTS["gelu"][1](x.astype(float)))


def test_types_stay() -> None:
    half, single = np.ones(3, np.float16), np.ones(3, np.float32)
    assert hs.elu(half, single).dtype == np.float32
    assert hs.elu(half, np.ones(3)).dtype == np.float64
    assert hs.leaky_relu(np.ones(3, np.int8)).dtype == np.float64
    assert hs.layer_norm(half, single).dtype == np.float32
    assert hs.batch_norm(half[None], half, half).dtype == np.float16
    assert hs.std(half).dtype == np.float16
