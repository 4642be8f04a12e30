"""Innermost loops in lanes: where it is legal, and bit for bit what plain Python gives."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import hybridjit as hj
from hybridjit import Kernel, config, hybrid
from hybridjit.hybrid import parallel
from tests.corpus.case import Array
from tests.support.guarded import check_guarded
from tests.support.oracle import assert_same_outcome, fresh, run_native, run_once, run_plain
from tests.support.processors import PROCESSORS, compiling_for, needs_wide_vectors

AnyKernel = Kernel[..., Any]
SIZES = (0, 1, 7, 8, 9, 16, 17, 33, 70)
DTYPES = (np.float32, np.float64, np.int32, np.int16)


@hybrid.script
def chosen(a: Array, b: Array, c: Array) -> None:
    for i in range(b.shape[0]):
        if a[i] > 0:
            b[i] = a[i] * 2
        else:
            c[i] = b[i]


@hybrid.script
def window(a: Array, b: Array, c: Array) -> None:
    for i in range(b.shape[0]):
        for d in range(3):
            if i - d >= 0 and i - d < b.shape[0] - 1:
                b[i] = b[i] + a[i - d] * c[i]


@hybrid.script
def both(a: Array, b: Array, c: Array) -> None:
    for i in range(b.shape[0]):
        if a[i] > 0 and c[i] < 3:
            b[i] += 1
        if a[i] != 1 or c[i] == 2:
            c[i] = b[i]


@hybrid.script
def carried(a: Array, b: Array, c: Array) -> None:
    for i in range(1, b.shape[0]):
        if a[i] > 0:
            b[i] = b[i - 1] + a[i]


@hybrid.script
def counted(a: Array, b: Array, c: Array) -> None:
    n = 0
    for i in range(b.shape[0]):
        if a[i] > 0:
            b[n] = a[i] + n
            n += 1


@hybrid.script
def left(a: Array, b: Array, c: Array) -> None:
    for i in range(b.shape[0]):
        if a[i] > 3:
            break
        b[i] = a[i]


@hybrid.script
def checked(a: Array, b: Array, c: Array) -> None:
    for i in range(b.shape[0]):
        if a[i] > 0:
            b[int(a[i]) % b.shape[0]] = a[i]


@hybrid.script
def plain(a: Array, b: Array, c: Array) -> None:
    for i in range(b.shape[0]):
        b[i] = a[i] * c[i] + b[i]


@hybrid.script
def ahead(a: Array, b: Array, c: Array) -> None:
    """What is read is written by later iterations only."""
    for i in range(b.shape[0] - 2):
        c[i] = b[i + 2] * 2
        b[i] = b[i + 1] + a[i]


@hybrid.script
def behind(a: Array, b: Array, c: Array) -> None:
    """The second statement reads what the first one of the iteration before has written."""
    for i in range(1, b.shape[0]):
        b[i] = a[i] * 2
        c[i] = b[i - 1] + b[i]


@hybrid.script
def early(a: Array, b: Array, c: Array) -> None:
    """The first statement reads what the second one of the iteration before has written."""
    for i in range(1, b.shape[0]):
        c[i] = b[i - 1] + a[i]
        b[i] = a[i] * 2


@hybrid.script
def carried_along(a: Array, b: Array, c: Array) -> None:
    for i in range(2, b.shape[0]):
        b[i] = b[i - 2] + a[i]


@hybrid.script
def in_turns(a: Array, b: Array, c: Array) -> None:
    """The second turn reads what the first one of the next iteration would have written."""
    for i in range(b.shape[0] - 1):
        for d in range(2):
            b[i] = b[i + 1] * 2 + a[i] * d


@hybrid.script
def doubled(a: Array, b: Array, c: Array) -> None:
    for i in range(b.shape[0]):
        b[i] = a[i] * 2


@hybrid.script
def strides(a: Array, b: Array, c: Array) -> None:
    for i in range(b.shape[0] // 3):
        b[i] = a[3 * i] + a[3 * i + 1] + a[3 * i + 2] + c[2 * i] + c[2 * i + 1]


@hybrid.script
def far_strides(a: Array, b: Array, c: Array) -> None:
    for i in range(b.shape[0] // 9):
        b[i] = a[5 * i] + a[6 * i + 2] + c[7 * i] + c[8 * i + 7] + c[9 * i + 1]


@hybrid.script
def apart(a: Array, b: Array, c: Array) -> None:
    for i in range(b.shape[0] // 2):
        b[2 * i + 1] = (a[i] * c[i] + a[i]) * c[2 * i] - c[i] * 2 - a[i] + 1


@hybrid.script
def in_groups(a: Array, b: Array, c: Array) -> None:
    """What the inner variable is divided by is the same in all lanes."""
    for i in range(b.shape[0]):
        for d in range(6):
            b[i] = b[i] + a[i] * (d % 3) - c[i] * (d // 3)


@hybrid.script
def backwards(a: Array, b: Array, c: Array) -> None:
    for i in range(b.shape[0] - 1, -1, -1):
        b[i] = a[i] + c[b.shape[0] - 1 - i]


@hybrid.script
def every_third(a: Array, b: Array, c: Array) -> None:
    for i in range(1, b.shape[0], 3):
        b[i] = (a[i] * c[i] + b[i]) * a[i] - c[i] * 2 - a[i] + 1


@hybrid.script
def triangle(a: Array, b: Array, c: Array) -> None:
    for i in range(b.shape[0]):
        for j in range(i):
            c[j] = c[j] + a[i] - b[j]


@hybrid.script
def totals(a: Array, b: Array, c: Array) -> None:
    total: Any = np.int32(0)
    most: Any = np.int32(-100)
    count = 0
    for i in range(b.shape[0]):
        total += np.int32(a[i])
        most = max(most, np.int32(b[i]))
        if c[i] > 0:
            count += 1
    for i in range(min(1, b.shape[0])):
        b[i] = total + most + count


@hybrid.script
def in_parallel(a: Array, b: Array, c: Array) -> None:
    for i in parallel(b.shape[0]):
        b[i] = a[i] * c[i] + b[i]


IN_LANES = (
    *(chosen, window, both, plain, ahead, behind, strides, backwards, every_third),
    *(triangle, totals, doubled, far_strides, apart, in_groups),
)
IN_ORDER = (carried, counted, left, checked, early, carried_along, in_turns)


def name_of(kernel: AnyKernel) -> str:
    return kernel.__name__


def arrays(size: int, dtype: Any = np.float32) -> list[Any]:
    generator = np.random.default_rng(size)
    return [generator.integers(-4, 5, size).astype(dtype) for _ in range(3)]


@needs_wide_vectors
@pytest.mark.parametrize("kernel", IN_LANES, ids=name_of)
def test_independent_iterations_have_lanes(kernel: AnyKernel) -> None:
    assert "vectorize(" in kernel.inspect("lowered", *arrays(40))


@pytest.mark.parametrize("kernel", IN_ORDER, ids=name_of)
def test_what_needs_its_order_keeps_it(kernel: AnyKernel) -> None:
    assert "vectorize(" not in kernel.inspect("lowered", *arrays(40))


@pytest.mark.sampled(8)
@pytest.mark.parametrize("kernel", [*IN_LANES, *IN_ORDER, in_parallel], ids=name_of)
@pytest.mark.parametrize("dtype", DTYPES)
def test_results_are_those_of_plain_python(kernel: AnyKernel, dtype: Any) -> None:
    anew: AnyKernel = Kernel(kernel.__hybrid_function__)
    for size in SIZES:
        args = arrays(size, dtype)
        found = run_once(run_native, anew, args)
        assert_same_outcome(found, run_once(run_plain, anew, args))


def test_arguments_that_share_memory_run_in_order() -> None:
    a = np.arange(-20.0, 20.0)
    args = [a[:-1], a[1:], a[1:]]
    found = run_once(run_native, chosen, args)
    assert_same_outcome(found, run_once(run_plain, chosen, args))


@pytest.mark.parametrize("kernel", IN_LANES, ids=name_of)
def test_lanes_that_are_off_touch_nothing(kernel: AnyKernel) -> None:
    for size in SIZES:
        check_guarded(kernel, arrays(size))


@pytest.mark.sampled(4)
@pytest.mark.parametrize("cpu", PROCESSORS)
def test_every_processor_gives_the_same(cpu: str) -> None:
    with compiling_for(cpu), config.scope(cache_enabled=False):
        for kernel in IN_LANES:
            anew: AnyKernel = Kernel(kernel.__hybrid_function__)
            for size in (3, 19, 45):
                args = arrays(size, np.float64)
                found = run_once(run_native, anew, args)
                assert_same_outcome(found, run_once(run_plain, anew, args))


@hybrid.script
def pooled(a: Array, b: Array) -> None:
    for i in range(b.shape[0]):
        for d in range(3):
            b[i] = max(b[i], a[2 * i + d])


@pytest.mark.parametrize("size", [1, 4, 7, 16, 27, 28, 40])
def test_windows_a_few_apart(size: int) -> None:
    a = np.random.default_rng(size).random(2 * size + 1, np.float32)
    assert ("vectorize(" in pooled.inspect("lowered", a, np.zeros(size, np.float32))) == (size > 3)
    check_guarded(fresh(pooled), [a, np.zeros(size, np.float32)])


@hybrid.script
def rows(a: Array, b: Array) -> None:
    for i in range(b.shape[0] - 1):
        b[i] = a[i, 0] * a[i, 1] + a[i + 1, 0] - a[i, 2]


@pytest.mark.parametrize("width", [3, 4, 5])
def test_elements_of_rows_lie_between_each_other(width: int) -> None:
    anew: AnyKernel = Kernel(rows.__hybrid_function__)
    for size in (1, 2, 8, 9, 17, 40, 100):
        a = np.random.default_rng(size).random((size, width), np.float32)
        check_guarded(anew, [a, np.zeros(size, np.float32)])
        check_guarded(anew, [np.asfortranarray(a), np.zeros(size, np.float32)])


def test_parallel_loops_have_lanes() -> None:
    text = in_parallel.inspect("llvm", *[hj.f64[100_000]] * 3)
    assert re.search(r"fmul <\d+ x double>", text)


# -- sums in their order ---------------------------------------------------------------------------


@hybrid.script
def logarithms(a: Array) -> Any:
    total = 0.0
    for i in range(a.shape[0]):
        total += np.log(a[i])
    return total


@hybrid.script
def normalized(a: Array) -> Any:
    total = 0.0
    for i in range(a.shape[0]):
        a[i] = np.exp(a[i])
        total += a[i]
    return total


@hybrid.script
def decaying(a: Array) -> Any:
    total, product = 0.0, 1.0
    for i in range(a.shape[0]):
        term = np.sin(a[i])
        product *= 1.0 + term
        total = total * 0.5 + term * product
    return total


ORDERED = (logarithms, normalized, decaying)


def numbers(size: int) -> Any:
    return np.random.default_rng(size).uniform(0.1, 2.0, size)


@pytest.mark.parametrize("kernel", ORDERED, ids=name_of)
def test_terms_of_sums_have_lanes(kernel: AnyKernel) -> None:
    assert "terms[" in kernel.inspect("lowered", np.ones(40))


@pytest.mark.parametrize("size", [*SIZES, 100])
@pytest.mark.parametrize("kernel", [logarithms, normalized], ids=name_of)
def test_sums_are_those_of_one_element_after_the_other(kernel: AnyKernel, size: int) -> None:
    a = numbers(size)
    each = [kernel(a[i : i + 1].copy()) for i in range(size)]
    total = 0.0
    for term in each:
        total += term
    assert kernel(a) == total


@pytest.mark.parametrize("size", SIZES)
def test_other_recurrences_keep_their_order(size: int) -> None:
    a = numbers(size)
    np.testing.assert_allclose(decaying(a), decaying.py_func(a), rtol=1e-13)


@hybrid.script
def cheap(a: Array) -> Any:
    total = 0.0
    for i in range(a.shape[0]):
        total += a[i] * a[i]
    return total


def test_cheap_terms_stay_where_they_are() -> None:
    assert "vectorize(" not in cheap.inspect("lowered", np.ones(40))


@hybrid.script
def product(a: Array, b: Array, c: Array) -> None:
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            for k in range(a.shape[1]):
                c[i, j] += a[i, k] * b[k, j]


def in_tiles(s: hj.Schedule) -> None:
    outer, inner = s.split("i", factor=12)
    columns, column = s.split("j", factor=32)
    s.reorder(outer, columns, "k", inner, column)


@hybrid.script
def by_name(a: Array, b: Array, c: Array) -> None:
    for i in range(12):
        for j in range(32):
            row = i + 2
            twice = 2 * row
            c[twice, j] = a[row, j] * b[j, row] + 1


@pytest.mark.parametrize(
    ("kernel", "lanes"),
    [(product.with_schedule(in_tiles), "j_1"), (by_name, "j")],
    ids=["tiles", "names"],
)
def test_lanes_go_along_rows_whatever_indices_are_called(kernel: AnyKernel, lanes: str) -> None:
    args = [np.random.default_rng(0).random((48, 48)) for _ in range(3)]
    assert [loop.name for loop in kernel.report(*args).loops if loop.lanes > 1] == [lanes]
    assert_same_outcome(run_once(run_native, kernel, args), run_once(run_plain, kernel, args))


def test_a_report_tells_gathers_whatever_indices_are_called() -> None:
    args = [np.random.default_rng(0).random((48, 48)) for _ in range(3)]
    assert "1 of 2 loads gathers" in str(by_name.report(*args))
