"""Parallel loops in native code give what the interpreter gives, on any number of threads."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from collections.abc import Generator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hybridjit import hybrid, threads
from hybridjit.errors import BoundsError, ScheduleError
from hybridjit.hybrid import allocate, parallel
from tests.support.memory import needs_proc, resident_megabytes
from tests.support.oracle import fresh
from tests.support.parallel_programs import (
    INDEPENDENT,
    PROGRAMS,
    SIZES,
    THREADS,
    Program,
    check,
    eager,
    scaled,
)

REPOSITORY = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def on_threads() -> Generator[None]:
    with eager():
        yield


@pytest.mark.sampled(8)
@pytest.mark.parametrize("program", PROGRAMS, ids=str)
def test_same_as_the_interpreter(program: Program) -> None:
    """For exact sizes and, from the second size on, for run-time sizes."""
    kernel = fresh(program.kernel)
    for size in SIZES:
        check(kernel, program.make(size), *THREADS)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("program", INDEPENDENT, ids=str)
def test_each_size_alone(program: Program) -> None:
    for size in (2, 7, 257):
        check(fresh(program.kernel), program.make(size), 3)


def calls_pool(kernel: Any, *args: Any) -> bool:
    return "hj_pool_run" in kernel.inspect("llvm", *args)


def test_loops_are_outlined_and_nested_ones_are_not() -> None:
    text = PROGRAMS[6].kernel.inspect("llvm", *PROGRAMS[6].make(7))
    assert text.count("call i32 @hj_pool_run") == 1


def test_small_loops_run_in_place() -> None:
    kernel = fresh(scaled)
    assert calls_pool(kernel, np.ones(7), 2.0, np.ones(7))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("hybridjit.codegen.emit.parallel.MIN_PARALLEL_WORK", 1 << 12)
        assert not calls_pool(kernel, np.ones(7), 2.0, np.ones(7))
        assert calls_pool(kernel, np.ones(70_000), 2.0, np.ones(70_000))


def test_arrays_that_overlap_keep_the_order() -> None:
    kernel = fresh(scaled)
    memory = np.arange(300.0)
    assert not calls_pool(kernel, memory[:-1], 2.0, memory[1:])
    check(kernel, (memory[:-1], 2.0, memory[1:]), 3)


def test_loops_that_call_out_are_refused() -> None:
    @hybrid.script
    def noisy(a: Any) -> Any:
        for i in parallel(a.shape[0]):
            print("at", i)
            a[i] = i

    with pytest.raises(ScheduleError, match=r"the effect at line .* comes before"):
        noisy(np.zeros(40))


# Errors


@hybrid.script
def refuses(a: Any, out: Any) -> Any:
    for i in parallel(a.shape[0]):
        scratch = allocate((9000,), "float64")
        scratch[i % 9000] = a[i]
        if a[i] < 0:
            raise ValueError("negative", a[i])
        out[i] = scratch[i % 9000]


@hybrid.script
def reaches(a: Any, out: Any) -> Any:
    for k in range(2):
        for i in parallel(out.shape[0]):
            for j in range(1):
                out[i] = a[i + k + j] // (out[i] + 1)


@pytest.mark.parametrize("count", THREADS)
def test_the_error_of_the_lowest_iteration_wins(count: int) -> None:
    a = np.ones(500)
    a[[77, 78, 300, 499]] = -1, -2, -3, -4
    with threads(count):
        for _ in range(20):
            with pytest.raises(ValueError, match="negative") as caught:
                refuses(a, np.zeros(500))
            assert caught.value.args == ("negative", -1.0)


@pytest.mark.parametrize("count", THREADS)
def test_errors_say_where(count: int) -> None:
    a = np.arange(300)
    out: Any = np.zeros(300, np.int64)
    with threads(count):
        for _ in range(3):
            with pytest.raises(BoundsError, match="index 300 is out of bounds") as caught:
                reaches(a, out.copy())
            assert "in iteration k=1, i=299, j=0" in str(caught.value)
    out[[100, 200]] = -1
    for _ in range(3):
        with threads(count), pytest.raises(ZeroDivisionError, match="division") as divided:
            reaches(a, out.copy())
        assert "in iteration k=0, i=100, j=0" in str(divided.value)


@needs_proc
def test_scratch_is_freed_when_a_loop_fails() -> None:
    a = np.ones(64)
    a[::7] = -1
    with threads(4):
        before = resident_megabytes()
        for _ in range(1000):
            with pytest.raises(ValueError, match="negative"):
                refuses(a, np.zeros(64))
    # Each failing chunk that did not free its 72 kB would leave 70 MB and more behind.
    assert resident_megabytes() - before < 40


# Floats


@hybrid.script(fastmath={"reassoc"})
def regrouped(a: Any, out: Any) -> Any:
    total = 0.0
    for i in parallel(a.shape[0]):
        total += a[i] * a[i]
        out[0] = out[0] * (1.0 + a[i] * 1e-3)
    return total


@pytest.mark.parametrize("size", [3, 1000, 4099])
def test_float_sums_do_not_depend_on_the_number_of_threads(size: int) -> None:
    a = np.random.default_rng(size).random(size)
    found: set[tuple[float, float]] = set()
    for count in range(1, 9):
        with threads(count):
            for _ in range(5):
                out = np.ones(1)
                found.add((float(regrouped(a, out)), float(out[0])))
    assert len(found) == 1
    ((total, product),) = found
    assert total == pytest.approx(np.sum(a * a), rel=1e-12)
    assert product == pytest.approx(np.prod(1.0 + a * 1e-3), rel=1e-12)
    assert calls_pool(regrouped, a, np.ones(1))


def test_fastmath_without_infinities_has_finite_identities() -> None:
    @hybrid.script(fastmath={"ninf", "nnan"})
    def lowest(a: Any, out: Any) -> Any:
        for i in parallel(a.shape[0]):
            out[0] = min(out[0], a[i])

    text = lowest.inspect("lowered", np.ones(100, np.float32), np.ones(1, np.float32))
    assert "inf" not in text.replace("ninf", "")
    check(lowest, (np.arange(100.0) - 50, np.ones(1)), 3)


# From the disk


def test_code_from_the_disk_runs_on_the_pool(tmp_path: Path) -> None:
    program = """
        import numpy as np
        import hybridjit as hj
        from tests.support.parallel_programs import integer_sums, scaled
        hj.set_num_threads(2)
        a, out = np.arange(100_000), np.zeros(100_000)
        for _ in range(3):
            scaled(a, 2, out)
            assert (out == 3 * a).all()
            assert integer_sums(a, np.zeros(1, int))[0] == np.sum(a)
        print("fine")
    """
    command = [sys.executable, "-c", textwrap.dedent(program)]
    for _ in range(2):
        run = subprocess.run(
            command,
            cwd=REPOSITORY,
            env={"HYBRIDJIT_CACHE_DIR": str(tmp_path / "kernels"), "PATH": ""},
            check=False,
            capture_output=True,
            text=True,
        )
        assert run.returncode == 0, run.stderr
        assert run.stdout == "fine\n"


@hybrid.script
def count_large(a: Any, k: int, out: Any) -> Any:
    for i in parallel(a.shape[0]):
        if a[i] > 100:
            out[k] += 1


@hybrid.script
def sum_rows(a: Any, out: Any) -> Any:
    for i in parallel(a.shape[0]):
        for j in range(a.shape[1]):
            out[0] += a[i, j]


@hybrid.script
def add_to_unset(a: Any, flag: bool) -> Any:
    if flag:
        total = 0
    for i in parallel(a.shape[0]):
        if a[i] > 100:
            total += a[i]  # pyright: ignore[reportPossiblyUnboundVariable]
    return 0


def test_an_element_that_no_iteration_updates_need_not_exist() -> None:
    kernel, numbers = fresh(count_large), np.arange(30)
    for place in (2, 3, -3, -4, 10**9):
        check(kernel, (numbers, place, np.zeros(3, int)), 1, 3)
        check(kernel, (numbers + 90, place, np.zeros(3, int)), 1, 3)
    check(fresh(sum_rows), (np.ones((30, 0), int), np.zeros(0, int)), 1, 3)


def test_a_variable_that_no_iteration_updates_need_not_be_set() -> None:
    for flag in (True, False):
        for offset in (0, 90):
            check(fresh(add_to_unset), (np.arange(30) + offset, flag), 1, 3)
