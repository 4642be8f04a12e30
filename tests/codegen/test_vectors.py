"""Vector code: every element type, stride, mask and tail gives what the interpreter gives."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from hybridjit import Kernel, hybrid
from hybridjit.codegen.emit import vector_memory
from hybridjit.hybrid import allocate, exp, float32, int8, parallel, sin, unroll
from hybridjit.scalars.builtins import vectorize
from tests.corpus.case import Array
from tests.support.guarded import check_guarded, run_guarded, run_interpreter
from tests.support.oracle import assert_same_outcome, fresh, run_native, run_once

pytestmark = pytest.mark.sampled(2)
AnyKernel = Kernel[..., Any]
INTEGERS: tuple[Any, ...] = (
    *(np.int8, np.int16, np.int32, np.int64),
    *(np.uint8, np.uint16, np.uint32, np.uint64),
)
REALS: tuple[Any, ...] = (*INTEGERS, np.float16, ml_dtypes.bfloat16, np.float32, np.float64)
NUMBERS: tuple[Any, ...] = (*REALS, np.complex64, np.complex128)
SIZES = (0, 1, 2, 7, 15, 16, 17, 35, 131)


def array(size: int, dtype: Any, step: int = 1, seed: int = 0) -> Any:
    """Small numbers, every `step`-th of a row."""
    rng = np.random.default_rng(seed)
    values: Any = rng.integers(0, 20, size * abs(step))
    if np.dtype(dtype).kind not in "ub":
        values = values - 8
    if np.dtype(dtype).kind == "c":
        values = values + 1j * np.arange(len(values))
    return values.astype(dtype)[::step]


def check(kernel: AnyKernel, *args: Any) -> None:
    check_guarded(fresh(kernel), args)


# -- element types, strides and tails --------------------------------------------------------------


@hybrid.script
def copy(a: Array, b: Array) -> None:
    for j in vectorize(b.shape[0]):
        b[j] = a[j]


@hybrid.script
def arithmetic(a: Array, b: Array) -> None:
    for j in vectorize(b.shape[0]):
        x = a[j] * a[j]
        b[j] = x - a[b.shape[0] - 1 - j]


@hybrid.script
def branches(a: Array, b: Array) -> None:
    for j in vectorize(b.shape[0]):
        if a[j] > 2:
            b[j] = a[j] + 1
        elif a[j] < 1:
            b[j] += a[j] * 2
        else:
            b[j] = min(a[j], b[j])


@hybrid.script
def downwards(a: Array, b: Array) -> None:
    for j in vectorize(b.shape[0] - 1, -1, -1):
        b[j] = a[j] * j


@hybrid.script
def wraps(a: Array, b: Array) -> None:
    for j in vectorize(b.shape[0]):
        far = j * 4611686018427387905
        b[j] = far * 3 - a[j] + (far // 2)


def test_steps_that_overflow() -> None:
    check(wraps, array(37, np.int64), array(37, np.int64))


@pytest.mark.sampled(4)
@pytest.mark.parametrize("dtype", [*NUMBERS, np.bool_])
def test_element_types(dtype: Any) -> None:
    for step in (1, 2, 3, -1, -2):
        check(copy, array(35, dtype, step), array(35, dtype, seed=1))
        check(copy, array(35, dtype), array(35, dtype, step, seed=1))


@pytest.mark.parametrize("dtype", NUMBERS)
def test_arithmetic(dtype: Any) -> None:
    check(arithmetic, array(37, dtype), array(37, dtype, seed=1))


@pytest.mark.parametrize("dtype", REALS)
def test_branches(dtype: Any) -> None:
    check(branches, array(37, dtype), array(37, dtype, seed=1))


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("kernel", [copy, arithmetic, branches, downwards])
def test_sizes(kernel: AnyKernel, size: int) -> None:
    check(kernel, array(size, np.float32), array(size, np.float32, seed=1))


@pytest.mark.parametrize("kernel", [copy, arithmetic, branches, downwards])
def test_sizes_at_run_time(kernel: AnyKernel) -> None:
    """From its second value on, a size is not part of the code."""
    made = fresh(kernel)
    for size in SIZES:
        check_guarded(made, (array(size, np.float64), array(size, np.float64, seed=1)))


# -- memory ----------------------------------------------------------------------------------------


@hybrid.script
def gathered(a: Array, p: Array, b: Array) -> None:
    for j in vectorize(p.shape[0]):
        b[j] = a[p[j]]


@hybrid.script
def transposed(a: Array, b: Array) -> None:
    for i in range(a.shape[1]):
        for j in vectorize(a.shape[0]):
            b[i, j] = a[j, i]


@hybrid.script
def shifted(a: Array, b: Array, by: int) -> None:
    for j in vectorize(b.shape[0]):
        if 0 <= j + by < a.shape[0]:
            b[j] = a[j + by]


@pytest.mark.parametrize("dtype", [np.int8, np.float32, np.float64, np.complex64, np.bool_])
def test_gather(dtype: Any) -> None:
    p = np.random.default_rng(0).permutation(41)
    check(gathered, array(41, dtype), p, array(41, dtype, seed=1))
    check(gathered, array(41, dtype, -2), p - 41, array(41, dtype, seed=1))


def test_columns() -> None:
    check(transposed, array(37 * 5, np.float32).reshape(37, 5), np.zeros((5, 37), np.float32))
    check(transposed, array(37 * 5, np.float32).reshape(5, 37).T, np.zeros((5, 37), np.float32))


@pytest.mark.parametrize("is_quick", [False, True])
def test_elements_are_gathered_where_that_is_quick(
    is_quick: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both give the same values, and one of them is an instruction."""

    def has_quick_gathers(_: Any) -> bool:
        return is_quick

    monkeypatch.setattr(vector_memory, "has_quick_gathers", has_quick_gathers)
    for dtype in (np.float32, np.float64, np.complex128, np.bool_):
        p = np.random.default_rng(0).permutation(41)
        check(gathered, array(41, dtype), p, array(41, dtype, seed=1))
        rows = array(37 * 40, dtype).reshape(37, 40)
        check(transposed, rows, np.zeros((40, 37), dtype))
        check(transposed, rows[::-1], np.zeros((40, 37), dtype))
    args = array(64, np.float64), np.arange(64), array(64, np.float64)
    assert ("masked.gather" in fresh(gathered).inspect("llvm", *args)) is is_quick


