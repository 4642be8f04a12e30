"""abs(z) against a constant: the same answer without the root, everywhere."""

from __future__ import annotations

from collections.abc import Callable
from unittest.mock import patch

import numpy as np
import pytest

from hybridjit import config, hybrid
from hybridjit.codegen.emit import magnitude
from hybridjit.codegen.llvm_types import DOUBLE, FLOAT
from tests.corpus.case import Array

BOUND = 2.0


def compare(z: Array, out: Array) -> None:
    for i in range(z.shape[0]):
        out[i] = (
            int(abs(z[i]) < 2.0)
            + 2 * int(abs(z[i]) <= 2.0)
            + 4 * int(abs(z[i]) > 2.0)
            + 8 * int(abs(z[i]) >= 2.0)
        )


def compare_in_order(z: Array, out: Array) -> None:
    i = 0
    while i < z.shape[0]:
        out[i] = int(abs(z[i]) < 2.0) + 2 * int(abs(z[i]) <= 2.0)
        i += 1


def first_escape(z: Array) -> int:
    i = 0
    while i < z.shape[0] and abs(z[i]) <= 2.0:
        i += 1
    return i


@hybrid.script
def magnitudes(z: Array) -> Array:
    return np.abs(z)


def points(dtype: str) -> Array:
    """On the circle, a few ulp and a few margins beside it, far away, and nowhere."""
    rng = np.random.default_rng(0)
    angles = rng.uniform(0, 2 * np.pi, 400)
    eps = float(np.finfo(dtype).eps)
    steps = np.concatenate([rng.integers(-4, 5, 300) * eps, rng.uniform(-1e-3, 1e-3, 100)])
    near = BOUND * (1 + steps) * np.exp(1j * angles)
    edges = [0.0, 2.0, -2.0, np.nan, np.inf, -np.inf, 1e30, 1e-30, 1e300, 5e-324]
    far = [complex(x, y) for x in edges for y in edges]
    with np.errstate(over="ignore"):
        return np.concatenate([near, np.array(far)]).astype(dtype)


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("function", [compare, compare_in_order])
def test_every_comparison_is_exact(function: Callable[..., None], dtype: str) -> None:
    z = points(dtype)
    kernel = hybrid.script(function)
    native, expected = np.zeros((2, len(z)), np.int64)
    kernel(z, native)
    function(magnitudes(z), expected)  # absolute, too, but not of NumPy: it may be an ulp off
    np.testing.assert_array_equal(native, expected)


@pytest.mark.usefixtures("unchecked")
def test_a_margin_that_is_too_small_is_noticed() -> None:
    """The points are close enough to the circle to tell."""
    none = {FLOAT: 0.0, DOUBLE: 0.0}
    with patch.object(magnitude, "_MARGINS", none), config.scope(cache_enabled=False):
        z = points("complex128")
        kernel = hybrid.script(compare_in_order)
        native, expected = np.zeros((2, len(z)), np.int64)
        kernel.interpret(z, expected)
        kernel(z, native)
    assert (native != expected).any()


def test_loops_until_a_point_escapes() -> None:
    assert hybrid.script(first_escape)(np.array([0.5, 1j, 2.0, 3.0, 1.0])) == 3


def compare_with(z: Array, bounds: Array, out: Array) -> None:
    k = 0
    while k < bounds.shape[0]:
        bound = bounds[k]
        for i in range(z.shape[0]):
            if abs(z[i]) < bound:
                out[k, i] += 1
            if abs(z[i]) <= bound:
                out[k, i] += 2
            if abs(z[i]) > bound:
                out[k, i] += 4
            if abs(z[i]) >= bound:
                out[k, i] += 8
        k += 1


BOUNDS = [2.0, 0.0, -0.0, -2.0, np.nan, np.inf, -np.inf, 1e-30, 1e30, 1e-300, 1e300, 5e-324, 1e-40]


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_bounds_that_are_known_at_run_time(dtype: str) -> None:
    z = points(dtype)
    with np.errstate(over="ignore"):
        bounds = np.array(BOUNDS, z.real.dtype)
    native, expected = np.zeros((2, len(bounds), len(z)), np.int64)
    hybrid.script(compare_with)(z, bounds, native)
    compare_with(magnitudes(z), bounds, expected)
    np.testing.assert_array_equal(native, expected)
