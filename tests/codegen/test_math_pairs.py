"""sin and cos of one angle come from one call, with the bits that each has alone."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from hybridjit import config, f64, hybrid
from hybridjit.codegen.math.library import PARTS
from tests.corpus.case import Array


@hybrid.script
def both(a: Array, sines: Array, cosines: Array) -> None:
    for i in range(a.shape[0]):
        sines[i] = np.sin(a[i])
        cosines[i] = np.cos(a[i])


@hybrid.script
def sine(a: Array, out: Array) -> None:
    for i in range(a.shape[0]):
        out[i] = np.sin(a[i])


@hybrid.script
def cosine(a: Array, out: Array) -> None:
    for i in range(a.shape[0]):
        out[i] = np.cos(a[i])


@hybrid.script
def turned(a: Array) -> Any:
    return np.sin(a[0]) + 2.0 * np.cos(a[0])


ANGLES = np.concatenate(
    [
        np.random.default_rng(1).uniform(-7.0, 7.0, 1001),
        np.random.default_rng(2).uniform(-1.0, 1.0, 50) * 10.0 ** np.arange(50),
        [0.0, -0.0, np.inf, -np.inf, np.nan, 5e-324, np.pi, -np.pi / 2],
    ]
)


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16])
def test_the_bits_are_the_same(dtype: Any) -> None:
    with np.errstate(over="ignore"):
        angles = ANGLES.astype(dtype)
    results = [np.zeros_like(angles) for _ in range(4)]
    with config.scope(interpret=False):
        both(angles, *results[:2])
        sine(angles, results[2])
        cosine(angles, results[3])
    for together, alone in ((0, 2), (1, 3)):
        assert results[together].tobytes() == results[alone].tobytes()
    # The sign of zero stays, and the rest is near enough not to be another function.
    assert np.signbit(results[0][angles == 0.0]).tolist()[:2] == [False, True]
    with np.errstate(invalid="ignore"):
        wide = angles.astype(np.float64)
        near = 4 * float(np.finfo(dtype).eps)
        np.testing.assert_allclose(results[0], np.sin(wide), rtol=near, atol=near)
        np.testing.assert_allclose(results[1], np.cos(wide), rtol=near, atol=near)


def test_one_call_gives_both() -> None:
    assert set(PARTS) == {"sin", "cos"}
    text = turned.inspect("llvm", np.ones(1))
    assert len(re.findall(r"call .*@hj\.sin_and_cos\.f64", text)) == 1


def test_loops_over_both_are_vectors() -> None:
    text = both.inspect("llvm", *[f64[1000]] * 3)
    assert re.search(r"fmul <\d+ x double>|x double> @llvm\.fma", text)


@hybrid.script
def changed_between(a: Array, b: Array, c: Array) -> None:
    for i in range(a.shape[0]):
        if a[i] > 0:
            b[i] = np.sin(c[i])
        c[i] = np.cos(c[i]) + np.sin(a[i])
        a[i] = np.sin(c[i])
        b[i] += np.cos(c[i])


def test_what_is_changed_or_masked_in_between_is_computed_anew() -> None:
    arrays: list[Any] = [np.random.default_rng(k).uniform(-3.0, 3.0, 37) for k in range(3)]
    expected: list[Any] = [array.copy() for array in arrays]
    changed_between(*arrays)
    changed_between.interpret(*expected)
    for found, wanted in zip(arrays, expected, strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-13)