@hybrid.script
def guarded_columns(a: Array, b: Array) -> None:
    for i in range(a.shape[1]):
        for j in vectorize(a.shape[0]):
            if b[i, j] > 3:
                b[i, j] = a[j, i]


def test_columns_under_a_mask() -> None:
    rows = array(37 * 40, np.float32).reshape(37, 40)
    check(guarded_columns, rows, array(37 * 40, np.float32, seed=1).reshape(40, 37))


@pytest.mark.parametrize("by", [0, 3, -3, 40, -40, 1 << 62, -(1 << 63), (1 << 63) - 1])
def test_lanes_that_are_not_active_touch_nothing(by: int) -> None:
    check(shifted, array(37, np.float32), array(37, np.float32, seed=1), by)


def test_arrays_that_overlap_keep_the_order_of_the_loop() -> None:
    memory: Any = np.arange(40.0)
    expected = memory.copy()
    copy.py_func(expected[:-1], expected[1:])

    copy(memory[:-1], memory[1:])

    np.testing.assert_array_equal(memory, expected)


# -- inside the loop -------------------------------------------------------------------------------


@hybrid.script
def inner_loop(a: Array, b: Array) -> None:
    for j in vectorize(a.shape[0]):
        s = a[j, 0]
        for k in range(1, a.shape[1]):
            if a[j, k] > a[0, k]:
                s = s * 2 + a[j, k]
        b[j] = s


@hybrid.script
def scratch(a: Array, b: Array) -> None:
    for j in vectorize(a.shape[0]):
        t = allocate((4,), a.dtype, "local")
        for k in range(3):
            t[k] = a[j] + k
        b[j] = t[0] * t[2] - t[3]


@hybrid.script
def reductions(a: Array, p: Array) -> Any:
    total, largest, bits = 0, -100, 0
    for j in vectorize(a.shape[0] - 1, -1, -1):
        total += a[j]
        largest = max(largest, a[j])
        if p[j] % 3 != 0:
            bits ^= p[j]
    return total, largest, bits


