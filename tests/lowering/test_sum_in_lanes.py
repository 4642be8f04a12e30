"""Sums side by side in lanes and rows: only where it is legal, and bit for bit the same."""

from __future__ import annotations

import re
import signal
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import hybridjit as hj
from hybridjit import Kernel
from tests.lowering import sum_kernels
from tests.lowering.sum_kernels import IN_ORDER, SIDE_BY_SIDE, arrays
from tests.lowering.sum_programs import check_marked, check_number
from tests.lowering.ways import assert_all_ways_agree, assert_native_agrees
from tests.support.guarded import check_guarded

AnyKernel = Kernel[..., Any]
# One of each kind: rows and lanes of moved loops, of several variables, lanes alone, and windows.
KINDS = (
    *(sum_kernels.terms_outside, sum_kernels.two_variables),
    *(sum_kernels.rows_apart, sum_kernels.windows),
)
SIZES = (0, 1, 2, 7, 8, 9, 15, 16, 17, 31, 33, 100)
DTYPES = (np.float64, np.float32, np.float16, ml_dtypes.bfloat16, np.complex128, np.int32)


def has_lanes(kernel: AnyKernel, *args: Any) -> bool:
    passes = kernel.inspect("passes", *args)
    if "# sum_in_lanes: " not in passes:
        return False
    return "no change" not in passes.partition("# sum_in_lanes: ")[2].splitlines()[0]


def anew(kernel: AnyKernel) -> AnyKernel:
    """The same kernel without the code that other calls have made."""
    return Kernel(kernel.__hybrid_function__)


def name_of(kernel: AnyKernel) -> str:
    return kernel.__name__


# -- when ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", SIDE_BY_SIDE, ids=name_of)
def test_sums_run_side_by_side(kernel: AnyKernel) -> None:
    assert has_lanes(kernel, *arrays(20, 21, 22))


@pytest.mark.parametrize("kernel", IN_ORDER, ids=name_of)
def test_what_needs_its_order_keeps_it(kernel: AnyKernel) -> None:
    shapes = hj.f64["n", "m"], hj.f64["n", "l"], hj.f64["l", "m"]
    assert not has_lanes(kernel, *shapes)


def test_rows_stay_in_order_where_only_lanes_are_independent() -> None:
    text = sum_kernels.row_above.inspect("lowered", *arrays(20, 21, 22))
    assert text.index("for i in range(1, 20)") < text.index("vectorize(")


def test_tiles_go_the_way_that_memory_lies_if_rows_have_nothing_in_common() -> None:
    windows = sum_kernels.windows.inspect("lowered", *arrays(20, 141, 142))
    assert windows.index("for i in range(0, ") < windows.index("for j_0 in range(")
    product = sum_kernels.terms_outside.inspect("lowered", *arrays(12, 141, 142))
    assert product.index("for j_0 in range(") < product.index("for i in range(0, ")


def test_elements_without_terms_are_not_touched() -> None:
    """They may not even be there."""
    text = sum_kernels.fewer_terms_in_the_first_rows.inspect("lowered", *arrays(20, 21, 22))
    assert text.index("if 0 < min(i, 21):") < text.index("c_value = c[i - 1, j]")


def test_few_terms_or_columns_are_left_alone() -> None:
    kernel = sum_kernels.terms_inside
    assert not has_lanes(kernel, *arrays(20, 7, 22))
    assert not has_lanes(kernel, *arrays(1, 21, 1))
    assert not has_lanes(sum_kernels.terms_outside, *arrays(20, 15, 22))


def test_tiles_are_as_wide_for_powers_of_two() -> None:
    texts = [
        sum_kernels.terms_inside.inspect("lowered", *arrays(20, 21, columns))
        for columns in (64, 96)
    ]
    first, second = (re.search(r"vectorize\(j_0, j_0 \+ (\d+)\)", text) for text in texts)
    assert first is not None
    assert second is not None
    assert first[1] == second[1]


