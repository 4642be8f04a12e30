"""Threads over blocks of lanes: a parallel loop keeps what it was told to run side by side."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import hybridjit as hj
from hybridjit import Kernel, hybrid
from hybridjit.errors import ScheduleError
from hybridjit.hybrid import parallel
from hybridjit.schedule.schedule import Schedule
from tests.corpus.case import Array
from tests.frontend.from_text import script_from_text
from tests.lowering.sum_kernels import terms_outside
from tests.support.parallel_programs import check, eager

AnyKernel = Kernel[..., Any]
Steps = Callable[[Schedule], None]
SIZES = (0, 1, 3, 17, 64, 77)
LANGUAGE = {"Array": Array, "parallel": parallel}


@hybrid.script
def row_sums(y: Array, a: Array) -> None:
    for i in range(a.shape[0]):
        for k in range(a.shape[1]):
            y[i] += a[i, k]


@hybrid.script
def backwards(y: Array, a: Array) -> None:
    for i in range(a.shape[0] - 1, -1, -2):
        for k in range(a.shape[1]):
            y[i] += a[i, k]


@hybrid.script
def picked(y: Array, a: Array) -> None:
    for i in range(a.shape[0]):
        total = 0.0
        for k in range(a.shape[1]):
            total += a[i, int(a[i, k] * 4)]
        y[i] = total


@hybrid.script
def with_a_count(y: Array, a: Array) -> int:
    count = 0
    for i in range(a.shape[0]):
        total = 0.0
        for k in range(a.shape[1]):
            total += a[i, k]
        y[i] = total
        count += 1
    return count


@hybrid.script
def nearest(labels: Array, points: Array) -> None:
    for i in range(points.shape[0]):
        best = np.inf
        for c in range(9):
            distance = 0.0
            for k in range(points.shape[1]):
                distance += (points[i, k] - 0.1 * c) ** 2
            if distance < best:
                best = distance
                labels[i] = c


def body_of(y: Array, a: Array) -> None:
    for i in range(a.shape[0]):
        value = a[i, 0]
        for k in range(a.shape[1]):
            value = value * 0.5 + a[i, k]
        y[i] = value


def product(c: Array, a: Array, b: Array) -> None:
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            total = 0.0
            for k in range(b.shape[0]):
                total += a[i, k] * b[k, j]
            c[i, j] = total


def with_threads(function: Any) -> AnyKernel:
    """The script, its outermost loop written as `parallel`."""
    text = inspect.getsource(function).replace("in range(", "in parallel(", 1)
    return script_from_text(text.replace(f"def {function.__name__}", "def f"), LANGUAGE)


def lanes_first(s: Schedule) -> None:
    s.sums_in_lanes("i", lanes=8)
    s.parallel("i")


def threads_first(s: Schedule) -> None:
    s.parallel("i")
    s.sums_in_lanes("i", lanes=8)


def without_proof(s: Schedule) -> None:
    s.sums_in_lanes("i", lanes=8)
    s.parallel("i", unsafe=True)


def if_possible(s: Schedule) -> None:
    s.sums_in_lanes("i", lanes=8, if_possible=True)
    s.parallel("i")


def rows(s: Schedule) -> None:
    s.sums_in_lanes("j", "i", lanes=16, rows=4)
    s.parallel("i")


def arrays(n: int, m: int = 9) -> tuple[Any, Any]:
    return np.zeros(n), np.random.default_rng(n).random((n, m))


def outermost(kernel: AnyKernel, *args: Any) -> Any:
    return kernel.report(*args).loops[0]


@pytest.mark.parametrize("steps", [lanes_first, threads_first, without_proof, if_possible])
def test_both_are_kept(steps: Steps) -> None:
    loop = outermost(row_sums.with_schedule(steps), *arrays(512, 512))
    assert loop.on_threads
    assert loop.lanes == 8


def test_rows_of_a_tile_are_kept() -> None:
    args = [np.zeros((96, 96)) for _ in range(3)]
    loop = outermost(terms_outside.with_schedule(rows), *args)
    assert loop.on_threads
    assert loop.rows == 4


def test_a_receipt_with_threads_keeps_its_lanes() -> None:
    args = arrays(5000, 3)
    s = nearest.auto_schedule(*args)
    s.parallel("i")
    loop = outermost(nearest.with_schedule(s), *args)
    assert loop.on_threads
    assert loop.lanes > 1


def test_blocks_are_whole_vectors() -> None:
    text = row_sums.with_schedule(lanes_first).inspect("lowered", *arrays(512, 64))
    assert re.search(r"for block_?\d* in parallel\(64\b", text)
    assert re.search(r"for i in vectorize\(block_?\d* \* 8, block_?\d* \* 8 \+ 8\)", text)


@pytest.mark.parametrize(
    ("kernel", "steps"),
    [
        (row_sums, lanes_first),
        (row_sums, without_proof),
        (backwards, if_possible),
        (picked, if_possible),
        (with_a_count, if_possible),
        (nearest, if_possible),
    ],
)
def test_results_of_every_size(kernel: AnyKernel, steps: Steps) -> None:
    made = kernel.with_schedule(steps)
    with eager():
        for size in SIZES:
            check(made, arrays(size), 1, 3)


@pytest.mark.parametrize("shape", [(0, 3, 5), (1, 9, 17), (17, 9, 33), (64, 20, 77)])
def test_results_of_tiles(shape: tuple[int, int, int]) -> None:
    n, terms, m = shape
    rng = np.random.default_rng(0)
    with eager():
        check(
            terms_outside.with_schedule(rows),
            (np.zeros((n, m)), rng.random((n, terms)), rng.random((terms, m))),
            *(1, 3),
        )


def test_sizes_that_only_a_run_knows() -> None:
    loop = outermost(row_sums.with_schedule(lanes_first), hj.f64["n"], hj.f64["n", "m"])
    assert loop.on_threads
    assert loop.lanes == 8


def test_an_index_outside_is_the_first_one() -> None:
    y, a = arrays(100)
    a[70, 3], a[33, 5] = 50.0, 60.0
    made: AnyKernel = picked.with_schedule(if_possible)
    with eager(), pytest.raises(IndexError, match="240"):
        made(y, a)


def test_lanes_that_are_said_are_those_that_there_are() -> None:
    """Blocks that the compiler makes may be shorter than the vectors that it had chosen."""
    args = np.zeros(512, np.float32), np.zeros((512, 512), np.float32)
    on_all_cores: AnyKernel = hybrid.script(row_sums, parallel=True)
    widths = re.findall(
        r"vectorize\([^,]*, [^)]* \+ (\d+)\)", on_all_cores.inspect("lowered", *args)
    )
    assert outermost(on_all_cores, *args).lanes == max(map(int, widths))


def test_threads_inside_of_the_terms_are_refused() -> None:
    def steps(s: Schedule) -> None:
        s.sums_in_lanes("j", "i", lanes=16, rows=4)
        s.parallel("j")

    args = [np.zeros((96, 96)) for _ in range(3)]
    with pytest.raises(
        ScheduleError, match=r"(?s)inside of the loop over their terms.*s\.parallel of"
    ):
        terms_outside.with_schedule(steps)(*args)


def test_loops_that_are_written_as_parallel_run_in_lanes_too() -> None:
    loop = outermost(with_threads(body_of), *arrays(5000))
    assert loop.on_threads
    assert loop.lanes == outermost(hybrid.script(body_of), *arrays(5000)).lanes > 1


def test_and_their_products_have_tiles() -> None:
    args = [np.zeros((96, 96)) for _ in range(3)]
    loop = outermost(with_threads(product), *args)
    assert loop.on_threads
    assert loop.rows == 4


def test_results_of_loops_that_are_written_as_parallel() -> None:
    values, products = with_threads(body_of), with_threads(product)
    rng = np.random.default_rng(0)
    with eager():
        for size in SIZES:
            check(values, arrays(size), 1, 3)
        for n, terms, m in [(0, 3, 5), (1, 9, 17), (17, 9, 33), (64, 20, 77)]:
            check(products, (np.zeros((n, m)), rng.random((n, terms)), rng.random((terms, m))), 3)