@pytest.mark.parametrize("dtype", [np.int16, np.float32, np.complex64])
def test_inner_loops_and_scratch(dtype: Any) -> None:
    if dtype is not np.complex64:
        check(inner_loop, array(37 * 5, dtype).reshape(37, 5), array(37, dtype))
    check(scratch, array(37, dtype), array(37, dtype))


@pytest.mark.parametrize("size", SIZES)
def test_reductions(size: int) -> None:
    for dtype in (np.int32, np.int64, np.int8):
        check(reductions, array(size, dtype), np.arange(size))


@hybrid.script
def in_threads(a: Array, b: Array) -> None:
    for i in parallel(a.shape[0]):
        for j in vectorize(a.shape[1]):
            if a[i, j] > 0:
                b[i, j] = a[i, j] * 2 + i


def test_vector_loops_in_parallel_loops() -> None:
    a = array(200 * 37, np.float32).reshape(200, 37)
    check(in_threads, a, np.zeros_like(a))


# -- operators and functions -----------------------------------------------------------------------


@hybrid.script
def divisions(a: Array, b: Array) -> None:
    for j in vectorize(a.shape[0]):
        if a[j] != 0 and 7 // a[j] != 3:
            b[j] = 9 % a[j] + b[j] // a[j]


@hybrid.script
def chosen(a: Array, p: Array, b: Array) -> None:
    for j in vectorize(p.shape[0]):
        b[j] = a[p[j]] if 0 <= p[j] < a.shape[0] else a[0]


@hybrid.script
def powers(a: Array, p: Array, b: Array) -> None:
    for j in vectorize(a.shape[0]):
        b[j] = a[j] ** p[j]


@hybrid.script
def converted(a: Array, b: Array) -> None:
    for j in vectorize(a.shape[0]):
        b[j] = int8(float32(a[j]) * 100.5)


def functions(loop: str) -> AnyKernel:
    vector = {"vectorize": vectorize, "range": range}[loop]

    @hybrid.script
    def apply(a: Array, b: Array) -> None:
        for j in vector(a.shape[0]):
            b[j] = exp(a[j]) + sin(a[j]) * (a[j] % 0.75)

    return apply


@pytest.mark.parametrize("dtype", INTEGERS)
def test_divisions(dtype: Any) -> None:
    check(divisions, array(37, dtype), array(37, dtype, seed=1))


def test_other_operators() -> None:
    p = np.random.default_rng(0).integers(0, 6, 37)
    check(powers, array(37, np.int64), p, np.zeros(37, np.int64))
    check(chosen, array(20, np.float32), 7 * p - 9, np.zeros(37, np.float32))
    for dtype in REALS:
        check(converted, array(37, dtype), np.zeros(37, np.int8))


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16, np.float32, np.float64])
def test_functions_give_the_bits_of_scalar_code(dtype: Any) -> None:
    a = np.concatenate([array(64, dtype), np.array([0.3, -1e4, 77.7, np.nan, np.inf], dtype)])
    args = (a, np.zeros_like(a))

    expected = run_once(run_native, functions("range"), args)

    assert_same_outcome(run_once(run_native, functions("vectorize"), args), expected)


# -- errors ----------------------------------------------------------------------------------------


@hybrid.script
def checked(a: Array, b: Array) -> None:
    for j in vectorize(a.shape[0]):
        assert a[j] >= 0, ("negative", a[j], j)
        if a[j] > 100:
            raise ValueError("too large", a[j])
        b[j] = 100 // (a[j] - 50)


@hybrid.script
def checked_late(a: Array, b: Array) -> None:
    for j in vectorize(a.shape[0]):
        b[j] = a[j]
        if a[j] > 100:
            raise ValueError("too large", a[j])


def wrong_late() -> tuple[AnyKernel, tuple[Any, ...]]:
    a = np.arange(37)
    a[20], a[25] = 101, 102
    return checked_late, (a, np.zeros(37, np.int64))


def wrong_index(size: int) -> tuple[AnyKernel, tuple[Any, ...]]:
    p = np.arange(size) % 20
    p[size - 3], p[size - 1] = 20, -99
    return gathered, (array(20, np.float32), p, np.zeros(size, np.float32))


