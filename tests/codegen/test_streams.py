"""Loops that write past the caches: what they store is right, wherever a line of a cache begins."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from llvmlite import ir as llvm_ir

import hybridjit as hj
from hybridjit import Kernel, config, f64, hybrid
from hybridjit.analysis import traffic
from hybridjit.codegen.emit import stream_stores as emit_streams
from hybridjit.codegen.emit.vector_memory import Access
from hybridjit.codegen.llvm_types import I64
from hybridjit.hybrid import parallel
from hybridjit.processor import host_target
from tests.planted.bugs import Bug, replaced
from tests.planted.trying import assert_noticed, needs_fork
from tests.runtime.native_calls import AnyKernel
from tests.support.oracle import assert_same

pytestmark = pytest.mark.skipif(
    not host_target().triple.startswith("x86_64"), reason="only x86 has such stores here"
)
STORE = "!nontemporal"


@pytest.fixture
def eager() -> Iterator[None]:
    """Arrays of any size are written past the caches."""
    with patch.object(traffic, "STREAM_BYTES", 1), config.scope(cache_enabled=False):
        yield


@hybrid.script
def triad(a: Any, b: Any, c: Any) -> None:
    c[:] = a * 2 + b


def is_streamed(kernel: Any, *args: Any) -> bool:
    return STORE in kernel.inspect("llvm", *args)


# Which loops


def test_large_arrays_are_written_past_the_caches() -> None:
    assert is_streamed(triad, *[f64[1 << 22]] * 3)
    assert not is_streamed(triad, *[f64[1 << 20]] * 3)


@hybrid.script
def doubled(a: Any) -> Any:
    return a * 2.0


def test_new_arrays_that_the_system_clears_are_in_the_caches() -> None:
    assert is_streamed(doubled, f64[(1 << 22) - 1])
    assert not is_streamed(doubled, f64[1 << 22])


@hybrid.script
def updated(a: Any, c: Any) -> None:
    c[:] = c + a


@hybrid.script
def divided(a: Any, c: Any) -> None:
    for i in range(a.shape[0]):
        c[i] = 7 // a[i]


@hybrid.script
def spread(a: Any, c: Any) -> None:
    for i in range(a.shape[0]):
        c[i % 100] = a[i]


@hybrid.script
def summed(a: Any, c: Any) -> None:
    for i in range(1, a.shape[0]):
        c[i] = c[i - 1] + a[i]


@pytest.mark.usefixtures("eager")
@pytest.mark.parametrize("kernel", [updated, divided, spread, summed])
def test_others_are_not(kernel: Any) -> None:
    assert not is_streamed(Kernel(kernel.__hybrid_function__), hj.i64[1000], hj.i64[1000])


# Values


def check(kernel: Any, *args: Any) -> None:
    made: AnyKernel = Kernel(kernel.__hybrid_function__)
    target = args[-1]
    for _ in range(3):
        target[...] = 0
        made(*args)
        found = target.copy()
        target[...] = 0
        kernel.py_func(*args)
        assert_same(found, target)


DTYPES = ("float64", "float32", "int8", "bool", "complex64", "complex128", "float16")


@pytest.mark.usefixtures("eager")
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("size", [0, 1, 63, 64, 65, 127, 1000, 1023])
def test_sizes_and_types(dtype: str, size: int) -> None:
    generator = np.random.default_rng(size)
    a, b, c = (generator.integers(0, 20, size).astype(dtype) for _ in range(3))
    if dtype == "bool":
        check(both, a, b, c)
    else:
        check(triad, a, b, c)


@hybrid.script
def chosen(k: Any, a: Any, c: Any) -> None:
    for i in range(c.shape[1]):
        row = (k[i] + 5) % 3
        c[row, i] = a[row, i] * 2.0


@pytest.mark.usefixtures("eager")
def test_rows_that_change_from_element_to_element() -> None:
    generator = np.random.default_rng(3)
    check(chosen, generator.integers(0, 9, 500), generator.random((3, 500)), np.zeros((3, 500)))


@hybrid.script
def gathered(k: Any, a: Any, c: Any) -> None:
    for i in range(c.shape[0]):
        row = (k[i] + 5) % 3
        c[i] = a[row, i] * 2.0


@pytest.mark.usefixtures("eager")
def test_rows_that_are_read_change_from_element_to_element() -> None:
    generator = np.random.default_rng(3)
    check(gathered, generator.integers(0, 9, 500), generator.random((3, 500)), np.zeros(500))


@hybrid.script
def both(a: Any, b: Any, c: Any) -> None:
    c[:] = a & b


@pytest.mark.usefixtures("eager")
@pytest.mark.parametrize("start", range(9))
def test_lines_that_begin_anywhere(start: int) -> None:
    a, b, c = (np.arange(400.0) + k for k in range(3))
    check(triad, a[start : start + 300], b[:300], c[start : start + 300])
    check(triad, a[:300], b[start : start + 300], c[8 - start :][:300])


@pytest.mark.usefixtures("eager")
def test_elements_that_no_line_begins_with() -> None:
    memory: Any = np.zeros(16 * 300 + 8, np.uint8)
    odd = memory[8:].view(np.complex128)
    check(triad, np.arange(300) * 1j, np.arange(300) + 0j, odd)
    shifted: Any = np.zeros(8 * 300 + 3, np.uint8)
    check(triad, np.arange(300.0), np.ones(300), shifted[3:].view(np.float64))


@hybrid.script
def inner(a: Any, b: Any, c: Any) -> None:
    c[1:-1, 2:] = a[:-2, 2:] + b[2:]


@pytest.mark.usefixtures("eager")
@pytest.mark.parametrize("width", [3, 66, 200])
def test_parts_of_rows(width: int) -> None:
    generator = np.random.default_rng(width)
    a, c = (generator.random((7, width)) for _ in range(2))
    check(inner, a, generator.random(width), c)
    check(inner, a[::-1], generator.random(2 * width)[::2], c)
    check(inner, a, generator.random(width), np.zeros((7, width), order="F"))


@hybrid.script
def in_parallel(a: Any, c: Any) -> None:
    for i in parallel(a.shape[0]):
        c[i] = a[i] * 3.0


@hybrid.script
def rows_in_parallel(a: Any, c: Any) -> None:
    for i in parallel(a.shape[0]):
        for j in range(a.shape[1]):
            c[i, j] = a[i, j] * 3.0


@pytest.mark.usefixtures("eager")
def test_threads() -> None:
    a = np.random.default_rng(0).random((300, 333))
    assert is_streamed(Kernel(in_parallel.__hybrid_function__), f64[100_000], f64[100_000])
    assert is_streamed(Kernel(rows_in_parallel.__hybrid_function__), f64[300, 333], f64[300, 333])
    for threads in (1, 2, 4):
        with hj.threads(threads):
            check(in_parallel, a.ravel(), np.zeros(a.size))
            check(rows_in_parallel, a, np.zeros(a.shape))


@pytest.mark.usefixtures("eager")
def test_arrays_that_overlap_are_written_in_order() -> None:
    @hybrid.script
    def shifted(a: Any, c: Any) -> None:
        for i in range(a.shape[0]):
            c[i] = a[i] + 1.0

    memory = np.zeros(1000)
    shifted(memory[:-1], memory[1:])
    assert_same(memory, np.arange(1000.0))


# Reading


@hybrid.script
def total(a: Any) -> Any:
    return a.sum()


@hybrid.script
def total_of_a_column(a: Any) -> Any:
    return a[:, 3].sum()


def test_what_is_read_along_memory_is_asked_for_ahead() -> None:
    assert "@llvm.prefetch" in total.inspect("llvm", f64[1 << 22])
    assert "@llvm.prefetch" not in total.inspect("llvm", f64[1 << 20])
    assert "@llvm.prefetch" not in total_of_a_column.inspect("llvm", f64[1 << 16, 1 << 10])


def test_reading_ahead_goes_past_the_end() -> None:
    assert total(np.ones(1 << 22)) == 1 << 22


# Planted bugs


def _check_row() -> None:
    with patch.object(traffic, "STREAM_BYTES", 1):
        check(triad, *(np.arange(1000.0) for _ in range(3)))


def _one_later(self: Any, loop: Any, store: Any, lanes: int) -> Any:
    one = llvm_ir.Constant(I64, 1)
    return tuple(self.b.add(bound, one) for bound in _find_lines(self, loop, store, lanes))


def _not_written(self: Any, value: Any) -> None:
    pass


_find_lines = vars(emit_streams)["_find_lines"]
BUGS = (
    Bug("lines begin one later", [replaced(emit_streams, "_find_lines", _one_later)], _check_row),
    Bug("lines are not written", [replaced(Access, "_store_lines", _not_written)], _check_row),
)


@needs_fork
@pytest.mark.parametrize("bug", BUGS, ids=str)
def test_bug_is_noticed(bug: Bug) -> None:
    assert_noticed(bug)