def test_the_order_of_a_schedule_stays() -> None:
    scheduled = sum_kernels.terms_inside.with_schedule(lambda s: s.reorder("j", "i"))
    assert not has_lanes(scheduled, *arrays(20, 21, 22))


def test_random_programs() -> None:
    assert sum(check_number(number) for number in range(60)) > 10


def test_random_marks() -> None:
    assert sum(check_marked(number) for number in range(30)) > 5


# -- what ------------------------------------------------------------------------------------------


@pytest.mark.sampled(12)
@pytest.mark.parametrize("kernel", [*SIDE_BY_SIDE, *IN_ORDER], ids=name_of)
def test_results_of_constant_sizes(kernel: AnyKernel) -> None:
    for sizes in ((5, 17, 9), (4, 16, 71)):
        assert_all_ways_agree(anew(kernel), *arrays(*sizes))


@pytest.mark.sampled(24)
@pytest.mark.parametrize("kernel", [*SIDE_BY_SIDE, *IN_ORDER], ids=name_of)
def test_results_of_any_size(kernel: AnyKernel) -> None:
    promoted = anew(kernel)
    for size in SIZES:
        assert_native_agrees(promoted, *arrays(5, 9, size))
        assert_native_agrees(promoted, *arrays(size % 30, min(size, 9), 40 - size % 7))


@pytest.mark.sampled(6)
@pytest.mark.parametrize("kernel", KINDS, ids=name_of)
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_types(kernel: AnyKernel, dtype: Any) -> None:
    if np.dtype(dtype).kind == "c" and kernel is sum_kernels.two_variables:
        pytest.skip("complex numbers have no order")
    assert_native_agrees(anew(kernel), *arrays(9, 17, 73, dtype))


@pytest.mark.sampled(2)
@pytest.mark.parametrize("kernel", KINDS, ids=name_of)
def test_layouts(kernel: AnyKernel) -> None:
    c, a, b = arrays(10, 17, 40)
    assert_native_agrees(anew(kernel), *map(np.asfortranarray, (c, a, b)))
    assert_native_agrees(anew(kernel), c[:, ::-1], a[::-1], b[:, ::-1])
    assert_native_agrees(anew(kernel), c[::2, ::3], a[::2], b[:, ::3])
    assert_native_agrees(anew(kernel), c, a, np.broadcast_to(b[:1], b.shape))


@pytest.mark.sampled(12)
@pytest.mark.parametrize("kernel", SIDE_BY_SIDE, ids=name_of)
def test_arguments_that_share_memory(kernel: AnyKernel) -> None:
    """What one iteration writes, another one reads: in the order of the script."""
    memory: Any = np.random.default_rng(3).random((19, 40))
    _, a, b = arrays(18, 9, 40)
    assert_native_agrees(kernel, memory[:18], a, memory[1:10])
    assert_native_agrees(kernel, memory[:18], memory[1:, :9], b)


@pytest.mark.sampled(8)
@pytest.mark.parametrize("kernel", SIDE_BY_SIDE, ids=name_of)
def test_no_element_outside_is_touched(kernel: AnyKernel) -> None:
    promoted = anew(kernel)
    for sizes in ((6, 17, 41), (3, 16, 7)):
        check_guarded(promoted, arrays(*sizes))


def test_signals_stop_a_long_run() -> None:
    class Stop(Exception):
        pass

    def stop(*_: Any) -> None:
        raise Stop("in time")

    kernel = anew(sum_kernels.terms_inside)
    for size in (9, 10, 11):  # from now on, there is code for any size
        kernel(*arrays(size, size, size))
    args = [np.zeros((1500, 1500)) for _ in range(3)]

    def run() -> None:
        signal.setitimer(signal.ITIMER_REAL, 0.02)
        kernel(*args)

    before = signal.signal(signal.SIGALRM, stop)
    try:
        with pytest.raises(Stop, match="in time"):
            run()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def test_errors_name_their_place() -> None:
    kernel = sum_kernels.asserts
    with pytest.raises(AssertionError, match=r"'at', 0, 5"):
        kernel(*arrays(9, 9, 9))