def wrong_value(value: int) -> tuple[AnyKernel, tuple[Any, ...]]:
    a = np.arange(37)
    a[20], a[25] = value, value
    return checked, (a, np.zeros(37, np.int64))


@pytest.mark.parametrize(
    "case",
    [
        lambda: wrong_index(21),
        lambda: wrong_index(32),
        lambda: wrong_value(-5),
        lambda: wrong_value(200),
        lambda: wrong_value(50),
        wrong_late,
    ],
)
def test_errors_are_those_of_the_first_lane(
    case: Callable[[], tuple[AnyKernel, tuple[Any, ...]]],
) -> None:
    kernel, args = case()

    expected = run_guarded(run_interpreter, kernel, args, "end")
    found = run_guarded(run_native, kernel, args, "end")

    assert expected.error is not None
    assert type(found.error) is type(expected.error)
    assert str(found.error) == str(expected.error)


# -- the code --------------------------------------------------------------------------------------


@hybrid.script
def tile(a: Array, b: Array, c: Array) -> None:
    acc = allocate((4, 8), "float32", "local")
    for k in range(a.shape[1]):
        for i in unroll(4):
            for j in vectorize(8):
                acc[i, j] += a[i, k] * b[k, j]
    for i in unroll(4):
        for j in vectorize(8):
            c[i, j] = acc[i, j]


def tile_arguments() -> tuple[Any, ...]:
    a, b = array(4 * 64, np.float32).reshape(4, 64), array(64 * 8, np.float32).reshape(64, 8)
    return a, b, np.zeros((4, 8), np.float32)


def test_accumulators_of_a_tile_stay_in_registers() -> None:
    code = tile.inspect("llvm", *tile_arguments())

    check(tile, *tile_arguments())
    assert "alloca" not in code.split("define")[1]
    assert sum(map(int, re.findall(r"store <(\d+) x float>", code))) == 4 * 8


def test_contiguous_access_is_neither_gathered_nor_masked() -> None:
    code = arithmetic.inspect("llvm", array(64, np.float32), array(64, np.float32))

    assert "x float>" in code
    assert "masked" not in code


@hybrid.script
def add_inside(a: Array, k: int, out: Array) -> None:
    for j in vectorize(a.shape[0]):
        if k >= 0 and k < out.shape[0]:
            out[k] += a[j]


@hybrid.script
def add_to_unset(a: Array, flag: bool) -> int:
    if flag:
        total = 0
    for j in vectorize(a.shape[0]):
        if a[j] > 100:
            total += a[j]  # pyright: ignore[reportPossiblyUnboundVariable]
    return 0


@pytest.mark.parametrize("place", [-(10**9), -1, 0, 3, 4, 10**9])
def test_an_element_that_no_lane_updates_need_not_exist(place: int) -> None:
    for size in SIZES:
        check(add_inside, array(size, np.int64), place, np.zeros(4, np.int64))


@pytest.mark.parametrize("flag", [True, False])
def test_a_variable_that_no_lane_updates_need_not_be_set(flag: bool) -> None:
    for size in SIZES:
        for offset in (0, 100):
            check(add_to_unset, array(size, np.int64) + offset, flag)


# -- elements that lie between each other ----------------------------------------------------------


@hybrid.script
def beside_in_a_loop(a: Array, b: Array, n: int) -> None:
    for j in vectorize(b.shape[0]):
        x = a[3 * j + 1] + a[3 * j + 2]
        for _ in range(n):
            b[j] += a[3 * j] * x + a[3 * j + 3]


@hybrid.script
def beside_in_a_branch(a: Array, b: Array, n: int) -> None:
    for j in vectorize(b.shape[0]):
        b[j] = a[2 * j]
        if b[j] > n:
            b[j] = a[2 * j + 1] - a[2 * j + 2]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("kernel", [beside_in_a_loop, beside_in_a_branch], ids=lambda k: k.__name__)
def test_what_is_loaded_on_a_condition_is_no_part_of_a_group(kernel: AnyKernel, size: int) -> None:
    """The element may lie outside of those that are loaded each time."""
    check(kernel, array(3 * size + 1, np.float32), array(size, np.float32, seed=1), 2)
