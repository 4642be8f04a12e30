"""Products of few terms: sums in registers, not one term after the other through memory."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

import hybridjit as hj
from hybridjit import hybrid
from tests.corpus.case import Array
from tests.support.array_results import assert_agree
from tests.support.optimized import assert_three_agree

np: Any = numpy
SIZES = (
    (2, 2, 100),
    (3, 3, 65),
    (8, 8, 64),
    (5, 1, 70),
    (4, 8, 63),
    (1, 3, 130),
    (3, 16, 67),
    (2, 40, 33),
)


def product(a: Array, b: Array) -> Array:
    return a @ b


def added(a: Array, b: Array, c: Array) -> None:
    c += a @ b * 2


@pytest.mark.sampled(3)
@pytest.mark.parametrize("sizes", SIZES, ids=str)
@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128", "int32"])
def test_products(dtype: str, sizes: tuple[int, int, int]) -> None:
    rows, terms, columns = sizes
    rng = np.random.default_rng(5)
    a = rng.integers(-5, 5, (rows, terms)).astype(dtype)
    b = rng.integers(-5, 5, (terms, columns)).astype(dtype)
    assert_three_agree(hybrid.script(product), [a, b])
    assert_agree(hybrid.script(added), [a, b, np.ones((rows, columns), dtype)])


@pytest.mark.parametrize("dtype", ["float64", "complex64"])
def test_products_of_several_sizes(dtype: str) -> None:
    """By one kernel, whose sizes are known at run time from the second on; columns reversed."""
    kernel: Any = hybrid.script(product)
    rng = np.random.default_rng(5)
    for rows, terms, columns in SIZES:
        a = rng.integers(-5, 5, (rows, terms)).astype(dtype)
        b = rng.integers(-5, 5, (terms, columns)).astype(dtype)[:, ::-1]
        np.testing.assert_array_equal(kernel(a, b), a @ b)


@pytest.mark.parametrize(
    ("spec", "sizes", "is_kept"),
    [
        ("f64", (2, 2, 1000), True),
        ("f64", (2, 2, "m"), True),
        ("f64", (4, 9, 1000), False),
        ("f64", (4, 4, 30), False),
        ("c128", (4, 16, 30), True),
        ("c128", (4, 17, 30), False),
    ],
)
def test_which(spec: str, sizes: tuple[Any, ...], is_kept: bool) -> None:
    element, (rows, terms, columns) = getattr(hj, spec), sizes
    kernel: Any = hybrid.script(product)
    trace = kernel.auto_schedule(element[rows, terms], element[terms, columns]).trace
    assert ("interchange" not in [step.name for step in trace.steps]) == is_kept
