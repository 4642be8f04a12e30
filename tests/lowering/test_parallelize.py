"""Loops that run on all cores by themselves: which ones, and that the values do not show it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hybridjit import Kernel, config, hybrid, parse, threads
from hybridjit.analysis.lower_blocks import lower_blocks
from hybridjit.ir.hints import ON_THREADS
from hybridjit.ir.stmt import For
from hybridjit.ir.verify import Stage, verify
from hybridjit.lowering.check_bounds import check_bounds
from hybridjit.lowering.parallelize import parallelize
from tests.conftest import Golden
from tests.corpus.case import Array
from tests.lowering.thread_values import LARGE, SIZES, THREADS, arrays, check, lowered
from tests.support.own_process import run_program
from tests.support.parallel_programs import AnyKernel, eager


@hybrid.script(parallel=True)
def elementwise(a: Array, b: Array) -> None:
    for i in range(a.shape[0]):
        b[i] = a[i] * 2 + i


@hybrid.script(parallel=True)
def every_third(a: Array, b: Array) -> None:
    for i in range(1, a.shape[0], 3):
        for _ in range(2):
            b[i] = b[i] + a[i]


@hybrid.script(parallel=True)
def backwards(a: Array, b: Array) -> None:
    for i in range(a.shape[0] - 1, -1, -1):
        for _ in range(2):
            b[i] = b[i] + a[i]


@hybrid.script(parallel=True)
def neighbours(a: Array, b: Array) -> None:
    for i in range(1, a.shape[0] - 1):
        b[i] = a[i - 1] + a[i + 1]


@hybrid.script(parallel=True)
def running(a: Array, b: Array) -> None:
    for i in range(1, a.shape[0]):
        b[i] = b[i - 1] + a[i]


@hybrid.script(parallel=True)
def steps(a: Array, b: Array) -> None:
    for _ in range(3):
        for i in range(1, a.shape[0] - 1):
            b[i] = a[i - 1] + a[i + 1]
        for i in range(a.shape[0]):
            a[i] = b[i] * 0.25


@hybrid.script(parallel=True)
def rows(a: Array, b: Array) -> None:
    for i in range(a.shape[0]):
        total = 0.0
        for j in range(i):
            total += a[j]
        b[i] = total


@hybrid.script(parallel=True)
def scratch(a: Array, b: Array) -> None:
    for i in range(a.shape[0]):
        t = np.empty(4)
        for j in range(4):
            t[j] = a[i] * j
        b[i] = t[0] + t[3] * t[1]


@hybrid.script(parallel=True)
def extremes(a: Array, b: Array) -> None:
    low = high = a[0]
    for i in range(a.shape[0]):
        low = min(low, a[i])
        high = max(high, a[i])
    b[0] = low
    b[1] = high


@hybrid.script(parallel=True)
def float_sum(a: Array, b: Array) -> None:
    total = 0.0
    for i in range(a.shape[0]):
        total += a[i]
    b[0] = total


@hybrid.script(parallel=True)
def counted(a: Array, b: Array) -> None:
    count = 0
    for i in range(a.shape[0]):
        if a[i] > 0.5:
            count += 1
    b[0] = count


@hybrid.script(parallel=True)
def up_to_a_large_one(a: Array, b: Array) -> None:
    for i in range(a.shape[0]):
        if a[i] > 0.9:
            break
        b[i] = a[i]


@hybrid.script(parallel=True)
def last_value(a: Array, b: Array) -> None:
    x = 0.0
    for i in range(a.shape[0]):
        x = a[i]
    b[0] = x


@hybrid.script(parallel=True)
def numpy_style(a: Array, b: Array) -> None:
    b[:] = np.where(a > 0.5, np.sqrt(a), -a)


@hybrid.script(parallel=True)
def histogram(a: Array, b: Array) -> None:
    counts = np.zeros(7, np.int64)
    for i in range(a.shape[0]):
        counts[int(a[i] * 7)] += 1
    for k in range(min(7, b.shape[0])):
        b[k] = counts[k]


@hybrid.script(parallel=True)
def two_histograms(a: Array, b: Array) -> None:
    counts = np.zeros((3, 2), np.int32)
    largest = np.zeros(3, np.int64)
    total = 0
    for i in range(1, a.shape[0], 2):
        k = int(a[i] * 3)
        counts[k, i % 2] += i
        largest[k] = max(largest[k], i)
        total += k
    b[0] = counts[0, 0] + counts[1, 1] * 3 + counts[2, 1] * 7 + largest[1] + total
    b[1] = largest[0] - largest[2]


@hybrid.script(parallel=True)
def histogram_of_itself(a: Array, b: Array) -> None:
    counts = np.zeros(7, np.int64)
    for i in range(a.shape[0]):
        counts[(counts[0] + i) % 7] += 1
    b[0] = counts[3]


@hybrid.script(parallel=True)
def place_of_least(a: Array, b: Array) -> None:
    best = 0.75
    where = -1
    for i in range(a.shape[0]):
        if a[i] < best:
            best = a[i]
            where = i
    b[0] = best
    b[1] = where


@hybrid.script(parallel=True)
def place_of_largest(a: Array, b: Array) -> None:
    b[0] = np.argmax(a) if a.shape[0] else -1


@hybrid.script(parallel=True)
def last_of_least(a: Array, b: Array) -> None:
    best = np.inf
    where = -1
    for i in range(a.shape[0]):
        if a[i] <= best:
            best = a[i]
            where = i
    b[1] = where


LOOPS = (
    *(elementwise, every_third, backwards, neighbours, running, steps, rows, scratch, extremes),
    *(float_sum, counted, up_to_a_large_one, last_value, numpy_style, histogram, two_histograms),
    *(histogram_of_itself, place_of_least, place_of_largest, last_of_least),
)


@pytest.mark.sampled(16)
@pytest.mark.parametrize("kernel", LOOPS, ids=lambda kernel: kernel.__name__)
def test_values_do_not_depend_on_the_threads(kernel: AnyKernel) -> None:
    again: AnyKernel = Kernel(kernel.__hybrid_function__, parallel=True)
    with eager():
        for size in SIZES:
            a, b = arrays(size)
            if size or kernel not in (extremes,):
                check(again, a, b)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("kernel", [place_of_least, place_of_largest])
@pytest.mark.parametrize("values", [(np.nan,), (np.inf, -np.inf), (0.0, -0.0), (0.5, np.nan)])
def test_places_of_unusual_values(kernel: AnyKernel, values: tuple[float, ...]) -> None:
    again: AnyKernel = Kernel(kernel.__hybrid_function__, parallel=True)
    with eager():
        for seed in range(4):
            a = np.random.default_rng(seed).choice(values, 65)
            a[::7] = np.random.default_rng(seed).random(10)
            check(again, a, np.zeros(2))


def test_an_index_outside_of_a_histogram() -> None:
    a, b = arrays(2000)
    a[[1999, 700]] = 3.0, 2.0
    kernel: AnyKernel = Kernel(histogram.__hybrid_function__, parallel=True)
    with eager():
        for count in THREADS:
            with threads(count), pytest.raises(IndexError, match="14"):
                kernel(a, b)


@pytest.mark.parametrize(
    ("kernel", "is_parallel"),
    [
        *((kernel, True) for kernel in (elementwise, neighbours, rows, scratch, extremes, counted)),
        *((kernel, True) for kernel in (every_third, backwards, steps, numpy_style)),
        *((kernel, True) for kernel in (histogram, two_histograms, place_of_least)),
        (place_of_largest, True),
        *((kernel, False) for kernel in (running, float_sum, up_to_a_large_one, last_value)),
        *((kernel, False) for kernel in (histogram_of_itself, last_of_least)),
    ],
    ids=lambda value: getattr(value, "__name__", str(value)),
)
def test_which_loops(kernel: AnyKernel, is_parallel: bool) -> None:
    assert ("in parallel(" in lowered(kernel, *arrays(LARGE))) is is_parallel


def test_small_work_stays_on_one_thread() -> None:
    assert "in parallel(" not in lowered(elementwise, *arrays(100))


def test_floats_are_added_in_any_order_where_that_is_allowed() -> None:
    loose: AnyKernel = Kernel(float_sum.__hybrid_function__, ("reassoc",), parallel=True)
    assert "in parallel(" in lowered(loose, *arrays(LARGE))
    a, b = arrays(LARGE)
    results: set[float] = set()
    for count in THREADS:
        with threads(count):
            loose(a, b)
        results.add(float(b[0]))
    assert len(results) == 1


@hybrid.script(parallel=True)
def product(a: Array, b: Array, c: Array) -> None:
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            for k in range(a.shape[1]):
                c[i, j] += a[i, k] * b[k, j]


def test_golden_product(golden: Golden) -> None:
    """Rows in blocks, so that the rows of a block still run side by side."""
    func = product.prim_func(np.ones((64, 64)), np.ones((64, 64)), np.ones((64, 64)))
    golden.check(str(parallelize(check_bounds(lower_blocks(func)))), "ir")


@pytest.mark.parametrize("shape", [(1, 1, 1), (5, 3, 2), (9, 33, 17), (70, 40, 30)])
def test_products(shape: tuple[int, int, int]) -> None:
    n, m, depth = shape
    generator = np.random.default_rng(0)
    kernel: AnyKernel = Kernel(product.__hybrid_function__, parallel=True)
    with eager():
        check(kernel, generator.random((n, depth)), generator.random((depth, m)), np.zeros((n, m)))


@hybrid.script(parallel=True)
def terms_outside(a: Array, b: Array, c: Array) -> None:
    for k in range(a.shape[1]):
        for i in range(a.shape[0]):
            for j in range(b.shape[1]):
                c[i, j] += a[i, k] * b[k, j]


@pytest.mark.parametrize("shape", [(1, 1, 1), (9, 33, 17), (70, 40, 30)])
def test_loops_inside_of_sums(shape: tuple[int, int, int]) -> None:
    """The loop over terms is no loop for threads; the one over rows goes around it, in blocks."""
    n, m, depth = shape
    generator = np.random.default_rng(0)
    kernel: AnyKernel = Kernel(terms_outside.__hybrid_function__, parallel=True)
    with eager():
        check(kernel, generator.random((n, depth)), generator.random((depth, m)), np.zeros((n, m)))


def test_golden_terms_outside(golden: Golden) -> None:
    func = terms_outside.prim_func(np.ones((64, 70)), np.ones((70, 64)), np.ones((64, 64)))
    golden.check(str(parallelize(check_bounds(lower_blocks(func)))), "ir")


@hybrid.script(parallel=True)
def skewed(a: Array, b: Array) -> None:
    for t in range(6):
        for i in range(1, a.shape[0]):
            a[i] = a[i - 1] * 0.5 + b[i] + t


def test_a_sweep_that_reads_its_neighbours_stays_as_it_is() -> None:
    assert "in parallel(" not in lowered(skewed, *arrays(LARGE))


@hybrid.script(parallel=True)
def few_channels(a: Array, b: Array) -> None:
    for c in range(3):
        for i in range(a.shape[0]):
            b[i, c] = a[i, c] * 2


@pytest.mark.parametrize("rows", [0, 1, 3])
def test_loops_without_iterations_are_not_cut_into_blocks(rows: int) -> None:
    @hybrid.script(parallel=True)
    def last_of_none(a: Any, n: int) -> Any:
        last = 7
        for _ in range(n):
            for j in range(a.shape[1]):
                last = j
        return last

    with eager(), threads(3):
        assert last_of_none(np.zeros((2, 0)), rows) == 7


def test_of_a_few_iterations_the_loop_inside_is_better() -> None:
    text = lowered(few_channels, np.ones((LARGE, 3)), np.ones((LARGE, 3)))
    assert text.index("in range(3)") < text.index("in parallel(")


@hybrid.script(parallel=True)
def refuses(a: Array, b: Array) -> None:
    for i in range(a.shape[0]):
        if a[i] < 0:
            raise ValueError("negative", i)
        b[i] = a[i]


def test_the_first_error_is_reported() -> None:
    a, b = np.ones(4000), np.zeros(4000)
    a[[3999, 2100, 1300]] = -1
    kernel: AnyKernel = Kernel(refuses.__hybrid_function__, parallel=True)
    with eager():
        for count in THREADS:
            with threads(count), pytest.raises(ValueError, match="1300"):
                kernel(a, b)


@hybrid.script(parallel=True)
def columns_by_index(a: Array, k: Array, c: Array) -> None:
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            c[j] = c[j] * 0.5 + a[i, k[i, j]]


def test_rows_run_one_after_the_other_where_one_may_fail() -> None:
    a = np.random.default_rng(0).random((64, 512))
    k = np.tile(np.arange(512), (64, 1))
    k[2, 500], k[3, 1] = 701, 702
    expected, found = np.zeros(512), np.zeros(512)
    with pytest.raises(IndexError, match="701"):
        columns_by_index.py_func(a, k, expected)
    kernel: AnyKernel = Kernel(columns_by_index.__hybrid_function__, parallel=True)
    with eager(), threads(3), pytest.raises(IndexError, match="701"):
        kernel(a, k, found)
    assert (found == expected).all()


@hybrid.script(parallel=True)
def note_of_largest(a: Array, b: Array) -> Any:
    best, found = -1.0, 0
    for i in range(a.shape[0]):
        if a[i] > best:
            best = a[i]
            found = 6 // int(b[i])
    return found


def test_what_is_noted_of_no_extremum_does_not_fail() -> None:
    """Largest elements of a chunk, which are not the largest of all so far."""
    a, b = np.ones(4000), np.zeros(4000)
    a[1], b[:2] = 2.0, 3.0
    kernel: AnyKernel = Kernel(note_of_largest.__hybrid_function__, parallel=True)
    with eager(), threads(3):
        assert kernel(a, b) == 2


def test_held_against_the_plain_function() -> None:
    kernel: AnyKernel = Kernel(rows.__hybrid_function__, parallel=True)
    with eager(), threads(3), config.scope(check=True):
        kernel(*arrays(300))


def test_a_signal_ends_a_loop(tmp_path: Path) -> None:
    program = """
        import _thread, threading
        import numpy as np
        from hybridjit import hybrid, threads

        @hybrid.script(parallel=True)
        def endless(a, n):
            for i in range(a.shape[0]):
                for _ in range(n):
                    a[i] = a[i] * 0.5 + 1.0

        endless(np.ones(64), 3)
        print("in parallel(" in endless.inspect("lowered", np.ones(64), 3))
        timer = threading.Timer(0.5, _thread.interrupt_main)
        try:
            timer.start()
            with threads(2):
                endless(np.ones(64), 1 << 60)
        except KeyboardInterrupt:
            print("interrupted")
        """
    assert run_program(tmp_path, program) == "True\ninterrupted\n"


def test_arguments_that_share_memory_run_in_order() -> None:
    memory: Any = np.random.default_rng(0).random(200)
    expected: Any = memory.copy()
    neighbours.py_func(expected[:-1], expected[1:])
    kernel: AnyKernel = Kernel(neighbours.__hybrid_function__, parallel=True)
    with eager(), threads(3):
        kernel(memory[:-1], memory[1:])
    assert (memory == expected).all()


@pytest.mark.parametrize("extent", ["0", "n % 1", "1", "n % 1 + 3"])
def test_loops_of_few_iterations_are_cut_into_blocks(extent: str) -> None:
    func = parse(
        f"def f(a: float64[5], n: int):\n    for i in range({extent}):\n        a[i] = 1.0\n"
    )
    loop = func.body
    assert isinstance(loop, For)
    wanted = replace(loop, annotations=((ON_THREADS, True),))
    func = check_bounds(lower_blocks(replace(func, body=wanted, parallel=True)))
    verify(parallelize(func), Stage.LOOPS)
