"""Rows of arrays are folded in lanes; loops of a script keep their order."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy
import pytest

import hybridjit as hj
from hybridjit import Kernel, hybrid
from hybridjit.optimize.reduce_rows import BLOCK
from tests.corpus.case import Array
from tests.support.array_results import assert_agree, assert_close
from tests.support.optimized import optimized, run_optimized
from tests.support.oracle import fresh_copies
from tests.support.processors import compiling_for

np: Any = numpy  # the types of what masks select are not known
SIZES = [0, 1, 15, 16, 17, 31, 32, 33, 63, 64, 65, 200]


@hybrid.script
def sums(a: Array) -> Array:
    return a.sum(axis=-1)


@hybrid.script
def total(a: Array) -> Any:
    return a.sum()


@hybrid.script
def extrema(a: Array) -> Any:
    return a.min(), a.max()


@hybrid.script
def normalized(x: Array) -> Array:
    shifted = x - np.max(x, axis=-1, keepdims=True)
    return shifted / np.sum(shifted, axis=-1, keepdims=True)


@hybrid.script
def masked(a: Array) -> Any:
    return a[a > 0.5].sum(), a[a > 0.5].mean()


@hybrid.script
def product(a: Array) -> Any:
    return np.prod(a)


@hybrid.script
def as_written(a: Array) -> Any:
    total = 0.0
    for i in range(a.shape[0]):
        total += a[i]
    return total


def random(dtype: str, *shape: int) -> Array:
    rng = np.random.default_rng(sum(shape))
    found = rng.random(shape) + 0.1
    return (found + 1j * found[::-1] if dtype.startswith("complex") else found).astype(dtype)


def check(kernel: Any, *args: Any) -> None:
    """Fail unless a kernel agrees with NumPy, and bit for bit with the optimised program."""
    outcomes: list[Any] = []
    for run in (kernel.py_func, partial(run_optimized, kernel), kernel):
        result = run(*fresh_copies(args))
        outcomes.append(result if isinstance(result, tuple) else (result,))
    wanted, interpreted, native = outcomes
    assert_close(native, wanted)
    for ours, theirs in zip(native, interpreted, strict=True):
        np.testing.assert_array_equal(ours, theirs)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("size", SIZES)
def test_sizes_known_to_the_code(size: int) -> None:
    check(hybrid.script(sums.py_func), random("float64", 2, size))


def test_sizes_known_at_run_time() -> None:
    kernel: Any = hybrid.script(sums.py_func)
    for size in SIZES:
        check(kernel, random("float64", 3, size))


@pytest.mark.parametrize("dtype", ["float16", "float32", "complex64", "complex128", "int8"])
def test_types(dtype: str) -> None:
    check(hybrid.script(sums.py_func), random(dtype, 2, 70))
    check(product, random(dtype, 20))


@pytest.mark.parametrize("kernel", [normalized, masked, extrema])
def test_folds_of_computed_elements(kernel: Any) -> None:
    check(kernel, random("float64", 3, 70) - 0.3)


@hybrid.script
def twice(a: Array) -> Any:
    shifted = a - 0.25
    return shifted.sum(), (shifted * shifted).sum(), (shifted > 0).sum()


def test_several_folds_of_one_row() -> None:
    check(twice, random("float32", 300))


def test_extrema_of_nan() -> None:
    a = random("float64", 100)
    a[70] = np.nan
    check(extrema, a)


def test_strides() -> None:
    a = random("float64", 40, 80)
    check(hybrid.script(sums.py_func), a[::3, ::-2])
    check(hybrid.script(sums.py_func), a.T)


def test_long_sums_are_exact_enough() -> None:
    """One after the other, a million additions would be off by a hundred times as much."""
    a = random("float32", 1_000_000)
    exact = float(np.sum(a, dtype=np.float64))

    assert abs(float(total(a)) - exact) / exact < 1e-6


def test_blocks() -> None:
    a = random("float64", 2 * BLOCK + 100)
    np.testing.assert_allclose(hybrid.script(total.py_func)(a), a.sum(), rtol=1e-13)


def test_loops_of_a_script_keep_their_order() -> None:
    a = random("float32", 1000)
    expected = np.float32(0)
    for x in a:
        expected += x

    assert as_written(a) == expected
    assert "vectorize" not in str(optimized(as_written, hj.f32[1000]))
    assert "vectorize" in str(optimized(total, hj.f32[1000]))


def changed_after(u: Array, y: Array) -> Any:
    new = np.tanh(u) * 0.5 + y
    error = np.mean(np.abs(new - u))
    u[:] = new
    return error


def changed_before(u: Array, y: Array) -> Any:
    new = np.tanh(u) * 0.5 + y
    u[:] = new
    return np.mean(np.abs(new - u * y))


def changed_around(u: Array, y: Array) -> Any:
    new = np.tanh(u) * 0.5 + y
    first = np.sum(new * u)
    u[:] = new
    second = np.max(new + u)
    y[:] = new * 2
    return first, second


def shifted_back(u: Array, y: Array) -> Any:
    new = np.exp(y[1:])
    total = (new * u[1:]).sum()
    u[:-1] = new + 1
    return total


def shifted_forth(u: Array, y: Array) -> Any:
    new = np.exp(y[1:])
    total = (new * u[:-1]).sum()
    u[1:] = new + 1
    return total


@pytest.mark.sampled(8)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("size", [2, 15, 16, 17, 40, 100])
@pytest.mark.parametrize(
    "function", [changed_after, changed_before, changed_around, shifted_back, shifted_forth]
)
def test_what_is_folded_changes_in_the_same_loop(function: Any, size: int, dtype: str) -> None:
    args = [random(dtype, size), random(dtype, size)[::-1].copy()]
    kernel: Any = hybrid.script(function)
    assert_agree(kernel, args)


@hybrid.script
def counted(a: Array, slots: Array, places: Array) -> None:
    slots[places[0]] += a.sum()
    places[:] = 1


def test_where_a_fold_goes_changes_after_it() -> None:
    assert_agree(counted, [random("float64", 40), np.zeros(3), np.zeros(40, dtype=np.int64)])


def test_an_array_that_changes_with_its_fold_is_still_folded_in_lanes() -> None:
    assert "vectorize" in str(optimized(hybrid.script(changed_after), hj.f64[40], hj.f64[40]))


@hybrid.script
def middle(a: Array) -> Any:
    return np.median(a)


def test_the_mean_of_two_elements_is_no_sum_of_any_length() -> None:
    assert "vectorize" not in str(optimized(middle, hj.f64["n"]))


@pytest.mark.parametrize(("cpu", "lanes"), [("x86-64", 4), ("haswell", 8), ("skylake-avx512", 8)])
def test_partial_results_fill_the_vectors_of_the_processor(cpu: str, lanes: int) -> None:
    with compiling_for(cpu):
        anew: Kernel[..., Any] = Kernel(total.__hybrid_function__)
        text = anew.inspect("optimized", np.ones(1000))
        assert f'allocate((4, {lanes}), "float64"' in text
