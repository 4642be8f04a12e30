"""Results whose size is computed: plain Python, the interpreter and native code give the same."""

from __future__ import annotations

import contextlib
import gc
from typing import Any

import numpy
import pytest

from hybridjit import hybrid, parse, structural_equal
from tests.corpus.brought import packed_positive
from tests.support.array_results import assert_agree
from tests.support.memory import growth, needs_proc, resident_megabytes

np: Any = numpy
SIZES = (0, 1, 2, 7, 16, 33, 100)


@hybrid.script
def counted(a: Any) -> Any:
    k = 0
    for i in range(a.shape[0]):
        if a[i] > 0:
            k += 1
    rows = np.zeros((k, 3), a.dtype)
    for i in range(k):
        rows[i] = i
    return rows, k, rows[:, 1] * 2


@hybrid.script
def on_several_paths(a: Any) -> Any:
    if a.shape[0] == 0:
        return np.zeros(0, a.dtype)
    for i in range(a.shape[0]):
        if a[i] > 0:
            return np.full(i, a[i])
    return a * 2


@hybrid.script
def of_two_sizes(a: Any) -> Any:
    if a.sum() > 0:
        return np.zeros(3)
    return np.ones(5)


@hybrid.script
def twice_the_same(a: Any) -> Any:
    found = a[a > 0]
    return found, found


@hybrid.script
def selected(a: Any) -> Any:
    return a[a > 0]


@hybrid.script
def selected_rows(a: Any) -> Any:
    rows = np.concatenate((a, a, a)).reshape(3, -1)
    return rows[rows.sum(axis=1) > 0], rows[:, a > 0], rows[rows > 0.5]


@hybrid.script
def used_as_arrays(a: Any) -> Any:
    x = a[a > 0]
    total = np.float64(0)
    for value in x:
        total += value
    for i in range(len(x)):
        total += x[i] * i
    return total, x.shape[0], x[::-1] + x, np.cumsum(a[a < 0])


@hybrid.script
def stored_where_true(a: Any) -> Any:
    b = a.copy()
    b[b > 0] = b[b > 0][::-1]
    m = b < 0
    b[m] += np.arange(np.sum(m)).astype(a.dtype)
    b[np.where(b > 1)] = 9
    return b


@hybrid.script
def groups(a: Any) -> Any:
    rows = np.concatenate((a, a)).reshape(2, -1).T.copy()
    labels = np.arange(rows.shape[0]) % 3
    means = np.zeros((3, 2))
    for j in range(3):
        if np.any(labels == j):
            means[j] = rows[labels == j].mean(axis=0)
    return means


KERNELS = (
    *(packed_positive, counted, on_several_paths, of_two_sizes, twice_the_same, selected),
    *(selected_rows, used_as_arrays, stored_where_true, groups),
)


@pytest.mark.sampled(16)
@pytest.mark.parametrize("dtype", ["float64", "float32", "int32"])
@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.__name__)
def test_as_plain_python(kernel: Any, dtype: str) -> None:
    random = np.random.default_rng(0)
    for size in SIZES:
        a = (random.standard_normal(size) * 3).astype(dtype)
        for array in (a, -abs(a), np.repeat(a, 2)[::2], a[::-1]):
            assert_agree(kernel, [array])


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.__name__)
def test_the_printed_program_reads_back(kernel: Any) -> None:
    func = kernel.prim_func(np.ones(16))
    assert structural_equal(parse(str(func)), func)


def test_results_belong_to_the_caller() -> None:
    a = np.arange(-50.0, 50.0)
    one, other = selected(a), selected(a)
    one[:] = 0
    assert other.sum() == selected.py_func(a).sum()
    assert one.flags.c_contiguous
    assert one.flags.writeable
    part = one[:3]
    del one
    gc.collect()
    assert selected(a)[0] == 1  # in other memory
    assert part.tolist() == [0, 0, 0]


@hybrid.script
def fails_late(a: Any) -> Any:
    found = np.zeros(8_000_000 + a[0])
    for i in range(a.shape[0]):
        found[a[i]] += 1
    return found


@needs_proc
def test_memory_is_freed_with_the_array_and_on_errors() -> None:
    a = np.arange(3)
    fails_late(a)
    before = resident_megabytes()
    for _ in range(6):
        assert fails_late(a)[2] == 1
        with pytest.raises(IndexError, match="out of bounds"):
            fails_late(np.array([0, 9_000_000_000]))
    assert resident_megabytes() - before < 3 * 64


@hybrid.script
def zeros_of(n: Any, k: Any) -> Any:
    size = 1
    for _ in range(k):
        size *= n
    return np.zeros(size)


def test_sizes_that_cannot_be() -> None:
    assert zeros_of(3, 2).shape == (9,)
    for _ in range(2):
        with pytest.raises(ValueError, match="negative dimensions"):
            zeros_of(-3, 3)
        with pytest.raises((ValueError, MemoryError), match=r"too (big|large)|memory|allocate"):
            zeros_of(10, 17)


def test_shapes_that_do_not_fit_are_errors() -> None:
    @hybrid.script
    def stores(a: Any, b: Any) -> Any:
        a[a > 0] = b

    stores(np.ones(3), np.arange(3.0))
    stores(np.ones(3), np.arange(1.0))
    with pytest.raises(ValueError, match="do not fit: sizes 2 and 3"):
        stores(np.ones(3), np.arange(2.0))


@hybrid.script
def fails_after(a: Any, k: Any) -> Any:
    found = a[a > 0]
    rows = np.zeros((found.size, 2))
    return found[k], rows


@needs_proc
@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    "kernel", [packed_positive, counted, selected, of_two_sizes, twice_the_same]
)
def test_many_calls_leave_nothing_behind(kernel: Any, many_calls: int) -> None:
    a = np.arange(-500.0, 500.0)
    assert growth(lambda: kernel(a), many_calls) < 4


@needs_proc
def test_many_errors_leave_nothing_behind(many_calls: int, unchecked: None) -> None:
    a = np.arange(-500.0, 500.0)
    fails_after(a, 3)

    def fail() -> None:
        with contextlib.suppress(IndexError):
            fails_after(a, 999)

    with pytest.raises(IndexError, match="out of bounds"):
        fails_after(a, 999)
    assert growth(fail, many_calls) < 4
