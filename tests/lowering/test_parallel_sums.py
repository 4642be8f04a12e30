"""Sums and products on all cores: the values are those of one thread."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import hybridjit as hj
from hybridjit import Kernel, hybrid, threads
from tests.corpus.case import Array
from tests.lowering.thread_values import SIZES, THREADS, arrays, check, lowered
from tests.support.oracle import assert_same_outcome, run_native, run_once
from tests.support.parallel_programs import AnyKernel, eager


@hybrid.script(parallel=True)
def sum_of_sums(a: Array, b: Array) -> None:
    total = 0.5
    less = 0.0
    for i in range(b.shape[0]):
        row = 0.0
        for j in range(a.shape[0]):
            row += a[j] * (i + 1)
        if i % 3 != 1:
            total = row + total
        less -= row
    b[0] = total
    b[1] = less


@hybrid.script(parallel=True)
def sums_of_rows(a: Array) -> Any:
    return a.sum(axis=1)


@hybrid.script(parallel=True)
def sums_of_columns(a: Array) -> Any:
    return a.sum(axis=0)


def check_sums(kernel: AnyKernel, args: list[Any]) -> None:
    """The same bits on any number of threads, and about what NumPy gives."""
    with threads(1):
        expected = run_once(run_native, kernel, args)
    for count in THREADS:
        with threads(count):
            assert_same_outcome(run_once(run_native, kernel, args), expected)
    np.testing.assert_allclose(kernel(*args), kernel.py_func(*args), rtol=1e-12, atol=1e-10)


@pytest.mark.parametrize("kernel", [sums_of_rows, sums_of_columns])
def test_sums_of_sizes_known_at_run_time_run_on_threads(kernel: AnyKernel) -> None:
    """Blocks of iterations update elements of their own: the loop that was cut tells, not they."""
    assert "in parallel(" in lowered(kernel, hj.f64["n", "m"])
    again: AnyKernel = Kernel(kernel.__hybrid_function__, parallel=True)
    with eager():
        for shape in ((0, 5), (5, 0), (1, 1), (3, 70), (90, 17), (2, 17_000)):
            args = [np.random.default_rng(3).standard_normal(shape)]
            check_sums(again, args)


@hybrid.script(parallel=True)
def whole_sum(a: Array) -> Any:
    return np.sin(a).sum()


@hybrid.script(parallel=True)
def flattened(a: Array) -> Any:
    return np.sin(a.ravel())


@pytest.mark.parametrize(
    ("kernel", "spec", "columns"),
    [
        (whole_sum, hj.f64["n"], None),
        (whole_sum, hj.f64["n", 3], 3),
        (flattened, hj.f64["n", "m"], 3),
        (flattened, hj.f64["n", "m"], 70),
    ],
)
def test_whole_arrays_of_sizes_known_at_run_time(
    kernel: AnyKernel, spec: Any, columns: int | None
) -> None:
    """Blocks of a sum, and rows of what is read in another shape."""
    assert "in parallel(" in lowered(kernel, spec)
    again: AnyKernel = Kernel(kernel.__hybrid_function__, parallel=True)
    with eager():
        for rows in (0, 1, 17, 900, 33_000):
            shape = (rows,) if columns is None else (rows // columns, columns)
            args = [np.random.default_rng(3).standard_normal(shape)]
            check_sums(again, args)


def test_short_sums_of_sizes_known_at_run_time_stay_on_one_thread() -> None:
    """Blocks are as long as what is added up, if that is less than a block."""
    text = lowered(whole_sum, hj.f64["n"])
    (condition,) = (line for line in text.splitlines() if "if min(" in line)
    assert "min(a.shape[0], 16384)" in condition


@hybrid.script(parallel=True)
def two_terms(a: Array, b: Array) -> None:
    total = 0.5
    for i in range(b.shape[0]):
        row = 0.0
        for j in range(a.shape[0]):
            row += a[j] * (i + 1)
        total = total + row + 0.1
    b[0] = total


@pytest.mark.parametrize("kernel", [sum_of_sums, two_terms])
def test_sums_of_few_values_are_those_of_one_thread(
    kernel: AnyKernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each iteration keeps its value, and those are added up in order."""
    monkeypatch.setattr("hybridjit.lowering.parallelize.MIN_SINGLE", 0)
    again: AnyKernel = Kernel(kernel.__hybrid_function__, parallel=True)
    with eager():
        for size in SIZES:
            check(again, *arrays(size))


def test_which_sums_of_few_values() -> None:
    assert "in parallel(" in lowered(sum_of_sums, arrays(1000)[0], np.zeros(1000))
    assert "in parallel(" not in lowered(two_terms, arrays(1000)[0], np.zeros(1000))


def numpy_sum(a: Array) -> Any:
    return a.sum() + (a * a).mean()


@pytest.mark.sampled(2)
@pytest.mark.parametrize("size", [1, 1000, 40_000, 200_000])
def test_sums_of_numpy_are_those_of_one_thread(size: int) -> None:
    serial: AnyKernel = hybrid.script(numpy_sum, parallel=False)
    on_threads: AnyKernel = hybrid.script(numpy_sum, parallel=True)
    a, _ = arrays(size)
    with eager():
        expected = serial(a)
        for count in THREADS:
            with threads(count):
                assert on_threads(a) == expected


def matrix_product(a: Array, b: Array) -> Any:
    return a @ b


@pytest.mark.sampled(4)
@pytest.mark.parametrize("dtype", [np.float32, np.complex128])
@pytest.mark.parametrize("shape", [(40, 40, 40), (130, 300, 70)])
def test_products_of_numpy_are_those_of_one_thread(shape: tuple[int, int, int], dtype: Any) -> None:
    n, depth, m = shape
    generator = np.random.default_rng(0)
    a = generator.random((n, depth)).astype(dtype)
    b = generator.random((depth, m)).astype(dtype)
    serial: AnyKernel = hybrid.script(matrix_product, parallel=False)
    on_threads: AnyKernel = hybrid.script(matrix_product, parallel=True)
    with eager():
        expected = serial(a, b)
        for count in THREADS:
            with threads(count):
                assert (on_threads(a, b) == expected).all()


def test_rows_of_products_of_numpy_run_on_threads() -> None:
    kernel: AnyKernel = hybrid.script(matrix_product, parallel=True)
    text = lowered(kernel, np.ones((256, 256)), np.ones((256, 256)))
    assert text.index("in parallel(") < text.index("left = allocate(")
