"""Products of matrices with vectors: several rows at once, with the sums that one has."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

import hybridjit as hj
from hybridjit import hybrid
from hybridjit.interp.run import interpret
from hybridjit.ir.func import PrimFunc
from hybridjit.optimize.optimize import optimize
from hybridjit.scalars.specs import Spec
from tests.corpus.case import Array
from tests.support.optimized import for_vectors

np: Any = numpy
RNG: Any = np.random.default_rng(5)


def product(a: Array, x: Array) -> Array:
    return a @ x


def scaled_update(a: Array, x: Array, y: Array) -> None:
    y += 2.0 * a @ np.exp(x) + y


def picked(a: Array, rows: Array, x: Array) -> Array:
    return a[rows] @ x


def translated(function: Any, *specs: Spec, bits: int = 512) -> PrimFunc:
    kernel: Any = hybrid.script(function)
    return optimize(kernel.prim_func(*specs), for_vectors(bits)).func


def assert_same_bits(function: Any, specs: tuple[Spec, ...], *args: Array) -> None:
    """Fail unless rows at once give what rows one by one do, and about what NumPy does."""
    outcomes: list[Any] = []
    for bits in (256, 512):
        copies = [arg.copy() for arg in args]
        outcomes.append((interpret(translated(function, *specs, bits=bits), copies), *copies))
    copies = [arg.copy() for arg in args]
    wanted = (function(*copies), *copies)
    for one, several, plain in zip(*outcomes, wanted, strict=True):
        np.testing.assert_array_equal(one, several)
        if plain is not None:
            np.testing.assert_allclose(several, plain, rtol=1e-12)


@pytest.mark.sampled(8)
@pytest.mark.parametrize("rows", [0, 1, 3, 4, 5, 7, 8, 11])
@pytest.mark.parametrize("columns", [0, 1, 7, 16, 67, 107])
def test_sizes(rows: int, columns: int) -> None:
    a, x = RNG.random((rows, columns)), RNG.random(columns)
    assert_same_bits(product, (hj.f64[rows, columns], hj.f64[columns]), a, x)
    assert_same_bits(product, (hj.f64["n", "m"], hj.f64["m"]), a, x)


def test_stack() -> None:
    assert_same_bits(
        product, (hj.f64[2, 5, 33], hj.f64[33]), RNG.random((2, 5, 33)), RNG.random(33)
    )


def test_what_is_fused_with_it() -> None:
    specs = hj.f64[6, 40], hj.f64[40], hj.f64[6]
    assert_same_bits(scaled_update, specs, RNG.random((6, 40)), RNG.random(40), RNG.random(6))


@pytest.mark.parametrize("size", [80, "n"])
def test_rows_share_a_loop(size: Any) -> None:
    text = str(translated(product, hj.f64[8, size], hj.f64[size]))
    assert "a[i + 3" in text
    assert text.count("for k") == (1 if size == 80 else 2)


def test_narrow_vectors_leave_no_registers_for_it() -> None:
    assert "i + 3" not in str(translated(product, hj.f64[9, 80], hj.f64[80], bits=256))


def test_rows_that_may_be_missing_are_summed_one_by_one() -> None:
    """Else another row than the first one that is missing could be named in the error."""
    func = translated(picked, hj.f64[5, 80], hj.i64[6], hj.f64[80])
    assert "i + 3" not in str(func)
    rows = np.array([0, 1, 9, 2, 7, 3])
    with pytest.raises(IndexError, match="9"):
        hybrid.script(picked)(RNG.random((5, 40)), rows, RNG.random(40))
